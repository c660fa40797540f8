//! What other connections between the same two hosts carry at the same time: they share the path.
//!
//! Their bytes count as they were captured, in slots of time. At their sender they enter the queue of the path then; over some
//! round trips this is what the path carries, because a sender with a full window sends at the rate of its acknowledgments.
//!
//! Connections of the host next to the capture with other hosts count too where all of them together saturate one path
//! (`sharing.rs`).

use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicU32, Ordering},
};

use coax_wire::time::Time;
use hashbrown::HashMap;

use crate::constants::MIN_UTILISATION_SLOT;
use crate::path::sharing::{Arrivals, WINDOW_BYTES, WINDOWS};
use crate::timeline::Side;

/// Slots that are kept of two hosts: 25 s.
const MOST_SLOTS: usize = 2000;
/// Connections that are told apart in a slot; further ones count as one.
const MOST_MEMBERS: usize = 16;
/// Pairs of hosts of which some connection may still be followed.
const MOST_PAIRS: usize = 4096;

/// All pairs of hosts, and all hosts.
#[derive(Debug, Default)]
pub(crate) struct HostPairs {
    pairs: HashMap<(IpAddr, IpAddr), (u32, Arc<HostLoad>)>,
    hosts: HashMap<IpAddr, Arc<HostLoad>>,
    members: u32,
}

impl HostPairs {
    /// A connection that begins between these hosts.
    pub(crate) fn enter(&mut self, from: IpAddr, to: IpAddr) -> Member {
        if self.pairs.len() >= MOST_PAIRS {
            self.pairs
                .retain(|_, (_, load)| Arc::strong_count(load) > 1);
            self.hosts.retain(|_, load| Arc::strong_count(load) > 1);
        }
        self.members = self.members.wrapping_add(1);
        let id = self.members;
        let (low, high) = (from.min(to), from.max(to));
        let has_room = self.pairs.len() < MOST_PAIRS;
        let (pair, load) = match has_room {
            true => self
                .pairs
                .entry((low, high))
                .or_insert((id, Arc::default()))
                .clone(),
            false => (id, Arc::default()),
        };
        let stars = [low, high].map(|host| Seat {
            load: match has_room {
                true => Arc::clone(self.hosts.entry(host).or_default()),
                false => Arc::default(),
            },
            id: pair,
        });
        let neighbours = Neighbours {
            pair: Seat { load, id },
            stars,
        };
        neighbours.seats().for_each(Seat::enter);
        Member {
            neighbours,
            acked: [None; 2],
        }
    }
}

/// What passed between two hosts, or between one host and all others.
#[derive(Debug, Default)]
struct HostLoad {
    /// Connections that are followed.
    members: AtomicU32,
    slots: Mutex<VecDeque<LoadSlot>>,
    /// Whether the others of a host share one path, as it was found last.
    shared: Mutex<[Option<(Question, bool)>; 2]>,
}

#[derive(Debug)]
struct LoadSlot {
    number: u64,
    /// By connection, or by pair of hosts.
    parts: Vec<(u32, Load)>,
}

/// Bytes by way: those that were sent, and those whose acknowledgments came.
#[derive(Clone, Copy, Debug, Default)]
struct Load {
    sent: [u64; 2],
    acked: [u64; 2],
}

/// A connection that is followed, among others between its hosts.
#[derive(Debug)]
pub(crate) struct Member {
    neighbours: Neighbours,
    /// Up to where the data of each way is acknowledged.
    acked: [Option<u32>; 2],
}

/// A segment as it loads the path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SegmentLoad {
    pub(crate) from: IpAddr,
    pub(crate) to: IpAddr,
    /// Bytes on the wire.
    pub(crate) wire: u64,
    /// Its acknowledgment number, if that counts.
    pub(crate) ack: Option<u32>,
}

impl Member {
    pub(crate) fn neighbours(&self) -> Neighbours {
        self.neighbours.clone()
    }

    /// Whether others are followed between its hosts, or of one of them. Alone it needs no record.
    #[inline]
    pub(crate) fn has_others(&self) -> bool {
        self.neighbours.has_others() || self.neighbours.has_other_hosts()
    }

