//! The congestion window (RFC 2581, RFC 6582, RFC 9438), in bytes.

use coax_wire::time::{Span, Time};

use super::{
    cubic::Cubic,
    params::{CongestionControl, StackParams},
    reduction::Reduction,
};

/// A window that never limits.
const UNLIMITED: u64 = 1 << 40;

#[derive(Clone, Debug)]
pub(super) struct Congestion {
    window: u64,
    threshold: u64,
    mss: u64,
    off: bool,
    whole: bool,
    cubic: Option<Cubic>,
    proportional: bool,
    reduction: Option<Reduction>,
}

impl Congestion {
    pub(super) fn new(params: &StackParams, mss: u64) -> Self {
        let off = params.congestion == CongestionControl::None;
        let initial = mss.saturating_mul(u64::from(params.initial_window.max(1)));
        Self {
            window: if off { UNLIMITED } else { initial },
            threshold: UNLIMITED,
            mss,
            off,
            whole: params.whole_segments,
            cubic: (params.congestion == CongestionControl::Cubic).then(Cubic::default),
            proportional: params.rack && params.rate_reduction && !off,
            reduction: None,
        }
    }

    pub(super) const fn window(&self) -> u64 {
        if self.whole && self.reduction.is_none() {
            self.window - self.window % self.mss
        } else {
            self.window
        }
    }

    pub(super) const fn in_slow_start(&self) -> bool {
        self.window < self.threshold
    }

    pub(super) const fn is_cubic(&self) -> bool {
        self.cubic.is_some()
    }

    /// Records a round-trip time.
    pub(super) const fn see_round(&mut self, took: Span) {
        if let Some(cubic) = &mut self.cubic {
            cubic.see_round(took);
        }
    }

    /// Ends slow start without a loss because the path is full.
    pub(super) const fn leave_slow_start(&mut self) {
        if !self.off {
            self.threshold = self.window;
        }
    }

    /// Counts sent bytes during recovery.
    pub(super) const fn sent(&mut self, bytes: u64) {
        if let Some(reduction) = &mut self.reduction {
            reduction.sent(bytes);
        }
    }

    /// An ACK during recovery: `delivered` more bytes arrived, `pipe` bytes are in flight.
    pub(super) fn reduce(&mut self, delivered: u64, pipe: u64, safe: bool) {
        if let Some(reduction) = &mut self.reduction {
            let more = reduction.allows(delivered, pipe, self.threshold, self.mss, safe);
            self.window = pipe.saturating_add(more);
        }
    }

    /// New data was acknowledged outside recovery.
    pub(super) fn acknowledged(&mut self, now: Time, bytes: u64, byte_counting: bool) {
        if self.off {
            return;
        }
        let counted = if byte_counting { bytes } else { self.mss };
        // slow start ends at the threshold, even within one ACK
        let slow = counted.min(self.threshold.saturating_sub(self.window));
        self.window = self.window.saturating_add(slow);
        let rest = counted.saturating_sub(slow);
        if slow == 0 {
            let window_after_ack = if let Some(cubic) = &mut self.cubic {
                cubic.window_after_ack(self.window, rest, self.mss, now)
            } else {
                let growth = (rest.saturating_mul(self.mss) / self.window.max(1)).max(1);
                self.window.saturating_add(growth)
            };
            self.window = window_after_ack.min(UNLIMITED);
        }
    }

    /// A loss was detected with `flight` bytes in flight. `inflate` is the inflation for the duplicate ACKs so far.
    pub(super) fn lost(&mut self, flight: u64, inflate: u64) {
        if self.off {
            return;
        }
        self.threshold = self.reduced(flight);
        self.window = self
            .threshold
            .saturating_add(inflate.saturating_mul(self.mss));
        self.reduction = self.proportional.then(|| Reduction::new(flight));
    }

    /// Another duplicate ACK during recovery: a segment has left the network.
    pub(super) fn inflate(&mut self) {
        if !self.off {
            self.window = self.window.saturating_add(self.mss).min(UNLIMITED);
        }
    }

    /// A partial ACK during recovery (RFC 6582 3.2).
    pub(super) fn partly_repaired(&mut self, bytes: u64) {
        if !self.off {
            let back = if bytes >= self.mss { self.mss } else { 0 };
            self.window = self
                .window
                .saturating_sub(bytes)
                .saturating_add(back)
                .max(self.mss);
        }
    }

    /// Recovery is complete.
    pub(super) fn repaired(&mut self) {
        if self.reduction.take().is_some() {
            self.window = self.threshold;
        } else if !self.off {
            self.window = self.window.min(self.threshold).max(self.mss);
        }
    }

    /// A retransmission timeout.
    pub(super) fn timed_out(&mut self, flight: u64) {
        if !self.off {
            self.threshold = self.reduced(flight);
            self.window = self.mss;
            self.reduction = None;
        }
    }

    /// Restart after idle time.
    pub(super) fn restart(&mut self, initial_window: u32) {
        if !self.off {
            let initial = self.mss.saturating_mul(u64::from(initial_window.max(1)));
            self.window = self.window.min(initial);
            if let Some(cubic) = &mut self.cubic {
                cubic.forget();
            }
        }
    }

    /// The threshold after a loss: half of the flight (RFC 5681 3.1), or 0.7 of it (RFC 9438 4.6).
    fn reduced(&mut self, flight: u64) -> u64 {
        let seen = if self.whole {
            flight.min(self.window - self.window % self.mss)
        } else {
            flight
        };
        let left = match &mut self.cubic {
            Some(cubic) => cubic.reduced(seen),
            None => seen / 2,
        };
        let left = if self.whole {
            left - left % self.mss
        } else {
            left
        };
        left.max(self.mss.saturating_mul(2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reno() -> Congestion {
        Congestion::new(&StackParams::default(), 1000)
    }

    #[test]
    fn slow_start_doubles_and_avoidance_adds_a_segment_a_round() {
        let mut reno = reno();
        for _ in 0..2 {
            reno.acknowledged(Time(0), 1000, false);
        }
        assert_eq!(reno.window(), 4000);
        reno.lost(8000, 0);
        reno.repaired();
        for _ in 0..4 {
            reno.acknowledged(Time(0), 1000, false);
        }
        assert!((4800..=5000).contains(&reno.window()), "{}", reno.window());
    }

    #[test]
    fn slow_start_ends_at_the_threshold_however_much_one_acknowledgment_covers() {
        let mut reno = reno();
        reno.timed_out(10_000);
        reno.acknowledged(Time(0), 100_000, true);
        assert_eq!(reno.window(), 5000);
        reno.acknowledged(Time(0), 1000, true);
        assert_eq!(reno.window(), 5200);
    }

    #[test]
    fn a_timeout_leaves_one_segment_and_half_the_flight_as_threshold() {
        let mut reno = reno();
        reno.timed_out(10_000);
        assert_eq!((reno.window(), reno.threshold), (1000, 5000));
    }

    #[test]
    fn without_congestion_control_nothing_changes_the_window() {
        let params = StackParams {
            congestion: CongestionControl::None,
            ..StackParams::default()
        };
        let mut none = Congestion::new(&params, 1000);
        none.timed_out(10_000);
        none.lost(10_000, 3);
        assert_eq!(none.window(), UNLIMITED);
    }
}
