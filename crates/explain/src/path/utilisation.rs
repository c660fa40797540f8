//! The utilisation of the path by one side's data, over windows of some round trips.
//!
//! A window has the bytes that the path delivered, and the least delay of a packet beyond the shortest one of the connection.
//! A path whose queue never drained was never idle (Congestion Signatures use this delay), so what it delivered meanwhile is
//! the rate that this connection gets. Without such a window the rate comes from distances between packets (`pace.rs`).
//!
//! A path that always has a queue, but carries this side's bytes in only a part of the time, carries other traffic in the
//! rest of it (cross-traffic, as opposed to self-induced congestion). What other connections between the same hosts carry
//! is in the capture (`neighbours.rs`): their bytes and this side's together saturate the path.

use crate::constants::{
    MAX_UTILISATION_SLOT, MIN_QUEUEING, MIN_SATURATED, MIN_SATURATED_PACKETS, MIN_SATURATED_QUEUED,
    MIN_UTILISATION_SLOT, QUEUED_RATES,
};
use crate::path::neighbours::OtherLoad;
use crate::timeline::{slack, sum};
use coax_wire::time::{Span, Time};

/// Slots of a window: those that are over, and the current one.
const SLOTS: usize = 5;
/// Bytes of a full segment on Ethernet; a slot is long enough for this number of them.
const FULL: u64 = 1538;
const FULL_PER_SLOT: u64 = 4;
/// Least share of a path with a queue, in thousandths, that a connection has among others: congestion control gives each its part. If
/// the distances between packets make it less, a fast host or link sent these packets together, and the rate is not the path's.
const MIN_OWN_SHARE: u64 = 125;
/// All of the time, in the unit of [`PathUse`].
pub(crate) const WHOLE: u64 = 1000;

/// A part of a window.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    from: Time,
    bytes: u64,
    /// Bytes of other connections between the same hosts, once it is over.
    others: u64,
    packets: u32,
    /// The longest time between two packets.
    pause: Span,
    /// The shortest round trip of a packet, and whether a machine's TCP answered one at once.
    least: Option<Span>,
    is_timed: bool,
}

/// What the slots that are over have together.
#[derive(Clone, Copy, Debug, Default)]
struct Past {
    /// When the oldest began.
    from: Time,
    bytes: u64,
    others: u64,
    packets: u32,
    pause: Span,
    slots: usize,
    /// Slots with a round trip, and the shortest of all.
    timed: usize,
    least: Option<Span>,
}

/// How busy the path has been for some round trips, in thousandths of the time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathUse {
    /// It carried this side's bytes.
    pub(crate) carrying: u64,
    /// If it was saturated: the part in which it carried them and not other traffic.
    pub(crate) own_share: Option<u64>,
}

/// What was delivered in a window.
#[derive(Clone, Copy, Debug)]
struct Window {
    from: Time,
    /// Up to when the bytes of others are known.
    until: Time,
    bytes: u64,
    others: u64,
}

impl Window {
    /// All bytes by `at`, if others went on as before.
    fn all_by(&self, at: Time) -> u64 {
        if self.others == 0 {
            return self.bytes;
        }
        let (known, elapsed) = ((self.until - self.from).0, (at - self.from).0);
        let others = match known {
            0 => self.others,
            known => (u128::from(self.others) * u128::from(elapsed) / u128::from(known)) as u64,
        };
        self.bytes.saturating_add(others)
    }
}

/// The path as the utilisation depends on it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathShape {
    /// The shortest round trip of a packet and its acknowledgment, and the delay beyond it that needs no queue.
    round: Span,
    tolerance: Span,
    /// Its data is captured where it is sent. At the other end, round trips include processing of the sender, such as the
    /// wait for room in its send buffer, so they do not prove that other traffic was in the queue, unless they come from the
    /// sender's clock.
    is_at_sender: bool,
    /// Picoseconds per byte, from distances between packets; 0: unknown.
    pace: u64,
}

impl Default for PathShape {
    fn default() -> Self {
        Self::new(Span(0), 0, false)
    }
}

impl PathShape {
    /// The shortest round trip.
    pub(super) fn round(&self) -> Span {
        self.round
    }

