//! Constants of the model: each with its unit, meaning and evidence.

use coax_catalog::stack;

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

/// Fits whose miss is at most this many times the best one's are kept beside it; chosen on `tests/pairs.toml`, as are the
/// next five.
pub(crate) const KEPT_MISS_RATIO: f64 = 1.5;

/// A fit that misses by no more than this part of the time is kept, however good the best one is.
pub(crate) const KEPT_MISS: f64 = 0.03;

/// Fits that are kept.
pub(crate) const MAX_FITS: usize = 4;

/// A correction that leaves more than this part of the miss is in vain.
pub(crate) const MIN_PROGRESS: f64 = 0.95;

/// After so many corrections in vain a structure is not corrected further.
pub(crate) const MAX_VAIN_ROUNDS: usize = 2;

/// Fits whose misses differ by no more than this factor are equally good.
pub(crate) const EQUAL_MISS_RATIO: f64 = 1.1;

/// One correction changes a value by no more than these factors: the model is not linear in it.
pub(crate) const CORRECTION: [f64; 2] = [0.3, 3.0];

// shares of a copy's time, each one part in this many; chosen on `tests/pairs.toml`

/// A smaller share is not compared with the model's: it is within the analyser's own error.
pub(crate) const COMPARABLE: f64 = 200.0;

/// A smaller share shows nothing.
pub(crate) const VISIBLE: f64 = 100.0;

/// A smaller share of delayed ACKs, or of the path, does not shape the copy.
pub(crate) const SHAPING: f64 = 50.0;

/// A smaller share is noise beside the rest of the copy.
pub(crate) const CONSIDERABLE: f64 = 20.0;

/// The path sets the pace of a copy that spends more than this part of its time on carrying bytes.
pub(crate) const PATH_BOUND: f64 = 0.15;

/// The path of the model differs from the pace that was seen by no more than this factor, where both captures show one: the pace of a
/// sender that waits for windows is hard to see in either. Chosen.
pub(crate) const MAX_PACE_ERROR: f64 = 1.5;

/// The smallest part of a window that its sender could use on average. Chosen.
pub(crate) const MIN_WINDOW_PART: f64 = 0.3;

/// The model is too fast, and its path with it, if the copy takes this many times its time.
pub(crate) const TOO_FAST_RATIO: f64 = 1.2;

// first values

/// Machines of requests that follow one another take at most this many times what shows: nothing hides of it.
pub(crate) const MAX_SERIAL_THINK_RATIO: f64 = 1.05;

/// Machines of overlapping requests take at most this many times what shows.
pub(crate) const MAX_HIDDEN_THINK_RATIO: f64 = 10.0;

/// Machines may take this much more than that, ns: the resolution of captures.
pub(crate) const THINK_RESOLUTION: f64 = 1000.0;

/// The sender repairs losses after duplicate ACKs if that took more than one part in this many of its timeouts.
pub(crate) const MIN_FAST_RATIO: f64 = 10.0;

/// Parts of the path's time for a frame that a machine may take to place one in its card.
pub(crate) const RING_PLACING: [f64; 3] = [0.1, 0.3, 0.6];

/// Usual sizes of transmit rings, frames: the drivers in `data/cards` and their neighbours.
pub(crate) const USUAL_RINGS: [u64; 6] = [4, 6, 8, 10, 12, 16];

/// The largest part of frames that is lost by chance: beyond it no copy ends.
pub(crate) const MAX_LOSS: f64 = 0.5;

/// The smallest queue of a router that loses frames, bytes: two frames.
pub(crate) const MIN_QUEUE: f64 = 3000.0;

/// The part of a machine's time that does not grow with bytes, at least, where few requests take most of it.
pub(crate) const MIN_FIXED_OF_UNEVEN: f64 = 0.9;

/// Data this much faster than the fastest Ethernet comes from a machine's memory.
pub(crate) const MEMORY_RATIO: f64 = 0.88;

/// Bytes of a request of which half the time is fixed, as long as nothing is known of it.
pub(crate) const EVEN_SHARE_BLOCK: f64 = 16_384.0;

/// A receiver that sends more than this many pure ACKs per data segment acknowledges each.
pub(crate) const ACK_EACH_RATIO: f64 = 0.85;

