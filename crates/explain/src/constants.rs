//! Constants of the analyser: each with its unit, meaning and evidence.

use coax_catalog::stack::BSD_DELAYED_ACK;
use coax_wire::time::Span;

/// An acknowledgment later than this was delayed on purpose. The shortest known timers are 40 ms; a busy machine takes
/// less than this.
pub(crate) const MIN_DELAYED_ACK: Span = Span::from_millis(25);

/// No send buffer is smaller, bytes: Linux grants at least 4,608 (SOCK_MIN_SNDBUF), old stacks 4 KB.
pub(crate) const MIN_SEND_BUFFER: u64 = 4096;

/// No first congestion window is larger, bytes (RFC 6928 §2).
pub(crate) const MAX_INITIAL_WINDOW: u64 = 14_600;

/// The longest time between an acknowledgment and the data that it releases, beyond the round trip.
pub(crate) const MAX_REACTION: Span = Span::from_millis(2);

/// The longest time that a machine takes to acknowledge what replaces a lost segment. Chosen: a busy one takes five times as long
/// as one that has nothing else to do.
pub(crate) const MAX_ACK_PAUSE: Span = Span(5 * MAX_REACTION.0);

/// No retransmission or probe timer of a known stack is shorter.
pub(crate) const MIN_PROBE_TIMEOUT: Span = Span::from_millis(30);

/// The timer of RFC 8985 §6.2, a quarter of the round trip, may be so much longer: Linux adds two ticks (TCP_TIMEOUT_MIN) and rounds up,
/// 4 ms each at 250 Hz. Seen: 58.3 ms with a round trip of 214.5 ms.
pub(crate) const MAX_REORDERING_TIMER_DELAY: Span = Span::from_millis(12);

/// The options of Linux's SYN in their order, by IANA's numbers: MSS, SACK permitted, timestamps, padding, window scale (seen of 6.18;
/// p0f.fp of p0f 3 has it for 2.2 to 3.11, and other orders for Windows, BSD, Mac OS and Solaris).
pub(crate) const LINUX_OPTIONS: [u8; 5] = [2, 4, 8, 1, 3];

/// A sender that responds to duplicate ACKs retransmits within this time after the third.
pub(crate) const MAX_FAST_RETRANSMIT_DELAY: Span = Span::from_millis(10);

/// A packet that arrives later than this, beyond half a round trip, was retransmitted and not reordered.
pub(crate) const MAX_REORDERING: Span = Span::from_millis(2);

/// A shorter pause between two packets of one side, within a message, is queueing and not think time.
pub(crate) const MAX_QUEUEING_PAUSE: Span = Span(300_000);

/// A machine that pauses this long in the middle of a message waits for its retransmission timeout.
pub(crate) const MIN_STALL_RTO: Span = Span::from_millis(180);

/// The longest delay of known stacks, and 10 ms for a machine that is busy when its timer fires.
pub(crate) const MAX_DELAYED_ACK: Span = Span(BSD_DELAYED_ACK.0 + 10_000_000);

/// A retransmission after a shorter silence is not counted as a timeout: a timer is longer than a round trip, and a
/// shorter round trip needs no explanation.
pub(crate) const MIN_OBSERVED_RTO: Span = Span::from_millis(20);

/// A pause that ends a burst: longer than a slow machine takes for a packet on a slow link.
pub(crate) const MIN_BURST_GAP: Span = Span::from_millis(3);

/// An interrupt or scheduler delays a captured packet by no more than this.
pub(crate) const MAX_JITTER: Span = Span::from_millis(5);

/// Bytes that were acknowledged and do not arrive in this time are missing in the capture, not captured late.
pub(crate) const MAX_CAPTURE_REORDERING: Span = Span::from_millis(5);

/// A clock this coarse does not separate the packets of one burst: the capture is at most fair.
pub(crate) const MAX_CLOCK_GRAIN: Span = Span::from_millis(1);

/// Packets further out of order than this make a capture at most fair.
pub(crate) const MAX_DISORDER: Span = Span::from_millis(1);

/// More holes than one in this many segments make a capture poor.
pub(crate) const MAX_HOLES: u64 = 100;

/// More skipped bytes, or packets of unknown links, than one in this many make a capture poor.
pub(crate) const MAX_LOST_PART: u64 = 20;

/// Shortest and longest slot of the window in which the path's utilisation is measured. Between these limits, a slot is a
/// round trip. In a shorter slot, interrupts and the scheduler (5 ms) would decide how many bytes it has.
pub(crate) const MIN_UTILISATION_SLOT: Span = Span(12_500_000);
pub(crate) const MAX_UTILISATION_SLOT: Span = Span::from_millis(2000);

/// A path is saturated if it carried data for this part of a window, percent (Siekkinen's dispersion score below 0.1).
pub(crate) const MIN_SATURATED: u64 = 90;

/// The same while a queue stands in the path: the delivered rate varies by more than 10 %.
pub(crate) const MIN_SATURATED_QUEUED: u64 = 70;

/// Fewest packets of a window that shows utilisation.
pub(crate) const MIN_SATURATED_PACKETS: u32 = 12;

/// Number of windows with a queue whose rates are kept.
pub(crate) const QUEUED_RATES: usize = 16;

/// A round trip includes queueing if it is longer than the shortest one by this.
pub(crate) const MIN_QUEUEING: Span = Span::from_millis(1);

/// Fewer waits do not show what makes packets late.
pub(crate) const MIN_WAITS: u32 = 10;

/// Least correlation of successive waits in a queue of other packets. On copies between real programs it was 0.5 to 0.97 beside
/// steady traffic, 0.2 to 0.5 beside bursts, and at most 0.21 on paths that vary or stand still.
pub(crate) const MIN_MEMORY: f64 = 0.35;

/// The correlation of independent waits exceeds this number of standard errors (one by the root of their number) once in 20.
pub(crate) const MIN_MEMORY_ERRORS: f64 = 1.7;

/// A packet is late if it takes longer than the shortest time by this, and by a quarter of that time.
pub(crate) const MIN_DELAY: Span = Span::from_millis(1);

/// Packets of a burst leave this number of times as close as the path carries packets on average. So at most a quarter of a
/// packet of other traffic that comes at that rate fits between them.
pub(crate) const MIN_CLOSENESS: f64 = 4.0;

/// Bytes of a burst behind its first packet, at least: two full packets.
pub(crate) const MIN_BURST: u64 = 3_000;

/// Linux does not send a part of what its program has offered while less than this part of the window is free
/// (`tcp_tso_win_divisor`).
pub(crate) const WINDOW_PARTS: u64 = 3;

/// Losses, at least, before their places in the sender's bursts are compared. In a real copy through a queue of two packets, one
/// loss was seen within a burst and 190 segments were lost: one loss shows no pattern.
pub(crate) const MIN_PATTERN_LOSSES: u64 = 3;

/// Bytes of the receiver's buffer that an AndX request or response takes beside its data, at most. The session header does not count.
/// Source: [MS-CIFS] 2.2.4.42.2 and 2.2.4.43.1; real clients leave 64 bytes.
pub const MAX_ANDX_HEADER: u64 = 64;
