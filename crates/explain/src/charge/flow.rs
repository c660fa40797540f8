//! What the packets of one side have shown so far.

use crate::charge::credit::Credit;
use crate::charge::pacing::Pacing;
use crate::constants::MAX_INITIAL_WINDOW;
use crate::timeline::{Advance, SendLimit, answers, sum};
use coax_cause::Cause;
use coax_wire::time::{Span, Time};

/// What is known of how a side sends.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flow {
    /// The most that it had on its way since it last had nothing, and where the data ended with which that grew.
    pub(super) widest: u64,
    grew: u64,
    /// The most that it had on its way before that.
    last_widest: u64,
    /// When it last had nothing on its way and sent something.
    pub(super) begin: Time,
    /// What was acknowledged then, and last; whether it grew since, and whether an acknowledgment came without that.
    base: u64,
    last_acked: u64,
    grew_lately: bool,
    pub(super) is_constant: bool,
    /// A loss is being repaired: until where, and what told of it.
    pub(super) repair: Option<(u64, Cause)>,
    /// What repaired its last loss.
    pub(super) after: Option<Cause>,
    /// What its timer last sent again.
    pub(super) by_timer: Option<Repeated>,
    /// The end of its data when its timer last retransmitted some of it needlessly.
    pub(super) needless: Option<u64>,
    /// It had filled the other's window since that loss: no congestion window is narrower, for only a loss makes it so.
    pub(super) has_filled: bool,
    /// What the path took since its last packet to carry what it sent again needlessly.
    pub(super) repeated: Span,
    /// Its timer sent that: it had not looked at what had come for it.
    pub(super) was_busy: bool,
    /// Whether it did so when it had been told often enough, if it ever was.
    pub(super) responds_to_dup_acks: Option<bool>,
    /// What let its last packet go, if that was an acknowledgment, and what the wait for it was.
    pub(super) round: Option<(SendLimit, Cause)>,
    pub(super) pacing: Pacing,
    /// How late its packets came, and the latest of them.
    pub(super) credit: Credit,
    pub(super) late: Span,
    pub(super) small: SmallSegments,
    /// What the path took for packets that came sooner after others than it can carry them, because those came late.
    owed: Span,
}

/// Data that a timer sent again, and what had repaired the loss before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Repeated {
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) after: Option<Cause>,
}

/// Segments that Nagle's algorithm would have kept: less than a full one, while another such is not acknowledged (RFC 896;
/// Minshall's rule, which Linux follows, is the weaker one).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SmallSegments {
    /// Where the latest small one ends.
    end: Option<u64>,
    /// Those that left all the same.
    unkept: u32,
    /// Those that were kept.
    kept: u32,
}

impl SmallSegments {
    /// A probe of a loss may be one (RFC 8985 §7.3), and on a busy machine now and then another.
    const MIN_UNKEPT: u32 = 2;
    const MAX_KEPT_RATIO: u32 = 16;
    /// One may be a coincidence.
    const MIN_KEPT: u32 = 2;

    /// New data of this side.
    pub(super) fn note(&mut self, advance: &Advance) {
        if advance.place.is_full || advance.is_framed {
            return;
        }
        let acked = advance.heard.map(|heard| heard.acked);
        let is_unkept = self.end.zip(acked).is_some_and(|(end, acked)| acked < end);
        self.unkept = self.unkept.saturating_add(u32::from(is_unkept));
        self.end = Some(advance.end);
    }

    /// Whether Nagle's algorithm kept this new data from when its side knew of acknowledgments up to `before` to when it knew of
    /// them up to `acked`: all before it was acknowledged then, or at least the latest small segment (Minshall).
    pub(super) fn keeps(&self, advance: &Advance, (before, acked): (u64, u64)) -> bool {
        let start = advance.end.saturating_sub(advance.len);
        let is_acked = |end: u64| before < end && end <= acked;
        let is_released = is_acked(start) || self.end.is_some_and(is_acked);
        is_released && !advance.place.is_full && !advance.is_framed && !self.are_unkept()
    }

    /// Nagle's algorithm kept one.
    pub(super) fn note_kept(&mut self) {
        self.kept = self.kept.saturating_add(1);
    }

    /// Whether the side was seen to follow Nagle's algorithm.
    pub(super) fn were_kept(&self) -> bool {
        self.kept >= Self::MIN_KEPT
    }

    /// Whether the side was seen to switch Nagle's algorithm off (TCP_NODELAY).
    pub(super) fn are_unkept(&self) -> bool {
        self.unkept >= Self::MIN_UNKEPT
            && self.kept < self.unkept.saturating_mul(Self::MAX_KEPT_RATIO)
    }
}

impl Flow {
    /// For how much of the `gap` before it the path carried a packet, which takes `serial`, and others that came too soon.
    pub(super) fn due(&mut self, serial: Span, gap: Span) -> Span {
        const MOST_OWED: u64 = 4;
        let due = sum(serial, self.owed);
        self.owed = Span(
            due.0
                .saturating_sub(gap.0)
                .min(serial.0.saturating_mul(MOST_OWED)),
        );
        due
    }

    /// Whether a side has more on its way now, or had since what it has was sent, than ever since it had nothing.
    pub(super) fn grows(&mut self, advance: &Advance, in_flight: u64, drained: bool) -> bool {
        let acked = advance.heard.map_or(0, |heard| heard.acked);
        if drained && !advance.place.is_middle {
            // a congestion window that grows has more on its way with each message that is ready to go, if messages are longer than
            // its first one
            let is_same = self.widest <= self.last_widest && self.widest > MAX_INITIAL_WINDOW;
            self.is_constant |= is_same && answers(advance).is_none();
            self.last_widest = self.widest;
            (self.widest, self.grew, self.base) = (0, 0, acked);
        }
        if acked > self.base && acked != self.last_acked {
            self.is_constant |= self.last_acked > self.base && !self.grew_lately;
            (self.last_acked, self.grew_lately) = (acked, false);
        }
        if in_flight > self.widest {
            self.widest = in_flight;
            if acked > self.base {
                (self.grew, self.grew_lately, self.is_constant) = (advance.end, true, false);
            }
        }
        let is_recent = self.grew > 0 && advance.end.saturating_sub(self.grew) <= self.widest;
        is_recent || !self.is_constant
    }
}