    pub(super) fn new(round: Span, pace: u64, is_at_sender: bool) -> Self {
        let serial = Span(pace.saturating_mul(2 * FULL) / 1000);
        Self {
            round,
            tolerance: sum(sum(slack(round), serial), MIN_QUEUEING),
            is_at_sender,
            pace,
        }
    }
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Utilisation {
    slots: [Slot; SLOTS],
    past: Past,
    /// When the path delivered something last.
    latest: Option<Time>,
    /// The length of a slot.
    width: Span,
    /// The shortest round trip of data and its acknowledgment.
    shortest: Option<Span>,
    /// The latest rates of windows in which a queue stood, picoseconds per byte, and the one that counts.
    queued: Vec<u64>,
    next: usize,
    queued_pace: u64,
    /// Round trips come from the sender's clock: processing of the sender is not in them.
    is_clocked: bool,
}

impl Utilisation {
    /// Round trips come from the sender's clock.
    pub(crate) fn is_by_clock(&mut self) {
        self.is_clocked = true;
    }

    /// The path delivered `bytes` of this side.
    pub(crate) fn delivered(
        &mut self,
        at: Time,
        bytes: u64,
        shape: &PathShape,
        others: OtherLoad<'_>,
    ) {
        self.turn(at, shape, others);
        let pause = self
            .latest
            .replace(at)
            .map_or(Span(0), |latest| at - latest);
        let [slot, ..] = &mut self.slots;
        slot.pause = slot.pause.max(pause);
        slot.bytes = slot.bytes.saturating_add(bytes);
        slot.packets = slot.packets.saturating_add(1);
    }

    /// A packet and its acknowledgment took this long; `is_prompt`: no program had to answer.
    pub(crate) fn took(
        &mut self,
        at: Time,
        (round, is_prompt): (Span, bool),
        shape: &PathShape,
        others: OtherLoad<'_>,
    ) {
        self.turn(at, shape, others);
        self.shortest = Some(self.shortest.map_or(round, |least| least.min(round)));
        let [slot, ..] = &mut self.slots;
        slot.least = Some(slot.least.map_or(round, |least| least.min(round)));
        slot.is_timed |= is_prompt;
    }

    /// Picoseconds per byte that the path delivered while a queue stood; 0: unknown.
    pub(crate) fn queued_pace(&self) -> u64 {
        self.queued_pace
    }

    /// The calibration pass measured this rate.
    pub(crate) fn calibrate(&mut self, queued_pace: u64) {
        self.queued_pace = queued_pace;
    }

    /// How busy the path has been with this side's bytes, if there are enough packets.
    #[inline]
    pub(crate) fn path_use(&self, at: Time, shape: &PathShape) -> Option<PathUse> {
        let window = self.window()?;
        let elapsed = (at - window.from).0.max(1);
        let pace = self.pace(shape);
        let own = pace.saturating_mul(window.bytes) / elapsed;
        Some(PathUse {
            carrying: own.min(WHOLE),
            own_share: self.own_share(&window, at, shape),
        })
    }

    fn own_share(&self, window: &Window, at: Time, shape: &PathShape) -> Option<u64> {
        let elapsed = (at - window.from).0;
        let all = window.all_by(at);
        let carried = self.pace(shape).saturating_mul(all) / 1000;
        if carried == 0 || carried < elapsed / 100 * MIN_SATURATED_QUEUED {
            return None;
        }
        let has_queue = self.has_queue(shape);
        if carried < elapsed / 100 * MIN_SATURATED && !has_queue {
            return None;
        }
        let seen = window.bytes.saturating_mul(WHOLE) / all.max(1);
        let fills = shape.pace.saturating_mul(all) / 1000;
        let share = fills.saturating_mul(seen) / elapsed.max(1);
        let has_unseen = has_queue
            && (shape.is_at_sender || self.is_clocked)
            && fills < elapsed / 100 * MIN_SATURATED_QUEUED
            && share >= MIN_OWN_SHARE;
        Some(if has_unseen { share } else { seen })
    }

    /// Picoseconds per byte.
    fn pace(&self, shape: &PathShape) -> u64 {
        match self.queued_pace {
            0 => shape.pace,
            queued => queued,
        }
    }

    /// Whether a queue stood all the time.
    fn has_queue(&self, shape: &PathShape) -> bool {
        let [now, ..] = &self.slots;
        let past = &self.past;
        let timed = past.timed + usize::from(now.is_timed);
        let slots = past.slots + usize::from(now.from.0 > 0);
        // a host that always takes some time for its acknowledgments is no queue
        let shortest = self.shortest.unwrap_or_default().max(shape.round);
        let least = sum(shortest, shape.tolerance);
        let is_delayed = |took: Option<Span>| took.is_none_or(|took| took >= least);
        slots >= SLOTS - 1
            && timed >= SLOTS - 1
            && is_delayed(past.least)
            && is_delayed(now.least)
            && !self.has_flights(shape)
    }

