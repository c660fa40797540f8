//! A link that is a shared medium: hosts wait for it as its other stations do.

use alloc::boxed::Box;

use coax_wire::time::Time;

use super::{World, cable::SIDES, events::Event};
use crate::{
    capture::Tap,
    cause::{Cause, Provenance},
    link::{Fate, TxFull},
    medium::{MediumStats, Step},
    segment::Segment,
    side::Side,
    watch::Happened,
};

impl World {
    /// Counters of the shared medium, if the link is one.
    pub fn medium(&self) -> Option<&MediumStats> {
        self.cable.as_ref().map(|cable| cable.medium.stats())
    }

    /// Schedules the decision on the medium's next transmission.
    pub(super) fn watch_medium(&mut self) {
        let Some(cable) = &mut self.cable else { return };
        let Some(next) = cable.medium.next() else {
            return;
        };
        if cable.event.is_none_or(|at| at > next) {
            let at = next.max(self.now);
            cable.event = Some(at);
            self.events.push(at, (Event::Medium, self.current.clone()));
        }
    }

    /// Passes a segment to a card on the medium; false if the driver must wait. The segment is returned if the link is no shared medium.
    pub(super) fn hand_to_cable(
        &mut self,
        side: Side,
        segment: Box<Segment>,
    ) -> Result<bool, Box<Segment>> {
        let nic = self.host(side).nic;
        let account = self.current.clone();
        let Some(cable) = &mut self.cable else {
            return Err(segment);
        };
        let card = cable.card(side);
        let is_full = nic.tx_ring > 0 && card.waiting.len() + card.leaving >= nic.tx_ring;
        if is_full && nic.tx_full == TxFull::Drop {
            self.frame_ends(side, &segment, &Fate::RingDropped);
            return Ok(true);
        }
        if is_full {
            card.held = Some((segment, account));
            return Ok(false);
        }
        self.enqueue(side, segment, account);
        Ok(!nic.tx_wait)
    }

    fn enqueue(&mut self, side: Side, segment: Box<Segment>, account: Provenance) {
        self.tap(Tap::at(side), side, &segment, self.now);
        if let Some(cable) = &mut self.cable {
            cable.card(side).waiting.push_back((segment, account));
            cable.offer(side);
        }
        self.watch_medium();
    }

    /// The medium decides on a transmission.
    pub(super) fn medium_step(&mut self) {
        let now = self.now;
        let Some(cable) = &mut self.cable else { return };
        cable.event = None;
        if cable.medium.next().is_some_and(|next| next <= now) {
            match cable.medium.resolve() {
                Some(Step::Sent {
                    station,
                    start,
                    end,
                }) => {
                    if let Some(side) = SIDES.get(station) {
                        self.sent(*side, start, end);
                    }
                }
                Some(Step::Collided { dropped }) => {
                    for side in dropped.iter().filter_map(|station| SIDES.get(*station)) {
                        self.gave_up(*side);
                    }
                }
                None => {}
            }
        }
        self.watch_medium();
    }

    /// A host's frame is on the medium from `start` to `end`.
    fn sent(&mut self, side: Side, start: Time, end: Time) {
        let epoch = self.epoch;
        let Some(cable) = &mut self.cable else { return };
        let card = cable.card(side);
        let Some((segment, account)) = card.waiting.pop_front() else {
            return;
        };
        let is_data = segment.seq_len() > 0;
        let account = waited(account.in_epoch(epoch), card.last.as_ref(), start);
        let account = match is_data {
            true => account.charge(segment.sent.cause(), end),
            false => account.transit(end),
        };
        card.last = Some(account.clone());
        card.leaving += 1;
        cable.offer(side);
        self.events.push(end, (Event::Off(side), account.clone()));
        let fate = self.host_mut(side).way.land(start, account, is_data);
        self.frame_ends(side, &segment, &fate);
        self.tap(Tap::Wire, side, &segment, start);
        if let Fate::Arrives { account, .. } = fate {
            self.schedule(Event::Arrive(side.peer(), segment), account);
        }
    }

    /// A host's frame is dropped after too many collisions.
    fn gave_up(&mut self, side: Side) {
        let now = self.now;
        let Some(cable) = &mut self.cable else { return };
        let card = cable.card(side);
        let Some((segment, account)) = card.waiting.pop_front() else {
            return;
        };
        card.leaving += 1;
        cable.offer(side);
        let account = account.charge(Cause::Queueing, now);
        self.events.push(now, (Event::Off(side), account));
        self.frame_ends(side, &segment, &Fate::Lost { leaves: now });
    }

    /// A frame has left the ring: the driver goes on.
    pub(super) fn off(&mut self, side: Side) {
        let tx_wait = self.host(side).nic.tx_wait;
        let Some(cable) = &mut self.cable else { return };
        let card = cable.card(side);
        card.leaving = card.leaving.saturating_sub(1);
        let held = card.held.take();
        let was_held = held.is_some();
        if let Some((segment, _)) = held {
            let account = self.current.clone();
            self.enqueue(side, segment, account);
        }
        if tx_wait || was_held {
            self.next_job(side);
        }
    }

    /// Counts a frame's end.
    fn frame_ends(&mut self, side: Side, segment: &Segment, fate: &Fate) {
        self.digest.frame(self.now, side, segment, fate);
        let happened = match fate {
            Fate::Arrives { .. } => Happened::Sent,
            _ => Happened::SentInVain,
        };
        self.saw(side, happened, segment);
        self.count(side, fate, segment);
    }
}

/// The wait of a frame for its start: behind the card's own last frame, then for the medium.
fn waited(account: Provenance, last: Option<&Provenance>, start: Time) -> Provenance {
    if account.at() >= start {
        return account;
    }
    let own = last.filter(|last| last.at() > account.at());
    own.map_or(account.clone(), |last| {
        last.clone().in_epoch(account.epoch())
    })
    .charge(Cause::Queueing, start)
}
