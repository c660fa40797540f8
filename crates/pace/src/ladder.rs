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

/// What became of segments under some limits.
#[derive(Clone, Copy, Debug, Default)]
struct Experience {
    segments: u64,
    losses: u64,
}

impl Experience {
    /// Whether losses are at least half as frequent as in `other`.
    fn is_half_as_bad_as(self, other: Self) -> bool {
        let own = u128::from(self.losses) * u128::from(other.segments) * 2;
        own >= u128::from(other.losses) * u128::from(self.segments)
    }
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
    /// Losses with the smallest limit since it last carried an epoch.
    losses_at_minimum: u32,
    /// With the smallest limit, since the connection began,
    at_minimum: Experience,
    /// and with larger ones.
    above: Experience,
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
            at_minimum: Experience::default(),
            above: Experience::default(),
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

    /// `segments` arrived.
    pub(crate) fn passed(&mut self, segments: u64) {
        let experience = self.experience();
        experience.segments = experience.segments.saturating_add(segments);
    }

    fn experience(&mut self) -> &mut Experience {
        match self.segments == MIN_SEGMENTS {
            true => &mut self.at_minimum,
            false => &mut self.above,
        }
    }

    /// Whether the smallest limit loses about as much as larger ones: a card would then lose nothing.
    fn is_the_path(&self) -> bool {
        self.at_minimum.losses >= u64::from(LOSSES_AT_MINIMUM)
            && self.above.losses > 0
            && self.at_minimum.is_half_as_bad_as(self.above)
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
        let experience = self.experience();
        experience.losses = experience.losses.saturating_add(1);
        if self.segments == MIN_SEGMENTS {
            self.losses_at_minimum = self.losses_at_minimum.saturating_add(1);
            if self.losses_at_minimum >= LOSSES_AT_MINIMUM || self.is_the_path() {
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
