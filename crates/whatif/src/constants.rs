//! Constants of the model: each with its unit, meaning and evidence.

// fit

/// Corrections of one set of parameters.
pub(crate) const FIT_ROUNDS: usize = 6;

/// A model that misses by no more than this part of the time is not corrected further.
pub(crate) const GOOD_MISS: f64 = 0.01;

/// The seed of runs that do not vary chance.
pub(crate) const FIRST_SEED: u64 = 1;

/// The largest part of the measured time by which a model may miss it.
pub(crate) const MAX_MISS: f64 = 0.25;

/// A model that spends its time like the copy differs in less than this part of the time.
pub(crate) const MAX_CAUSE_DIFFERENCE: f64 = 0.2;

/// The part of the time that every prediction leaves open.
pub(crate) const MIN_UNCERTAINTY: f64 = 0.04;

/// See [`crate::parameters::ModelParameters::prior_penalty`]: part of the time.
pub(crate) const PRIOR_PENALTY: f64 = 0.03;

// limits

/// Bytes of a copy that are simulated; the rest is extrapolated.
pub(crate) const MAX_MODEL_BYTES: u64 = 4_000_000;

/// Requests of a copy that are simulated; the rest is extrapolated.
pub(crate) const MAX_MODEL_REQUESTS: u64 = 2_000;

/// A copy of fewer requests says too little.
pub(crate) const MIN_REQUESTS: f64 = 2.0;

/// Changes that are tried in pairs: those that alone gain most.
pub(crate) const MAX_PAIRED_CHANGES: usize = 4;

/// Events of the lab in one run. A copy of 4 MB has some 30,000.
pub(crate) const MAX_RUN_EVENTS: u64 = 200_000;

/// Events of the lab in all runs of a model, without those that the last run began.
pub const MAX_EVENTS: u64 = 3_000_000;

/// A port without SMB: discard (RFC 863).
pub(crate) const DISCARD_PORT: u16 = 9;

// machines and networks

/// Nanoseconds per millisecond.
pub(crate) const NS_PER_MS: f64 = 1e6;

/// The longest time per byte of a request on a machine with window scaling, ns: a disk of 100 MB/s.
pub(crate) const MAX_MODERN_NS_PER_BYTE: f64 = 10.0;

/// The clock of delayed ACKs in BSD stacks (`tcp_fasttimo`), ns.
pub(crate) const BSD_FAST_TIMEOUT: f64 = 200.0 * NS_PER_MS;

/// Time per byte on Ethernet of 10, 100 and 1,000 Mbit/s, ps.
pub(crate) const ETHERNET_PS_PER_BYTE: [f64; 3] = [800_000.0, 80_000.0, 8_000.0];

/// The network assumed for a path whose pace is set by a machine, ps per byte.
pub(crate) const DEFAULT_PS_PER_BYTE: f64 = ETHERNET_PS_PER_BYTE[1];

/// Headers and framing of a segment on Ethernet, bytes.
pub(crate) const FRAME_OVERHEAD: f64 = 78.0;

/// The smallest Ethernet frame with its framing, bytes.
pub(crate) const MIN_FRAME: f64 = 84.0;

/// A handshake that takes longer is not local, even with slow machines, ns.
pub(crate) const MIN_WIDE_AREA_RTT: f64 = 8e6;

/// Largest window scale (RFC 7323 §2.3).
pub(crate) const MAX_WINDOW_SCALE: u8 = 14;

/// A window this wide limits no model, bytes.
pub(crate) const UNLIMITED_WINDOW: u64 = 4 << 20;

// observations

/// Blocks of no more segments show their pace, at best, by the packets that follow, at the sender.
pub(crate) const MAX_SEGMENTS_OF_SMALL_BLOCK: u64 = 4;

/// Waits per request, for half of them to show the usual one.
pub(crate) const MAX_WAITS_PER_REQUEST: f64 = 2.2;

/// The largest part of a copy that rare waits may explain.
pub(crate) const MAX_RARE_PART: f64 = 0.5;

/// Standard deviations of the number of losses (its root) that are left open.
pub(crate) const LOSS_DEVIATIONS: f64 = 1.5;

/// Bytes of a message without its file data, with the session header, at most.
pub(crate) const MAX_MESSAGE_HEADER: u64 = 68;

/// The largest request of SMB1, bytes: the counts of large reads and writes are not used for more.
pub(crate) const MAX_BLOCK: u64 = 0x2_0000;

/// Requests of one kind around the data that the model repeats.
pub(crate) const MAX_STEPS: u64 = 8;

/// By this factor the segments of a client exceed those of its requests if each request is split in two.
pub(crate) const SPLIT_REQUEST_RATIO: f64 = 1.6;

/// Fewer data segments are no bulk transfer.
pub(crate) const MIN_BULK_SEGMENTS: u64 = 10;

/// In a bulk transfer at most one byte in this many goes the other way.
pub(crate) const MIN_ONE_WAY_RATIO: u64 = 20;

/// In a bulk transfer at most one part in this many of the time is spent in programs.
pub(crate) const MIN_PROGRAM_RATIO: u64 = 4;
