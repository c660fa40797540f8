//! The path between the two sides, as it looks from where the capture was taken.

use crate::timeline::{Side, of, of_mut, sum};
use coax_wire::time::Span;

/// A way to a side and back as it was measured, and the bytes there and back of the packets that measured it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RoundTrip {
    pub(crate) time: Span,
    pub(crate) bytes: (u64, u64),
}

/// What was measured of a path: the shortest round trips, and picoseconds per byte of what each side sends.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PathMeasurements {
    pub(super) ways: [Option<RoundTrip>; 2],
    pub(super) paces: [Option<u64>; 2],
    /// The same by what was delivered while a queue stood; 0: not known.
    pub(super) queued: [u64; 2],
}

/// What follows from that. Every packet asks for it, so it is worked out only when something new was learned.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Path([Leg; 2]);

/// A path as far as it matters for what one side sends and hears.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Leg {
    /// From here to the side and back; the same without what its packets took to be carried.
    pub(super) way: Span,
    pub(super) bare: Span,
    pub(super) is_behind: bool,
    /// Picoseconds a byte of what it sends; 0 as long as that is not known.
    pace: u64,
}

impl Leg {
    /// The time in which the path carries the given number of bytes; zero while its rate is unknown.
    pub(super) fn carrying(&self, bytes: u64) -> Span {
        Span(self.pace.saturating_mul(bytes) / 1000)
    }
}

impl Path {
    /// The part of the path next to `side`.
    pub(super) fn leg(&self, side: Side) -> &Leg {
        of(&self.0, side)
    }

    /// What follows from `known`.
    pub(super) fn from_measurements(known: &PathMeasurements) -> Self {
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
    fn no_slower(&self, side: Side, pace: u64, known: &PathMeasurements) -> u64 {
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
    fn carried_on(&self, side: Side, way: &RoundTrip) -> (u64, u64) {
        let (there, back) = way.bytes;
        let is_behind = |side| of(&self.0, side).is_behind;
        let there = if is_behind(side.other()) { 0 } else { there };
        (there, if is_behind(side) { back } else { 0 })
    }

    fn bare(&self, side: Side, known: &PathMeasurements) -> Span {
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
