//! Proportional rate reduction (RFC 6937, with the safe reduction bound of RFC 9937): the rate at which the window
//! shrinks to the threshold during recovery.

/// The counters of one recovery, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reduction {
    /// Bytes in flight at the detection of the loss, `RecoverFS`.
    flight: u64,
    /// Delivered since then, `prr_delivered`.
    delivered: u64,
    /// Sent since then, `prr_out`.
    out: u64,
}

impl Reduction {
    pub(super) fn new(flight: u64) -> Self {
        Self {
            flight: flight.max(1),
            delivered: 0,
            out: 0,
        }
    }

    pub(super) const fn sent(&mut self, bytes: u64) {
        self.out = self.out.saturating_add(bytes);
    }

    /// Number of bytes that may be sent after an ACK for `delivered` more bytes, with `pipe` bytes in flight. `safe`:
    /// the ACK advanced and reported no further loss.
    pub(super) fn allows(
        &mut self,
        delivered: u64,
        pipe: u64,
        threshold: u64,
        mss: u64,
        safe: bool,
    ) -> u64 {
        self.delivered = self.delivered.saturating_add(delivered);
        let allowed = if pipe > threshold {
            let share = u128::from(self.delivered) * u128::from(threshold);
            let share = share.div_ceil(u128::from(self.flight));
            u64::try_from(share)
                .unwrap_or(u64::MAX)
                .saturating_sub(self.out)
        } else {
            let conserved = self.delivered.saturating_sub(self.out);
            let bound = if safe {
                conserved.max(delivered).saturating_add(mss)
            } else {
                conserved
            };
            bound.min(threshold - pipe)
        };
        // the first retransmission is sent at once
        if self.out == 0 {
            allowed.max(mss)
        } else {
            allowed
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_segment_leaves_for_two_that_arrive_until_the_threshold() {
        let mut reduction = Reduction::new(20_000);
        let mut pipe = 19_000;
        let mut sent = 0;
        for _ in 0..14 {
            pipe -= 1000;
            let allowed = reduction.allows(1000, pipe, 10_000, 1000, false);
            let whole = allowed / 1000 * 1000;
            reduction.sent(whole);
            pipe += whole;
            sent += whole;
        }
        assert_eq!((sent, pipe), (7000, 12_000));
    }

    #[test]
    fn a_pipe_below_the_threshold_fills_by_what_arrives_and_faster_only_where_that_is_safe() {
        let mut reduction = Reduction::new(20_000);
        reduction.sent(1000);
        assert_eq!(reduction.allows(1000, 4000, 10_000, 1000, false), 0);
        assert_eq!(reduction.allows(1000, 4000, 10_000, 1000, true), 2000);
        assert_eq!(reduction.allows(9000, 9500, 10_000, 1000, true), 500);
    }
}
