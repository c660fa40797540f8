//! Files into which captures of both ends were merged: which frames were captured at the server.
//!
//! Such a file has most packets twice. The first of these rules that holds tells the two sightings of a packet apart:
//!
//! 1. Routers lower the time to live, so the sighting with the higher one is the sender's.
//! 2. Both sightings have the same time: one capture is in the file twice, and either will do.
//! 3. No packet is acknowledged before its second sighting: the clocks agree, and the first sighting is the sender's.
//! 4. The clocks differ by more than any packet takes: all first sightings are those of one end. Packets to the server
//!    come later at the server than those to the client, by the same clocks; this shows which end it is (`clock`).
//!
//! If the clocks differ by about as much as packets take, none of these holds, and the file is not separated.

use std::collections::HashMap;

use coax_capture::{Content, Dissector, Endpoint, Error, Reader, Segment};

use super::clock;
use crate::frames::FrameSet;
use crate::tcp::ends_of;

/// Packets of a file that are kept, about 100 bytes each; a longer file is not separated.
const MAX_PACKETS: usize = 4 << 20;
/// Packets that must be in the file twice, in each direction.
const MIN_PAIRS: usize = 10;
/// At least one frame in 4 must belong to a packet that is in the file twice.
const MIN_TWICE: usize = 4;
/// At most one packet in 50 may contradict a rule.
const MAX_CONTRADICTING: usize = 50;
/// Error of a timestamp that software takes, nanoseconds, as in `clock`.
const MAX_MISFIT_NS: i64 = 100_000;

/// One capture of a packet.
#[derive(Clone, Copy, Debug)]
struct Sighting {
    at: i64,
    frame: u64,
    ttl: u8,
}

/// What both sightings of a packet have in common, which no router changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key {
    connection: usize,
    /// 0: to the server.
    way: usize,
    seq: u32,
    ack: u32,
    len: u32,
    identification: u32,
    window: u16,
    flags: u16,
}

/// A packet with both sightings, in the order of their times.
#[derive(Clone, Copy, Debug)]
struct Twice {
    key: Key,
    first: Sighting,
    second: Sighting,
}

/// The packets of a file.
#[derive(Debug, Default)]
struct Sightings {
    connections: HashMap<[Endpoint; 2], usize>,
    /// Packets that were seen once so far.
    once: HashMap<Key, Sighting>,
    twice: Vec<Twice>,
    count: usize,
}

/// Which of the two sightings is the server's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// The sender's has the higher time to live.
    TimeToLive,
    /// The sender's is the first.
    SenderFirst,
    /// The first of all packets.
    ServerFirst,
    /// The second of all packets.
    ClientFirst,
}

/// The frames that were captured at the server; `None` if they cannot be told from the client's.
///
/// # Errors
/// [`Error`] if nothing of the file can be read.
pub(crate) fn frames_of_server(file: impl std::io::Read) -> Result<Option<FrameSet>, Error> {
    let mut reader = Reader::new(file)?;
    let mut dissector = Dissector::default();
    let mut sightings = Sightings::default();
    while let Some(packet) = reader.next_packet()? {
        if let Content::Tcp(segment) = dissector.dissect(&packet) {
            sightings.add(
                &segment,
                Sighting {
                    at: i64::try_from(packet.at.0).unwrap_or(i64::MAX),
                    frame: packet.number,
                    ttl: segment.ttl,
                },
            );
        }
        if sightings.count > MAX_PACKETS {
            return Ok(None);
        }
    }
    Ok(sightings.separate())
}

impl Key {
    fn of(segment: &Segment<'_>, connection: usize, way: usize) -> Self {
        Self {
            connection,
            way,
            seq: segment.seq,
            ack: segment.ack,
            len: segment.len,
            identification: segment.identification,
            window: segment.window,
            flags: segment.flags.0,
        }
    }

    /// Where its data ends, and whose it is; `None` if it has none.
    fn data_end(&self) -> Option<(usize, usize, u32)> {
        let end = self.seq.wrapping_add(self.len);
        (self.len > 0).then_some((self.connection, self.way, end))
    }

    /// The end of the data that it acknowledges.
    fn acknowledged(&self) -> (usize, usize, u32) {
        (self.connection, 1 - self.way, self.ack)
    }
}

impl Sightings {
    fn add(&mut self, segment: &Segment<'_>, sighting: Sighting) {
        self.count += 1;
        let reversed = [segment.to, segment.from];
        let known = self.connections.get(&reversed);
        let (ends, way) = match known {
            Some(_) => (reversed, 1),
            None if self.connections.contains_key(&[segment.from, segment.to]) => {
                ([segment.from, segment.to], 0)
            }
            None => {
                let ends = ends_of(segment);
                (ends, usize::from(segment.from != ends[0]))
            }
        };
        let next = self.connections.len();
        let connection = *self.connections.entry(ends).or_insert(next);
        let key = Key::of(segment, connection, way);
        match self.once.remove(&key) {
            None => {
                self.once.insert(key, sighting);
            }
            Some(other) => {
                let (first, second) = match other.at <= sighting.at {
                    true => (other, sighting),
                    false => (sighting, other),
                };
                self.twice.push(Twice { key, first, second });
            }
        }
    }

