//! The path between the two sides, as it looks from where the capture was taken.

use crate::tcp::connection::Connection;
use crate::tcp::pace::Slope;
use crate::timeline::{Side, of, of_mut, sum};
use coax_wire::time::Span;

/// A way to a side and back as it was measured, and the bytes there and back of the packets that measured it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    pub(super) time: Span,
    pub(super) bytes: (u64, u64),
}

/// What was learned of a path: the shortest ways, and picoseconds a byte of what each side sends; and of each side,
/// whether it heeds word of a loss.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Learned {
    ways: [Option<Way>; 2],
    paces: [Option<u64>; 2],
    heeds: [Option<bool>; 2],
}

/// What follows from that. Every packet asks for it, so it is worked out only when something new was learned.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Path([Leg; 2]);

/// A path as far as it matters for what one side sends and hears.
#[derive(Clone, Copy, Debug, Default)]
struct Leg {
    /// From here to the side and back; the same without what its packets took to be carried.
    way: Span,
    bare: Span,
    is_behind: bool,
    /// Picoseconds a byte of what it sends; 0 as long as that is not known.
    pace: u64,
}

impl Leg {
    fn carrying(&self, bytes: u64) -> Span {
        Span(self.pace.saturating_mul(bytes) / 1000)
    }
}

impl Path {
    /// What follows from `known`.
    pub(super) fn of(known: &Learned) -> Self {
        let [client, server] = known.ways.map(|way| way.map_or(Span(0), |way| way.time));
        let leg = |way, other| Leg {
            way,
            is_behind: is_behind(way, other),
            ..Leg::default()
        };
        let mut path = Self([leg(client, server), leg(server, client)]);
        for side in Side::BOTH {
            let pace = of(&known.paces, side).unwrap_or(0);
            let pace = path.no_slower(Side::Client, pace, known);
            let pace = path.no_slower(Side::Server, pace, known);
            of_mut(&mut path.0, side).pace = pace;
        }
        for side in Side::BOTH {
            of_mut(&mut path.0, side).bare = path.bare(side, known);
        }
        path
    }

    /// It is no slower than what the shortest way to `side` and back leaves for its packets, picoseconds a byte.
    fn no_slower(&self, side: Side, pace: u64, known: &Learned) -> u64 {
        let Some(way) = of(&known.ways, side) else {
            return pace;
        };
        let (there, back) = self.carried_on(side, way);
        let (carried, room) = (there.saturating_add(back), way.time.0.saturating_mul(1000));
        if pace.saturating_mul(carried) <= room {
            return pace;
        }
        room.checked_div(carried).unwrap_or(pace)
    }

    /// Bytes that were carried while the way to `side` and back was measured.
    fn carried_on(&self, side: Side, way: &Way) -> (u64, u64) {
        let (there, back) = way.bytes;
        let is_behind = |side| of(&self.0, side).is_behind;
        let there = if is_behind(side.other()) { 0 } else { there };
        (there, if is_behind(side) { back } else { 0 })
    }

    fn bare(&self, side: Side, known: &Learned) -> Span {
        let Some(way) = of(&known.ways, side) else {
            return Span(0);
        };
        let (there, back) = self.carried_on(side, way);
        let there = of(&self.0, side.other()).carrying(there);
        let carried = sum(there, of(&self.0, side).carrying(back));
        Span(way.time.0.saturating_sub(carried.0))
    }
}

fn is_behind(way: Span, other: Span) -> bool {
    const NEARER: u64 = 3;
    other.0.saturating_mul(NEARER) <= way.0
}

impl Connection {
    /// What was learned of the path.
    pub(super) fn learned(&self) -> Learned {
        Learned {
            ways: self.ways,
            paces: [self.pace(Side::Client), self.pace(Side::Server)],
            heeds: self.ledger.heeds(),
        }
    }

    /// Something new was learned.
    pub(super) fn survey(&mut self) {
        let known = self.guide.unwrap_or_else(|| self.learned());
        self.path = Path::of(&known);
    }

    /// What is known of the path is this, until it is `None`: then it is what was learned itself.
    pub(super) fn guide(&mut self, by: Option<Learned>) {
        self.guide = by;
        if let Some(known) = by {
            self.ledger.expect(known.heeds);
        }
        self.survey();
    }

    /// The way from here to `side` and back, and what it was measured by.
    pub(super) fn measured_way(&self, side: Side) -> Option<Way> {
        let ways = self.guide.as_ref().map_or(&self.ways, |guide| &guide.ways);
        *of(ways, side)
    }

    /// The way from here to `side` and back was seen to take this long.
    pub(super) fn measured(&mut self, side: Side, way: Way) {
        let known = of_mut(&mut self.ways, side);
        if known.is_none_or(|known| way.time < known.time) {
            *known = Some(way);
            self.survey();
        }
    }

    /// The way from here to `side` and back as it was measured.
    pub(super) fn way(&self, side: Side) -> Span {
        of(&self.path.0, side).way
    }

    /// The same without what its packets took to be carried.
    pub(super) fn bare_way(&self, side: Side) -> Span {
        of(&self.path.0, side).bare
    }

    /// Whether what `side` sends is captured after the path has carried it: at the other end. Between the two a packet is
    /// taken to be captured when it begins to be carried.
    pub(super) fn is_behind(&self, side: Side) -> bool {
        of(&self.path.0, side).is_behind
    }

    /// What the path takes to carry so many bytes of `side`; nothing as long as its pace is not known.
    pub(super) fn carrying(&self, side: Side, bytes: u64) -> Span {
        of(&self.path.0, side).carrying(bytes)
    }

    /// From what `side` hears to when what it sends then is captured, for so many bytes.
    pub(super) fn ahead(&self, side: Side, wire: u64) -> Span {
        let leg = of(&self.path.0, side);
        if leg.is_behind {
            sum(leg.bare, leg.carrying(wire))
        } else {
            leg.bare
        }
    }

    /// What was learned of the pace of what `side` sends.
    fn pace(&self, side: Side) -> Option<u64> {
        let half = |side| of(&self.halves, side);
        let slopes = || {
            let slopes = self.slopes.each_ref().map(Slope::known);
            slopes.into_iter().flatten().min()
        };
        half(side)
            .pace()
            .or_else(|| half(side.other()).pace())
            .or_else(slopes)
            .or_else(|| half(side).single_pace.known())
            .or_else(|| half(side.other()).single_pace.known())
    }
}
