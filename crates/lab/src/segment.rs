//! TCP segments of the simulation.

use alloc::{sync::Arc, vec::Vec};

use crate::{cause::Cause, payload::Payload};

/// Bytes on the wire in addition to TCP's payload and options: preamble 8, Ethernet header 14, check sequence 4, gap
/// 12, IPv4 20, TCP 20 (IEEE 802.3, RFC 791, RFC 9293).
pub const OVERHEAD: u64 = 78;
/// Bytes on the wire in addition to a frame: preamble 8, check sequence 4, gap 12 (IEEE 802.3).
pub const FRAMING: u64 = 24;
/// Minimum size of a frame on the wire: 64 bytes, preamble and gap (IEEE 802.3).
pub const MIN_ON_WIRE: u64 = 84;

/// Flags of a segment (RFC 9293 3.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)]
pub struct Flags {
    /// Start of a connection.
    pub syn: bool,
    /// End of a direction.
    pub fin: bool,
    /// Reset of the connection.
    pub rst: bool,
    /// Deliver the data at once.
    pub psh: bool,
    /// The ACK number is valid.
    pub ack: bool,
}

impl Flags {
    /// The flags as in the header's octet.
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
    /// Selective acknowledgments are supported, in a SYN (RFC 2018).
    pub sack_permitted: bool,
    /// Ranges received out of order, latest first; at most three with timestamps and four without (RFC 2018).
    pub sack: Vec<(u64, u64)>,
    /// Timestamp value and echo (RFC 7323).
    pub timestamps: Option<(u32, u32)>,
}

impl Options {
    /// Bytes in the header, padded to a multiple of four.
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
                // together they need no padding
                (true, true) | (false, true) => 12,
                (true, false) => 4,
                (false, false) => 0,
            },
            sack,
        ];
        parts.iter().sum()
    }

    /// Whether there are no options.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The reason for sending a segment. Only the ground truth uses it; the receiver does not see it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sent {
    /// New data.
    #[default]
    New,
    /// Retransmission after duplicate ACKs.
    FastRetransmit,
    /// Retransmission after a timeout.
    Timeout,
    /// A window probe.
    Probe,
}

impl Sent {
    /// The cause for its time on the wire.
    pub const fn cause(self) -> Cause {
        match self {
            Self::New => Cause::Bandwidth,
            Self::FastRetransmit => Cause::FastRecovery,
            Self::Timeout => Cause::Timeout,
            Self::Probe => Cause::ZeroWindow,
        }
    }
}

/// A segment. Sequence numbers have 64 bits here; headers contain the low 32 bits.
#[derive(Clone, Debug, Default)]
pub struct Segment {
    /// Sequence number of the first byte (or of SYN or FIN).
    pub seq: u64,
    /// Next expected sequence number, if the ACK flag is set.
    pub ack: u64,
    /// Flags.
    pub flags: Flags,
    /// Window in bytes, after scaling.
    pub window: u32,
    /// Window scale: the header's field is shifted right by this number of bits.
    pub window_shift: u8,
    /// Options.
    pub options: Options,
    /// Data.
    pub payload: Payload,
    /// Reason for sending it.
    pub sent: Sent,
    /// The whole Ethernet frame, from the destination address on, if it is not TCP's. The fields above then say what plots,
    /// losses and costs need: data bytes, their place in the stream, and what was received.
    pub frame: Option<Arc<[u8]>>,
}

impl Segment {
    /// Sequence numbers that it occupies: its bytes, and one each for SYN and FIN.
    pub const fn seq_len(&self) -> u64 {
        self.payload.len() + self.flags.syn as u64 + self.flags.fin as u64
    }

    /// Bytes of the Ethernet frame in a capture: from the destination address to the end of the payload, without
    /// padding and check sequence.
    pub fn frame_len(&self) -> u64 {
        match &self.frame {
            Some(frame) => frame.len() as u64,
            None => 54 + self.options.len() + self.payload.len(),
        }
    }

    /// Bytes on the wire, including overhead.
    pub fn on_wire(&self) -> u64 {
        let bytes = match &self.frame {
            Some(frame) => FRAMING + frame.len() as u64,
            None => OVERHEAD + self.options.len() + self.payload.len(),
        };
        bytes.max(MIN_ON_WIRE)
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