    /// Whether it delivers one flight a round trip, as seen where it arrives: then the sender waits before each, and no queue.
    fn has_flights(&self, shape: &PathShape) -> bool {
        let [now, ..] = &self.slots;
        let (pause, round) = (self.past.pause.max(now.pause).0, shape.round.0);
        let serial = shape.pace.saturating_mul(FULL_PER_SLOT * FULL) / 1000;
        let is_round = (round - round / 4..=round + round / 2).contains(&pause);
        !shape.is_at_sender && is_round && pause > serial
    }

    /// Takes the rate of a window in which a queue stood.
    fn note_queue(&mut self, shape: &PathShape, until: Time) {
        let Some(window) = self.window().filter(|_| self.has_queue(shape)) else {
            return;
        };
        let all = window.bytes.saturating_add(window.others);
        let pace = (until - window.from).0.saturating_mul(1000) / all.max(1);
        if !self.is_late_by_a_packet(pace, &window, shape) {
            return;
        }
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

    /// Whether each packet took longer than the shortest round trip by the time that a path of this pace carries it. If not, no queue
    /// stood: the sender waited before it sent.
    fn is_late_by_a_packet(&self, pace: u64, window: &Window, shape: &PathShape) -> bool {
        let [now, ..] = &self.slots;
        let packets = u64::from(self.past.packets.saturating_add(now.packets)).max(1);
        let serial = Span(pace.saturating_mul(window.bytes / packets) / 1000);
        let least = [self.past.least, now.least].into_iter().flatten().min();
        least.is_none_or(|least| least >= sum(shape.round, serial))
    }

    /// What was delivered since the oldest slot began; `None` if there are too few packets.
    fn window(&self) -> Option<Window> {
        let [now, ..] = &self.slots;
        let past = &self.past;
        let has_past = past.slots > 0;
        let packets = past.packets.saturating_add(now.packets);
        let others = past.others.saturating_add(now.others);
        let is_enough = packets.saturating_add(packets_of(others)) >= MIN_SATURATED_PACKETS;
        is_enough.then(|| Window {
            from: if has_past { past.from } else { now.from },
            until: now.from,
            bytes: past.bytes.saturating_add(now.bytes),
            others,
        })
    }

    /// Begins another slot if the current one is over.
    #[inline]
    fn turn(&mut self, at: Time, shape: &PathShape, others: OtherLoad<'_>) {
        let [now, ..] = &self.slots;
        if now.from.0 == 0 || at - now.from >= self.width {
            self.begin_slot(at, shape, others);
        }
    }

    fn begin_slot(&mut self, at: Time, shape: &PathShape, others: OtherLoad<'_>) {
        let [now, ..] = &mut self.slots;
        let until = now.from + self.width;
        if now.from.0 > 0 {
            now.others = others.between(now.from, until);
        }
        let now = *now;
        self.note_queue(shape, until);
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
        let [slot, past @ ..] = &mut self.slots;
        *slot = Slot {
            from,
            ..Slot::default()
        };
        self.past = Past::of(past);
    }
}

/// Packets that this many bytes take at least.
fn packets_of(bytes: u64) -> u32 {
    u32::try_from(bytes.div_ceil(FULL)).unwrap_or(u32::MAX)
}

impl Past {
    /// Of slots from the latest on.
    fn of(slots: &[Slot]) -> Self {
        let mut past = Self::default();
        for slot in slots.iter().take_while(|slot| slot.from.0 > 0) {
            past.from = slot.from;
            past.bytes = past.bytes.saturating_add(slot.bytes);
            past.others = past.others.saturating_add(slot.others);
            past.packets = past.packets.saturating_add(slot.packets);
            past.pause = past.pause.max(slot.pause);
            past.slots += 1;
            past.timed += usize::from(slot.is_timed);
            past.least = [past.least, slot.least].into_iter().flatten().min();
        }
        past
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;
    use crate::path::neighbours::{HostPairs, SegmentLoad};
    use crate::timeline::Side;

    const MS: u64 = 1_000_000;
    /// 10 ms there and back, 12 Mbit/s.
    const PACE: u64 = 666_667;

    /// What a path between two hosts sees that have no other connection.
    fn alone<T>(capturing: Side, seen: impl FnOnce(&mut Utilisation, OtherLoad<'_>) -> T) -> T {
        let (one, other) = (IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2]));
        let neighbours = HostPairs::default().enter(one, other).neighbours();
        let load = OtherLoad::new(&neighbours, capturing, false);
        seen(&mut Utilisation::default(), load)
    }

