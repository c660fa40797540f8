//! A link, and the ring of the sending card.
//!
//! Frames are sent one after the other. A link with an access rate is a path: the card sends at the access rate to a
//! router, whose queue feeds the slower link and drops the excess.
//!
//! A shared link is a [`Medium`](crate::medium::Medium) instead of two wires. Hosts on a half-duplex link take turns in the order of their
//! requests, without collisions.
//!
//! Not modelled: fragments, and other framing than Ethernet's on the slower link.

mod fate;
mod loss;
mod nic;

use coax_wire::time::{Span, Time};

pub use coax_catalog::link::{Duplex, LinkParams, LossParams, LossRule, Others, Reorder};
pub(crate) use fate::Fate;
use nic::Ring;
pub use nic::{NicParams, TxFull};

use crate::{
    cause::{Cause, Provenance},
    rng::Rng,
    segment::{Segment, Sent},
};

const fn serialisation(rate: u64, bytes: u64) -> Span {
    Span(bytes.saturating_mul(8_000_000_000) / if rate == 0 { 1 } else { rate })
}

/// A wire that sends one frame after the other.
#[derive(Clone, Debug)]
struct Wire {
    rate: u64,
    free_at: Time,
    /// The account of the last frame at its end.
    last: Option<Provenance>,
}

impl Wire {
    const fn new(rate: u64) -> Self {
        Self {
            rate,
            free_at: Time(0),
            last: None,
        }
    }

    /// Sends a frame no earlier than `medium`. Returns its start time, and its account at its end.
    fn pass(&mut self, medium: Time, account: Provenance, frame: &Frame) -> (Time, Provenance) {
        let now = account.at();
        let start = now.max(self.free_at).max(medium);
        let waited = match &self.last {
            _ if start == now => account,
            Some(last) if self.free_at == start => last.clone().in_epoch(account.epoch()),
            _ => account.charge(Cause::Queueing, start),
        };
        let end = start + serialisation(self.rate, frame.bytes);
        let account = if frame.data {
            waited.charge(frame.sent.cause(), end)
        } else {
            self.last = Some(waited.clone().charge(Cause::Queueing, end));
            waited.transit(end)
        };
        if frame.data {
            self.last = Some(account.clone());
        }
        self.free_at = end;
        (start, account)
    }
}

struct Frame {
    bytes: u64,
    data: bool,
    sent: Sent,
}

/// One direction: the sender's ring, its wire, optionally a router's queue and wire, and the loss rules.
#[derive(Clone, Debug)]
pub(crate) struct Direction {
    ring: Ring,
    access: Wire,
    router: Option<(Wire, Ring)>,
    queue_bytes: u64,
    delay: Span,
    loss: loss::Loss,
    reorder: Reorder,
    rng: Rng,
}

impl Direction {
    pub(crate) fn new(
        params: &LinkParams,
        loss: LossParams,
        nic: &NicParams,
        rng: &mut Rng,
    ) -> Self {
        let access = params.access_rate.unwrap_or(params.rate);
        Self {
            ring: Ring::new(nic.tx_ring, nic.tx_full),
            access: Wire::new(access),
            router: params
                .access_rate
                .map(|_| (Wire::new(params.rate), Ring::new(0, TxFull::Drop))),
            queue_bytes: params.queue_bytes,
            delay: params.delay,
            loss: loss::Loss::new(loss, rng.fork(1)),
            reorder: params.reorder,
            rng: rng.fork(2),
        }
    }

    /// Passes a frame to the card at the account's time. A shared medium is busy until `medium`.
    pub(crate) fn transmit(
        &mut self,
        medium: Time,
        account: Provenance,
        segment: &Segment,
    ) -> Fate {
        let frame = Frame {
            bytes: segment.on_wire(),
            data: segment.seq_len() > 0,
            sent: segment.sent,
        };
        if let Some(refused) = self.ring.refuses(account.at()) {
            return refused;
        }
        let (leaves, account) = self.access.pass(medium, account, &frame);
        self.ring.take(account.at(), frame.bytes);
        match self.route(account, &frame) {
            None => Fate::QueueFull { leaves },
            Some(account) => self.land(leaves, account, frame.data),
        }
    }

