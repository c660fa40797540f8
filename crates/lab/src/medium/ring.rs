//! The token of a Token Ring (IEEE 802.5).
//!
//! The free token passes all stations, one after the other. A station with a frame takes it, sends this frame, and releases a token; so each
//! station sends one frame in a turn. At 4 Mbit/s the token follows when the sender has its own frame's beginning back; at 16 Mbit/s it
//! follows the frame at once (early token release).
//!
//! Not modelled: priorities and reservations, several frames in the token holding time, the active monitor's work, source routing.

use coax_wire::time::{Span, Time};

/// Bits a second from which on stations release the token early.
const EARLY_RELEASE_RATE: u64 = 16_000_000;
/// Bits of a token: starting delimiter, access control, ending delimiter.
const TOKEN: u64 = 24;

/// Where the token is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ring {
    rate: u64,
    /// Of a whole turn.
    latency: Span,
    /// When a station released the token, and which.
    released: (Time, usize),
}

impl Ring {
    /// A ring on which a frame takes `half` from a station to the one opposite.
    pub(super) const fn new(rate: u64, half: Span) -> Self {
        let turn = half.0.saturating_mul(2);
        Self {
            rate,
            // a ring that is shorter than the token delays it
            latency: Span(if turn < token(rate) {
                token(rate)
            } else {
                turn
            }),
            released: (Time(0), 0),
        }
    }

    /// When a station of `count` that is ready at `ready` gets the token.
    pub(super) fn reaches(&self, station: usize, count: usize, ready: Time) -> Time {
        let (at, last) = self.released;
        let count = count.max(1);
        let steps = match (station + count - last % count) % count {
            0 => count,
            steps => steps,
        };
        let hop = self.latency.0.saturating_mul(steps as u64) / count as u64;
        let first = at.0.saturating_add(hop);
        let turns = ready
            .0
            .saturating_sub(first)
            .div_ceil(self.latency.0.max(1));
        Time(first.saturating_add(turns.saturating_mul(self.latency.0)))
    }

    /// A station has sent a frame from `start` to `end`.
    pub(super) fn sent(&mut self, station: usize, start: Time, end: Time) {
        let is_early = self.rate >= EARLY_RELEASE_RATE;
        let back = start + self.latency;
        let release = if is_early { end } else { end.max(back) };
        self.released = (release + Span(token(self.rate)), station);
    }
}

/// Time of a token.
const fn token(rate: u64) -> u64 {
    TOKEN.saturating_mul(1_000_000_000) / if rate == 0 { 1 } else { rate }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_free_token_comes_round_and_a_sender_waits_for_a_whole_turn() {
        // 4 Mbit/s: a token takes 6 µs, a turn 40 µs
        let mut ring = Ring::new(4_000_000, Span(20_000));
        assert_eq!(ring.reaches(1, 4, Time(0)), Time(10_000));
        assert_eq!(ring.reaches(1, 4, Time(10_001)), Time(50_000));
        ring.sent(1, Time(50_000), Time(150_000));
        assert_eq!(ring.reaches(2, 4, Time(0)), Time(156_000 + 10_000));
        assert_eq!(ring.reaches(1, 4, Time(0)), Time(156_000 + 40_000));
    }

    #[test]
    fn a_short_frame_holds_the_token_for_a_turn_at_4_mbit_and_not_at_16() {
        for (rate, release) in [(4_000_000, 500_000), (16_000_000, 10_000)] {
            let mut ring = Ring::new(rate, Span(250_000));
            ring.sent(0, Time(0), Time(10_000));
            assert_eq!(ring.released, (Time(release + token(rate)), 0));
        }
    }
}
