//! Who sees all of a connection, and hands it to the recorders of the copies on it.

use coax_wire::time::Time;

use super::{
    charge::{Charge, Recent},
    recorder::Recorder,
    room::Room,
    rungs::{Label, Rungs},
    told::{Breakdown, Rung},
    track::Shown,
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
    recorder: Box<Recorder>,
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Witness {
    room: Room,
    recent: Recent,
    rungs: Rungs,
    recorders: Vec<Recorded>,
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
                self.recorders.swap_remove(place);
            }
        }
        if let Some(mut recorder) = Recorder::new(begin, &self.room) {
            for charge in self.recent.since(begin) {
                recorder.charge(charge, &self.rungs);
            }
            self.recorders.push(Recorded {
                ticket,
                used: self.uses,
                recorder: Box::new(recorder),
            });
        }
        ticket
    }

    /// A stretch of time ended with the packet that comes next.
    pub(crate) fn charge(&mut self, charge: Charge) {
        self.recent.add(charge);
        for recorded in &mut self.recorders {
            recorded.recorder.charge(charge, &self.rungs);
        }
    }

    /// A packet came.
    pub(crate) fn rung(&mut self, rung: Rung) {
        self.show_last();
        self.rungs.push(rung);
    }

    /// Recorders see a packet when it is known what it brought.
    fn show_last(&mut self) {
        if let Some(last) = self.rungs.last() {
            for recorded in &mut self.recorders {
                recorded.recorder.rung(last);
            }
        }
    }

    /// What the latest packet brought.
    pub(crate) fn label(&mut self, label: Label) {
        self.rungs.label(label);
    }

    /// The latest packet brought data.
    pub(crate) fn sent(&mut self, to: Direction, sent: &Shown) {
        for recorded in &mut self.recorders {
            recorded.recorder.sent(to, sent);
        }
    }

    /// All that came by now belongs to a copy; an exchange of it may be done.
    pub(crate) fn used(&mut self, ticket: Ticket, exchanged: Option<Exchanged>) {
        self.uses += 1;
        let found = self.recorders.iter_mut().find(|it| it.ticket == ticket);
        if let Some(recorded) = found {
            recorded.used = self.uses;
            recorded.recorder.used();
            if let Some(exchanged) = exchanged {
                recorded.recorder.exchanged(exchanged, &self.rungs);
            }
        }
    }

    /// A copy is over, or what was recorded is no copy.
    pub(crate) fn end(&mut self, ticket: Ticket, extent: Option<&Extent>) -> Breakdown {
        self.show_last();
        let place = self.recorders.iter().position(|it| it.ticket == ticket);
        let recorded = place.map(|place| self.recorders.swap_remove(place));
        match (recorded, extent) {
            (Some(recorded), Some(extent)) => recorded.recorder.told(extent, &self.room),
            _ => Breakdown::default(),
        }
    }

    /// The room that is shared.
    pub(crate) fn room(&self) -> &Room {
        &self.room
    }
}
