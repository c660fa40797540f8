//! Errors of capture files.

/// Why a capture cannot be read at all. A damaged file is read up to the damage, see [`crate::Reader::damage`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file cannot be read.
    #[error("cannot read the capture: {0}")]
    Io(#[from] std::io::Error),
    /// The file has none of the known formats; its first bytes.
    #[error("{}", other_format(*.0))]
    NotACapture([u8; 4]),
    /// The file ends within its first header.
    #[error("the file is empty, or too short to be a capture")]
    Empty,
}

/// Names the format of a file by its first bytes, and what to do with such a file.
fn other_format(first: [u8; 4]) -> String {
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
                "this is not a pcap or pcapng file (it starts with {first:02x?}); save the capture as pcap or pcapng with Wireshark or editcap"
            );
        }
    };
    format!("the file is {other}: save it as pcap or pcapng with Wireshark, or editcap -F pcapng")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_for_another_format_names_it_and_says_what_to_do() {
        for (first, words) in [
            (b"PK\x03\x04", "zip archive: unpack"),
            (b"BZh9", "bzip2: unpack"),
            (b"GMBU", "Network Monitor: save it as pcap"),
            (b"snoo", "snoop: save it as pcap"),
            (b"#!/b", "text and no capture"),
            (b"\x7fELF", "starts with [7f, 45, 4c, 46]"),
        ] {
            let message = Error::NotACapture(*first).to_string();
            assert!(message.contains(words), "{message}");
        }
    }
}