/// Timers of retransmission, ns: the shortest and longest that is fitted.
pub(crate) const RTO_RANGE: [f64; 2] = [NS_PER_MS, 3_000.0 * NS_PER_MS];

/// The longest timer that a correction leads to, ns.
pub(crate) const MAX_RTO: f64 = 60_000.0 * NS_PER_MS;

/// `rto_min` of stacks with window scaling, ns.
pub(crate) const MODERN_RTO: f64 = stack::LINUX_RTO_MIN.0 as f64;

/// `rto_min` of older stacks, ns.
pub(crate) const OLD_RTO: f64 = stack::STANDARD_RTO_MIN.0 as f64;

/// Delayed ACKs of stacks with window scaling, ns. Linux's 40 ms are ten ticks of its clock after the one that is under way:
/// 40 to 44 ms, so 42 ms on average.
pub(crate) const MODERN_DELAYED_ACK: f64 = stack::LINUX_DELAYED_ACK.0 as f64 + 2.0 * NS_PER_MS;

/// Segments of a new connection's first flight with window scaling (RFC 6928) and without (RFC 5681).
pub(crate) const INITIAL_WINDOWS: [u64; 2] = [10, 2];

// limits

/// Bytes of a copy that are simulated; the rest is extrapolated.
pub(crate) const MAX_MODEL_BYTES: u64 = 4_000_000;

/// Requests of a copy that are simulated; the rest is extrapolated.
pub(crate) const MAX_MODEL_REQUESTS: u64 = 2_000;

/// Segments of a copy that are simulated; the rest is extrapolated. 4 MB in segments of 536 bytes, the smallest usual ones (RFC 9293 3.7.1), have
/// fewer.
pub(crate) const MAX_MODEL_SEGMENTS: u64 = 8_000;

/// The smallest segment of the lab's stacks, bytes.
pub(crate) const MIN_SEGMENT: u64 = 64;

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

/// The clock of delayed ACKs in BSD stacks, ns.
pub(crate) const BSD_FAST_TIMEOUT: f64 = stack::BSD_DELAYED_ACK.0 as f64;

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

/// A shorter round trip cannot be distinguished from the time that a program takes before its next request, ns.
pub(crate) const MIN_SHOWN_WAY: u64 = 2_000_000;

/// The largest part of a copy that rare waits may explain.
pub(crate) const MAX_RARE_PART: f64 = 0.5;

/// A client waits for each answer if round trips took at least one of so many parts of what its requests would need one after another.
/// Chosen: real copies with two requests in flight took less than a tenth, those with one all of it.
pub(crate) const SERIAL_ROUND_TRIPS: u64 = 3;

/// The part of the slowest network's pace at which a pace that only answers tell is still taken for that network's. Chosen: a real
/// path of 10 Mbit/s was estimated 5 % too fast.
pub(crate) const SLOWEST_NETWORK_RATIO: f64 = 0.9;

/// Standard deviations of the number of losses (its root) that are left open.
pub(crate) const LOSS_DEVIATIONS: f64 = 1.5;

/// Bytes of a message without its file data, with the session header, at most.
pub(crate) const MAX_MESSAGE_HEADER: u64 = 68;

/// The largest request of SMB1, bytes: the counts of large reads and writes are not used for more.
pub(crate) const MAX_BLOCK: u64 = 0x2_0000;

/// The largest message of a client that announces the smaller one of the server, bytes: the default of jCIFS and of Samba.
pub(crate) const USUAL_CLIENT_BUFFER: u64 = 16_644;

/// Requests of one kind around the data that the model repeats.
pub(crate) const MAX_STEPS: u64 = 8;

/// By this factor the segments of a client exceed those of its requests if each request is split in two.
pub(crate) const SPLIT_REQUEST_RATIO: f64 = 1.6;

/// What the timestamps option takes of each segment, bytes (RFC 7323 §3.2, with padding).
pub(crate) const TIMESTAMPS_OPTION: u32 = 12;

/// Fewer data segments are no bulk transfer.
pub(crate) const MIN_BULK_SEGMENTS: u64 = 10;

/// In a bulk transfer at most one byte in this many goes the other way.
pub(crate) const MIN_ONE_WAY_RATIO: u64 = 20;

/// In a bulk transfer at most one part in this many of the time is spent in programs.
pub(crate) const MIN_PROGRAM_RATIO: u64 = 4;
