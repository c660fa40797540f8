//! The retransmission timeout (RFC 6298, Jacobson 1988), and the tick grid of timers.

use coax_wire::time::{Span, Time};

use super::params::{Backoff, StackParams};

/// The expiry of a timer set at `now` for `wait` on a grid of `tick`. The current, partly elapsed tick counts as the
/// first one, so a timer of one tick expires after zero to one tick.
pub(super) fn deadline(now: Time, wait: Span, tick: Span) -> Time {
    if tick.0 == 0 {
        return now + wait;
    }
    let ticks = wait.0.div_ceil(tick.0).max(1);
    Time(
        (now.0 / tick.0)
            .saturating_add(ticks)
            .saturating_mul(tick.0),
    )
}

/// The round-trip time estimate and the backoff.
#[derive(Clone, Debug, Default)]
pub(super) struct Rto {
    smoothed: u64,
    deviation: u64,
    measured: bool,
    doublings: u32,
    shortest: Option<Span>,
}

impl Rto {
    /// A segment that was sent once was acknowledged after `took`.
    pub(super) fn sample(&mut self, took: Span, params: &StackParams) {
        self.took(took);
        // a tick clock measures whole ticks, at least one
        let tick = params.rto_tick.0.max(1);
        let took = (took.0 / tick).max(1).saturating_mul(tick);
        if self.measured {
            let error = took.abs_diff(self.smoothed);
            self.deviation = self.deviation - self.deviation / 4 + error / 4;
            self.smoothed = self.smoothed - self.smoothed / 8 + took / 8;
        } else {
            self.measured = true;
            self.smoothed = took;
            self.deviation = took / 2;
        }
        self.forgive();
    }

    /// A round trip that does not count for the timer.
    pub(super) fn took(&mut self, took: Span) {
        self.shortest = Some(self.shortest.map_or(took, |shortest| shortest.min(took)));
    }

    /// The shortest round trip measured.
    pub(super) const fn shortest(&self) -> Option<Span> {
        self.shortest
    }

    /// Backs off after a timeout.
    pub(super) fn back_off(&mut self, params: &StackParams) {
        match params.backoff {
            Backoff::None => {}
            Backoff::Double => self.doublings = self.doublings.saturating_add(1).min(32),
            Backoff::DoubleRtt => {
                let now = if self.measured {
                    self.smoothed
                } else {
                    params.rto_initial.0
                };
                self.measured = true;
                self.smoothed = now.saturating_mul(2).min(params.rto_max.0);
            }
        }
    }

    /// Resets the backoff.
    pub(super) const fn forgive(&mut self) {
        self.doublings = 0;
    }

    /// The present timeout.
    pub(super) fn wait(&self, params: &StackParams) -> Span {
        let base = if self.measured {
            let deviations = self.deviation.saturating_mul(4);
            let estimate = self
                .smoothed
                .saturating_add(deviations.max(params.rto_deviations_min.0));
            estimate.saturating_add(params.rto_extra.0)
        } else {
            params.rto_initial.0
        };
        let bounded = base.clamp(params.rto_min.0, params.rto_max.0.max(params.rto_min.0));
        let backed_off =
            bounded.saturating_mul(1_u64.checked_shl(self.doublings).unwrap_or(u64::MAX));
        Span(backed_off.min(params.rto_max.0.max(params.rto_min.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_on_a_grid_runs_out_at_its_ticks_and_never_at_once() {
        let tick = Span::from_millis(200);
        assert_eq!(deadline(Time(0), tick, tick), Time(200_000_000));
        assert_eq!(deadline(Time(199_999_999), tick, tick), Time(200_000_000));
        assert_eq!(deadline(Time(200_000_000), tick, tick), Time(400_000_000));
        let half = Span::from_millis(100);
        assert_eq!(deadline(Time(150_000_000), tick, half), Time(300_000_000));
        assert_eq!(deadline(Time(7), Span(5), Span(0)), Time(12));
    }

    #[test]
    fn the_timer_is_bounded_and_doubles_until_a_measurement() {
        let params = StackParams {
            rto_min: Span::from_millis(300),
            rto_max: Span::from_secs(2),
            ..StackParams::default()
        };
        let mut rto = Rto::default();
        assert_eq!(rto.wait(&params), Span::from_secs(2));
        rto.sample(Span(250_000), &params);
        let waits = [(); 4].map(|()| {
            let wait = rto.wait(&params).as_millis();
            rto.back_off(&params);
            wait
        });
        assert_eq!(waits, [300, 600, 1200, 2000]);
        rto.sample(Span(250_000), &params);
        assert_eq!(rto.wait(&params).as_millis(), 300);
    }

    #[test]
    fn small_deviations_count_as_the_minimum() {
        let params = StackParams {
            rto_min: Span::from_millis(200),
            rto_deviations_min: Span::from_millis(200),
            ..StackParams::default()
        };
        let mut rto = Rto::default();
        for _ in 0..100 {
            rto.sample(Span::from_millis(120), &params);
        }
        assert_eq!(rto.wait(&params).as_millis(), 320);
    }

    #[test]
    fn a_doubled_round_trip_is_remembered_until_measurements_wear_it_off() {
        let params = StackParams {
            backoff: Backoff::DoubleRtt,
            rto_min: Span(0),
            ..StackParams::default()
        };
        let mut rto = Rto::default();
        rto.sample(Span::from_millis(100), &params);
        rto.back_off(&params);
        rto.sample(Span::from_millis(100), &params);
        assert!(rto.wait(&params) > Span::from_millis(350));
    }
}
