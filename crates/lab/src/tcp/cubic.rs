//! CUBIC's congestion window (RFC 9438): a cubic function of the time since the last loss, with Reno's window as a
//! lower bound.

use coax_wire::time::{Span, Time};

/// Limit of the cubic function's time argument: 10,000 s, in microseconds.
const LONGEST: u64 = 10_000_000_000;

/// CUBIC's state, in bytes and microseconds.
#[derive(Clone, Debug, Default)]
pub(super) struct Cubic {
    /// Window at the last loss, `W_max`.
    w_max: u64,
    /// Window before that loss, `cwnd_prior`.
    prior: u64,
    /// Start of congestion avoidance.
    epoch: Option<Time>,
    /// Time until the window reaches `w_max` again, `K`.
    k: u64,
    /// Reno's window estimate, `W_est`.
    estimate: u64,
    rtt: Span,
}

impl Cubic {
    /// Records the latest round-trip time.
    pub(super) const fn see_round(&mut self, took: Span) {
        self.rtt = took;
    }

    /// The window after a loss at `window`: beta is 0.7 (RFC 9438 4.6), with fast convergence (4.7).
    pub(super) fn reduced(&mut self, window: u64) -> u64 {
        self.w_max = if window < self.w_max {
            window.saturating_mul(17) / 20
        } else {
            window
        };
        self.prior = window;
        self.epoch = None;
        window.saturating_mul(7) / 10
    }

    /// Slow start ended without a loss, or the connection restarts after idle time (RFC 9438 4.8, 4.10).
    pub(super) const fn forget(&mut self) {
        self.w_max = 0;
        self.epoch = None;
    }

    /// The window after `bytes` were acknowledged in congestion avoidance (RFC 9438 4.2 to 4.5).
    pub(super) fn window_after_ack(&mut self, window: u64, bytes: u64, mss: u64, now: Time) -> u64 {
        let began = *self.epoch.get_or_insert_with(|| {
            self.w_max = self.w_max.max(window);
            self.k = cube_root(
                u128::from(self.w_max - window) * 2_500_000_000_000_000_000
                    / u128::from(mss.max(1)),
            );
            self.estimate = window;
            now
        });
        self.estimate = self
            .estimate
            .saturating_add(self.reno_growth(window, bytes, mss));
        let elapsed = (now - began).0 / 1000;
        if self.at(elapsed, mss) < self.estimate {
            return window.max(self.estimate);
        }
        let target = self.at(elapsed.saturating_add(self.rtt.0 / 1000), mss);
        let target = target.clamp(window, window.saturating_add(window / 2));
        window.saturating_add((target - window).saturating_mul(bytes) / window.max(1))
    }

    /// Reno's growth: `alpha_cubic` segments per round, 3 (1 - beta) / (1 + beta); one per round beyond the window
    /// before the loss.
    const fn reno_growth(&self, window: u64, bytes: u64, mss: u64) -> u64 {
        let whole = bytes.saturating_mul(mss) / if window == 0 { 1 } else { window };
        if self.estimate >= self.prior {
            whole
        } else {
            whole.saturating_mul(9) / 17
        }
    }

    /// `W_cubic(t)` with C = 0.4 segments per cubic second (RFC 9438 4.2).
    fn at(&self, elapsed: u64, mss: u64) -> u64 {
        let off = u128::from(elapsed.min(LONGEST).abs_diff(self.k.min(LONGEST)));
        let bytes = off * off * off * u128::from(mss) * 2 / 5_000_000_000_000_000_000;
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        if elapsed < self.k {
            self.w_max.saturating_sub(bytes)
        } else {
            self.w_max.saturating_add(bytes)
        }
    }
}

/// The integer cube root, limited to [`LONGEST`].
fn cube_root(cube: u128) -> u64 {
    let (mut low, mut high) = (0_u64, LONGEST);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        let wide = u128::from(middle);
        if wide * wide * wide <= cube {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;

    #[test]
    fn the_cube_root_is_rounded_down() {
        let roots = [0, 1, 7, 8, 26, 27, 1_000_000_000_000].map(cube_root);
        assert_eq!(roots, [0, 1, 1, 2, 2, 3, 10_000]);
        assert_eq!(cube_root(u128::MAX), LONGEST);
    }

    /// A window of 1,000 segments some time after a loss, with a round-trip time of 200 ms and five segments
    /// acknowledged per millisecond, so that Reno's window stays below it.
    fn window_after(seconds: f64) -> f64 {
        let mut cubic = Cubic::default();
        let mut window = cubic.reduced(1000 * MSS);
        cubic.see_round(Span::from_millis(200));
        for tick in 0..=(seconds * 1000.0) as u64 {
            window = cubic.window_after_ack(window, 5 * MSS, MSS, Time(tick * 1_000_000));
        }
        window as f64 / MSS as f64
    }

    #[test]
    fn the_window_follows_the_closed_form() {
        let k = (1000.0_f64 * 0.3 / 0.4).cbrt();
        for seconds in [2.0, 4.0, 8.0, 9.0, 12.0, 15.0] {
            let closed = 0.4_f64.mul_add((seconds - k).powi(3), 1000.0);
            let window = window_after(seconds);
            assert!(
                (window / closed - 1.0).abs() < 0.01,
                "{seconds} s: {window} {closed}"
            );
        }
    }

    #[test]
    fn a_small_window_grows_as_renos_would() {
        let mut cubic = Cubic::default();
        let mut window = cubic.reduced(10 * MSS);
        assert_eq!(window, 7 * MSS);
        cubic.see_round(Span::from_millis(20));
        // half a second in rounds of 20 ms, one ACK per window
        for round in 0..25 {
            window = cubic.window_after_ack(window, window, MSS, Time(round * 20_000_000));
        }
        // 0.53 segments per round up to ten segments, which takes six rounds, then one per round
        assert!((27 * MSS..=30 * MSS).contains(&window), "{window}");
    }

    #[test]
    fn a_second_loss_below_the_first_leaves_room_to_others() {
        let mut cubic = Cubic::default();
        cubic.reduced(100 * MSS);
        assert_eq!((cubic.reduced(80 * MSS), cubic.w_max), (56 * MSS, 68 * MSS));
        assert_eq!((cubic.reduced(90 * MSS), cubic.w_max), (63 * MSS, 90 * MSS));
    }
}
