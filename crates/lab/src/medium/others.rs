//! Traffic of stations that are not simulated otherwise.

use coax_catalog::link::Others;
use coax_wire::time::{Span, Time};

use super::gap::GAP_BYTES;
use crate::rng::Rng;

/// The frames of a station: intervals between their arrivals are equally likely from zero to twice the mean. Frames that cannot be sent at
/// once wait without limit, so a load above the medium's capacity always has a frame.
#[derive(Clone, Debug)]
pub(super) struct Traffic {
    bytes: u64,
    mean: Span,
    arrival: Time,
}

impl Traffic {
    /// The traffic of one of these stations.
    pub(super) fn new(rate: u64, others: &Others, rng: &mut Rng) -> Self {
        // 8 bytes of preamble; the gap is not part of the frame
        let bytes = others.frame_bytes.saturating_add(8);
        let whole = bytes.saturating_add(GAP_BYTES).saturating_mul(8);
        let own = (rate as f64 * others.load / f64::from(others.stations.max(1))).max(1.0);
        let mean = Span((whole as f64 / own * 1e9) as u64);
        let mut traffic = Self {
            bytes,
            mean,
            arrival: Time(0),
        };
        traffic.advance(rng);
        traffic
    }

    /// The frame that has arrived last.
    pub(super) const fn frame(&self) -> (Time, u64) {
        (self.arrival, self.bytes)
    }

    /// The next frame of a station that is ready to send at `now`.
    pub(super) fn next(&mut self, now: Time, rng: &mut Rng) -> (Time, u64) {
        self.advance(rng);
        (self.arrival.max(now), self.bytes)
    }

    fn advance(&mut self, rng: &mut Rng) {
        let twice = self.mean.0.saturating_mul(2).saturating_add(1);
        self.arrival = self.arrival + Span(rng.next_u64() % twice);
    }
}
