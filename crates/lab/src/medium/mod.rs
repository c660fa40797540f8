//! A shared Ethernet cable or a hub: CSMA/CD (IEEE 802.3, clause 4); or a Token Ring, on which the token decides (`ring`).
//!
//! A station sends as soon as it senses no carrier for the interframe gap. Stations that start within the propagation delay of each
//! other collide. Each of them finishes its preamble, sends the jam, and waits for a random number of slot times below two to the power of its
//! collisions (at most ten); after 16 collisions it drops the frame. A station that has sent starts again with the shortest range, while those
//! that it collided with do not: the capture effect.
//!
//! The medium is advanced by its user: [`offer`](Medium::offer) gives a station its next frame, [`next`](Medium::next) says when the next
//! transmission is decided, and [`resolve`](Medium::resolve) decides it. So it takes one step for each frame and each collision, whatever the
//! number of stations.
//!
//! Not modelled: repeaters and different distances (all stations are equally far apart), late collisions, receivers that miss frames.

mod gap;
mod others;
mod ring;
#[cfg(test)]
mod tests;

use alloc::vec::Vec;

use coax_catalog::link::Others;
use coax_wire::time::{Span, Time};

pub(crate) use self::gap::GAP_BYTES;
use self::{others::Traffic, ring::Ring};
use crate::rng::Rng;

/// Bits: interframe gap, slot time, jam, preamble with the start delimiter.
const GAP: u64 = GAP_BYTES * 8;
/// The last part of the gap, in which a station that waits for its end does not look for a carrier any more (4.2.3.2.1).
const GAP_END: u64 = 32;
const SLOT: u64 = 512;
const JAM: u64 = 32;
const PREAMBLE: u64 = 64;
/// Collisions after which the range of the back-off stays the same, and after which the frame is dropped.
const WIDEST: u32 = 10;
const MOST_ATTEMPTS: u32 = 16;
/// A station on the medium.
#[derive(Clone, Debug)]
struct Station {
    /// From when it wants to send its frame, and the frame's bytes with preamble and checksum.
    frame: Option<(Time, u64)>,
    collisions: u32,
    /// From when it senses no carrier.
    idle_from: Time,
    rng: Rng,
    traffic: Option<Traffic>,
}

/// What a step of the medium decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A station sends its frame.
    Sent {
        /// Which.
        station: usize,
        /// Start of the preamble.
        start: Time,
        /// End of the frame.
        end: Time,
    },
    /// Stations collided; the listed ones have dropped their frames after 16 collisions.
    Collided {
        /// Stations whose frames were dropped.
        dropped: Vec<usize>,
    },
}

/// Counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MediumStats {
    /// Frames sent by all stations.
    pub frames: u64,
    /// Collisions.
    pub collisions: u64,
    /// Frames dropped after 16 collisions.
    pub dropped: u64,
    /// Time during which frames were sent, nanoseconds.
    pub busy_ns: u64,
}

/// The medium and its stations.
#[derive(Clone, Debug)]
pub struct Medium {
    rate: u64,
    delay: Span,
    stations: Vec<Station>,
    ring: Option<Ring>,
    stats: MediumStats,
}

impl Medium {
    /// A medium with `own` stations that its user drives, and others with traffic of their own. `delay` is the propagation delay between any
    /// two stations.
    pub fn new(rate: u64, delay: Span, own: usize, others: &Others, rng: &mut Rng) -> Self {
        let count = others.stations as usize;
        let stations = (0..own + count).map(|number| {
            let mut rng = rng.fork(number as u64);
            let traffic = (number >= own).then(|| Traffic::new(rate, others, &mut rng));
            Station {
                frame: traffic.as_ref().map(Traffic::frame),
                collisions: 0,
                idle_from: Time(0),
                rng,
                traffic,
            }
        });
        Self {
            rate,
            delay,
            stations: stations.collect(),
            ring: None,
            stats: MediumStats::default(),
        }
    }

    /// The same stations on a Token Ring, on which a frame takes `delay` from a station to the one opposite.
    #[must_use]
    pub fn on_a_ring(mut self) -> Self {
        self.ring = Some(Ring::new(self.rate, self.delay));
        self
    }

    /// The counters.
    pub const fn stats(&self) -> &MediumStats {
        &self.stats
    }

    /// Whether a station has a frame.
    pub fn is_sending(&self, station: usize) -> bool {
        self.stations
            .get(station)
            .is_some_and(|station| station.frame.is_some())
    }

    /// Gives a station without a frame its next one: `bytes` from preamble to checksum, from `at` on.
    pub fn offer(&mut self, station: usize, at: Time, bytes: u64) {
        if let Some(station) = self.stations.get_mut(station) {
            station.frame = Some((at, bytes));
        }
    }

    /// When the next transmission is decided: nobody who is offered a frame later can collide with it.
    pub fn next(&self) -> Option<Time> {
        if let Some((_, start)) = self.next_on_the_ring() {
            return Some(start);
        }
        let first = self.first()?;
        Some(first + self.delay + self.bits(GAP_END))
    }

