//! Who sees all of a connection, and hands it to the recorders of the copies on it.

use coax_wire::time::Time;

use super::{
    charge::{Recent, RecordedCharge},
    recorder::{self, Recorder},
    room::{Rank, Room},
    rungs::{Label, Rungs},
    tally::Rows,
    told::{Breakdown, Rung},
    track::Shown,
    young::{Log, Start},
};
pub(crate) use super::{exchanges::Exchanged, recorder::Extent};
use crate::report::Direction;

/// Copies recorded at a time on one connection; of more, the one that was not used for longest is no longer.
const MOST: usize = 8;

/// What a copy's recorder is asked for by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ticket(u64);

#[derive(Debug)]
struct Recorded {
    ticket: Ticket,
    used: u64,
    begin: Time,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    /// All of it is in the log.
    Young(Start),
    Grown(Box<Recorder>),
}

impl Recorded {
    fn start(&self) -> Option<Start> {
        match self.stage {
            Stage::Young(start) => Some(start),
            Stage::Grown(_) => None,
        }
    }

    /// Gives a copy that is not short any more a recorder, if there is room for one.
    fn grow(self, witness: (&Log, &Rungs, &Room)) -> Option<Self> {
        let (log, rungs, room) = witness;
        let Stage::Young(start) = self.stage else {
            return Some(self);
        };
        let mut recorder = Box::new(Recorder::new(self.begin, room)?);
        log.tell(&mut recorder, self.ticket, start, rungs);
        Some(Self {
            stage: Stage::Grown(recorder),
            ..self
        })
    }
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Witness {
    room: Room,
    recent: Recent,
    rungs: Rungs,
    recorders: Vec<Recorded>,
    /// What the young among them have seen, and how many they are.
    log: Log,
    young: usize,
    /// For counting the stretches of one copy at a time.
    rows: Rows,
    /// Recorders and uses so far.
    tickets: u64,
    uses: u64,
}

impl Witness {
    pub(crate) fn new(room: &Room) -> Self {
        Self {
            room: room.clone(),
            ..Self::default()
        }
    }

    /// A copy began at `begin`, which may be a little ago.
    pub(crate) fn begin(&mut self, begin: Time) -> Ticket {
        self.tickets += 1;
        let ticket = Ticket(self.tickets);
        if self.recorders.len() >= MOST {
            let idle = self.recorders.iter().enumerate();
            if let Some((place, _)) = idle.min_by_key(|(_, recorded)| recorded.used) {
                self.take(place);
            }
        }
        if self.young == 0 {
            self.log.forget(self.log.end());
        }
        self.make_room();
        let start = self.log.end();
        for charge in self.recent.since(begin) {
            self.log.past(ticket, charge);
        }
        self.recorders.push(Recorded {
            ticket,
            used: self.uses,
            begin,
            stage: Stage::Young(start),
        });
        self.young += 1;
        ticket
    }

    /// A stretch of time ended with the packet that comes next.
    #[inline]
    pub(crate) fn charge(&mut self, charge: RecordedCharge) {
        self.recent.add(charge);
        if self.young > 0 {
            self.make_room();
            self.log.charge(charge);
        }
        for recorder in grown(&mut self.recorders) {
            recorder.charge(charge, &self.rungs);
        }
    }

    /// A packet came.
    #[inline]
    pub(crate) fn rung(&mut self, rung: Rung) {
        self.show_last();
        if self.young > 0 {
            self.make_room();
            self.log.rung();
        }
        self.rungs.push(rung);
    }

    /// Recorders see a packet when it is known what it brought.
    #[inline]
    fn show_last(&mut self) {
        if let Some(last) = self.rungs.last() {
            for recorder in grown(&mut self.recorders) {
                recorder.rung(last);
            }
        }
    }

    /// What the latest packet brought.
    pub(crate) fn label(&mut self, label: Label) {
        self.rungs.label(label);
    }

