//! Loss detection and recovery of senders that record send times (RFC 8985, RFC 6937).

use coax_catalog::stack::StackParams;
use coax_wire::time::{Span, Time};

use super::{Choice, Sender};
use crate::{
    segment::Sent,
    tcp::{hystart, rack::AckInfo},
};

impl Sender {
    /// Records a transmission.
    pub(in crate::tcp) fn note_sent(&mut self, now: Time, choice: &Choice) {
        let end = choice.seq.saturating_add(choice.len);
        let end = end.saturating_add(u64::from(choice.fin));
        self.board.sent(now, choice.seq, end);
        self.congestion.sent(choice.len);
    }

    /// After an ACK or a timer: detects losses and computes how much may be sent. Returns whether recovery started, and
    /// when to check again.
    pub(in crate::tcp) fn repair(
        &mut self,
        now: Time,
        seen: AckInfo,
        params: &StackParams,
    ) -> (bool, Option<Time>) {
        let repairing = self.recovery.is_some();
        let (found, next) = self.board.detect(now, repairing, params.fast_retransmit);
        let begins = !repairing && self.board.has_lost();
        if begins {
            self.recovery = Some((Sent::FastRetransmit, self.max));
            self.after = Some(Sent::FastRetransmit);
            self.congestion.lost(self.flight(), 0);
            self.timed = None;
        }
        if matches!(self.recovery, Some((Sent::FastRetransmit, _))) {
            let safe = seen.advanced && !found;
            self.congestion
                .reduce(seen.delivered, self.board.out(), safe);
        }
        (begins, next)
    }

    /// The next lost segment, if the congestion window allows it, or in any case after a timeout.
    pub(super) fn next_lost(&mut self) -> Option<Choice> {
        let (sent, _) = self.recovery?;
        let (seq, end) = self.board.first_lost()?;
        let at_once = self.again.take().is_some();
        let under_way = self.board.out().saturating_add(end.saturating_sub(seq));
        if !at_once && under_way > self.congestion.window() {
            return None;
        }
        let data_end = end.min(self.end());
        Some(Choice {
            seq,
            len: data_end.saturating_sub(seq),
            fin: self.fin && end > data_end,
            sent,
        })
    }

    /// Whether at least half of the congestion window was used (RFC 7661 4.3). Only then may it grow with time (RFC
    /// 9438 5.8).
    pub(super) const fn window_was_used(&self, acknowledged: u64) -> bool {
        let used = self
            .max
            .saturating_sub(self.una)
            .saturating_add(acknowledged);
        !self.congestion.is_cubic() || used.saturating_mul(2) >= self.congestion.window()
    }

    /// Ends slow start if HyStart detects a full path.
    pub(in crate::tcp) fn look_for_a_full_way(
        &mut self,
        now: Time,
        params: &StackParams,
        round: Option<Span>,
    ) {
        if !params.hystart || self.recovery.is_some() || !self.congestion.in_slow_start() {
            return;
        }
        let full = self.hystart.acknowledged(now, self.una, self.max, round);
        if full && self.congestion.window() >= hystart::MIN_WINDOW.saturating_mul(self.mss) {
            self.congestion.leave_slow_start();
        }
    }
}
