//! One direction of a connection, from both captures: when bytes left, when they arrived, and what its sender knew. All
//! times are those of the client's clock.

use std::collections::BTreeMap;

use coax_capture::{Flags, Transport};

use crate::netbios::marks;

use super::{
    clock::Clock,
    log::{Half, Log, Mark, Packet},
};

/// Room below the first sequence number of a connection that began before the capture.
const ROOM: u32 = 1 << 20;

/// Bytes that left or arrived.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    pub(super) at: i64,
    pub(super) start: u64,
    pub(super) end: u64,
    /// Not all of it was new.
    pub(super) again: bool,
}

/// An acknowledgment as it reached the sender of the data.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ack {
    pub(super) at: i64,
    pub(super) ack: u64,
    /// The end of the window; [`u64::MAX`] if window scales are unknown.
    pub(super) edge: u64,
    /// It carried no data.
    pub(super) is_pure: bool,
    /// It asks for frames again (without TCP).
    pub(super) rejects: bool,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Direction {
    pub(super) sends: Vec<Segment>,
    pub(super) arrivals: Vec<Segment>,
    pub(super) acks: Vec<Ack>,
    /// When the receiver sent each acknowledgment.
    pub(super) acks_sent: Vec<(i64, u64)>,
    /// The same as the arrivals, by their places.
    places: Vec<Segment>,
    /// Where segments begin and end that were sent again because the path had lost them.
    lost: Vec<(u64, u64)>,
    /// When all bytes up to a place had arrived.
    pub(super) delivered: Vec<(i64, u64)>,
    /// When bytes up to a place had been sent for the first time.
    pub(super) progress: Vec<(i64, u64)>,
    /// When either side asked what had arrived, at its sender (without TCP).
    pub(super) polls: Vec<i64>,
    /// The shortest one-way delay, nanoseconds.
    pub(super) base: i64,
    pub(super) mss: u64,
    /// What carries it.
    pub(super) transport: Transport,
    /// Ends of messages, and their starts.
    pub(super) marks: Vec<(Mark, u64, u64)>,
}

/// Sequence numbers as offsets.
#[derive(Clone, Copy, Debug)]
struct Offsets {
    origin: u32,
    highest: u64,
}

impl Offsets {
    fn of(&mut self, seq: u32) -> u64 {
        let near = self.origin.wrapping_add(self.highest as u32);
        let distance = i64::from(seq.wrapping_sub(near) as i32);
        let offset = (self.highest as i64).saturating_add(distance).max(0) as u64;
        self.highest = self.highest.max(offset);
        offset
    }
}

/// The two logs of a connection, and the clock of the server's.
#[derive(Clone, Copy, Debug)]
pub(super) struct BothEnds<'a> {
    pub(super) client: &'a Log,
    pub(super) server: &'a Log,
    pub(super) clock: Clock,
}