    /// A segment of this connection was captured.
    pub(crate) fn note(&mut self, segment: &SegmentLoad, at: Time) {
        let way = usize::from(segment.from > segment.to);
        let acked = segment.ack.map_or(0, |ack| self.acknowledge(1 - way, ack));
        let mut load = Load::default();
        for (sums, way, bytes) in [
            (&mut load.sent, way, segment.wire),
            (&mut load.acked, 1 - way, acked),
        ] {
            if let Some(sum) = sums.get_mut(way) {
                *sum = bytes;
            }
        }
        let neighbours = &self.neighbours;
        if neighbours.has_others() {
            neighbours.pair.note(load, at);
        }
        if neighbours.has_other_hosts() {
            let [low, high] = &neighbours.stars;
            low.note(load, at);
            high.note(load.reversed(), at);
        }
    }

    /// Bytes on the wire of data that is acknowledged now and was not before.
    fn acknowledge(&mut self, way: usize, ack: u32) -> u64 {
        /// Headers of a full segment are a nineteenth of its data.
        const HEADERS: u64 = 19;
        let Some(known) = self.acked.get_mut(way) else {
            return 0;
        };
        let new = known.map_or(0, |known| ack.wrapping_sub(known));
        if new >= 1 << 31 {
            return 0;
        }
        *known = Some(ack);
        u64::from(new) + u64::from(new) / HEADERS
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.neighbours.seats().for_each(Seat::leave);
    }
}

/// The other connections between a connection's hosts, and those of each of its hosts with others: of the one with the lower
/// address, and of the one with the higher.
#[derive(Clone, Debug, Default)]
pub(crate) struct Neighbours {
    pair: Seat,
    stars: [Seat; 2],
}

impl Neighbours {
    fn seats(&self) -> impl Iterator<Item = &Seat> {
        std::iter::once(&self.pair).chain(&self.stars)
    }

    #[inline]
    fn has_others(&self) -> bool {
        self.pair.members() > 1
    }

    #[inline]
    fn has_other_hosts(&self) -> bool {
        let between = self.pair.members();
        self.stars.iter().any(|star| star.members() > between)
    }
}

/// A place among those that load a path: a connection's between its hosts, or that of a pair of hosts among all of a host.
#[derive(Clone, Debug, Default)]
struct Seat {
    load: Arc<HostLoad>,
    id: u32,
}

impl Seat {
    fn enter(&self) {
        self.load.members.fetch_add(1, Ordering::Relaxed);
    }

    fn leave(&self) {
        self.load.members.fetch_sub(1, Ordering::Relaxed);
    }

    #[inline]
    fn members(&self) -> u32 {
        self.load.members.load(Ordering::Relaxed)
    }

    fn note(&self, load: Load, at: Time) {
        let number = at.0 / MIN_UTILISATION_SLOT.0;
        let mut slots = self.load.slots();
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
                slot.parts.push((self.id, Load::default()));
            }
            slot.parts.len().saturating_sub(1)
        });
        if let Some((_, sum)) = slot.parts.get_mut(place) {
            sum.add(&load);
        }
    }

    /// Bytes that others sent one way.
    fn carried(&self, way: usize, (from, until): (Time, Time)) -> u64 {
        let slots = self.load.slots();
        let first = from.0 / MIN_UTILISATION_SLOT.0;
        let last = until.0 / MIN_UTILISATION_SLOT.0;
        let begin = slots.partition_point(|slot| slot.number < first);
        let within = slots
            .iter()
            .skip(begin)
            .take_while(|slot| slot.number < last);
        let parts = within.flat_map(|slot| &slot.parts);
        let others = parts.filter(|(id, _)| *id != self.id);
        others.filter_map(|(_, load)| load.sent.get(way)).sum()
    }
}

impl Load {
    fn reversed(self) -> Self {
        let [sent, acked] = [self.sent, self.acked].map(|[one, other]| [other, one]);
        Self { sent, acked }
    }

    fn add(&mut self, other: &Self) {
        let sums = self.sent.iter_mut().chain(&mut self.acked);
        for (sum, bytes) in sums.zip(other.sent.iter().chain(&other.acked)) {
            *sum = sum.saturating_add(*bytes);
        }
    }
}

