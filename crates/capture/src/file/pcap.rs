//! pcap files (draft-ietf-opsawg-pcap), of both byte orders, with micro- and nanoseconds, and the longer record headers
//! of a patched libpcap of the 1990s (magic A1B2CD34).

use std::io::Read;

use super::{
    buffer::Buffer,
    record::{Next, Record},
};
use crate::LinkType;

const FILE_HEADER: usize = 24;
/// Longest credible packet, bytes; no known link carries longer ones.
const MAX_PACKET: usize = 1 << 18;

/// The file header.
#[derive(Debug)]
pub(super) struct Header {
    big_endian: bool,
    /// Unit of the fractional time stamp, nanoseconds.
    unit_ns: u64,
    link: LinkType,
    record_header: usize,
}

impl Header {
    /// Reads the file header; `None` if the file has another format.
    pub(super) fn read(buffer: &mut Buffer<impl Read>) -> std::io::Result<Option<Self>> {
        if !buffer.fill(FILE_HEADER)? {
            return Ok(None);
        }
        let head = buffer.consume(FILE_HEADER);
        let magic: [u8; 4] = head.first_chunk().copied().unwrap_or_default();
        let mut reversed = magic;
        reversed.reverse();
        let little = Self::of_magic(u32::from_le_bytes(magic));
        let big = Self::of_magic(u32::from_le_bytes(reversed));
        let (big_endian, Some((unit_ns, record_header))) = (big.is_some(), little.or(big)) else {
            return Ok(None);
        };
        // the upper bits describe frame check sequences
        let link = u32_at(head, 20, big_endian) & 0xffff;
        Ok(Some(Self {
            big_endian,
            unit_ns,
            link: LinkType::from(link as u16),
            record_header,
        }))
    }

    /// Whether `magic` begins a pcap file.
    pub(super) fn is_magic(magic: [u8; 4]) -> bool {
        [u32::from_le_bytes(magic), u32::from_be_bytes(magic)]
            .into_iter()
            .any(|magic| Self::of_magic(magic).is_some())
    }

    const fn of_magic(magic: u32) -> Option<(u64, usize)> {
        match magic {
            0xa1b2_c3d4 => Some((1_000, 16)),
            0xa1b2_3c4d => Some((1, 16)),
            0xa1b2_cd34 => Some((1_000, 24)),
            _ => None,
        }
    }

    pub(super) fn next(&mut self, buffer: &mut Buffer<impl Read>) -> std::io::Result<Next> {
        if !buffer.fill(self.record_header)? {
            return Ok(match buffer.bytes().is_empty() {
                true => Next::End,
                false => Next::Damaged("the file ends within a packet's header"),
            });
        }
        let head = buffer.bytes();
        let word = |at| u32_at(head, at, self.big_endian);
        let at = u64::from(word(0)) * 1_000_000_000 + u64::from(word(4)) * self.unit_ns;
        // before version 2.3 the two lengths were swapped
        let (kept, wire_len) = (word(8).min(word(12)), word(8).max(word(12)));
        let len = kept as usize;
        if len > MAX_PACKET {
            return Ok(Next::Damaged("a packet's length makes no sense"));
        }
        let record_len = self.record_header + len;
        if !buffer.fill(record_len)? {
            return Ok(Next::Damaged("the file ends within a packet"));
        }
        Ok(Next::Record(Record {
            at: Some(at),
            link: self.link,
            start: self.record_header,
            len,
            wire_len,
            record_len,
        }))
    }
}

fn u32_at(bytes: &[u8], at: usize, big_endian: bool) -> u32 {
    let word = bytes.get(at..).and_then(|rest| rest.first_chunk());
    let word = word.copied().unwrap_or_default();
    if big_endian {
        u32::from_be_bytes(word)
    } else {
        u32::from_le_bytes(word)
    }
}
