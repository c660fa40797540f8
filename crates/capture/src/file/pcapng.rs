//! pcapng files (draft-ietf-opsawg-pcapng): several sections, interfaces and time resolutions in one file.

use std::io::Read;

use super::{
    buffer::{Buffer, MAX_RECORD},
    record::{Next, Record},
};
use crate::LinkType;

/// The first four bytes of a file: the type of a section header block, the same in both byte orders.
pub(super) const MAGIC: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const OBSOLETE_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const INTERFACE_STATISTICS: u32 = 5;
const ENHANCED_PACKET: u32 = 6;

/// Interfaces in a section; packets of further ones count as damage.
const MAX_INTERFACES: usize = 1024;
/// Block type and block length, bytes.
const BLOCK_HEAD: usize = 8;

/// The section being read.
#[derive(Debug, Default)]
pub(super) struct Section {
    big_endian: bool,
    interfaces: Vec<Interface>,
}

/// One interface of a section.
#[derive(Clone, Copy, Debug)]
struct Interface {
    link: LinkType,
    snap_len: u32,
    resolution: Resolution,
    /// Nanoseconds to add to every time: if_tsoffset.
    offset_ns: i64,
    /// Drops that its statistics have reported so far.
    dropped: u64,
}

/// What a section's blocks say besides packets.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Notices {
    /// Packets that the capturing machine dropped.
    pub(super) dropped: u64,
    /// Interfaces whose time offset was ignored.
    pub(super) ignored_offsets: u64,
}

/// The unit of an interface's times: if_tsresol.
#[derive(Clone, Copy, Debug)]
enum Resolution {
    /// Nanoseconds per unit.
    Coarse(u64),
    /// Units per nanosecond.
    Fine(u64),
    /// The unit is 2^-n seconds.
    Binary(u8),
}

impl Resolution {
    /// The unit is 10^-`power` seconds.
    fn decimal(power: u8) -> Self {
        let power = u32::from(power);
        match 9_u32.checked_sub(power) {
            Some(more) => Self::Coarse(10_u64.pow(more)),
            // so fine a unit never adds up to a nanosecond
            None => Self::Fine(10_u64.checked_pow(power - 9).unwrap_or(u64::MAX)),
        }
    }

    fn nanoseconds(self, units: u64) -> u64 {
        match self {
            Self::Coarse(each) => units.saturating_mul(each),
            Self::Fine(parts) => units / parts,
            Self::Binary(power) => {
                let scaled = (u128::from(units) * 1_000_000_000).checked_shr(u32::from(power));
                u64::try_from(scaled.unwrap_or(0)).unwrap_or(u64::MAX)
            }
        }
    }
}

impl Interface {
    /// An offset of more than 292 years is an error of the program that wrote it.
    fn set_offset(&mut self, seconds: i64, notices: &mut Notices) {
        match seconds.checked_mul(1_000_000_000) {
            Some(offset_ns) => self.offset_ns = offset_ns,
            None => self.ignore_offset(notices),
        }
    }

    /// The time of a packet, nanoseconds since 1970. An offset that leads out of what a time can hold is wrong for all packets.
    fn time(&mut self, units: u64, notices: &mut Notices) -> u64 {
        let ns = self.resolution.nanoseconds(units);
        match ns.checked_add_signed(self.offset_ns) {
            Some(at) => at,
            None => {
                self.ignore_offset(notices);
                ns
            }
        }
    }

    fn ignore_offset(&mut self, notices: &mut Notices) {
        self.offset_ns = 0;
        notices.ignored_offsets = notices.ignored_offsets.saturating_add(1);
    }
}

const SENSELESS: &str = "a block's length makes no sense";

impl Section {
    /// The next packet. Interface blocks are applied, others skipped.
    #[inline]
    pub(super) fn next(
        &mut self,
        buffer: &mut Buffer<impl Read>,
        notices: &mut Notices,
    ) -> std::io::Result<Next> {
        if !buffer.finish_skip()? {
            return Ok(Next::Damaged(SENSELESS));
        }
        if let Some(record) = self.plain_packet(buffer.bytes()) {
            return Ok(Next::Record(record));
        }
        self.next_block(buffer, notices)
    }

