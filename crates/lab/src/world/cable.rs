//! The cards of both hosts on a shared medium.

use alloc::{boxed::Box, collections::VecDeque};

use coax_wire::time::Time;

use crate::{
    cause::Provenance,
    link::{Duplex, LinkParams},
    medium::{GAP_BYTES, Medium},
    rng::Rng,
    segment::Segment,
    side::Side,
};

/// The hosts' stations on the medium.
pub(super) const SIDES: [Side; 2] = [Side::Client, Side::Server];

type Frame = (Box<Segment>, Provenance);

/// A host's card on the medium.
#[derive(Debug, Default)]
pub(super) struct Card {
    pub(super) waiting: VecDeque<Frame>,
    /// Frames that are being sent; they are in the ring until their end.
    pub(super) leaving: usize,
    /// What the driver holds until the ring has room.
    pub(super) held: Option<Frame>,
    /// The account at the end of the last frame.
    pub(super) last: Option<Provenance>,
}

/// The medium and both cards.
#[derive(Debug)]
pub(super) struct Cable {
    pub(super) medium: Medium,
    cards: [Card; 2],
    pub(super) event: Option<Time>,
}

impl Cable {
    /// The medium of a link, if it is a shared one.
    pub(super) fn of(link: &LinkParams, rng: &mut Rng) -> Option<Self> {
        (link.duplex == Duplex::Shared).then(|| Self {
            medium: Medium::new(
                link.rate,
                link.delay,
                SIDES.len(),
                &link.others,
                &mut rng.fork(7),
            ),
            cards: Default::default(),
            event: None,
        })
    }

    pub(super) fn card(&mut self, side: Side) -> &mut Card {
        let [client, server] = &mut self.cards;
        match side {
            Side::Client => client,
            Side::Server => server,
        }
    }

    /// Offers the card's next frame to the medium.
    pub(super) fn offer(&mut self, side: Side) {
        if self.medium.is_sending(side as usize) {
            return;
        }
        if let Some((segment, account)) = self.card(side).waiting.front() {
            let (at, bytes) = (account.at(), segment.on_wire().saturating_sub(GAP_BYTES));
            self.medium.offer(side as usize, at, bytes);
        }
    }
}