    /// Flights of 40 segments, one every `apart_ms` over a round trip of 20 ms at 100 Mbit/s, each segment some milliseconds late:
    /// picoseconds per byte at which the receiver's end takes the path for saturated.
    fn pace_of_flights(apart_ms: u64) -> u64 {
        let shape = PathShape::new(Span::from_millis(20), 80_000, false);
        alone(Side::Server, |path, load| {
            for flight in 1..60 {
                for segment in 0..40 {
                    let at = Time(flight * apart_ms * MS + segment * FULL * 80);
                    path.delivered(at, FULL, &shape, load);
                    let late = if flight == 1 { 0 } else { 5 };
                    path.took(at, (Span::from_millis(20 + late), true), &shape, load);
                }
            }
            path.queued_pace()
        })
    }

    #[test]
    fn flights_a_round_trip_apart_are_no_queue() {
        // 5 ms of data and a pause of 20 ms
        assert_eq!(pace_of_flights(25), 0);
        // a pause of 1 ms
        assert!(pace_of_flights(6) > 0);
    }

    /// A second of full segments, one in `every_us`, whose acknowledgments take `round_ms`; another connection sends
    /// `others` for each.
    fn share_beside(others: u64, every_us: u64, round_ms: u64) -> Option<u64> {
        let (one, other) = (IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2]));
        let mut hosts = HostPairs::default();
        let (own, mut beside) = (hosts.enter(one, other), hosts.enter(one, other));
        let neighbours = own.neighbours();
        let load = OtherLoad::new(&neighbours, Side::Client, false);
        let shape = PathShape::new(Span::from_millis(10), PACE, true);
        let mut path = Utilisation::default();
        let mut at = Time(MS);
        path.took(at, (Span::from_millis(10), true), &shape, load);
        while at < Time(1000 * MS) {
            at = at + Span(every_us * 1000);
            let segment = SegmentLoad {
                from: one,
                to: other,
                wire: others,
                ack: None,
            };
            beside.note(&segment, at);
            path.delivered(at, FULL, &shape, load);
            path.took(at, (Span::from_millis(round_ms), true), &shape, load);
        }
        path.path_use(at, &shape).and_then(|found| found.own_share)
    }

    fn share(every_us: u64, round_ms: u64) -> Option<u64> {
        share_beside(0, every_us, round_ms)
    }

    #[test]
    fn other_connections_between_the_hosts_fill_the_rest_of_the_path() {
        // without a queue, and with one that the distances between packets do not show
        for round in [10, 60] {
            let own = share_beside(FULL, 2052, round).unwrap_or_default();
            assert!((450..=550).contains(&own), "{own}");
        }
        assert_eq!(share_beside(FULL / 4, 2052, 10), None);
    }

    #[test]
    fn a_path_that_carries_without_a_pause_is_saturated() {
        assert_eq!(share(1026, 10), Some(WHOLE));
        assert_eq!(share(1026, 60), Some(WHOLE));
    }

    #[test]
    fn a_path_with_pauses_is_not_unless_a_queue_stands_in_it() {
        assert_eq!(share(2052, 10), None);
        // half of what passes the queue is other traffic
        let own = share(2052, 60).unwrap_or_default();
        assert!((450..=550).contains(&own), "{own}");
    }

    /// The pace of a path by its queue: a full segment every 20 ms, each so much later than the shortest round trip of 100 ms.
    fn pace_of_late(late_ms: u64) -> u64 {
        let shape = PathShape::new(Span::from_millis(100), 0, true);
        alone(Side::Client, |path, load| {
            for packet in 1..400 {
                let at = Time(packet * 20 * MS);
                let late = if packet == 1 { 0 } else { late_ms };
                path.delivered(at, FULL, &shape, load);
                path.took(at, (Span::from_millis(100 + late), true), &shape, load);
            }
            path.queued_pace()
        })
    }

    #[test]
    fn a_queue_makes_each_packet_late_by_the_time_that_the_path_carries_one() {
        assert_eq!(pace_of_late(15), 0);
        let carried = pace_of_late(25) * FULL / 1000;
        assert!(carried.abs_diff(20 * MS) < MS, "{carried}");
    }

    #[test]
    fn distances_far_below_what_a_standing_queue_lets_through_are_not_those_of_the_path() {
        // a queue that never drains, and distances as of a path 20 times as fast
        assert_eq!(share(20 * 1026, 60), Some(WHOLE));
    }
}
