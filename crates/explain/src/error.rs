//! What can be wrong with a capture file.

/// Why a capture could not be read at all. What is merely damaged is read up to there and noted in
/// [`crate::report::Quality`].
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be read.
    #[error("cannot read the capture: {0}")]
    Io(#[from] std::io::Error),
    /// Its first bytes are those of no format known here.
    #[error("{}", instead(*.0))]
    NotACapture([u8; 4]),
    /// It ends within its first header.
    #[error("the file is empty, or too short to be a capture")]
    Empty,
}

/// What a file that begins so is instead of a capture in pcap or pcapng form, and what to do with it.
fn instead(first: [u8; 4]) -> String {
    let packed = match &first {
        b"PK\x03\x04" => Some("a zip archive"),
        b"\xfd7zX" => Some("packed with xz"),
        b"\x28\xb5\x2f\xfd" => Some("packed with zstd"),
        b"\x04\x22\x4d\x18" => Some("packed with lz4"),
        b"7z\xbc\xaf" => Some("a 7-Zip archive"),
        [b'B', b'Z', b'h', _] => Some("packed with bzip2"),
        _ => None,
    };
    if let Some(packed) = packed {
        return format!("the file is {packed}: unpack it first (gzip alone is read as it is)");
    }
    let other = match &first {
        b"RTSS" | b"GMBU" => "a capture of Microsoft Network Monitor",
        b"snoo" => "a capture of snoop",
        b"TRSN" => "a capture of a Sniffer",
        text if text
            .iter()
            .all(|byte| matches!(byte, b'\t'..=b'\r' | b' '..=b'~')) =>
        {
            return "the file is text and no capture".to_owned();
        }
        _ => {
            return format!(
                "this is no capture in pcap or pcapng form (it begins with {first:02x?}); save it as pcap or pcapng with Wireshark or editcap"
            );
        }
    };
    format!("the file is {other}: save it as pcap or pcapng with Wireshark, or editcap -F pcapng")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_another_kind_is_told_by_its_kind_and_what_to_do() {
        for (first, words) in [
            (b"PK\x03\x04", "zip archive: unpack"),
            (b"BZh9", "bzip2: unpack"),
            (b"GMBU", "Network Monitor: save it as pcap"),
            (b"snoo", "snoop: save it as pcap"),
            (b"#!/b", "text and no capture"),
            (b"\x7fELF", "begins with [7f, 45, 4c, 46]"),
        ] {
            let told = Error::NotACapture(*first).to_string();
            assert!(told.contains(words), "{told}");
        }
    }
}
