//! Example parameters for unit tests.

use super::*;

/// Parameters for a path that takes `ns` nanoseconds for a byte, and a handshake of `handshake_us` microseconds.
pub(crate) fn guess(ns: f64, handshake_us: f64) -> ModelParameters {
    ModelParameters {
        round_trip: handshake_us * 1000.0,
        path_ps: ns * 1000.0,
        path_known: true,
        far_end: Some(1),
        handshake_rtt: handshake_us * 1000.0,
        is_assumed: false,
        is_unlikely: false,
        segment: [0.0; 2],
        think: [1e6; 2],
        most_think: [1e6; 2],
        is_weak: false,
        overlaps: false,
        longest: 1460.0 + FRAME_OVERHEAD,
        rare: [0.0; 2],
        fixed: [0.5; 2],
        block: 4096.0,
        loss: Loss::None,
        at_one_place: false,
        timer: 1e9,
        fast_retransmit: true,
        congestion: Congestion::From(2),
        hold: 0.0,
        tick: 0.0,
        nagle: [false; 2],
        may_hold: [true; 2],
        young: [false; 2],
        send_buffer: 0,
        direction: Direction::ToClient,
        is_modern: false,
        wide: [None; 2],
        window: 0,
        window_part: 1.0,
        client_buffer: None,
    }
}
