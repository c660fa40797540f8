//! Values of the policy, with unit and evidence.

use coax_wire::time::Span;

/// First receive window of an old client, segments. KB Q244826: with a window of 8,760 bytes (6 segments) no frame is
/// lost in the driver's ring, with 17,520 (12 segments) frames are lost.
pub const FIRST_RECEIVE_SEGMENTS: u32 = 6;
/// First limit of unacknowledged segments to an old client. The DP8390's ring in an NE2000 holds 8 full frames in its 16 KB less
/// the transmit buffers; 4 leave room for other traffic.
pub const FIRST_SEND_SEGMENTS: u32 = 4;
/// Smallest limit, segments. With one segment the receiver's delayed acknowledgment (RFC 1122 4.2.3.2: every second segment)
/// would add up to 500 ms to each segment.
pub(crate) const MIN_SEGMENTS: u32 = 2;
/// Largest window without window scaling, bytes (RFC 9293 3.1).
pub(crate) const UNSCALED_WINDOW: u32 = 65_535;
/// Windows of data without loss that prove a limit. A burst that is larger than a ring overflows it each time, so few suffice.
pub(crate) const WINDOWS_PER_EPOCH: u64 = 8;
/// From this round-trip time on, a client is not in the same building and its card not the bottleneck. Ethernet with slow
/// machines has up to some milliseconds, the wide-area path of the published copies 124.
pub(crate) const REMOTE: Span = Span::from_millis(20);
/// A limit grows by half if the sender waits for acknowledgments more than this part of the time: 1/4; it doubles from twice that.
pub(crate) const GROWTH_IDLE_DIVISOR: u64 = 4;
/// Losses with the smallest limit after which the limit is not the cause.
pub(crate) const LOSSES_AT_MINIMUM: u32 = 3;
/// Shortest pause within a message that counts as a loss. The smallest retransmission timers of old stacks are 200 ms or
/// more (notes on MS TCP/IP 1.0a: 220 to 300 ms); delayed acknowledgments take 200 ms, but the receiver's side sends those.
pub(crate) const STALL: Span = Span::from_millis(150);
/// A pause must also be this many round trips.
pub(crate) const STALL_ROUND_TRIPS: u64 = 8;
