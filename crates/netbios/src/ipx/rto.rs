//! The time after which a packet is sent again (RFC 6298, with limits for a local network).

use coax_wire::time::Span;

/// Before anything was measured. Windows repeats name queries and probes after about this time.
const INITIAL: Span = Span::from_millis(600);
/// Longer than the time that an acknowledgment waits for data to travel with.
const MIN: Span = Span::from_millis(200);
/// The longest wait.
const MAX: Span = Span::from_secs(4);

#[derive(Clone, Copy, Debug)]
pub(super) struct Rto {
    /// Smoothed round trip and its variation, once there are any.
    measured: Option<(u64, u64)>,
    /// How often the time has been doubled.
    doubled: u32,
}

impl Rto {
    pub(super) const fn new() -> Self {
        Self {
            measured: None,
            doubled: 0,
        }
    }

    /// A packet that was sent once was answered after this time.
    pub(super) fn sample(&mut self, span: Span) {
        let new = span.0;
        self.measured = Some(match self.measured {
            None => (new, new / 2),
            Some((mean, variation)) => {
                let error = mean.abs_diff(new);
                (
                    (mean / 8).saturating_mul(7).saturating_add(new / 8),
                    (variation / 4).saturating_mul(3).saturating_add(error / 4),
                )
            }
        });
    }

    /// The peer answered.
    pub(super) fn reset(&mut self) {
        self.doubled = 0;
    }

    /// Nobody answered.
    pub(super) fn back_off(&mut self) {
        self.doubled = self.doubled.saturating_add(1);
    }

    pub(super) fn span(&self) -> Span {
        let base = match self.measured {
            None => INITIAL.0,
            Some((mean, variation)) => mean.saturating_add(variation.saturating_mul(4)),
        };
        let base = base.max(MIN.0);
        let factor = 1u64.checked_shl(self.doubled.min(8)).unwrap_or(1);
        Span(base.saturating_mul(factor).min(MAX.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_follows_the_round_trip_doubles_and_stays_within_its_limits() {
        let mut rto = Rto::new();
        assert_eq!(rto.span(), INITIAL);
        rto.back_off();
        assert_eq!(rto.span(), Span(INITIAL.0 * 2));
        (0..60).for_each(|_| rto.back_off());
        assert_eq!(rto.span(), MAX);
        rto.reset();
        (0..50).for_each(|_| rto.sample(Span::from_millis(1)));
        assert_eq!(rto.span(), MIN);
        (0..50).for_each(|_| rto.sample(Span::from_millis(400)));
        let settled = rto.span().as_millis();
        assert!((400..700).contains(&settled), "{settled}");
    }
}
