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
mod junction;
mod loss;
mod nic;
mod wire;

use coax_wire::time::{Span, Time};

pub use coax_catalog::link::{Duplex, LinkParams, LossParams, LossRule, Others, Reorder};
pub(crate) use fate::Fate;
pub(crate) use junction::Junction;
use nic::Ring;
pub use nic::{NicParams, TxFull};
use wire::{Frame, Wire};

use crate::{cause::Provenance, rng::Rng, segment::Segment};

/// One direction of a host's link: the sender's ring, its wire, and the loss rules.
#[derive(Clone, Debug)]
pub(crate) struct Direction {
    ring: Ring,
    access: Wire,
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
            delay: params.delay,
            loss: loss::Loss::new(loss, rng.fork(1)),
            reorder: params.reorder,
            rng: rng.fork(2),
        }
    }

    /// Passes a client's frame to the card at the account's time. A shared medium is busy until `medium`.
    pub(crate) fn transmit(
        &mut self,
        medium: Time,
        (client, account): (u16, Provenance),
        segment: &Segment,
        junction: &mut Junction,
    ) -> Fate {
        let frame = Frame {
            client,
            bytes: segment.on_wire(),
            data: segment.seq_len() > 0,
            sent: segment.sent,
        };
        if let Some(refused) = self.ring.refuses(account.at()) {
            return refused;
        }
        let (leaves, account) = self.access.pass(medium, account, &frame);
        self.ring.take(account.at(), frame.bytes);
        match junction.pass(account, &frame) {
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
}

#[cfg(test)]
#[allow(clippy::panic, clippy::indexing_slicing)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::{
        cause::{Cause, Epoch},
        payload::Payload,
    };

    struct Sender(Direction, Junction);

    impl Sender {
        fn new(params: &LinkParams) -> Self {
            let (loss, nic) = (LossParams::default(), NicParams::default());
            let way = Direction::new(params, loss, &nic, &mut Rng::new(1));
            Self(way, Junction::new(params, false))
        }

        fn transmit(&mut self, segment: &Segment) -> Fate {
            self.0
                .transmit(Time(0), (0, account()), segment, &mut self.1)
        }
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
        let mut way = Sender::new(&LinkParams::default());
        let arrivals: Vec<u64> = (0..3).map(|_| arrival(&way.transmit(&full()))).collect();
        assert_eq!(
            arrivals,
            [123_040 + 60_000, 246_080 + 60_000, 369_120 + 60_000]
        );
    }

    #[test]
    fn waiting_behind_data_is_bandwidth_and_behind_an_acknowledgment_is_queueing() {
        let mut way = Sender::new(&LinkParams::default());
        way.transmit(&Segment::default());
        way.transmit(&full());
        let Fate::Arrives { account, .. } = way.transmit(&full()) else {
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
        let mut way = Sender::new(&params);
        let fates: Vec<Fate> = (0..8).map(|_| way.transmit(&full())).collect();
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

    #[test]
    fn frames_of_several_clients_wait_for_the_port_of_the_server_and_nobody_else() {
        let link = LinkParams::default();
        let mut port = Junction::new(&link, true);
        let mut arrive = |client| {
            let mut way = Sender::new(&link).0;
            arrival(&way.transmit(Time(0), (client, account()), &full(), &mut port))
        };
        let arrivals = [0, 1, 2].map(&mut arrive);
        assert_eq!(
            arrivals,
            [123_040 + 60_000, 246_080 + 60_000, 369_120 + 60_000]
        );
        let mut alone = Sender::new(&link);
        alone.1 = Junction::new(&link, true);
        let one = [(); 2].map(|()| arrival(&alone.transmit(&full())));
        assert_eq!(one, [123_040 + 60_000, 246_080 + 60_000]);
    }
}
