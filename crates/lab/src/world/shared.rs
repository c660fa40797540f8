//! A link that is a shared medium: hosts wait for it as its other stations do.

use alloc::{boxed::Box, vec::Vec};

use coax_wire::time::Time;

use super::{World, events::Event};
use crate::{
    capture::Tap,
    cause::{Cause, Provenance},
    link::{Fate, TxFull},
    medium::{MediumStats, Step},
    segment::Segment,
    side::End,
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
        end: End,
        segment: Box<Segment>,
    ) -> Result<bool, Box<Segment>> {
        let nic = self.host(end).nic;
        let account = self.current.clone();
        let Some(cable) = &mut self.cable else {
            return Err(segment);
        };
        let card = cable.card(end);
        let is_full = nic.tx_ring > 0 && card.waiting.len() + card.leaving >= nic.tx_ring;
        if is_full && nic.tx_full == TxFull::Drop {
            self.frame_ends(end, &segment, &Fate::RingDropped);
            return Ok(true);
        }
        if is_full {
            card.held = Some((end, segment, account));
            return Ok(false);
        }
        self.enqueue(end, segment, account);
        Ok(!nic.tx_wait)
    }

    fn enqueue(&mut self, end: End, segment: Box<Segment>, account: Provenance) {
        self.tap(Tap::at(end.side), end, &segment, self.now);
        if let Some(cable) = &mut self.cable {
            cable.card(end).waiting.push_back((end, segment, account));
            cable.offer(end);
        }
        self.watch_medium();
    }

    /// The medium decides on a transmission.
    pub(super) fn medium_step(&mut self) {
        let now = self.now;
        let Some(cable) = &mut self.cable else { return };
        if cable.event != Some(now) {
            // an earlier event has taken its place
            return;
        }
        cable.event = None;
        if cable.medium.next().is_some_and(|next| next <= now) {
            match cable.medium.resolve() {
                Some(Step::Sent {
                    station,
                    start,
                    end,
                }) => {
                    if let Some(host) = cable.host_at(station) {
                        self.sent(host, start, end);
                    }
                }
                Some(Step::Collided { dropped }) => {
                    let hosts = dropped.iter().filter_map(|it| cable.host_at(*it));
                    for host in hosts.collect::<Vec<_>>() {
                        self.gave_up(host);
                    }
                }
                None => {}
            }
        }
        self.watch_medium();
    }

    /// A host's frame is on the medium from `start` to `until`.
    fn sent(&mut self, host: End, start: Time, until: Time) {
        let Some(cable) = &mut self.cable else { return };
        let card = cable.card(host);
        let Some((end, segment, account)) = card.waiting.pop_front() else {
            return;
        };
        let epoch = self.flows.of(end.client).epoch;
        let is_data = segment.seq_len() > 0;
        let last = card.last.as_ref().filter(|(of, _)| *of == end.client);
        let last = last.map(|(_, account)| account);
        let account = waited(account.in_epoch(epoch), last, start);
        let account = match is_data {
            true => account.charge(segment.sent.cause(), until),
            false => account.transit(until),
        };
        card.last = Some((end.client, account.clone()));
        card.leaving += 1;
        cable.offer(host);
        self.events.push(until, (Event::Off(end), account.clone()));
        let fate = self.host_mut(end).way.land(start, account, is_data);
        self.frame_ends(end, &segment, &fate);
        self.tap(Tap::Wire, end, &segment, start);
        if let Fate::Arrives { account, .. } = fate {
            self.schedule(Event::Arrive(end.peer(), segment), account);
        }
    }

    /// A host's frame is dropped after too many collisions.
    fn gave_up(&mut self, host: End) {
        let now = self.now;
        let Some(cable) = &mut self.cable else { return };
        let card = cable.card(host);
        let Some((end, segment, account)) = card.waiting.pop_front() else {
            return;
        };
        card.leaving += 1;
        cable.offer(host);
        let account = account.charge(Cause::Queueing, now);
        self.events.push(now, (Event::Off(end), account));
        self.frame_ends(end, &segment, &Fate::Lost { leaves: now });
    }

    /// A frame has left the ring: the driver goes on.
    pub(super) fn off(&mut self, end: End) {
        let tx_wait = self.host(end).nic.tx_wait;
        let Some(cable) = &mut self.cable else { return };
        let card = cable.card(end);
        card.leaving = card.leaving.saturating_sub(1);
        let held = card.held.take();
        let was_held = held.is_some();
        if let Some((of, segment, account)) = held {
            let account = match of.client == end.client {
                true => self.current.clone(),
                false => account
                    .in_epoch(self.epoch(of))
                    .charge(Cause::Queueing, self.now),
            };
            self.enqueue(of, segment, account);
        }
        if tx_wait || was_held {
            self.next_job(end);
        }
    }

    /// Counts a frame's end.
    fn frame_ends(&mut self, end: End, segment: &Segment, fate: &Fate) {
        self.digest.frame(self.now, end, segment, fate);
        let happened = match fate {
            Fate::Arrives { .. } => Happened::Sent,
            _ => Happened::SentInVain,
        };
        self.saw(end, happened, segment);
        self.count(end, fate, segment);
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
