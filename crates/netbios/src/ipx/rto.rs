//! The time after which a packet is sent again (RFC 6298, with limits for a local network).

use coax_wire::time::Span;

/// The limits of the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retransmission {
    /// Before anything was measured.
    pub initial: Span,
    /// The shortest. Longer than the time that an acknowledgment waits for data to travel with.
    pub min: Span,
    /// The longest.
    pub max: Span,
}

impl Default for Retransmission {
    /// Windows repeats name queries and probes after about 600 ms.
    fn default() -> Self {
        Self {
            initial: Span::from_millis(600),
            min: Span::from_millis(200),
            max: Span::from_secs(4),
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Rto {
    limits: Retransmission,
    /// Smoothed round trip and its variation, once there are any.
    measured: Option<(u64, u64)>,
    /// How often the time has been doubled.
    doubled: u32,
}

impl Rto {
    pub(super) const fn new(limits: Retransmission) -> Self {
        Self {
            limits,
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
            None => self.limits.initial.0,
            Some((mean, variation)) => mean.saturating_add(variation.saturating_mul(4)),
        };
        let base = base.max(self.limits.min.0);
        let factor = 1u64.checked_shl(self.doubled.min(8)).unwrap_or(1);
        Span(base.saturating_mul(factor).min(self.limits.max.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_follows_the_round_trip_doubles_and_stays_within_its_limits() {
        let limits = Retransmission::default();
        let mut rto = Rto::new(limits);
        assert_eq!(rto.span(), limits.initial);
        rto.back_off();
        assert_eq!(rto.span(), Span(limits.initial.0 * 2));
        (0..60).for_each(|_| rto.back_off());
        assert_eq!(rto.span(), limits.max);
        rto.reset();
        (0..50).for_each(|_| rto.sample(Span::from_millis(1)));
        assert_eq!(rto.span(), limits.min);
        (0..50).for_each(|_| rto.sample(Span::from_millis(400)));
        let settled = rto.span().as_millis();
        assert!((400..700).contains(&settled), "{settled}");
    }
}
