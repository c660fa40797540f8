//! A TCP segment as the lab passes it on.

use alloc::vec::Vec;

use crate::{cause::Cause, payload::Payload};

/// Bytes on the wire beside TCP's payload and options: preamble 8, Ethernet header 14, check sequence 4, gap 12, IPv4 20,
/// TCP 20 (IEEE 802.3, RFC 791, RFC 9293).
pub const OVERHEAD: u64 = 78;
/// The least that a frame takes on the wire: 64 bytes, preamble and gap (IEEE 802.3).
pub const MIN_ON_WIRE: u64 = 84;

/// Flags of a segment (RFC 9293 3.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)]
pub struct Flags {
    /// First of a connection.
    pub syn: bool,
    /// Last of a direction.
    pub fin: bool,
    /// The connection is broken off.
    pub rst: bool,
    /// The receiver need not wait for more.
    pub psh: bool,
    /// The acknowledgment number counts.
    pub ack: bool,
}

impl Flags {
    /// As in the header's octet.
    pub const fn bits(self) -> u8 {
        (self.fin as u8)
            | (self.syn as u8) << 1
            | (self.rst as u8) << 2
            | (self.psh as u8) << 3
            | (self.ack as u8) << 4
    }
}

/// Options of a segment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Maximum segment size, in a SYN (RFC 9293 3.7.1).
    pub mss: Option<u16>,
    /// Window scale, in a SYN (RFC 7323).
    pub window_scale: Option<u8>,
    /// Selective acknowledgments are understood, in a SYN (RFC 2018).
    pub sack_permitted: bool,
    /// Ranges that arrived out of order, latest first, at most three with timestamps and four without (RFC 2018).
    pub sack: Vec<(u64, u64)>,
    /// Value and echo (RFC 7323).
    pub timestamps: Option<(u32, u32)>,
}

impl Options {
    /// Bytes in the header, padded to words.
    pub fn len(&self) -> u64 {
        let sack = if self.sack.is_empty() {
            0
        } else {
            4 + 8 * self.sack.len() as u64
        };
        let parts = [
            if self.mss.is_some() { 4 } else { 0 },
            if self.window_scale.is_some() { 4 } else { 0 },
            match (self.sack_permitted, self.timestamps.is_some()) {
                // each fills the other's last word
                (true, true) | (false, true) => 12,
                (true, false) => 4,
                (false, false) => 0,
            },
            sack,
        ];
        parts.iter().sum()
    }

    /// There are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Why a segment is sent. The receiver does not see this; the truth account does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sent {
    /// For the first time.
    #[default]
    New,
    /// Again, after duplicate acknowledgments.
    FastRetransmit,
    /// Again, after the retransmission timer.
    Timeout,
    /// To ask whether the window has opened.
    Probe,
}

impl Sent {
    /// What its time on the wire is charged to.
    pub const fn cause(self) -> Cause {
        match self {
            Self::New => Cause::Bandwidth,
            Self::FastRetransmit => Cause::FastRecovery,
            Self::Timeout => Cause::Timeout,
            Self::Probe => Cause::ZeroWindow,
        }
    }
}

/// A segment. Sequence numbers do not wrap here: the low 32 bits are what the wire shows.
#[derive(Clone, Debug, Default)]
pub struct Segment {
    /// Sequence number of the first byte (or of SYN or FIN).
    pub seq: u64,
    /// Next sequence number expected, where the flag says so.
    pub ack: u64,
    /// Flags.
    pub flags: Flags,
    /// Window in bytes, as the receiver of the segment understands it.
    pub window: u32,
    /// How many bits less the header shows of the window.
    pub window_shift: u8,
    /// Options.
    pub options: Options,
    /// Data.
    pub payload: Payload,
    /// Why it is sent.
    pub sent: Sent,
}

impl Segment {
    /// Sequence numbers it takes up: its bytes, and one each for SYN and FIN.
    pub const fn seq_len(&self) -> u64 {
        self.payload.len() + self.flags.syn as u64 + self.flags.fin as u64
    }

    /// Bytes of Ethernet frame from the destination address to the end of the payload, without padding and check
    /// sequence: what a capture holds.
    pub fn frame_len(&self) -> u64 {
        54 + self.options.len() + self.payload.len()
    }

    /// Bytes' time that it takes on the wire.
    pub fn on_wire(&self) -> u64 {
        (OVERHEAD + self.options.len() + self.payload.len()).max(MIN_ON_WIRE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_segment_takes_1538_bytes_of_wire_and_an_acknowledgment_84() {
        let mut segment = Segment::default();
        assert_eq!(segment.on_wire(), 84);
        segment.payload = Payload::pattern(0, 1460);
        assert_eq!((segment.on_wire(), segment.frame_len()), (1538, 1514));
    }
}