/// The window of a host's traffic that is examined, its length in slots, and the pace of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Question {
    window: u64,
    slots: u64,
    pace: u64,
    by_acks: bool,
}

impl HostLoad {
    fn slots(&self) -> MutexGuard<'_, VecDeque<LoadSlot>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether all hosts together saturate one path about that time, in the direction `way`.
    fn is_shared(&self, way: usize, at: Time, path: &SharedPath) -> bool {
        let slot = MIN_UTILISATION_SLOT.0;
        let slots = (path.pace.saturating_mul(WINDOW_BYTES) / 1000)
            .div_ceil(slot)
            .max(1);
        let question = Question {
            window: at.0 / slot / slots,
            slots,
            pace: path.pace,
            by_acks: path.by_acks,
        };
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(known) = shared.get_mut(way) else {
            return false;
        };
        match known {
            Some((asked, answer)) if *asked == question => *answer,
            _ => {
                let answer = self.saturate(way, &question);
                *known = Some((question, answer));
                answer
            }
        }
    }

    fn saturate(&self, way: usize, question: &Question) -> bool {
        let slots = self.slots();
        let first = question.window.saturating_sub(WINDOWS);
        let begin = slots.partition_point(|slot| slot.number / question.slots < first);
        let mut arrivals = Arrivals::new(first);
        for slot in slots.iter().skip(begin) {
            let window = slot.number / question.slots;
            if window > question.window + WINDOWS {
                break;
            }
            for (host, load) in &slot.parts {
                let bytes = match question.by_acks {
                    true => load.acked,
                    false => load.sent,
                };
                arrivals.add(window, *host, bytes.get(way).copied().unwrap_or(0));
            }
        }
        let time = question.slots.saturating_mul(MIN_UTILISATION_SLOT.0);
        let room = time.saturating_mul(1000).checked_div(question.pace);
        arrivals.saturate(room.unwrap_or(0))
    }
}

/// A path that a host next to the capture may share among all its connections.
#[derive(Clone, Copy, Debug)]
pub(super) struct SharedPath {
    /// That host is the client.
    pub(super) is_of_client: bool,
    /// Picoseconds per byte.
    pub(super) pace: u64,
    /// The data is captured where it is sent, so acknowledgments show when it arrived.
    pub(super) by_acks: bool,
}

/// The other connections as they load the path in the direction of one side's data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OtherLoad<'a> {
    neighbours: &'a Neighbours,
    way: usize,
    client_is_higher: bool,
    shared: Option<SharedPath>,
}

impl<'a> OtherLoad<'a> {
    /// `client_is_higher`: which of its addresses a connection's client has.
    pub(crate) fn new(neighbours: &'a Neighbours, side: Side, client_is_higher: bool) -> Self {
        Self {
            neighbours,
            way: usize::from((side == Side::Client) == client_is_higher),
            client_is_higher,
            shared: None,
        }
    }

    /// With those of other hosts, if they share this path.
    pub(super) fn on(self, shared: Option<SharedPath>) -> Self {
        Self { shared, ..self }
    }

    /// Bytes that they sent.
    pub(super) fn between(&self, from: Time, until: Time) -> u64 {
        let span = (from, until);
        let between = self.neighbours.pair.carried(self.way, span);
        between.saturating_add(self.of_other_hosts(span))
    }

