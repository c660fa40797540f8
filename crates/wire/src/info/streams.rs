//! FileStreamInformation: the streams of a file ([MS-FSCC] 2.4.49; SMB_QUERY_FILE_STREAM_INFO).

use crate::io::Writer;

/// The stream that every file has: its data.
pub const UNNAMED: &[u8] = b":\0:\0$\0D\0A\0T\0A\0";
/// Bytes of an entry before its name.
const FIXED: usize = 24;

/// One stream of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamEntry<'a> {
    /// `:NAME:$DATA` in UTF-16LE.
    pub name: &'a [u8],
    /// Length, bytes.
    pub size: u64,
    /// Space it takes, bytes.
    pub allocation: u64,
}

/// Appends a list. Each entry except the last contains the offset of the next one, a multiple of 8 bytes.
pub fn emit(list: &[StreamEntry<'_>], out: &mut Writer) {
    for (i, entry) in list.iter().enumerate() {
        let is_last = i.saturating_add(1) == list.len();
        let length = FIXED.saturating_add(entry.name.len());
        let padded = length.next_multiple_of(8);
        out.u32(if is_last { 0 } else { padded as u32 })
            .u32(entry.name.len() as u32)
            .u64(entry.size)
            .u64(entry.allocation)
            .bytes(entry.name);
        if !is_last {
            out.zeros(padded.saturating_sub(length));
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn each_entry_but_the_last_points_to_the_next_at_a_multiple_of_eight() {
        let entry = |name, size| StreamEntry {
            name,
            size,
            allocation: 4096,
        };
        let mut out = Writer::default();
        emit(
            &[entry(UNNAMED, 5), entry(b":\0a\0:\0$\0D\0A\0T\0A\0", 9)],
            &mut out,
        );
        let bytes = out.into_vec();
        assert_eq!(bytes[..8], *b"\x28\0\0\0\x0e\0\0\0");
        assert_eq!(bytes[8..24], *b"\x05\0\0\0\0\0\0\0\0\x10\0\0\0\0\0\0");
        assert_eq!(bytes[24..40], *b":\0:\0$\0D\0A\0T\0A\0\0\0");
        assert_eq!(bytes[40..56], *b"\0\0\0\0\x10\0\0\0\x09\0\0\0\0\0\0\0");
        assert_eq!(bytes.len(), 40 + 24 + 16);
    }
}
