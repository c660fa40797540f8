//! Whether a side paces: its TCP spreads data over the round trip, whatever is acknowledged meanwhile (BBR, RFC 9002 §7.7, or
//! a qdisc such as `fq`).
//!
//! A paced sender sends bursts of some segments. From the start of one to the start of the next it takes the time that the
//! pacing rate allows for the bytes of the first. A program that pauses does so between messages or for other times.

use crate::timeline::{Advance, BurstPaces, Novelty};
use coax_wire::time::{Span, Time};

/// Segments closer than this are one burst at their sender.
const MIN_PAUSE: Span = Span(50_000);

/// See the module.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pacing {
    /// The latest burst: its start, its last segment, and its bytes on the wire.
    from: Time,
    last: Time,
    bytes: u64,
    paces: BurstPaces,
}

impl Pacing {
    pub(super) fn is_paced(&self) -> bool {
        self.paces.is_paced()
    }

    /// Somebody saw whether it paces.
    pub(super) fn calibrate(&mut self, is_paced: bool) {
        self.paces.set_paced(is_paced);
    }

    /// Takes new data of this side.
    pub(super) fn note(&mut self, advance: &Advance) {
        if advance.novelty != Some(Novelty::New) || self.is_paced() {
            return;
        }
        let apart = advance.at - self.last;
        self.last = advance.at;
        let same = if advance.is_behind {
            advance.follows()
        } else {
            apart < MIN_PAUSE
        };
        if same && advance.place.inside {
            self.bytes = self.bytes.saturating_add(advance.wire);
            return;
        }
        if may_be_paced(advance, apart) && self.bytes > 0 {
            self.paces
                .add((advance.at - self.from).0.saturating_mul(1000) / self.bytes);
        }
        (self.from, self.bytes) = (advance.at, advance.wire);
    }
}

/// Whether a pause of `apart` before this packet can be its sender's pacing: data was in flight and more of the message to be sent.
/// A paced sender never waits for half a round trip, because at least four segments go in one.
pub(super) fn may_be_paced(advance: &Advance, apart: Span) -> bool {
    let start = advance.end.saturating_sub(advance.len);
    let has_flight = advance.heard.is_some_and(|heard| heard.acked < start);
    let has_room = advance.heard.is_some_and(|heard| heard.edge >= advance.end);
    advance.place.is_middle && has_flight && has_room && apart.0 <= advance.round().0 / 2
}