    fn of_other_hosts(&self, span: (Time, Time)) -> u64 {
        let [low, high] = &self.neighbours.stars;
        let Some(path) = self.shared.as_ref() else {
            return 0;
        };
        let (star, way) = match path.is_of_client == self.client_is_higher {
            true => (high, 1 - self.way),
            false => (low, self.way),
        };
        match star.load.is_shared(way, span.1, path) {
            true => star.carried(way, span),
            false => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn host(last: u8) -> IpAddr {
        IpAddr::from([10, 0, 0, last])
    }

    fn segment(from: u8, to: u8, wire: u64) -> SegmentLoad {
        SegmentLoad {
            from: host(from),
            to: host(to),
            wire,
            ack: None,
        }
    }

    #[test]
    fn a_connection_sees_what_the_others_between_its_hosts_sent_in_that_direction() {
        let mut hosts = HostPairs::default();
        let mut one = hosts.enter(host(1), host(2));
        let mut other = hosts.enter(host(2), host(1));
        let mut apart = hosts.enter(host(1), host(3));
        assert!(one.neighbours.has_others() && !apart.neighbours.has_others());
        for at in (0..100).map(|at| Time(at * 10 * MS)) {
            one.note(&segment(1, 2, 1000), at);
            other.note(&segment(2, 1, 500), at);
            apart.note(&segment(1, 3, 700), at);
        }
        let (mine, all) = (one.neighbours(), (Time(0), Time(2000 * MS)));
        assert_eq!(mine.pair.carried(0, all), 0);
        assert_eq!(mine.pair.carried(1, all), 100 * 500);
        let part = (Time(250 * MS), Time(500 * MS));
        assert_eq!(mine.pair.carried(1, part), 25 * 500);
        assert_eq!(other.neighbours().pair.carried(0, all), 100 * 1000);
        let to_client = OtherLoad::new(&mine, Side::Server, false);
        assert_eq!(to_client.between(all.0, all.1), 100 * 500);
        let to_server = OtherLoad::new(&mine, Side::Client, false);
        assert_eq!(to_server.between(all.0, all.1), 0);
    }

    /// What the client 2 sees of the client 3, whose answers come from the server 1 in turns with its own: 25 KB each, which the path
    /// carries in 200 ms; `apart_ms` after each other.
    fn seen_of_another_client(apart_ms: u64) -> u64 {
        let mut hosts = HostPairs::default();
        let mut clients = [2, 3].map(|client| hosts.enter(host(client), host(1)));
        for turn in 0..40_u32 {
            let (own, begin) = (usize::from(turn % 2 == 1), u64::from(turn) * apart_ms);
            let client = 2 + own as u8;
            let Some(member) = clients.get_mut(own) else {
                continue;
            };
            for place in 0..16_u32 {
                let sent = Time(begin * MS);
                member.note(&segment(1, client, 1538), sent);
                let acknowledged = Time((begin + u64::from(place) * 25 / 2) * MS);
                let ack = Some(turn / 2 * 16 * 1460 + place * 1460);
                let answer = SegmentLoad {
                    ack,
                    ..segment(client, 1, 84)
                };
                member.note(&answer, acknowledged);
            }
        }
        let neighbours = clients[0].neighbours();
        let path = SharedPath {
            is_of_client: false,
            pace: 200 * MS * 1000 / (16 * 1538),
            by_acks: true,
        };
        let load = OtherLoad::new(&neighbours, Side::Server, true);
        let middle = (Time(10 * apart_ms * MS), Time(20 * apart_ms * MS));
        assert_eq!(load.between(middle.0, middle.1), 0);
        load.on(Some(path)).between(middle.0, middle.1)
    }

    #[test]
    fn other_hosts_count_where_all_together_saturate_a_path() {
        assert_eq!(seen_of_another_client(200), 5 * 16 * 1538);
        // twice of what one path carries, and half
        assert_eq!(seen_of_another_client(100), 0);
        assert_eq!(seen_of_another_client(400), 0);
    }

    #[test]
    fn memory_is_bounded_and_a_connection_that_ended_is_no_neighbour() {
        let mut hosts = HostPairs::default();
        let one = hosts.enter(host(1), host(2));
        let mut others: Vec<Member> = (0..40).map(|_| hosts.enter(host(1), host(2))).collect();
        for at in 0..3 * MOST_SLOTS as u64 {
            for other in &mut others {
                let at = Time(at * MIN_UTILISATION_SLOT.0);
                other.note(&segment(1, 2, 1), at);
            }
        }
        let (slots, parts) = {
            let slots = one.neighbours.pair.load.slots();
            let parts = slots.iter().map(|slot| slot.parts.len());
            (slots.len(), parts.max())
        };
        assert_eq!((slots, parts), (MOST_SLOTS, Some(MOST_MEMBERS)));
        drop(others);
        assert!(!one.has_others());
    }
}
