//! Puts packets into the order of their times, within bounds.
//!
//! Cards with several queues and merged files deliver packets out of order. Packets are held until one comes that is
//! [`WINDOW`] later. Copying them costs time, so only the beginning of a capture and what follows disorder is held.
//! A single time that fits neither the packet before it nor the one after it is replaced. If a clock is set back and stays
//! behind, each connection moves its later times. A packet stays behind the data that it acknowledges or continues if the
//! file has them in this order. Then its time is wrong: some cards stamp the two directions at different places.

use std::collections::BTreeMap;

use coax_capture::{Content, Dissector, LinkType, Packet, Segment};
use coax_wire::time::{Span, Time};

/// Packets further apart are not sorted.
pub(crate) const WINDOW: Span = Span::from_secs(1);
/// Packets and bytes that are held at most.
const MAX_PACKETS: usize = 1024;
const MAX_BYTES: usize = 2 << 20;
/// Number of packets that are held back at the beginning and after a long pause; and after disorder.
const WATCHED: u32 = 1024;
const WATCHED_AFTER_DISORDER: u32 = 1 << 20;

/// Number of packets before a late one that are searched for the data that it follows.
const SEARCHED: usize = 64;

/// A packet that owns its bytes.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) frame: u64,
    at: Time,
    link: LinkType,
    wire_len: u32,
    bytes: Vec<u8>,
}

impl Held {
    fn new(packet: &Packet<'_>, frame: u64) -> Self {
        Self {
            frame,
            at: packet.at,
            link: packet.link,
            wire_len: packet.wire_len,
            bytes: packet.bytes.to_vec(),
        }
    }

    pub(crate) fn packet(&self) -> Packet<'_> {
        Packet {
            number: self.frame,
            at: self.at,
            link: self.link,
            bytes: &self.bytes,
            wire_len: self.wire_len,
        }
    }
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Reorder {
    /// By the number of times that the clock had been set back, by time, by frame.
    held: BTreeMap<(u64, Time, u64), Held>,
    bytes: usize,
    /// The last packet in the file's order, whose time is not judged yet, and the time of the one before it.
    pending: Option<Held>,
    previous: Option<Time>,
    newest: Time,
    /// Number of further packets that are held.
    watched: u32,
    /// Everything that is held is due.
    is_flushing: bool,
    replaced: u64,
    steps: u64,
}

impl Default for Reorder {
    fn default() -> Self {
        Self {
            held: BTreeMap::new(),
            bytes: 0,
            pending: None,
            previous: None,
            newest: Time(0),
            watched: WATCHED,
            is_flushing: false,
            replaced: 0,
            steps: 0,
        }
    }
}

impl Reorder {
    /// Whether a packet may pass at once: it follows the one before it, and nothing is held.
    #[inline]
    pub(crate) fn may_pass(&mut self, at: Time) -> bool {
        let is_next = at >= self.newest && at - self.newest <= WINDOW;
        if self.watched == 0 && is_next && self.pending.is_none() && self.held.is_empty() {
            (self.newest, self.previous) = (at, Some(at));
            return true;
        }
        false
    }

    /// Holds a packet.
    pub(crate) fn hold(&mut self, packet: &Packet<'_>, frame: u64) {
        if packet.at < self.newest {
            self.watched = WATCHED_AFTER_DISORDER;
        } else if packet.at - self.newest > WINDOW {
            self.watched = self.watched.max(WATCHED);
        }
        self.watched = self.watched.saturating_sub(1);
        if let Some(before) = self.pending.replace(Held::new(packet, frame)) {
            self.judge(before, packet.at);
        }
        if self.watched == 0 {
            self.end();
        }
    }

    /// The next packet whose turn it is.
    pub(crate) fn due(&mut self) -> Option<Held> {
        self.is_flushing &= !self.held.is_empty();
        let (steps, at, _) = *self.held.first_key_value()?.0;
        let is_full = self.held.len() > MAX_PACKETS || self.bytes > MAX_BYTES;
        let is_old = steps < self.steps || self.newest - at > WINDOW;
        if !(is_old || is_full || self.is_flushing) {
            return None;
        }
        let (_, due) = self.held.pop_first()?;
        self.bytes = self.bytes.saturating_sub(due.bytes.len());
        Some(due)
    }

    /// Makes all that is held due.
    pub(crate) fn end(&mut self) {
        if let Some(last) = self.pending.take() {
            let at = last.at;
            self.judge(last, at);
        }
        self.is_flushing = true;
    }

    /// Times that were replaced, and how often the clock was set back.
    pub(crate) fn corrections(&self) -> (u64, u64) {
        (self.replaced, self.steps)
    }

