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
    /// The two lengths of a packet may be in either order.
    may_be_swapped: bool,
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
            may_be_swapped: may_be_swapped(
                u16_at(head, 4, big_endian),
                u16_at(head, 6, big_endian),
            ),
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
        let wire_len = word(8).max(word(12));
        let kept = match self.may_be_swapped {
            true => word(8).min(word(12)),
            false => word(8),
        };
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

/// Before version 2.3 the length on the wire came first, in 2.3 it depends on the program, and DG/UX calls the old order
/// 543.0 (libpcap, `sf-pcap.c`). Today's programs may write a length on the wire of 0, or one without a trailer.
const fn may_be_swapped(major: u16, minor: u16) -> bool {
    major < 2 || (major == 2 && minor <= 3) || major == 543
}

fn u16_at(bytes: &[u8], at: usize, big_endian: bool) -> u16 {
    let half = bytes.get(at..).and_then(|rest| rest.first_chunk());
    let half = half.copied().unwrap_or_default();
    if big_endian {
        u16::from_be_bytes(half)
    } else {
        u16::from_le_bytes(half)
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

#[cfg(test)]
mod tests {
    use crate::Reader;

    /// The lengths of two packets of six and four bytes, whose records have `words` for their lengths, and of the damage.
    fn lengths(version: [u16; 2], words: [[u32; 2]; 2]) -> (Vec<(usize, u32)>, bool) {
        let mut file = 0xa1b2_c3d4_u32.to_be_bytes().to_vec();
        file.extend(version.map(u16::to_be_bytes).as_flattened());
        file.extend([0, 0, 0x4_0000, 1].map(u32::to_be_bytes).as_flattened());
        for (words, data) in words.iter().zip([&[1; 6][..], &[2; 4]]) {
            let header = [0, 0, words[0], words[1]];
            file.extend(header.map(u32::to_be_bytes).as_flattened());
            file.extend(data);
        }
        let Ok(mut reader) = Reader::new(&file[..]) else {
            return (Vec::new(), true);
        };
        let mut found = Vec::new();
        while let Ok(Some(packet)) = reader.next_packet() {
            found.push((packet.bytes.len(), packet.wire_len));
        }
        (found, reader.damage().is_some())
    }

    #[test]
    fn a_length_on_the_wire_below_that_of_the_bytes_is_not_believed() {
        for wire in [0, 2] {
            let (found, is_damaged) = lengths([2, 4], [[6, wire], [4, wire]]);
            assert_eq!((found, is_damaged), (vec![(6, 6), (4, 4)], false), "{wire}");
        }
        let cut = lengths([2, 4], [[6, 60], [4, 1500]]);
        assert_eq!(cut, (vec![(6, 60), (4, 1500)], false));
    }

    #[test]
    fn before_version_2_4_the_two_lengths_may_be_in_either_order() {
        for version in [[2, 1], [2, 2], [2, 3], [543, 0]] {
            let found = lengths(version, [[60, 6], [4, 1500]]);
            assert_eq!(found, (vec![(6, 60), (4, 1500)], false), "{version:?}");
        }
    }
}