impl BothEnds<'_> {
    fn log(&self, end: usize) -> &Log {
        if end == 0 { self.client } else { self.server }
    }

    fn half(&self, end: usize, direction: usize) -> &Half {
        let [to_server, to_client] = &self.log(end).halves;
        if direction == 0 { to_server } else { to_client }
    }

    /// A time of that end's file, by the client's clock.
    fn at(&self, end: usize, at: i64) -> i64 {
        if end == 0 {
            at
        } else {
            self.clock.by_first(at)
        }
    }

    fn origin(&self, direction: usize) -> Offsets {
        let mut halves = [0, 1].map(|end| self.half(end, direction)).into_iter();
        let syn = halves
            .find(|half| half.has_syn)
            .and_then(|half| half.origin);
        let sender = self.half(direction, direction).packets.first();
        let first = sender.map_or(0, |packet| packet.seq.wrapping_sub(ROOM));
        let (origin, highest) = match syn {
            Some(origin) => (origin, 0),
            None => (first, u64::from(ROOM)),
        };
        Offsets { origin, highest }
    }

    /// The direction, 0 to the server, 1 to the client.
    pub(super) fn direction(&self, direction: usize) -> Direction {
        let (sender, receiver) = (direction, 1 - direction);
        let offsets = self.origin(direction);
        let segments = |end: usize| -> Vec<Segment> {
            let mut offsets = offsets;
            let packets = self.half(end, direction).packets.iter();
            let data = packets.filter(|packet| packet.len > 0);
            data.map(|packet| self.segment(end, packet, &mut offsets))
                .collect()
        };
        let (sends, arrivals) = (segments(sender), segments(receiver));
        let acks = self.acks(sender, direction);
        let acks_sent = self.acks(receiver, direction);
        let acks_sent: Vec<_> = acks_sent.iter().map(|ack| (ack.at, ack.ack)).collect();
        let half = self.half(sender, direction);
        let mss = self.half(sender, receiver).mss.map_or(1448, u64::from);
        let places = by_place(&arrivals);
        Direction {
            lost: lost(&sends, &places),
            delivered: delivered(&arrivals, &acks_sent, offsets.highest),
            progress: progress(&sends),
            base: 0,
            mss,
            transport: self.client.ends[0].transport(),
            polls: self.polls(sender),
            marks: marks(half, offsets),
            places,
            sends,
            arrivals,
            acks,
            acks_sent,
        }
    }

    fn segment(&self, end: usize, packet: &Packet, offsets: &mut Offsets) -> Segment {
        let before = offsets.highest;
        let syn = u32::from(packet.flags.has(Flags::SYN));
        let start = offsets.of(packet.seq.wrapping_add(syn));
        let end_seq = packet.seq.wrapping_add(syn).wrapping_add(packet.len);
        Segment {
            at: self.at(end, packet.at),
            start,
            end: offsets.of(end_seq),
            again: start < before,
        }
    }

    /// Polls without data as that end's capture has them.
    fn polls(&self, end: usize) -> Vec<i64> {
        let is_framed = !self.client.is_tcp();
        let packets = self.log(end).halves.iter().flat_map(|half| &half.packets);
        let polls = packets.filter(|packet| packet.len == 0 && packet.flags.has(marks::POLL));
        let polls = polls.filter(|_| is_framed);
        let mut polls: Vec<i64> = polls.map(|packet| self.at(end, packet.at)).collect();
        polls.sort_unstable();
        polls
    }

    /// Acknowledgments of a direction's data as that end's capture has them.
    fn acks(&self, end: usize, direction: usize) -> Vec<Ack> {
        let mut offsets = self.origin(direction);
        let back = self.half(end, 1 - direction);
        let halves = [0, 1].map(|way| [0, 1].map(|end| self.half(end, way)));
        let scale = |way: usize| {
            let both = halves.get(way).into_iter().flatten();
            both.filter_map(|half| half.window_scale).next()
        };
        let has_syns = halves.iter().all(|way| way.iter().any(|half| half.has_syn));
        let shift = scale(1 - direction)
            .filter(|_| scale(direction).is_some())
            .unwrap_or(0);
        let packets = back
            .packets
            .iter()
            .filter(|packet| packet.flags.has(Flags::ACK));
        packets
            .map(|packet| {
                let shift = if packet.flags.has(Flags::SYN) {
                    0
                } else {
                    shift
                };
                let ack = offsets.of(packet.ack);
                let window = u64::from(packet.window) << shift.min(14);
                Ack {
                    at: self.at(end, packet.at),
                    ack,
                    edge: if has_syns { ack + window } else { u64::MAX },
                    is_pure: packet.len == 0,
                    rejects: !self.client.is_tcp() && packet.flags.has(marks::REJECTS),
                }
            })
            .collect()
    }
}

impl Direction {
    /// When all bytes before `offset` had arrived.
    pub(super) fn delivered_at(&self, offset: u64) -> Option<i64> {
        first_reaching(&self.delivered, offset)
    }

    /// When the byte at `offset` arrived first, in whatever order.
    pub(super) fn arrived_at(&self, offset: u64) -> Option<i64> {
        let covering = covering(&self.places, offset);
        covering.map(|place| place.at).min()
    }