    fn separate(mut self) -> Option<FrameSet> {
        self.twice
            .sort_by_key(|twice| (twice.first.at, twice.first.frame));
        let rule = self.rule()?;
        let mut frames = FrameSet::default();
        let mut intervals = [Interval::default(), Interval::default()];
        let mut known = vec![false; self.connections.len()];
        for twice in &self.twice {
            let [client, server] = twice.ends(rule);
            intervals[0].add(client.at);
            intervals[1].add(server.at);
            frames.insert(server.frame);
            if let Some(known) = known.get_mut(twice.key.connection) {
                *known = true;
            }
        }
        for (key, sighting) in &self.once {
            // a connection of which the file has no packet twice passed one end only
            let is_known = known.get(key.connection).is_some_and(|is_known| *is_known);
            let is_of_server = match intervals.each_ref().map(|one| one.has(sighting.at)) {
                [true, false] => false,
                [false, true] => true,
                // lost on its way, or missing at its receiver
                _ => key.way == 1,
            };
            if is_known && is_of_server {
                frames.insert(sighting.frame);
            }
        }
        Some(frames)
    }

    fn rule(&self) -> Option<Rule> {
        let of_way = |way: usize| {
            let twice = self.twice.iter();
            twice
                .filter(|twice| twice.key.way == way)
                .collect::<Vec<_>>()
        };
        let ways = [of_way(0), of_way(1)];
        let are_few = self.twice.len().saturating_mul(2 * MIN_TWICE) < self.count;
        if are_few || ways.iter().any(|way| way.len() < MIN_PAIRS) {
            return None;
        }
        if ways.iter().all(|way| has_own_ttl(way)) {
            return Some(Rule::TimeToLive);
        }
        if ways.iter().all(|way| is_at_one_place(way)) {
            return Some(Rule::ClientFirst);
        }
        if self.is_acknowledged_late() {
            return Some(Rule::SenderFirst);
        }
        if !ways.iter().all(|way| is_far_apart(way)) {
            return None;
        }
        by_clocks(&ways)
    }

    /// Whether acknowledgments come after the second sighting of what they acknowledge.
    fn is_acknowledged_late(&self) -> bool {
        let mut sent: HashMap<(usize, usize, u32), &Twice> = HashMap::new();
        for twice in &self.twice {
            if let Some(end) = twice.key.data_end() {
                sent.entry(end).or_insert(twice);
            }
        }
        let (mut all, mut early) = (0_usize, 0_usize);
        for ack in &self.twice {
            let acknowledged = ack.key.acknowledged();
            if let Some(data) = sent.remove(&acknowledged) {
                all += 1;
                early += usize::from(ack.first.at + MAX_MISFIT_NS < data.second.at);
            }
        }
        all >= MIN_PAIRS && early.saturating_mul(MAX_CONTRADICTING) <= all
    }
}

/// Which end has the first sightings, if one has them all.
fn by_clocks(ways: &[Vec<&Twice>; 2]) -> Option<Rule> {
    let delays = ways.each_ref().map(|way| {
        let way = way.iter();
        way.map(|twice| (twice.first.at, twice.apart())).collect()
    });
    let (is_swapped, clock) = clock::solve_roles(&delays)?;
    clock.fits().then_some(match is_swapped {
        true => Rule::ServerFirst,
        false => Rule::ClientFirst,
    })
}

impl Twice {
    fn apart(&self) -> i64 {
        self.second.at.saturating_sub(self.first.at)
    }

    /// The client's sighting and the server's.
    fn ends(&self, rule: Rule) -> [Sighting; 2] {
        let is_to_server = self.key.way == 0;
        let is_client_first = match rule {
            Rule::TimeToLive => (self.first.ttl >= self.second.ttl) == is_to_server,
            Rule::SenderFirst => is_to_server,
            Rule::ClientFirst => true,
            Rule::ServerFirst => false,
        };
        match is_client_first {
            true => [self.first, self.second],
            false => [self.second, self.first],
        }
    }
}

/// Whether the two sightings of these packets have different times to live.
fn has_own_ttl(way: &[&Twice]) -> bool {
    let same = way
        .iter()
        .filter(|twice| twice.first.ttl == twice.second.ttl);
    same.count().saturating_mul(MAX_CONTRADICTING) <= way.len()
}

/// Whether the two sightings of these packets have the same times, as in a file that contains one capture twice: either will do.
fn is_at_one_place(way: &[&Twice]) -> bool {
    way.iter().all(|twice| twice.apart() <= MAX_MISFIT_NS)
}

/// Whether the first sightings are all of the same end. Where another end's comes first, the time between the two sightings
/// shrinks to nothing before it grows again, no faster than the delay of the path grows from one packet to the next.
fn is_far_apart(way: &[&Twice]) -> bool {
    let least = way.iter().map(|twice| twice.apart()).min().unwrap_or(0);
    let next = way.iter().skip(1);
    let falls = way
        .iter()
        .zip(next)
        .map(|(one, next)| one.apart().saturating_sub(next.apart()));
    least > falls.max().unwrap_or(0)
}

/// The times of an end's first and last packet.
#[derive(Clone, Copy, Debug, Default)]
struct Interval(Option<(i64, i64)>);

impl Interval {
    fn add(&mut self, at: i64) {
        let (from, until) = self.0.unwrap_or((at, at));
        self.0 = Some((from.min(at), until.max(at)));
    }

    fn has(&self, at: i64) -> bool {
        self.0
            .is_some_and(|(from, until)| from <= at && at <= until)
    }
}