    /// The packet of the block that `bytes` begin with, if all of it is there and nothing about it is unusual: most blocks of
    /// most files. `None`: [`Self::next_block`] decides.
    #[inline]
    fn plain_packet(&self, bytes: &[u8]) -> Option<Record> {
        const START: usize = 28;
        let head = bytes.first_chunk::<START>()?;
        let word = |at: usize| self.u32_at(head, at);
        let (record_len, len) = (word(4) as usize, word(20) as usize);
        let interface = self.interfaces.get(word(8) as usize)?;
        let Resolution::Coarse(each) = interface.resolution else {
            return None;
        };
        let is_plain = word(0) == ENHANCED_PACKET
            && record_len <= bytes.len().min(MAX_RECORD)
            && record_len.is_multiple_of(4)
            && len <= record_len.checked_sub(START + 4)?;
        let units = u64::from(word(12)) << 32 | u64::from(word(16));
        let ns = units
            .saturating_mul(each)
            .checked_add_signed(interface.offset_ns)?;
        is_plain.then(|| Record {
            at: Some(ns),
            link: interface.link,
            start: START,
            len,
            wire_len: word(24),
            record_len,
        })
    }

    /// The next packet, whatever blocks are before it.
    #[inline(never)]
    fn next_block(
        &mut self,
        buffer: &mut Buffer<impl Read>,
        notices: &mut Notices,
    ) -> std::io::Result<Next> {
        loop {
            if !buffer.fill(BLOCK_HEAD + 4)? {
                return Ok(match buffer.bytes().is_empty() {
                    true => Next::End,
                    false => Next::Damaged("the file ends within a block's header"),
                });
            }
            let head = buffer.bytes();
            let kind = self.u32_at(head, 0);
            if kind == SECTION_HEADER && !self.begin(head) {
                return Ok(Next::Damaged("a section's byte-order magic is wrong"));
            }
            let len = self.u32_at(head, 4) as usize;
            if len < BLOCK_HEAD + 4 || !len.is_multiple_of(4) {
                return Ok(Next::Damaged(SENSELESS));
            }
            if len > MAX_RECORD {
                let is_packet = matches!(kind, ENHANCED_PACKET | SIMPLE_PACKET | OBSOLETE_PACKET);
                if is_packet || !buffer.skip(len as u64)? {
                    return Ok(Next::Damaged(SENSELESS));
                }
                continue;
            }
            if !buffer.fill(len)? {
                return Ok(Next::Damaged("the file ends within a block"));
            }
            if let Some(record) =
                self.block(kind, buffer.bytes().get(..len).unwrap_or_default(), notices)
            {
                return Ok(record);
            }
            buffer.consume(len);
        }
    }

    /// Begins a section; `false` if its byte-order magic is wrong.
    fn begin(&mut self, head: &[u8]) -> bool {
        let magic = head.get(8..12).unwrap_or_default();
        self.interfaces.clear();
        self.big_endian = magic == [0x1a, 0x2b, 0x3c, 0x4d];
        self.big_endian || magic == [0x4d, 0x3c, 0x2b, 0x1a]
    }

    fn block(&mut self, kind: u32, block: &[u8], notices: &mut Notices) -> Option<Next> {
        match kind {
            INTERFACE_DESCRIPTION => self.interface(block, notices),
            INTERFACE_STATISTICS => self.statistics(block, notices),
            ENHANCED_PACKET => {
                return Some(self.packet(block, self.u32_at(block, 8) as usize, notices));
            }
            OBSOLETE_PACKET => {
                let interface = usize::from(self.u16_at(block, 8));
                return Some(self.packet(block, interface, notices));
            }
            SIMPLE_PACKET => return Some(self.simple(block)),
            _ => {}
        }
        None
    }

