//! TCP segments (RFC 9293) and their options (RFC 7323, RFC 2018).

use super::{
    bytes::u32_at,
    endpoint::Endpoint,
    ip::{self, IpPacket},
};
use crate::{LinkType, Packet};

/// A segment's control bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub u16);

impl Flags {
    /// No more data from the sender.
    pub const FIN: u16 = 1;
    /// Synchronize sequence numbers.
    pub const SYN: u16 = 2;
    /// Reset.
    pub const RST: u16 = 4;
    /// The acknowledgment counts.
    pub const ACK: u16 = 16;

    /// Whether any of `bits` is set.
    pub const fn has(self, bits: u16) -> bool {
        self.0 & bits != 0
    }
}

/// A TCP segment as it was captured.
#[derive(Clone, Copy, Debug)]
pub struct Segment<'a> {
    /// Who sent it.
    pub from: Endpoint,
    /// To whom.
    pub to: Endpoint,
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgment number.
    pub ack: u32,
    /// Control bits.
    pub flags: Flags,
    /// Window as it stands in the header.
    pub window: u16,
    /// Checksum as it stands there.
    pub checksum: u16,
    /// IP's identification; 0 if there is none.
    pub identification: u32,
    /// IP's time to live where it was captured.
    pub ttl: u8,
    /// Option bytes.
    pub options: &'a [u8],
    /// Whether all of them were kept.
    pub has_all_options: bool,
    /// What was kept of the data.
    pub data: &'a [u8],
    /// How much data there was, bytes.
    pub len: u32,
}

/// The options of a SYN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SynOptions {
    /// Maximum segment size.
    pub mss: Option<u16>,
    /// Window scale.
    pub window_scale: Option<u8>,
    /// SACK permitted.
    pub sack: bool,
    /// Timestamps.
    pub timestamps: bool,
}

impl<'a> Segment<'a> {
    /// The segment in a plain frame: Ethernet without tags, IPv4 without options, not fragmented. `None` for every other
    /// packet: [`super::Dissector::dissect`] decodes them all, and gives the same for this one, but takes longer.
    #[inline]
    pub fn of_plain_frame(packet: &Packet<'a>) -> Option<Self> {
        let (head, rest) = packet.bytes.split_first_chunk::<14>()?;
        let is_ipv4 = packet.link == LinkType::Ethernet && head[12] == 8 && head[13] == 0;
        Self::parse(&is_ipv4.then(|| ip::plain_tcp(rest)).flatten()?)
    }

    /// The segment in an IP packet; `None` if its header is truncated or invalid.
    #[inline]
    pub(super) fn parse(ip: &IpPacket<'a>) -> Option<Self> {
        let bytes = ip.payload;
        let fixed = bytes.first_chunk::<20>()?;
        let header = usize::from(fixed[12] >> 4) * 4;
        let len = ip.payload_len.checked_sub(header);
        let len = len.and_then(|len| u32::try_from(len).ok());
        let len = len.filter(|_| header >= fixed.len())?;
        let byte = |at: usize| *fixed.get(at).unwrap_or(&0);
        let half = |at: usize| u16::from_be_bytes([byte(at), byte(at + 1)]);
        let word = |at: usize| u32::from(half(at)) << 16 | u32::from(half(at + 2));
        Some(Self {
            from: Endpoint::new(ip.from, half(0)),
            to: Endpoint::new(ip.to, half(2)),
            seq: word(4),
            ack: word(8),
            flags: Flags(u16::from(fixed[13])),
            window: half(14),
            checksum: half(16),
            identification: ip.identification,
            ttl: ip.ttl,
            options: bytes.get(20..header.min(bytes.len())).unwrap_or_default(),
            has_all_options: bytes.len() >= header,
            data: bytes.get(header..).unwrap_or_default(),
            len,
        })
    }

    /// The options of a SYN.
    pub fn syn_options(&self) -> SynOptions {
        let mut found = SynOptions::default();
        for (kind, value) in options(self.options) {
            match (kind, value) {
                (2, [high, low]) => found.mss = Some(u16::from_be_bytes([*high, *low])),
                (3, [shift]) => found.window_scale = Some((*shift).min(14)),
                (4, []) => found.sack = true,
                (8, _) => found.timestamps = true,
                _ => {}
            }
        }
        found
    }

    /// The sequence numbers that it says came twice (RFC 2883 §4): a first SACK block that is acknowledged already or lies
    /// within the second.
    pub fn duplicate_sack(&self) -> Option<(u32, u32)> {
        let mut blocks = self.has_sack().then(|| self.sack_blocks())?;
        let (from, to) = blocks.next()?;
        let second = blocks.next();
        let is_within =
            second.is_some_and(|(start, end)| !is_before(from, start) && !is_before(end, to));
        (!is_before(self.ack, to) || is_within).then_some((from, to))
    }

    /// Whether it says that something arrived beyond what it acknowledges.
    pub fn reports_hole(&self) -> bool {
        self.has_sack() && self.sack_blocks().any(|(_, to)| is_before(self.ack, to))
    }

    /// The SACK block with the segment that arrived last (RFC 2018 §4): its first number, and the one after its last.
    pub fn newest_sack(&self) -> Option<(u32, u32)> {
        let mut blocks = self.has_sack().then(|| self.sack_blocks())?;
        blocks.find(|(_, to)| is_before(self.ack, *to))
    }

    /// SACK blocks as they stand there: first number, and the one after the last.
    fn sack_blocks(&self) -> impl Iterator<Item = (u32, u32)> {
        let blocks = options(self.options).find(|(kind, _)| *kind == 5);
        let blocks = blocks.map_or(&[][..], |(_, blocks)| blocks);
        blocks
            .chunks_exact(8)
            .filter_map(|block| Some((u32_at(block, 0)?, u32_at(block, 4)?)))
    }

    /// Whether it carries SACK blocks.
    pub fn has_sack(&self) -> bool {
        // two NOPs and timestamps alone are the common case
        let only_timestamps = self.options.len() == 12 && self.options.get(2) == Some(&8);
        self.options.len() > 8
            && !only_timestamps
            && options(self.options).any(|(kind, _)| kind == 5)
    }
}

/// Whether a sequence number comes before another.
fn is_before(one: u32, other: u32) -> bool {
    (other.wrapping_sub(one) as i32) > 0
}

/// The options in order: kind and value. Damaged ones end the list.
fn options(mut bytes: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    core::iter::from_fn(move || {
        loop {
            let (&kind, rest) = bytes.split_first()?;
            match kind {
                0 => return None,
                1 => bytes = rest,
                _ => {
                    let len = usize::from(*rest.first()?);
                    let value = bytes.get(2..len)?;
                    bytes = bytes.get(len..)?;
                    return Some((kind, value));
                }
            }
        }
    })
}