    /// Decides the next transmission.
    pub fn resolve(&mut self) -> Option<Step> {
        if let Some((station, start)) = self.next_on_the_ring() {
            return Some(self.send(station, start));
        }
        let first = self.first()?;
        let heard = first + self.delay;
        let starters: Vec<(usize, Time)> = (0..)
            .zip(&self.stations)
            .filter_map(|(number, station)| Some((number, station, self.start(station)?)))
            .filter(|(_, station, start)| *start == first || self.is_deaf(station, *start, heard))
            .map(|(number, _, start)| (number, start))
            .collect();
        Some(match starters.as_slice() {
            [(station, start)] => self.send(*station, *start),
            _ => self.collide(&starters),
        })
    }

    /// The station that gets the token first, and when.
    fn next_on_the_ring(&self) -> Option<(usize, Time)> {
        let ring = self.ring.as_ref()?;
        let count = self.stations.len();
        let ready = (0..).zip(&self.stations);
        ready
            .filter_map(|(number, station)| Some((number, station.frame?.0)))
            .map(|(number, ready)| (number, ring.reaches(number, count, ready)))
            .min_by_key(|(_, start)| *start)
    }

    fn bits(&self, bits: u64) -> Span {
        Span(bits.saturating_mul(1_000_000_000) / self.rate.max(1))
    }

    /// When a station starts to send.
    fn start(&self, station: &Station) -> Option<Time> {
        let (ready, _) = station.frame?;
        Some(ready.max(station.idle_from + self.bits(GAP)))
    }

    /// Whether a carrier that arrives at `heard` is too late to stop a station from starting.
    fn is_deaf(&self, station: &Station, start: Time, heard: Time) -> bool {
        let waits_for_the_gap = station.frame.is_some_and(|(ready, _)| ready < start);
        match waits_for_the_gap {
            true => start < heard + self.bits(GAP_END),
            false => start < heard,
        }
    }

    fn first(&self) -> Option<Time> {
        let stations = self.stations.iter();
        stations.filter_map(|station| self.start(station)).min()
    }

    fn send(&mut self, number: usize, start: Time) -> Step {
        let bytes = self
            .stations
            .get(number)
            .and_then(|station| station.frame)
            .map_or(0, |(_, bytes)| bytes);
        let end = start + self.bits(bytes.saturating_mul(8));
        match &mut self.ring {
            Some(ring) => ring.sent(number, start, end),
            None => self.busy_until(number, end),
        }
        let idle = self.bits(GAP);
        if let Some(station) = self.stations.get_mut(number) {
            station.collisions = 0;
            station.frame = station
                .traffic
                .as_mut()
                .map(|traffic| traffic.next(end + idle, &mut station.rng));
        }
        self.stats.frames = self.stats.frames.saturating_add(1);
        self.stats.busy_ns = self.stats.busy_ns.saturating_add((end - start).0);
        Step::Sent {
            station: number,
            start,
            end,
        }
    }

    /// All stations sense the carrier of a station until its end, and the propagation delay longer, except itself.
    fn busy_until(&mut self, sender: usize, end: Time) {
        let delay = self.delay;
        for (number, station) in self.stations.iter_mut().enumerate() {
            let idle = if number == sender { end } else { end + delay };
            station.idle_from = station.idle_from.max(idle);
        }
    }

    fn collide(&mut self, starters: &[(usize, Time)]) -> Step {
        self.stats.collisions = self.stats.collisions.saturating_add(1);
        let mut dropped = Vec::new();
        for (number, start) in starters {
            let others = starters.iter().filter(|(other, _)| other != number);
            let seen = others.map(|(_, other)| *other + self.delay).min();
            let seen = seen.map_or(*start, |seen| seen.max(*start));
            let stop = seen.max(*start + self.bits(PREAMBLE)) + self.bits(JAM);
            self.busy_until(*number, stop);
            if self.back_off(*number, stop) {
                dropped.push(*number);
            }
        }
        Step::Collided { dropped }
    }

    /// Draws the time after which a station tries again; true if it gives up.
    fn back_off(&mut self, number: usize, stop: Time) -> bool {
        let (slot, gap) = (self.bits(SLOT), self.bits(GAP));
        let Some(station) = self.stations.get_mut(number) else {
            return false;
        };
        station.collisions += 1;
        if station.collisions < MOST_ATTEMPTS {
            let range = 1_u64 << station.collisions.min(WIDEST);
            let slots = station.rng.next_u64() % range;
            let ready = stop + Span(slot.0.saturating_mul(slots));
            station.frame = station.frame.map(|(_, bytes)| (ready, bytes));
            return false;
        }
        station.collisions = 0;
        station.frame = station
            .traffic
            .as_mut()
            .map(|traffic| traffic.next(stop + gap, &mut station.rng));
        self.stats.dropped = self.stats.dropped.saturating_add(1);
        true
    }
}