    /// Whether the path lost the byte at `offset` at least once.
    pub(super) fn was_lost(&self, offset: u64) -> bool {
        let after = self.lost.partition_point(|lost| lost.0 <= offset);
        let before = after.checked_sub(1).and_then(|at| self.lost.get(at));
        before.is_some_and(|lost| offset < lost.1)
    }

    /// When each message had arrived, in order.
    pub(super) fn told(&self) -> Vec<i64> {
        let marks = self.marks.iter();
        marks.filter_map(|mark| self.delivered_at(mark.2)).collect()
    }

    /// When the byte at `offset` was sent for the first time.
    pub(super) fn sent_at(&self, offset: u64) -> Option<i64> {
        first_reaching(&self.progress, offset.saturating_add(1))
    }

    /// One-way delays of new data: when it left, when it arrived; by the first byte of each arrival.
    pub(super) fn transits(&self) -> impl Iterator<Item = (i64, &Segment)> {
        let fresh = self.arrivals.iter().filter(|arrival| !arrival.again);
        fresh.filter_map(|arrival| Some((self.sent_at(arrival.start)?, arrival)))
    }

    /// How many messages begin before `offset`.
    pub(super) fn messages_before(&self, offset: u64) -> usize {
        self.marks.partition_point(|(_, start, _)| *start < offset)
    }

    /// Whether a message begins at `offset`. What follows a message does, although it has no mark: a keep-alive.
    pub(super) fn begins_message(&self, offset: u64) -> bool {
        let place = self.marks.partition_point(|(_, start, _)| *start < offset);
        let before = place.checked_sub(1).and_then(|at| self.marks.get(at));
        let here = self.marks.get(place);
        here.is_some_and(|(_, start, _)| *start == offset)
            || before.is_some_and(|(_, _, end)| *end == offset)
            || self.marks.last().is_some_and(|(_, _, end)| *end <= offset)
    }
}

/// Segments that have the byte at `offset`, of segments by their places.
fn covering(places: &[Segment], offset: u64) -> impl Iterator<Item = &Segment> {
    /// Segments that overlap.
    const MAX_OVERLAP: usize = 64;
    let after = places.partition_point(|place| place.start <= offset);
    let before = places.get(after.saturating_sub(MAX_OVERLAP)..after);
    let before = before.unwrap_or_default().iter();
    before.filter(move |place| place.end > offset)
}

/// What was sent more often than it arrived, by places.
fn lost(sends: &[Segment], places: &[Segment]) -> Vec<(u64, u64)> {
    let sends_by_place = by_place(sends);
    let again = sends_by_place.iter().filter(|send| send.again);
    let is_lost = |send: &&Segment| {
        let sent = covering(&sends_by_place, send.start).count();
        sent > covering(places, send.start).count()
    };
    let mut lost: Vec<(u64, u64)> = Vec::new();
    for send in again.filter(is_lost) {
        match lost.last_mut().filter(|last| last.1 >= send.start) {
            Some(last) => last.1 = last.1.max(send.end),
            None => lost.push((send.start, send.end)),
        }
    }
    lost
}

#[cfg(test)]
impl Direction {
    /// Segments of `len` bytes, by when they left and where they begin, in messages that begin at `starts`; all acknowledged.
    pub(super) fn sent(sends: &[(i64, u64)], len: u64, acks: Vec<Ack>, starts: &[u64]) -> Self {
        let segment = |(at, start): &(i64, u64)| Segment {
            at: *at,
            start: *start,
            end: start + len,
            again: false,
        };
        let mark = |ends: &[u64]| {
            let [start, end] = *ends else { return None };
            let mark = Mark {
                end,
                len: end - start,
                mid: None,
                command: None,
                is_reply: true,
            };
            Some((mark, start, end))
        };
        let sends: Vec<Segment> = sends.iter().map(segment).collect();
        let acks_sent: Vec<_> = acks.iter().map(|ack| (ack.at, ack.ack)).collect();
        Self {
            delivered: acks_sent.clone(),
            progress: progress(&sends),
            base: acks.first().map_or(0, |ack| ack.at / 2),
            mss: len,
            transport: Transport::Tcp,
            polls: Vec::new(),
            marks: starts.windows(2).filter_map(mark).collect(),
            places: by_place(&sends),
            lost: Vec::new(),
            arrivals: sends.clone(),
            sends,
            acks,
            acks_sent,
        }
    }
}

