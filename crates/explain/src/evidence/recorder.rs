//! What is recorded of one copy while it lasts.

use coax_cause::Account;
use coax_wire::time::{Span, Time};

use super::{
    budget::{Hold, MemoryBudget, Rank},
    charge::RecordedCharge,
    excerpts::Rungs,
    exchanges::{Exchanged, Exchanges},
    stalls::{self, Stalls},
    tally::Tally,
    track::{Shown, Track},
};
use crate::{
    report::{Breakdown, Detail, Direction, PacketRow, Spot},
    session::Moment,
};

/// What a recorder takes before any of its parts grows, bytes.
const BYTES: usize = 16 << 10;
/// Stretches since the copy's latest use that are kept one by one.
const TAIL: usize = 512;

/// Where a copy ends, what was spent on it, and which way it went.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    pub(crate) begin: Time,
    pub(crate) end: Moment,
    pub(crate) account: Account,
    pub(crate) direction: Direction,
}

/// A copy may turn out to have ended with its latest use, so what came since stands apart until the next.
#[derive(Debug)]
pub(super) struct Recorder {
    begin: Time,
    sure: Tally,
    tail: Vec<RecordedCharge>,
    maybe: Option<Box<Tally>>,
    stalls: Stalls,
    maybe_stalls: Stalls,
    tracks: [Track; 2],
    exchanges: Exchanges,
    hold: Hold,
}

impl Recorder {
    /// Of a copy that began at `begin`, if there is room.
    pub(super) fn new(begin: Time, room: &MemoryBudget) -> Option<Self> {
        Some(Self {
            begin,
            sure: Tally::new(begin),
            tail: Vec::new(),
            maybe: None,
            stalls: Stalls::default(),
            maybe_stalls: Stalls::default(),
            tracks: <[Track; 2]>::default(),
            exchanges: Exchanges::default(),
            hold: room.hold(BYTES)?,
        })
    }

    /// A stretch of time ended.
    pub(super) fn charge(&mut self, charge: RecordedCharge, rungs: &Rungs) {
        if self.tail.len() >= TAIL {
            let begin = self.begin;
            let maybe = self
                .maybe
                .get_or_insert_with(|| Box::new(Tally::new(begin)));
            for charge in self.tail.drain(..) {
                maybe.add(&charge, &mut self.hold);
            }
        }
        self.tail.push(charge);
        self.maybe_stalls.add(&charge, rungs);
        self.tracks
            .iter_mut()
            .for_each(|track| track.charge(&charge));
    }

    /// A packet came.
    pub(super) fn rung(&mut self, rung: &PacketRow) {
        self.stalls.rung(rung);
        self.maybe_stalls.rung(rung);
    }

    /// A packet with data came.
    pub(super) fn sent(&mut self, to: Direction, sent: &Shown) {
        let [to_client, to_server] = &mut self.tracks;
        let track = match to {
            Direction::ToClient => to_client,
            Direction::ToServer => to_server,
        };
        track.sent(sent, &mut self.hold);
    }

    /// What came by now belongs to the copy.
    pub(super) fn used(&mut self) {
        if let Some(maybe) = self.maybe.take() {
            self.sure.merge(*maybe, &mut self.hold);
        }
        for charge in self.tail.drain(..) {
            self.sure.add(&charge, &mut self.hold);
        }
        if !self.maybe_stalls.is_empty() {
            self.stalls.merge(&mut self.maybe_stalls);
        }
    }

    /// An exchange about the copy is done.
    pub(super) fn exchanged(&mut self, exchanged: Exchanged, rungs: &Rungs) {
        self.exchanges.add(exchanged, rungs, &mut self.hold);
    }

    /// The copy is over.
    pub(super) fn told(mut self, extent: &Extent, rank: Rank) -> Breakdown {
        let lumped = self
            .sure
            .complete(&extent.account, end_of(extent), &mut self.hold);
        let mut breakdown = Breakdown {
            causes: self
                .sure
                .rows
                .told(if rank == Rank::Light { 1 } else { stalls::MOST }),
            lumped,
            ..Breakdown::default()
        };
        if rank >= Rank::Listed {
            breakdown.stalls = std::mem::take(&mut self.stalls).told(extent.end.at);
        }
        if rank == Rank::Detailed {
            breakdown.detail = Some(Box::new(self.detail(extent)));
        } else {
            breakdown.strip();
        }
        breakdown
    }

    fn detail(self, extent: &Extent) -> Detail {
        let [to_client, to_server] = self.tracks;
        let track = match extent.direction {
            Direction::ToClient => to_client,
            Direction::ToServer => to_server,
        };
        let (requests, requests_seen) = self.exchanges.told();
        Detail {
            waterfall: self.sure.slices.told(),
            graph: track.told(extent.end.at),
            typical: self.exchanges.typical(),
            requests,
            requests_seen,
            _hold: self.hold,
        }
    }
}

/// Where a copy's account ends.
pub(super) fn end_of(extent: &Extent) -> Spot {
    Spot {
        frame: extent.end.frame,
        at: extent.end.at,
        span: Span(0),
    }
}
