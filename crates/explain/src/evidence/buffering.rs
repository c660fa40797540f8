//! What came since the short copies of a connection began, as it came. Most copies of a tree end before it is much: then
//! nothing was made for them but this. For one that goes on it is told to a recorder, as if that had been there.

use super::{
    charge::RecordedCharge, excerpts::Rungs, exchanges::Exchanged, id::RecorderId,
    recorder::Recorder, tally::Rows, track::Shown,
};
use crate::report::Direction;

/// Events kept, and packets among them: of these, [`Rungs`] has a few more.
const MOST: usize = 128;
const MOST_RUNGS: usize = 48;

/// What a recorder is told.
#[derive(Clone, Copy, Debug)]
enum Event {
    RecordedCharge(RecordedCharge),
    /// A stretch that had passed when the copy was known of.
    Past(RecorderId, RecordedCharge),
    PacketRow,
    Sent(Direction, Shown),
    Used(RecorderId, Option<Exchanged>),
}

/// Where in a [`Log`] a copy begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Start(u64);

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Log {
    events: Vec<Event>,
    /// Packets among them.
    rungs: usize,
    /// Events forgotten.
    forgotten: u64,
}

impl Log {
    /// Where the next event is.
    pub(super) fn end(&self) -> Start {
        Start(self.forgotten + self.events.len() as u64)
    }

    /// Whether something has to be forgotten before more comes.
    pub(super) fn is_full(&self) -> bool {
        self.events.len() >= MOST || self.rungs >= MOST_RUNGS
    }

    /// Whether the part that is left would soon fill the buffer again.
    pub(super) fn is_half_full(&self) -> bool {
        self.events.len() >= MOST / 2 || self.rungs >= MOST_RUNGS / 2
    }

    /// Nobody needs what was before `start`.
    pub(super) fn forget(&mut self, start: Start) {
        let count = (self.place(start)).min(self.events.len());
        let rungs = self.events.drain(..count).filter(Event::is_rung).count();
        self.rungs -= rungs;
        self.forgotten += count as u64;
    }

    pub(super) fn charge(&mut self, charge: RecordedCharge) {
        self.events.push(Event::RecordedCharge(charge));
    }

    pub(super) fn past(&mut self, id: RecorderId, charge: RecordedCharge) {
        self.events.push(Event::Past(id, charge));
    }

    pub(super) fn rung(&mut self) {
        self.rungs += 1;
        self.events.push(Event::PacketRow);
    }

    pub(super) fn sent(&mut self, to: Direction, sent: &Shown) {
        self.events.push(Event::Sent(to, *sent));
    }

    pub(super) fn used(&mut self, id: RecorderId, exchanged: Option<Exchanged>) {
        self.events.push(Event::Used(id, exchanged));
    }

    /// Tells a recorder all that it has missed. `rungs` are the packets by now.
    pub(super) fn tell(
        &self,
        recorder: &mut Recorder,
        id: RecorderId,
        start: Start,
        rungs: &Rungs,
    ) {
        let events = self.since(start);
        let mut newer = events.iter().filter(|event| event.is_rung()).count();
        let mut past = rungs.without(newer);
        for event in events {
            match event {
                Event::RecordedCharge(charge) => recorder.charge(*charge, &past),
                Event::Past(owner, charge) if *owner == id => recorder.charge(*charge, &past),
                Event::PacketRow => {
                    past.last().into_iter().for_each(|last| recorder.rung(last));
                    newer -= 1;
                    if let Some(next) = rungs.back(newer) {
                        past.push(*next);
                    }
                }
                Event::Sent(to, sent) => recorder.sent(*to, sent),
                Event::Used(owner, exchanged) if *owner == id => {
                    recorder.used();
                    exchanged
                        .iter()
                        .for_each(|it| recorder.exchanged(*it, &past));
                }
                Event::Past(..) | Event::Used(..) => {}
            }
        }
    }

    /// Counts the stretches of a copy up to its latest use.
    pub(super) fn count(&self, rows: &mut Rows, id: RecorderId, start: Start) {
        let events = self.since(start);
        let is_use = |event: &Event| matches!(event, Event::Used(owner, _) if *owner == id);
        let uses = events.iter().rposition(is_use).unwrap_or(0);
        for event in events.iter().take(uses) {
            match event {
                Event::RecordedCharge(charge) => rows.charge(charge),
                Event::Past(owner, charge) if *owner == id => rows.charge(charge),
                _ => {}
            }
        }
    }

    fn since(&self, start: Start) -> &[Event] {
        self.events.get(self.place(start)..).unwrap_or_default()
    }

    fn place(&self, start: Start) -> usize {
        usize::try_from(start.0.saturating_sub(self.forgotten)).unwrap_or(usize::MAX)
    }
}

impl Event {
    fn is_rung(&self) -> bool {
        matches!(self, Self::PacketRow)
    }
}