    /// The latest packet brought data.
    #[inline]
    pub(crate) fn sent(&mut self, to: Direction, sent: &Shown) {
        if self.young > 0 {
            self.make_room();
            self.log.sent(to, sent);
        }
        for recorder in grown(&mut self.recorders) {
            recorder.sent(to, sent);
        }
    }

    /// All that came by now belongs to a copy; an exchange of it may be done.
    pub(crate) fn used(&mut self, ticket: Ticket, exchanged: Option<Exchanged>) {
        self.uses += 1;
        if self.young > 0 {
            self.make_room();
        }
        let found = self.recorders.iter_mut().find(|it| it.ticket == ticket);
        let Some(recorded) = found else {
            return;
        };
        recorded.used = self.uses;
        match &mut recorded.stage {
            Stage::Young(_) => self.log.used(ticket, exchanged),
            Stage::Grown(recorder) => {
                recorder.used();
                if let Some(exchanged) = exchanged {
                    recorder.exchanged(exchanged, &self.rungs);
                }
            }
        }
    }

    /// A copy is over, or what was recorded is no copy.
    pub(crate) fn end(&mut self, ticket: Ticket, extent: Option<&Extent>) -> Breakdown {
        self.show_last();
        let place = self.recorders.iter().position(|it| it.ticket == ticket);
        let recorded = place.and_then(|place| self.take(place));
        let (Some(recorded), Some(extent)) = (recorded, extent) else {
            return Breakdown::default();
        };
        let rank = self.room.rank(extent.end.at - extent.begin);
        let start = recorded.start();
        if let Some(start) = start
            && rank == Rank::Light
        {
            return self.in_short(ticket, start, extent);
        }
        let parts = (&self.log, &self.rungs, &self.room);
        match (recorded.grow(parts).map(|it| it.stage), start) {
            (Some(Stage::Grown(mut recorder)), _) => {
                // one that has just been made has not seen the latest packet
                self.rungs
                    .last()
                    .into_iter()
                    .for_each(|it| recorder.rung(it));
                recorder.told(extent, rank)
            }
            (_, Some(start)) => self.in_short(ticket, start, extent),
            (_, None) => Breakdown::default(),
        }
    }

    /// The room that is shared.
    pub(crate) fn room(&self) -> &Room {
        &self.room
    }

    /// What is told of a copy for which nothing was made.
    fn in_short(&mut self, ticket: Ticket, start: Start, extent: &Extent) -> Breakdown {
        self.rows.clear();
        self.log.count(&mut self.rows, ticket, start);
        let lumped = self
            .rows
            .complete(&extent.account, recorder::end_of(extent), |_| {});
        Breakdown {
            causes: self.rows.told(1),
            lumped,
            ..Breakdown::default()
        }
    }

    fn take(&mut self, place: usize) -> Option<Recorded> {
        let is_there = place < self.recorders.len();
        let taken = is_there.then(|| self.recorders.swap_remove(place))?;
        self.young -= usize::from(taken.start().is_some());
        Some(taken)
    }

    /// Sees to it that the log has room: copies that are older than it is long get recorders.
    fn make_room(&mut self) {
        if !self.log.is_full() {
            return;
        }
        let oldest = self.recorders.iter().filter_map(Recorded::start).min();
        self.log.forget(oldest.unwrap_or(self.log.end()));
        if self.log.is_half_full() {
            let parts = (&self.log, &self.rungs, &self.room);
            let recorders = std::mem::take(&mut self.recorders).into_iter();
            self.recorders = recorders.filter_map(|it| it.grow(parts)).collect();
            self.young = 0;
            self.log.forget(self.log.end());
        }
    }
}

fn grown(recorders: &mut [Recorded]) -> impl Iterator<Item = &mut Recorder> {
    recorders.iter_mut().filter_map(|it| match &mut it.stage {
        Stage::Young(_) => None,
        Stage::Grown(recorder) => Some(&mut **recorder),
    })
}