fn by_place(arrivals: &[Segment]) -> Vec<Segment> {
    let mut places = arrivals.to_vec();
    places.sort_by_key(|place| (place.start, place.at));
    places
}

fn first_reaching(list: &[(i64, u64)], offset: u64) -> Option<i64> {
    let place = list.partition_point(|(_, upto)| *upto < offset);
    list.get(place).map(|(at, _)| *at)
}

fn progress(sends: &[Segment]) -> Vec<(i64, u64)> {
    let mut highest = 0;
    let mut progress = Vec::new();
    for send in sends.iter().filter(|send| send.end > 0) {
        if send.end > highest {
            highest = send.end;
            progress.push((send.at, highest));
        }
    }
    progress
}

/// What the receiver had in order, by what arrived and by what it acknowledged, for its capture may lack packets.
fn delivered(arrivals: &[Segment], acks_sent: &[(i64, u64)], first: u64) -> Vec<(i64, u64)> {
    let mut upto = arrivals
        .first()
        .map_or(first, |arrival| arrival.start.min(first.max(1)));
    if first > 0 {
        upto = arrivals.first().map_or(first, |arrival| arrival.start);
    }
    let mut early: BTreeMap<u64, u64> = BTreeMap::new();
    let mut out = Vec::new();
    let mut acks = acks_sent.iter().peekable();
    for arrival in arrivals {
        while let Some((at, ack)) = acks.next_if(|(at, _)| *at < arrival.at) {
            if *ack > upto {
                upto = *ack;
                out.push((*at, upto));
            }
        }
        let before = upto;
        let known = early.entry(arrival.start).or_insert(arrival.end);
        *known = arrival.end.max(*known);
        while let Some(entry) = early.first_entry().filter(|entry| *entry.key() <= upto) {
            upto = upto.max(entry.remove());
        }
        if upto > before {
            out.push((arrival.at, upto));
        }
    }
    out
}

/// Messages with their places in the direction.
fn marks(half: &Half, mut offsets: Offsets) -> Vec<(Mark, u64, u64)> {
    let Some(origin) = half.origin else {
        return Vec::new();
    };
    let origin = offsets.of(origin);
    let marks = half.marks.iter();
    marks
        .map(|mark| {
            let end = origin + mark.end;
            (*mark, end.saturating_sub(mark.len), end)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_arrives_less_often_than_it_was_sent_was_lost() {
        let segment = |at, start| Segment {
            at,
            start,
            end: start + 1000,
            again: at > 3,
        };
        let sends = [
            segment(1, 0),
            segment(2, 1000),
            segment(4, 0),
            segment(5, 1000),
        ];
        // the first transmission of the first segment is lost, and the second one of the other is needless
        let arrivals = by_place(&[segment(3, 1000), segment(5, 0), segment(6, 1000)]);
        assert_eq!(lost(&sends, &arrivals), [(0, 1000)]);
    }

    #[test]
    fn what_follows_a_message_begins_one_and_what_is_inside_does_not() {
        let mark = |start, end| {
            let mark = Mark {
                end,
                len: end - start,
                mid: None,
                command: None,
                is_reply: true,
            };
            (mark, start, end)
        };
        let direction = Direction {
            sends: Vec::new(),
            arrivals: Vec::new(),
            acks: Vec::new(),
            acks_sent: Vec::new(),
            places: Vec::new(),
            lost: Vec::new(),
            delivered: Vec::new(),
            progress: Vec::new(),
            base: 0,
            mss: 1448,
            transport: Transport::Tcp,
            polls: Vec::new(),
            // a keep-alive of 4 bytes lies between both
            marks: vec![mark(1, 42), mark(46, 87)],
        };
        for begin in [1, 42, 46, 87, 100] {
            assert!(direction.begins_message(begin), "{begin}");
        }
        for inside in [2, 41, 47, 86] {
            assert!(!direction.begins_message(inside), "{inside}");
        }
    }
}
