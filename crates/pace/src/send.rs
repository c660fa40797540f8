//! The send limit: how many segments to the client may be unacknowledged.

use coax_wire::time::{Span, Time};

use crate::{
    constants::{FIRST_SEND_SEGMENTS, MIN_SEGMENTS, UNSCALED_WINDOW},
    ladder::Ladder,
};

/// What the TCP of this end says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Bytes that the client has acknowledged since the connection began.
    pub acknowledged: u64,
    /// Segments sent again since the connection began.
    pub retransmitted: u64,
    /// The shortest round-trip time of the connection; zero if it is not known.
    pub rtt: Span,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct SendSide {
    ladder: Ladder,
    mss: u32,
    last: Option<(Time, Sent)>,
    /// Acknowledged bytes that are not yet a whole window.
    rest: u64,
}

impl SendSide {
    pub(crate) fn new(mss: u32, learned: Option<u32>) -> Self {
        Self {
            ladder: Ladder::new(FIRST_SEND_SEGMENTS, UNSCALED_WINDOW / mss.max(1), learned),
            mss,
            last: None,
            rest: 0,
        }
    }

    pub(crate) fn learned(&self) -> Option<u32> {
        self.ladder.learned()
    }

    pub(crate) fn is_limited(&self) -> bool {
        self.ladder.limit().is_some()
    }

    pub(crate) fn allowance(&self, unacknowledged: u64) -> u64 {
        let Some(limit) = self.ladder.limit() else {
            return u64::MAX;
        };
        let mss = u64::from(self.mss).max(1);
        let out = unacknowledged.div_ceil(mss);
        let free = u64::from(limit).saturating_sub(out);
        if free < u64::from(MIN_SEGMENTS) && out > 0 {
            return 0;
        }
        free.saturating_mul(mss)
    }

    pub(crate) fn room_below(&self) -> u64 {
        self.ladder.limit().map_or(u64::MAX, |limit| {
            u64::from(limit.saturating_sub(MIN_SEGMENTS))
                .saturating_mul(u64::from(self.mss))
                .saturating_add(1)
        })
    }

    pub(crate) fn observed(&mut self, now: Time, sent: Sent, limited: bool) {
        if let Some((since, last)) = self.last {
            let arrived = sent.acknowledged.saturating_sub(last.acknowledged);
            self.ladder.passed(arrived / u64::from(self.mss).max(1));
            if sent.retransmitted > last.retransmitted {
                self.ladder.lost();
                self.rest = 0;
            } else if limited {
                let bytes = self.rest.saturating_add(arrived);
                let window = u64::from(self.ladder.limit().unwrap_or(MIN_SEGMENTS))
                    .saturating_mul(u64::from(self.mss))
                    .max(1);
                self.rest = bytes % window;
                self.ladder.carried(bytes / window, now - since, sent.rtt);
            }
        }
        self.last = Some((now, sent));
    }
}