    /// Takes a packet of which the times before and after are known.
    fn judge(&mut self, mut packet: Held, next: Time) {
        let outlier = self.previous.filter(|it| is_outlier(*it, packet.at, next));
        if let Some(previous) = outlier {
            packet.at = previous;
            self.replaced += 1;
        }
        if packet.at + WINDOW < self.newest {
            self.steps += 1;
            self.newest = packet.at;
        }
        if packet.at < self.newest
            && let Some(at) = self.time_of_data_before(&packet)
        {
            packet.at = at;
            self.replaced += 1;
        }
        self.previous = Some(packet.at);
        self.newest = self.newest.max(packet.at);
        self.bytes = self.bytes.saturating_add(packet.bytes.len());
        self.held
            .insert((self.steps, packet.at, packet.frame), packet);
    }
}

impl Reorder {
    /// The latest time of data that a late packet acknowledges or continues, and that comes before it in the file.
    fn time_of_data_before(&self, late: &Held) -> Option<Time> {
        let mut dissector = Dissector::default();
        let packet = late.packet();
        let Content::Tcp(ack) = dissector.dissect(&packet) else {
            return None;
        };
        let mut other = Dissector::default();
        let later = self.held.range((self.steps, late.at, u64::MAX)..);
        let mut data = later.rev().take(SEARCHED).filter(|(_, held)| {
            let packet = held.packet();
            matches!(other.dissect(&packet), Content::Tcp(data) if follows(&ack, &data))
        });
        data.next().map(|((_, at, _), _)| *at)
    }
}

/// Whether `late` acknowledges all of `data`, or is data that comes after it.
fn follows(late: &Segment<'_>, data: &Segment<'_>) -> bool {
    let end = data.seq.wrapping_add(data.len);
    let next = match (late.from, late.to) {
        (from, to) if (from, to) == (data.to, data.from) => late.ack,
        ends if ends == (data.from, data.to) && late.len > 0 => late.seq,
        _ => return false,
    };
    data.len > 0 && next.wrapping_sub(end) < 1 << 31
}

/// Whether a time fits neither the one before it nor the one after it, and these fit each other.
fn is_outlier(before: Time, at: Time, after: Time) -> bool {
    let is_far = |one: Time, other: Time| one - other > WINDOW || other - one > WINDOW;
    is_far(before, at) && is_far(at, after) && !is_far(before, after)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// The frames in the order in which they come out, and their times in milliseconds.
    fn sorted(times_ms: &[u64]) -> (Vec<(u64, u64)>, (u64, u64)) {
        let mut order = Reorder::default();
        let mut out = Vec::new();
        for (place, ms) in times_ms.iter().enumerate() {
            let packet = Packet {
                number: 0,
                at: Time(ms * 1_000_000),
                link: LinkType::Ip,
                bytes: &[7; 60],
                wire_len: 60,
            };
            if order.may_pass(packet.at) {
                out.push((place as u64, *ms));
                continue;
            }
            order.hold(&packet, place as u64);
            out.extend(
                std::iter::from_fn(|| order.due()).map(|it| (it.frame, it.at.0 / 1_000_000)),
            );
        }
        order.end();
        out.extend(std::iter::from_fn(|| order.due()).map(|it| (it.frame, it.at.0 / 1_000_000)));
        (out, order.corrections())
    }

    #[test]
    fn packets_within_the_window_are_sorted_by_time_and_then_by_frame() {
        let (out, corrections) = sorted(&[1000, 1300, 1100, 1300, 1200]);
        assert_eq!(out, [(0, 1000), (2, 1100), (4, 1200), (1, 1300), (3, 1300)]);
        assert_eq!(corrections, (0, 0));
    }

    #[test]
    fn a_single_time_that_fits_neither_neighbour_is_replaced() {
        let (out, corrections) = sorted(&[200_000, 200_010, 72_000, 200_020, 328_000, 200_030]);
        let wanted = [200_000, 200_010, 200_010, 200_020, 200_020, 200_030];
        assert_eq!(out, (0..).zip(wanted).collect::<Vec<_>>());
        assert_eq!(corrections, (2, 0));
    }

    #[test]
    fn a_clock_that_is_set_back_keeps_the_order_of_the_file() {
        let (out, corrections) = sorted(&[200_000, 200_020, 200_010, 72_000, 72_010, 72_005]);
        let frames: Vec<u64> = out.iter().map(|it| it.0).collect();
        assert_eq!(frames, [0, 2, 1, 3, 5, 4]);
        assert_eq!(corrections, (0, 1));
    }

    #[test]
    fn what_is_held_is_bounded_and_nothing_is_lost_when_order_returns() {
        let times: Vec<u64> = (0..10_000).map(|place| 1000 + place / 100).collect();
        let mut order = Reorder::default();
        let (mut passed, mut most) = (0, 0);
        for (place, ms) in times.iter().enumerate() {
            let at = Time(ms * 1_000_000);
            let packet = Packet {
                number: 0,
                at,
                link: LinkType::Ip,
                bytes: &[7; 60],
                wire_len: 60,
            };
            if order.may_pass(at) {
                passed += 1;
                continue;
            }
            order.hold(&packet, place as u64);
            passed += std::iter::from_fn(|| order.due()).count();
            most = most.max(order.held.len());
        }
        assert_eq!(passed, times.len());
        assert!(most <= MAX_PACKETS && order.held.is_empty(), "{most}");
    }
}