    /// A frame that left at `leaves` is at the end of its wire at the account's time.
    pub(crate) fn land(&mut self, leaves: Time, account: Provenance, data: bool) -> Fate {
        if self.loss.strikes(data) {
            return Fate::Lost { leaves };
        }
        let held = if self.rng.chance(self.reorder.probability) {
            self.reorder.delay
        } else {
            Span(0)
        };
        let arrives = account.at() + self.delay + held;
        Fate::Arrives {
            leaves,
            account: account.transit(arrives),
        }
    }

    /// The end of the last frame on the card's wire.
    pub(crate) const fn busy_until(&self) -> Time {
        self.access.free_at
    }

    fn route(&mut self, account: Provenance, frame: &Frame) -> Option<Provenance> {
        let Some((wire, queue)) = &mut self.router else {
            return Some(account);
        };
        let waiting = queue.bytes_waiting(account.at());
        if self.queue_bytes > 0 && waiting.saturating_add(frame.bytes) > self.queue_bytes {
            return None;
        }
        let (_, account) = wire.pass(Time(0), account, frame);
        queue.take(account.at(), frame.bytes);
        Some(account)
    }
}

#[cfg(test)]
#[allow(clippy::panic, clippy::indexing_slicing)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::{cause::Epoch, payload::Payload};

    fn direction(params: &LinkParams, nic: &NicParams) -> Direction {
        Direction::new(params, LossParams::default(), nic, &mut Rng::new(1))
    }

    fn account() -> Provenance {
        Provenance::begin(Epoch::default())
    }

    fn full() -> Segment {
        Segment {
            payload: Payload::pattern(0, 1460),
            ..Segment::default()
        }
    }

    fn arrival(fate: &Fate) -> u64 {
        match fate {
            Fate::Arrives { account, .. } => account.at().0,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn frames_leave_one_after_the_other_at_the_rate_of_the_link() {
        let mut way = direction(&LinkParams::default(), &NicParams::default());
        let arrivals: Vec<u64> = (0..3)
            .map(|_| arrival(&way.transmit(Time(0), account(), &full())))
            .collect();
        assert_eq!(
            arrivals,
            [123_040 + 60_000, 246_080 + 60_000, 369_120 + 60_000]
        );
    }

    #[test]
    fn waiting_behind_data_is_bandwidth_and_behind_an_acknowledgment_is_queueing() {
        let mut way = direction(&LinkParams::default(), &NicParams::default());
        way.transmit(Time(0), account(), &Segment::default());
        way.transmit(Time(0), account(), &full());
        let Fate::Arrives { account, .. } = way.transmit(Time(0), account(), &full()) else {
            panic!("lost");
        };
        let spent = account.finish(Cause::RoundTrips);
        assert_eq!(spent.get(Cause::Queueing), Span(6720));
        assert_eq!(spent.get(Cause::Bandwidth), Span(246_080));
        assert_eq!(spent.get(Cause::RoundTrips), Span(60_000));
    }

    #[test]
    fn a_slower_link_behind_the_card_sets_the_pace_and_drops_what_its_queue_cannot_hold() {
        let params = LinkParams {
            rate: 10_000_000,
            access_rate: Some(100_000_000),
            queue_bytes: 4 * 1538,
            ..LinkParams::default()
        };
        let mut way = direction(&params, &NicParams::default());
        let fates: Vec<Fate> = (0..8)
            .map(|_| way.transmit(Time(0), account(), &full()))
            .collect();
        let lost = fates
            .iter()
            .filter(|fate| matches!(fate, Fate::QueueFull { .. }))
            .count();
        assert_eq!(lost, 4);
        let (first, second) = (arrival(&fates[0]), arrival(&fates[1]));
        assert_eq!(
            (first, second - first),
            (123_040 + 1_230_400 + 60_000, 1_230_400)
        );
    }
}
