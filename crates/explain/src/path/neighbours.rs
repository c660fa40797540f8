//! What other connections between the same two hosts carry at the same time: they share the path.
//!
//! Their bytes count as they were captured, in slots of time. At their sender they enter the queue of the path then; over some
//! round trips this is what the path carries, because a sender with a full window sends at the rate of its acknowledgments.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicU32, Ordering},
};

use coax_wire::time::Time;
use hashbrown::HashMap;

use crate::constants::MIN_UTILISATION_SLOT;
use crate::timeline::Side;

/// Slots that are kept of two hosts: 25 s.
const MOST_SLOTS: usize = 2000;
/// Connections that are told apart in a slot; further ones count as one.
const MOST_MEMBERS: usize = 16;
/// Pairs of hosts of which some connection may still be followed.
const MOST_PAIRS: usize = 4096;

/// All pairs of hosts.
#[derive(Debug, Default)]
pub(crate) struct HostPairs {
    pairs: HashMap<(IpAddr, IpAddr), Arc<HostLoad>>,
    members: u32,
}

impl HostPairs {
    /// A connection that begins between these hosts.
    pub(crate) fn enter(&mut self, from: IpAddr, to: IpAddr) -> Member {
        if self.pairs.len() >= MOST_PAIRS {
            self.pairs.retain(|_, load| Arc::strong_count(load) > 1);
        }
        let load = if self.pairs.len() >= MOST_PAIRS {
            Arc::default()
        } else {
            Arc::clone(self.pairs.entry((from.min(to), from.max(to))).or_default())
        };
        load.members.fetch_add(1, Ordering::Relaxed);
        self.members = self.members.wrapping_add(1);
        Member(Neighbours {
            load,
            id: self.members,
        })
    }
}

/// What passed between two hosts.
#[derive(Debug, Default)]
struct HostLoad {
    /// Connections that are followed.
    members: AtomicU32,
    slots: Mutex<VecDeque<LoadSlot>>,
}

#[derive(Debug)]
struct LoadSlot {
    number: u64,
    /// By connection: bytes from the lower address, and from the higher one.
    parts: Vec<(u32, [u64; 2])>,
}

/// A connection that is followed, among others between its hosts.
#[derive(Debug)]
pub(crate) struct Member(Neighbours);

impl Member {
    pub(crate) fn neighbours(&self) -> Neighbours {
        self.0.clone()
    }

    /// Whether others are followed between its hosts. Alone it needs no record.
    #[inline]
    pub(crate) fn has_others(&self) -> bool {
        self.0.has_others()
    }

    /// A segment of this connection was captured that takes `bytes` on the wire.
    pub(crate) fn note(&self, (from, to): (IpAddr, IpAddr), bytes: u64, at: Time) {
        self.0.note(usize::from(from > to), bytes, at);
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.0.load.members.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The other connections between a connection's hosts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Neighbours {
    load: Arc<HostLoad>,
    id: u32,
}

impl Neighbours {
    #[inline]
    pub(super) fn has_others(&self) -> bool {
        self.load.members.load(Ordering::Relaxed) > 1
    }

    fn note(&self, way: usize, bytes: u64, at: Time) {
        let number = at.0 / MIN_UTILISATION_SLOT.0;
        let mut slots = self
            .load
            .slots
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let is_new = slots.back().is_none_or(|last| last.number < number);
        if is_new {
            if slots.len() >= MOST_SLOTS {
                slots.pop_front();
            }
            slots.push_back(LoadSlot {
                number,
                parts: Vec::new(),
            });
        }
        let Some(slot) = slots.back_mut() else { return };
        let place = slot.parts.iter().position(|(id, _)| *id == self.id);
        let place = place.unwrap_or_else(|| {
            if slot.parts.len() < MOST_MEMBERS {
                slot.parts.push((self.id, [0; 2]));
            }
            slot.parts.len().saturating_sub(1)
        });
        let part = slot.parts.get_mut(place);
        if let Some(sum) = part.and_then(|(_, ways)| ways.get_mut(way)) {
            *sum = sum.saturating_add(bytes);
        }
    }

    /// Bytes of other connections, from the lower address or the higher one.
    fn carried(&self, way: usize, (from, until): (Time, Time)) -> u64 {
        let slots = self
            .load
            .slots
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let first = from.0 / MIN_UTILISATION_SLOT.0;
        let last = until.0 / MIN_UTILISATION_SLOT.0;
        let begin = slots.partition_point(|slot| slot.number < first);
        let within = slots
            .iter()
            .skip(begin)
            .take_while(|slot| slot.number < last);
        let parts = within.flat_map(|slot| &slot.parts);
        let others = parts.filter(|(id, _)| *id != self.id);
        others.filter_map(|(_, ways)| ways.get(way)).sum()
    }
}

/// The other connections as they load the path in the direction of one side's data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OtherLoad<'a> {
    neighbours: &'a Neighbours,
    way: usize,
}

impl<'a> OtherLoad<'a> {
    /// `client_is_higher`: which of its addresses a connection's client has.
    pub(crate) fn new(neighbours: &'a Neighbours, side: Side, client_is_higher: bool) -> Self {
        Self {
            neighbours,
            way: usize::from((side == Side::Client) == client_is_higher),
        }
    }

    /// Bytes that they sent.
    pub(super) fn between(&self, from: Time, until: Time) -> u64 {
        self.neighbours.carried(self.way, (from, until))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn host(last: u8) -> IpAddr {
        IpAddr::from([10, 0, 0, last])
    }

    #[test]
    fn a_connection_sees_what_the_others_between_its_hosts_sent_in_that_direction() {
        let mut hosts = HostPairs::default();
        let one = hosts.enter(host(1), host(2));
        let other = hosts.enter(host(2), host(1));
        let apart = hosts.enter(host(1), host(3));
        assert!(one.has_others() && !apart.has_others());
        for at in (0..100).map(|at| Time(at * 10 * MS)) {
            one.note((host(1), host(2)), 1000, at);
            other.note((host(2), host(1)), 500, at);
            apart.note((host(1), host(3)), 700, at);
        }
        let (mine, all) = (one.neighbours(), (Time(0), Time(2000 * MS)));
        assert_eq!(mine.carried(0, all), 0);
        assert_eq!(mine.carried(1, all), 100 * 500);
        assert_eq!(mine.carried(1, (Time(250 * MS), Time(500 * MS))), 25 * 500);
        assert_eq!(other.neighbours().carried(0, all), 100 * 1000);
        let to_client = OtherLoad::new(&mine, Side::Server, false);
        assert_eq!(to_client.between(all.0, all.1), 100 * 500);
        let to_server = OtherLoad::new(&mine, Side::Client, false);
        assert_eq!(to_server.between(all.0, all.1), 0);
    }

    #[test]
    fn memory_is_bounded_and_a_connection_that_ended_is_no_neighbour() {
        let mut hosts = HostPairs::default();
        let one = hosts.enter(host(1), host(2));
        let others: Vec<Member> = (0..40).map(|_| hosts.enter(host(1), host(2))).collect();
        for at in 0..3 * MOST_SLOTS as u64 {
            for other in &others {
                let at = Time(at * MIN_UTILISATION_SLOT.0);
                other.note((host(1), host(2)), 1, at);
            }
        }
        let slots = one.0.load.slots.lock().map(|slots| {
            let parts = slots.iter().map(|slot| slot.parts.len());
            (slots.len(), parts.max())
        });
        assert!(slots.is_ok_and(|found| found == (MOST_SLOTS, Some(MOST_MEMBERS))));
        drop(others);
        assert!(!one.has_others());
    }
}
