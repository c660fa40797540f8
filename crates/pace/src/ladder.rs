//! One limit in segments: it grows while it costs time and nothing is lost, and shrinks when something is.

use crate::constants::{GROWTH_IDLE_DIVISOR, LOSSES_AT_MINIMUM, MIN_SEGMENTS, WINDOWS_PER_EPOCH};
use coax_wire::time::Span;

/// What a limit has become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// A limit applies.
    Limited,
    /// The limit has grown beyond every window that the connection can have.
    Outgrown,
    /// Losses continued with the smallest limit, so the path loses segments and not the card.
    NotTheCard,
}

/// A limit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ladder {
    segments: u32,
    /// The largest limit that carried an epoch without loss.
    proven: Option<u32>,
    /// Limits from here on lost segments.
    ceiling: Option<u32>,
    largest: u32,
    losses_at_minimum: u32,
    state: State,
    windows: u64,
    busy: Span,
}

impl Ladder {
    /// A ladder at `first` segments; `largest` is what the connection's window permits; `learned` is what an earlier
    /// connection proved.
    pub(crate) fn new(first: u32, largest: u32, learned: Option<u32>) -> Self {
        let largest = largest.max(MIN_SEGMENTS);
        let start = learned.unwrap_or(first).clamp(MIN_SEGMENTS, largest);
        Self {
            segments: start,
            proven: None,
            ceiling: learned.map(|proven| proven.saturating_add(1)),
            largest,
            losses_at_minimum: 0,
            state: State::Limited,
            windows: 0,
            busy: Span(0),
        }
    }

    /// The limit in segments; `None`: no limit.
    pub(crate) fn limit(&self) -> Option<u32> {
        (self.state == State::Limited).then_some(self.segments)
    }

    /// The limit to remember for the next connection of this client: one that lost segments above and carried an epoch below.
    pub(crate) fn learned(&self) -> Option<u32> {
        match (self.state, self.proven, self.ceiling) {
            (State::Limited, Some(proven), Some(_)) => Some(proven),
            _ => None,
        }
    }

    /// `windows` full windows were carried in `busy`; after each, the sender waited for an acknowledgment for `rtt`.
    pub(crate) fn carried(&mut self, windows: u64, busy: Span, rtt: Span) {
        if self.state != State::Limited {
            return;
        }
        self.windows = self.windows.saturating_add(windows);
        self.busy = Span(self.busy.0.saturating_add(busy.0));
        if self.windows < WINDOWS_PER_EPOCH {
            return;
        }
        self.proven = self.proven.max(Some(self.segments));
        self.losses_at_minimum = 0;
        let waiting = rtt.0.saturating_mul(self.windows);
        if waiting > self.busy.0 / GROWTH_IDLE_DIVISOR.div_euclid(2).max(1) {
            self.grow(self.segments);
        } else if waiting > self.busy.0 / GROWTH_IDLE_DIVISOR {
            self.grow(self.segments / 2);
        }
        self.restart();
    }

    /// Something was lost.
    pub(crate) fn lost(&mut self) {
        if self.state != State::Limited {
            return;
        }
        self.restart();
        if self.segments == MIN_SEGMENTS {
            self.losses_at_minimum = self.losses_at_minimum.saturating_add(1);
            if self.losses_at_minimum >= LOSSES_AT_MINIMUM {
                self.state = State::NotTheCard;
            }
            return;
        }
        self.ceiling = Some(
            self.ceiling
                .map_or(self.segments, |at| at.min(self.segments)),
        );
        let below = match self.proven {
            Some(proven) if proven < self.segments => proven,
            _ => self.segments / 2,
        };
        self.proven = None;
        self.segments = below.max(MIN_SEGMENTS);
    }

    fn grow(&mut self, by: u32) {
        let next = self.segments.saturating_add(by.max(1));
        let below = self.ceiling.map_or(u32::MAX, |at| at.saturating_sub(1));
        let next = next.min(below);
        if next > self.largest {
            self.state = State::Outgrown;
        } else if next > self.segments {
            self.segments = next;
        }
    }

    fn restart(&mut self) {
        (self.windows, self.busy) = (0, Span(0));
    }
}
