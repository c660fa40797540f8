//! Constants: each with its unit, meaning and evidence.

use coax_wire::time::Span;

/// The shortest time between two looks at the kernel's counters. A look costs about 1 µs.
pub const SAMPLE_MIN: Span = Span::from_millis(5);
/// Length of a slot of the recent past.
pub(crate) const SLOT: Span = Span::from_secs(5);
/// Slots that are kept.
pub(crate) const SLOTS: usize = 13;
/// What "the last seconds" are: the current slot and the one before.
pub const SECONDS: u64 = 10;
/// What "the last minute" is.
pub const MINUTE: u64 = 60;
/// Outside a copy, a client that requests nothing for this long is idle: its user does something else.
pub(crate) const IDLE_AFTER: Span = Span::from_secs(1);
/// A copy whose client requests nothing for this long has ended. A floppy disk that is full is changed sooner.
pub(crate) const COPY_PAUSE_MAX: Span = Span::from_secs(30);

/// A hand-over of replies to the kernel that takes longer than this waited for room in the send buffer. A copy of
/// 64 KiB takes some 20 µs.
pub(crate) const HANDING_MAX: Span = Span(300_000);
/// A shorter pause between two pieces of a message is a delay of interrupts or of the scheduler: `MAX_QUEUEING_PAUSE` of
/// `coax-explain`.
pub(crate) const JITTER: Span = Span(300_000);
/// An acknowledgment later than this was delayed on purpose: `MIN_DELAYED_ACK` of `coax-explain`.
pub(crate) const MIN_DELAYED_ACK: Span = Span::from_millis(25);
/// A client that acknowledges later than this, beyond the shortest round trip, is not waited for because of its window alone:
/// a slow machine takes some milliseconds for a segment.
pub(crate) const ROUND_LATE: Span = Span::from_millis(10);
/// Linux delays an acknowledgment by 40 ms at least; with a busy machine's lateness.
pub(crate) const MAX_OWN_DELAYED_ACK: Span = Span::from_millis(60);
/// A machine that pauses this long in the middle of a message waits for its retransmission timeout: `MIN_STALL_RTO` of
/// `coax-explain`.
pub(crate) const MIN_STALL_RTO: Span = Span::from_millis(180);
/// A round trip shorter than this cannot be told from delays of the scheduler.
pub(crate) const MIN_ROUND_TRIP: Span = Span::from_millis(1);
/// Pieces of a message from which the path's rate is measured: fewer say nothing.
pub(crate) const RATE_PIECES: usize = 6;
/// Bytes of them.
pub(crate) const RATE_BYTES: u64 = 8 * 1024;
/// Pieces of a message that are kept; a message of 64 KiB has 45 segments.
pub(crate) const PIECES: usize = 64;
/// Segments of the first flight of Linux and of all recent systems (RFC 6928).
pub(crate) const INITIAL_SEGMENTS: u64 = 10;
/// The kernel counts busy and limited time in ticks of up to 10 ms. What a look does not use up is kept for the next one, up to
/// this.
pub(crate) const TICKS: Span = Span::from_millis(20);
