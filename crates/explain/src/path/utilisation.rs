//! How busy the path is with what one side sends: over windows of some round trips, not from packet to packet.
//!
//! A window has the bytes that the path delivered in it, and the least delay of a packet beyond the shortest that was ever
//! measured. A path whose queue never drained was never idle (the delay is what Congestion Signatures look at), and what it
//! delivered meanwhile is its rate. Without such a window the rate comes from distances of packets (`pace.rs`).

use crate::constants::{
    MAX_UTILISATION_SLOT, MIN_SATURATED, MIN_SATURATED_PACKETS, MIN_SATURATED_QUEUED,
    MIN_UTILISATION_SLOT, QUEUED_RATES,
};
use crate::timeline::sum;
use coax_wire::time::{Span, Time};

/// Parts of a window: those that are over, and the current one.
const SLOTS: usize = 5;
/// Bytes of a full segment on Ethernet; a slot has at least this many of them.
const FULL: u64 = 1538;
const FULL_PER_SLOT: u64 = 4;

/// A part of a window.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    from: Time,
    bytes: u64,
    packets: u32,
    /// The shortest round trip of a packet.
    least: Option<Span>,
}

/// The path as the utilisation depends on it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathShape {
    /// The shortest way of a packet and its acknowledgment, and what may be added to it without a queue.
    pub(crate) round: Span,
    pub(crate) tolerance: Span,
    /// Picoseconds a byte by the distances of packets; 0: not known.
    pub(crate) pace: u64,
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Utilisation {
    slots: [Slot; SLOTS],
    /// How long a slot is.
    width: Span,
    /// The shortest of all that data and its acknowledgment took.
    shortest: Option<Span>,
    /// The latest rates that the path delivered while a queue stood, picoseconds a byte, and the one that counts.
    queued: Vec<u64>,
    next: usize,
    queued_pace: u64,
}

impl Utilisation {
    /// The path delivered `bytes`.
    pub(crate) fn delivered(&mut self, at: Time, bytes: u64, shape: &PathShape) {
        self.turn(at, shape);
        if let Some(slot) = self.slots.first_mut() {
            slot.bytes = slot.bytes.saturating_add(bytes);
            slot.packets = slot.packets.saturating_add(1);
        }
    }

    /// A packet and its acknowledgment took this long.
    pub(crate) fn took(&mut self, at: Time, round: Span, shape: &PathShape) {
        self.turn(at, shape);
        self.shortest = Some(self.shortest.map_or(round, |least| least.min(round)));
        if let Some(slot) = self.slots.first_mut() {
            slot.least = Some(slot.least.map_or(round, |least| least.min(round)));
        }
    }

    /// Picoseconds a byte by what was delivered while a queue stood; 0: not known.
    pub(crate) fn queued_pace(&self) -> u64 {
        self.queued_pace
    }

    /// Somebody saw that before.
    pub(crate) fn calibrate(&mut self, queued_pace: u64) {
        self.queued_pace = queued_pace;
    }

    /// Whether the path has been busy since some round trips.
    pub(crate) fn is_saturated(&self, at: Time, shape: &PathShape) -> bool {
        let Some((from, bytes)) = self.window() else {
            return false;
        };
        let carried = self.pace(shape).saturating_mul(bytes) / 1000;
        let least = if self.has_queue(shape) {
            MIN_SATURATED_QUEUED
        } else {
            MIN_SATURATED
        };
        carried > 0 && carried >= (at - from).0 / 100 * least
    }

    /// Picoseconds a byte.
    fn pace(&self, shape: &PathShape) -> u64 {
        match self.queued_pace {
            0 => shape.pace,
            queued => queued,
        }
    }

    /// Whether a queue stood all the time.
    fn has_queue(&self, shape: &PathShape) -> bool {
        let used = self.used();
        // a host that always takes some time for its acknowledgments is no queue
        let shortest = self.shortest.unwrap_or_default().max(shape.round);
        let least = sum(shortest, shape.tolerance);
        used.clone().count() >= SLOTS - 1
            && used.filter_map(|slot| slot.least).count() >= SLOTS - 1
            && self
                .used()
                .all(|slot| slot.least.is_none_or(|took| took >= least))
    }

    fn used(&self) -> impl Iterator<Item = &Slot> + Clone {
        self.slots.iter().take_while(|slot| slot.from.0 > 0)
    }

    /// What the path delivered while a queue stood in it is its rate.
    fn note_queue(&mut self, shape: &PathShape, until: Time) {
        let Some((from, bytes)) = self.window().filter(|_| self.has_queue(shape)) else {
            return;
        };
        let pace = (until - from).0.saturating_mul(1000) / bytes.max(1);
        if self.queued.len() < QUEUED_RATES {
            self.queued.push(pace);
        } else if let Some(oldest) = self.queued.get_mut(self.next) {
            *oldest = pace;
        }
        self.next = (self.next + 1) % QUEUED_RATES;
        let mut paces = self.queued.clone();
        paces.sort_unstable();
        self.queued_pace = paces.get(paces.len() / 4).copied().unwrap_or_default();
    }

    /// When the oldest slot began, and what was delivered since; `None` if that is too little to tell.
    fn window(&self) -> Option<(Time, u64)> {
        let mut packets = 0_u32;
        let mut window = None;
        for slot in self.used() {
            packets = packets.saturating_add(slot.packets);
            let bytes = window.map_or(0, |(_, bytes)| bytes);
            window = Some((slot.from, slot.bytes.saturating_add(bytes)));
        }
        window.filter(|_| packets >= MIN_SATURATED_PACKETS)
    }

    /// Begins another slot if it is time.
    fn turn(&mut self, at: Time, shape: &PathShape) {
        let [now, ..] = self.slots;
        if now.from.0 > 0 && at - now.from < self.width {
            return;
        }
        self.note_queue(shape, now.from + self.width);
        let serial = Span(self.pace(shape).saturating_mul(FULL_PER_SLOT * FULL) / 1000);
        let round = now.least.unwrap_or(shape.round).max(shape.round);
        let width = round.max(serial).max(MIN_UTILISATION_SLOT);
        let is_new = now.from.0 == 0 || (at - now.from).0 >= self.width.0.saturating_mul(2);
        self.slots.rotate_right(1);
        if is_new && (at - now.from).0 >= self.width.0.saturating_mul(SLOTS as u64) {
            self.slots = [Slot::default(); SLOTS];
        }
        let from = if is_new { at } else { now.from + self.width };
        self.width = width.min(MAX_UTILISATION_SLOT);
        if let Some(slot) = self.slots.first_mut() {
            *slot = Slot {
                from,
                ..Slot::default()
            };
        }
    }
}