    fn packet(&mut self, block: &[u8], interface: usize, notices: &mut Notices) -> Next {
        const START: usize = 28;
        let head: [u8; START] = array(block, 0);
        let [high, low, len, wire_len] = [12, 16, 20, 24].map(|at| self.u32_at(&head, at));
        let Some(interface) = self.interfaces.get_mut(interface) else {
            return Next::Damaged("a packet names an interface that was not described");
        };
        let ns = interface.time(u64::from(high) << 32 | u64::from(low), notices);
        let len = len as usize;
        if len > block.len().saturating_sub(START + 4) {
            return Next::Damaged("a packet is longer than its block");
        }
        Next::Record(Record {
            at: Some(ns),
            link: interface.link,
            start: START,
            len,
            wire_len,
            record_len: block.len(),
        })
    }

    fn simple(&self, block: &[u8]) -> Next {
        let Some(interface) = self.interfaces.first() else {
            return Next::Damaged("a packet comes before any interface");
        };
        let wire_len = self.u32_at(block, 8);
        const START: usize = 12;
        let room = block.len().saturating_sub(START + 4);
        let kept = match interface.snap_len {
            0 => wire_len,
            limit => wire_len.min(limit),
        };
        Next::Record(Record {
            at: None,
            link: interface.link,
            start: START,
            len: room.min(kept as usize),
            wire_len,
            record_len: block.len(),
        })
    }

    fn interface(&mut self, block: &[u8], notices: &mut Notices) {
        let mut interface = Interface {
            link: LinkType::from(self.u16_at(block, 8)),
            snap_len: self.u32_at(block, 12),
            resolution: Resolution::decimal(6),
            offset_ns: 0,
            dropped: 0,
        };
        self.options(block, 16, |code, value| match (code, value) {
            (9, [power, ..]) if power & 0x80 != 0 => {
                interface.resolution = Resolution::Binary(power & 0x7f);
            }
            (9, [power, ..]) => interface.resolution = Resolution::decimal(*power),
            (14, value) => {
                let seconds = self.u64_at(value, 0) as i64;
                interface.set_offset(seconds, notices);
            }
            _ => {}
        });
        if self.interfaces.len() < MAX_INTERFACES {
            self.interfaces.push(interface);
        }
    }

    fn statistics(&mut self, block: &[u8], notices: &mut Notices) {
        let mut reported = 0_u64;
        // isb_ifdrop, isb_osdrop
        self.options(block, 20, |code, value| {
            if matches!(code, 5 | 7) && value.len() >= 8 {
                reported = reported.saturating_add(self.u64_at(value, 0));
            }
        });
        let number = self.u32_at(block, 8) as usize;
        if let Some(interface) = self.interfaces.get_mut(number) {
            let new = reported.saturating_sub(interface.dropped);
            notices.dropped = notices.dropped.saturating_add(new);
            interface.dropped = reported.max(interface.dropped);
        }
    }

    fn options(&self, block: &[u8], start: usize, mut each: impl FnMut(u16, &[u8])) {
        let end = block.len().saturating_sub(4);
        let mut rest = block.get(start..end).unwrap_or_default();
        while rest.len() >= 4 {
            let (code, len) = (self.u16_at(rest, 0), usize::from(self.u16_at(rest, 2)));
            let Some(value) = rest.get(4..4 + len).filter(|_| code != 0) else {
                return;
            };
            each(code, value);
            rest = rest.get(4 + len.next_multiple_of(4)..).unwrap_or_default();
        }
    }

    fn u16_at(&self, bytes: &[u8], at: usize) -> u16 {
        let word = array(bytes, at);
        if self.big_endian {
            u16::from_be_bytes(word)
        } else {
            u16::from_le_bytes(word)
        }
    }

    #[inline]
    fn u32_at(&self, bytes: &[u8], at: usize) -> u32 {
        let word = u32::from_le_bytes(array(bytes, at));
        if self.big_endian {
            word.swap_bytes()
        } else {
            word
        }
    }

    fn u64_at(&self, bytes: &[u8], at: usize) -> u64 {
        let word = array(bytes, at);
        if self.big_endian {
            u64::from_be_bytes(word)
        } else {
            u64::from_le_bytes(word)
        }
    }
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let found = bytes.get(at..).and_then(|rest| rest.first_chunk());
    found.copied().unwrap_or([0; N])
}
