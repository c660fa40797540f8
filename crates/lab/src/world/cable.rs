//! The cards of all hosts on a shared medium.

use alloc::{boxed::Box, collections::VecDeque, vec::Vec};

use coax_wire::time::Time;

use super::row::Row;
use crate::{
    cause::Provenance,
    link::{Duplex, LinkParams},
    medium::{GAP_BYTES, Medium},
    rng::Rng,
    segment::Segment,
    side::{End, Side},
};

/// Bytes of an Ethernet header.
const ETHERNET_HEADER: u64 = 14;
/// Bytes around a packet on a Token Ring (IEEE 802.5): starting delimiter, access and frame control, addresses, check sequence, ending delimiter
/// and frame status.
const RING_FRAMING: u64 = 1 + 2 + 12 + 4 + 2;
/// Bytes of LLC and SNAP before an IP packet (RFC 1042).
const LLC: u64 = 8;
/// The station of the server; that of the first client is 0, and those of more clients follow.
const SERVER: usize = 1;

/// A segment with its connection and account.
pub(super) type Frame = (End, Box<Segment>, Provenance);

/// A host's card on the medium.
#[derive(Debug, Default)]
pub(super) struct Card {
    pub(super) waiting: VecDeque<Frame>,
    /// Frames that are being sent; they are in the ring until their end.
    pub(super) leaving: usize,
    /// What the driver holds until the ring has room.
    pub(super) held: Option<Frame>,
    /// The client of the last frame, and the account at its end.
    pub(super) last: Option<(u16, Provenance)>,
}

/// The medium and the cards.
#[derive(Debug)]
pub(super) struct Cable {
    pub(super) medium: Medium,
    server: Card,
    clients: Row<Card>,
    is_ring: bool,
    pub(super) event: Option<Time>,
}

impl Cable {
    /// The medium of a link, if it is a shared one. There are `more` clients than one.
    pub(super) fn of(link: &LinkParams, more: usize, rng: &mut Rng) -> Option<Self> {
        let is_ring = link.duplex == Duplex::Ring;
        let medium = |rng: &mut Rng| {
            let own = more.saturating_add(2);
            let medium = Medium::new(link.rate, link.delay, own, &link.others, &mut rng.fork(7));
            if is_ring { medium.on_a_ring() } else { medium }
        };
        (is_ring || link.duplex == Duplex::Shared).then(|| Self {
            medium: medium(rng),
            is_ring,
            server: Card::default(),
            clients: Row::new(
                Card::default(),
                (0..more).map(|_| Card::default()).collect::<Vec<_>>(),
            ),
            event: None,
        })
    }

    pub(super) fn card(&mut self, end: End) -> &mut Card {
        match end.side {
            Side::Client => self.clients.of_mut(end.client),
            Side::Server => &mut self.server,
        }
    }

    /// The host of a station, as one of its ends; `None` for stations with traffic of their own.
    pub(super) fn host_at(&self, station: usize) -> Option<End> {
        let client = match station {
            0 => 0,
            SERVER => return Some(End::new(Side::Server, 0)),
            more => more - SERVER,
        };
        let is_own = client < self.clients.len();
        let client = u16::try_from(client).ok().filter(|_| is_own)?;
        Some(End::new(Side::Client, client))
    }

    /// Offers the card's next frame to the medium.
    pub(super) fn offer(&mut self, end: End) {
        let station = match (end.side, usize::from(end.client)) {
            (Side::Server, _) => SERVER,
            (Side::Client, 0) => 0,
            (Side::Client, more) => more + SERVER,
        };
        if self.medium.is_sending(station) {
            return;
        }
        let card = match end.side {
            Side::Client => self.clients.of(end.client),
            Side::Server => &self.server,
        };
        let Some((_, segment, account)) = card.waiting.front() else {
            return;
        };
        let gap = if self.is_ring { 0 } else { GAP_BYTES };
        let bytes = self.wire_bytes(segment).saturating_sub(gap);
        self.medium.offer(station, account.at(), bytes);
    }

    /// A segment's bytes on the wire, framing included.
    pub(super) fn wire_bytes(&self, segment: &Segment) -> u64 {
        match self.is_ring {
            true => {
                let packet = segment.frame_len().saturating_sub(ETHERNET_HEADER);
                // frames that are not TCP's have their LLC in them
                let llc = if segment.frame.is_some() { 0 } else { LLC };
                packet.saturating_add(RING_FRAMING + llc)
            }
            false => segment.on_wire(),
        }
    }
}
