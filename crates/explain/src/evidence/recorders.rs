//! Who sees all of a connection, and hands it to the recorders of the copies on it.

use coax_wire::time::Time;

use super::{
    budget::{MemoryBudget, Rank},
    buffering::{Log, Start},
    charge::{Recent, RecordedCharge},
    excerpts::{Label, Rungs},
    id::RecorderId,
    recorder::{self, Recorder},
    tally::Rows,
    track::Shown,
};
pub(crate) use super::{exchanges::Exchanged, recorder::Extent};
use crate::report::{Breakdown, Direction, PacketRow};

/// Copies recorded at a time on one connection; of more, the one that was not used for longest is no longer.
const MOST: usize = 8;

#[derive(Debug)]
struct Recorded {
    id: RecorderId,
    used: u64,
    begin: Time,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    /// All of it is in the log.
    Buffering(Start),
    Recording(Box<Recorder>),
}

impl Recorded {
    fn start(&self) -> Option<Start> {
        match self.stage {
            Stage::Buffering(start) => Some(start),
            Stage::Recording(_) => None,
        }
    }

    /// Gives a copy that is not short any more a recorder, if there is room for one.
    fn grow(self, recorders: (&Log, &Rungs, &MemoryBudget)) -> Option<Self> {
        let (log, rungs, room) = recorders;
        let Stage::Buffering(start) = self.stage else {
            return Some(self);
        };
        let mut recorder = Box::new(Recorder::new(self.begin, room)?);
        log.tell(&mut recorder, self.id, start, rungs);
        Some(Self {
            stage: Stage::Recording(recorder),
            ..self
        })
    }
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct RecorderSet {
    room: MemoryBudget,
    recent: Recent,
    rungs: Rungs,
    recorders: Vec<Recorded>,
    /// What the buffering recorders have seen, and how many they are.
    log: Log,
    buffering: usize,
    /// For counting the stretches of one copy at a time.
    rows: Rows,
    /// Recorders and uses so far.
    ids: u64,
    uses: u64,
}

impl RecorderSet {
    pub(crate) fn new(room: &MemoryBudget) -> Self {
        Self {
            room: room.clone(),
            ..Self::default()
        }
    }

    /// A copy began at `begin`, which may be a little ago.
    pub(crate) fn begin(&mut self, begin: Time) -> RecorderId {
        self.ids += 1;
        let id = RecorderId(self.ids);
        if self.recorders.len() >= MOST {
            let idle = self.recorders.iter().enumerate();
            if let Some((place, _)) = idle.min_by_key(|(_, recorded)| recorded.used) {
                self.take(place);
            }
        }
        if self.buffering == 0 {
            self.log.forget(self.log.end());
        }
        self.make_room();
        let start = self.log.end();
        for charge in self.recent.since(begin) {
            self.log.past(id, charge);
        }
        self.recorders.push(Recorded {
            id,
            used: self.uses,
            begin,
            stage: Stage::Buffering(start),
        });
        self.buffering += 1;
        id
    }

    /// A stretch of time ended with the packet that comes next.
    #[inline]
    pub(crate) fn charge(&mut self, charge: RecordedCharge) {
        self.recent.add(charge);
        if self.buffering > 0 {
            self.make_room();
            self.log.charge(charge);
        }
        for recorder in grown(&mut self.recorders) {
            recorder.charge(charge, &self.rungs);
        }
    }

    /// A packet came.
    #[inline]
    pub(crate) fn rung(&mut self, rung: PacketRow) {
        self.show_last();
        if self.buffering > 0 {
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
        if self.buffering > 0 {
            self.make_room();
            self.log.sent(to, sent);
        }
        for recorder in grown(&mut self.recorders) {
            recorder.sent(to, sent);
        }
    }

    /// All that came by now belongs to a copy; an exchange of it may be done.
    pub(crate) fn used(&mut self, id: RecorderId, exchanged: Option<Exchanged>) {
        self.uses += 1;
        if self.buffering > 0 {
            self.make_room();
        }
        let found = self.recorders.iter_mut().find(|it| it.id == id);
        let Some(recorded) = found else {
            return;
        };
        recorded.used = self.uses;
        match &mut recorded.stage {
            Stage::Buffering(_) => self.log.used(id, exchanged),
            Stage::Recording(recorder) => {
                recorder.used();
                if let Some(exchanged) = exchanged {
                    recorder.exchanged(exchanged, &self.rungs);
                }
            }
        }
    }

    /// A copy is over, or what was recorded is no copy.
    pub(crate) fn end(&mut self, id: RecorderId, extent: Option<&Extent>) -> Breakdown {
        self.show_last();
        let place = self.recorders.iter().position(|it| it.id == id);
        let recorded = place.and_then(|place| self.take(place));
        let (Some(recorded), Some(extent)) = (recorded, extent) else {
            return Breakdown::default();
        };
        let rank = self.room.rank(extent.end.at - extent.begin);
        let start = recorded.start();
        if let Some(start) = start
            && rank == Rank::Light
        {
            return self.in_short(id, start, extent);
        }
        let parts = (&self.log, &self.rungs, &self.room);
        match (recorded.grow(parts).map(|it| it.stage), start) {
            (Some(Stage::Recording(mut recorder)), _) => {
                // one that has just been made has not seen the latest packet
                self.rungs
                    .last()
                    .into_iter()
                    .for_each(|it| recorder.rung(it));
                recorder.told(extent, rank)
            }
            (_, Some(start)) => self.in_short(id, start, extent),
            (_, None) => Breakdown::default(),
        }
    }

    /// The room that is shared.
    pub(crate) fn room(&self) -> &MemoryBudget {
        &self.room
    }

    /// What is told of a copy for which nothing was made.
    fn in_short(&mut self, id: RecorderId, start: Start, extent: &Extent) -> Breakdown {
        self.rows.clear();
        self.log.count(&mut self.rows, id, start);
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
        self.buffering -= usize::from(taken.start().is_some());
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
            self.buffering = 0;
            self.log.forget(self.log.end());
        }
    }
}

fn grown(recorders: &mut [Recorded]) -> impl Iterator<Item = &mut Recorder> {
    recorders.iter_mut().filter_map(|it| match &mut it.stage {
        Stage::Buffering(_) => None,
        Stage::Recording(recorder) => Some(&mut **recorder),
    })
}
