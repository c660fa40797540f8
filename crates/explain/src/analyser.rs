//! The whole of it: packets in, a report out.

use std::io::Read;

use coax_capture::{Content, Dissector, Error, Packet, Reader, Segment, Transport};
use coax_wire::time::{Span, Time};

use crate::{
    assess,
    charge::Script,
    evidence::{self, MemoryBudget},
    frames::FrameSet,
    holders::Operations,
    live::{Key, Live},
    longest::Longest,
    netbios::NetbiosStage,
    path::HostPairs,
    recognise::{recognise, recognise_stacks},
    reorder::Reorder,
    report::{self, Capture, Copy, Quality},
    session::{Moment, Scratch},
    tcp::{AnalysisContext, Ended, TrackedConnection},
};

/// Connections followed at a time; of more, the one that was silent longest is ended.
const MOST_LIVE: usize = 2048;
/// Connections and copies listed in a report, the longest; more are counted.
const MOST_LISTED: usize = 20_000;

/// Takes packets, of one file or of several that continue each other.
#[derive(Debug, Default)]
pub struct Analyser {
    dissector: Dissector,
    netbios: NetbiosStage,
    live: Live,
    /// The latest packet's ends, and where its connection is: most packets have the same as the one before.
    latest_ends: Option<(Key, usize)>,
    /// Connections in the order of their first packets; `None` where they have ended.
    connections: Vec<Option<Box<TrackedConnection>>>,
    ended: Longest<(usize, Ended), MOST_LISTED>,
    operations: Operations,
    room: MemoryBudget,
    /// Places in `ended` of connections that have copies with detail.
    detailed: Vec<usize>,
    left_out: (u64, u64),
    scratch: Scratch,
    /// Bytes that are held back of connections that have just begun.
    held: usize,
    quality: Quality,
    first: Option<Time>,
    latest: Time,
    grain_ns: u64,
    frames_before: u64,
    order: Reorder,
    /// Charges that are known, by a connection's first frame.
    scripts: std::collections::HashMap<u64, Script>,
    hosts: HostPairs,
    /// Frames that do not count.
    left_out_frames: FrameSet,
}

impl Analyser {
    /// Without these frames of the file, which another end captured.
    pub(crate) fn without(frames: FrameSet) -> Self {
        Self {
            left_out_frames: frames,
            ..Self::default()
        }
    }

    /// With charges that are known, by a connection's first frame.
    pub(crate) fn with_scripts(scripts: std::collections::HashMap<u64, Script>) -> Self {
        Self {
            scripts,
            ..Self::default()
        }
    }

    /// Takes all packets of a file. Of several files, those of the next follow those of the one before, and their
    /// packets' numbers too.
    ///
    /// # Errors
    /// [`Error`], if nothing of it can be read.
    pub fn read(&mut self, mut file: impl Read) -> Result<(), Error> {
        self.read_all(&mut file)
    }

    fn read_all(&mut self, file: &mut dyn Read) -> Result<(), Error> {
        self.read_on(&mut Reader::new(file)?)
    }

    /// Takes the packets that `reader` still has. After an error of the kind [`std::io::ErrorKind::WouldBlock`], the next
    /// call goes on.
    pub(crate) fn read_on(&mut self, reader: &mut Reader<impl Read>) -> Result<(), Error> {
        while let Some(packet) = reader.next_packet()? {
            self.packet(&packet);
        }
        self.frames_before = self.quality.packets;
        self.quality.dropped = self.quality.dropped.saturating_add(reader.dropped());
        self.quality.ignored_offsets += reader.ignored_offsets();
        if let Some(damage) = reader.damage() {
            self.quality.damage = Some((damage.at_byte, damage.what.to_owned()));
        }
        Ok(())
    }

    /// Takes one packet.
    pub fn packet(&mut self, packet: &Packet<'_>) {
        let frame = self.frames_before.saturating_add(packet.number);
        if self.left_out_frames.has(frame) {
            self.quality.other_end += 1;
            return;
        }
        self.calibrate(packet);
        if self.order.may_pass(packet.at) {
            return self.in_order(packet, frame);
        }
        self.order.hold(packet, frame);
        self.release();
    }

    /// Takes the packets that were held and are due.
    fn release(&mut self) {
        while let Some(due) = self.order.due() {
            self.in_order(&due.packet(), due.frame);
        }
    }

    fn in_order(&mut self, packet: &Packet<'_>, frame: u64) {
        let moment = Moment {
            at: packet.at,
            frame,
        };
        if let Some(segment) = Segment::of_plain_frame(packet) {
            self.quality.tcp_segments += 1;
            return self.segment(&segment, moment);
        }
        self.dissect(packet, moment);
    }

    /// The same of a packet of any kind.
    fn dissect(&mut self, packet: &Packet<'_>, moment: Moment) {
        // what it hands out is borrowed from it
        let mut dissector = std::mem::take(&mut self.dissector);
        let carried = dissector.dissect(packet);
        self.quality.note(&carried);
        match &carried {
            Content::Tcp(segment) => self.segment(segment, moment),
            Content::NetBeui(frame) => {
                let mut netbios = std::mem::take(&mut self.netbios);
                netbios.netbeui(frame, moment, &mut |segment, at| self.segment(segment, at));
                self.netbios = netbios;
            }
            Content::Ipx(packet) => {
                let mut netbios = std::mem::take(&mut self.netbios);
                netbios.ipx(packet, moment, &mut |segment, at| self.segment(segment, at));
                self.netbios = netbios;
            }
            _ => {}
        }
        self.dissector = dissector;
    }

    /// Takes a segment of a connection.
    fn segment(&mut self, segment: &Segment<'_>, moment: Moment) {
        let index = match &self.latest_ends {
            Some((ends, index)) if is_between(segment, ends) => *index,
            _ => {
                let key = key_of(segment);
                let index = self.live.get(&key).unwrap_or(usize::MAX);
                self.latest_ends = Some((key, index));
                index
            }
        };
        let mut context = AnalysisContext {
            scratch: &mut self.scratch,
            quality: &mut self.quality,
            room: &self.room,
            held: &mut self.held,
            scripts: &mut self.scripts,
            hosts: &mut self.hosts,
        };
        let known = self.connections.get_mut(index).and_then(Option::as_mut);
        if let Some(connection) = known.filter(|connection| !connection.is_over_for(segment)) {
            connection.segment(segment, moment, &mut context);
            return;
        }
        let connection = follow(segment, moment, &mut context);
        let key = key_of(segment);
        self.keep(key, connection);
    }

    fn keep(&mut self, key: Key, connection: Box<TrackedConnection>) {
        if let Some(index) = self.live.remove(&key) {
            self.end(index);
        }
        if self.live.len() >= MOST_LIVE {
            self.end_most_silent();
        }
        self.latest_ends = Some((key, self.connections.len()));
        let place = self.connections.len();
        self.live.insert(key, place, connection.last().at);
        self.connections.push(Some(connection));
    }

    /// What is wrong with the capture itself.
    fn calibrate(&mut self, packet: &Packet<'_>) {
        let quality = &mut self.quality;
        quality.packets += 1;
        quality.wire_bytes = quality
            .wire_bytes
            .saturating_add(u64::from(packet.wire_len));
        let kept = packet.bytes.len() as u32;
        if kept < packet.wire_len {
            quality.cut_packets += 1;
            quality.snap_len = quality.snap_len.max(kept);
        }
        if packet.at < self.latest {
            quality.out_of_order += 1;
            quality.worst_disorder = quality.worst_disorder.max(self.latest - packet.at);
        }
        let step = (packet.at - self.latest).0;
        // the common case costs one division at most
        let is_multiple =
            self.grain_ns == 1 || (self.grain_ns != 0 && step.is_multiple_of(self.grain_ns));
        if self.first.is_some() && !is_multiple {
            self.grain_ns = greatest_common_divisor(step, self.grain_ns);
        }
        self.latest = self.latest.max(packet.at);
        let first = self.first.map_or(packet.at, |first| first.min(packet.at));
        self.first = Some(first);
    }

    fn end(&mut self, index: usize) {
        let Some(connection) = self.connections.get_mut(index).and_then(Option::take) else {
            return;
        };
        let mut ended = connection.finish(&mut AnalysisContext {
            scratch: &mut self.scratch,
            quality: &mut self.quality,
            room: &self.room,
            held: &mut self.held,
            scripts: &mut self.scripts,
            hosts: &mut self.hosts,
        });
        self.left_out.1 = self.left_out.1.saturating_add(ended.left_out);
        let observed = std::mem::take(&mut ended.observed);
        let detailed = ended.copies.iter().any(has_detail);
        let length = length(&ended);
        let (place, left_out) = self.ended.add((index, ended), length);
        if let Some((_, left_out)) = left_out {
            self.left_out.0 += 1;
            self.left_out.1 += left_out.copies.len() as u64;
        }
        let Some(place) = place else {
            return;
        };
        self.operations.add(index, observed);
        if detailed && !self.detailed.contains(&place) {
            self.detailed.push(place);
        }
        self.prune();
    }

    /// Takes detail from copies that are not among the longest any more.
    fn prune(&mut self) {
        if !MemoryBudget::is_due(&self.detailed) {
            return;
        }
        for place in &self.detailed {
            let ended = self.ended.get_mut(*place);
            let copies = ended.into_iter().flat_map(|(_, ended)| &mut ended.copies);
            evidence::prune(&self.room, copies);
        }
        let ended = &self.ended;
        self.detailed.retain(|place| {
            let ended = ended.get(*place);
            ended.is_some_and(|(_, ended)| ended.copies.iter().any(has_detail))
        });
    }

    fn end_most_silent(&mut self) {
        let connections = &self.connections;
        let silent = self.live.take_most_silent(|index| {
            let connection = connections.get(index).and_then(Option::as_ref);
            connection.map_or(Time(0), |connection| connection.last().at)
        });
        if let Some(index) = silent {
            self.end(index);
        }
    }

    /// The report of all that came.
    pub fn finish(mut self) -> Capture {
        self.order.end();
        self.release();
        (self.quality.replaced_times, self.quality.clock_steps) = self.order.corrections();
        (0..self.connections.len()).for_each(|index| self.end(index));
        let mut listed = self.ended.take();
        listed.sort_by_key(|(index, _)| *index);
        let mut quality = std::mem::take(&mut self.quality);
        quality.incomplete_fragments = self.dissector.incomplete_fragments();
        quality.clock_grain = Span(self.grain_ns);
        let (mut sessions, damaged) = std::mem::take(&mut self.netbios).finish();
        quality.damaged_frames += damaged;
        let sides = listed.iter().flat_map(|(_, ended)| &ended.connection.sides);
        let data_segments = sides.map(|side| side.data_segments).sum();
        quality.merged_ends = assess::has_both_ends(&quality, data_segments);
        quality.clocks_differ =
            !quality.merged_ends && assess::has_two_clocks(&quality, data_segments);
        let mut capture = Capture {
            grade: assess::grade(&quality),
            quality,
            span: self.first.map(|first| (first, self.latest)),
            copies_left_out: self.left_out.1,
            connections_left_out: self.left_out.0,
            ..Capture::default()
        };
        let places: Vec<usize> = listed.iter().map(|(index, _)| *index).collect();
        let mut copies = Vec::new();
        for (number, (_, ended)) in listed.into_iter().enumerate() {
            let stacks = recognise_stacks(&ended.connection);
            let parties = recognise(&ended.connection, &stacks);
            // frames of sessions may come in any order, and the first of a session has its report
            let is_framed = ended.connection.transport() != Transport::Tcp;
            let session = is_framed.then(|| sessions.remove(&ended.connection.frames.0));
            capture.connections.push(report::Connection {
                parties,
                stacks,
                netbios: session.flatten().map(Box::new),
                ..ended.connection
            });
            copies.extend(ended.copies.into_iter().map(|copy| Copy {
                connection: number,
                ..copy
            }));
        }
        let place = |index: usize| places.binary_search(&index).ok();
        (capture.operations, capture.operations_left_out) =
            self.operations.finish(&capture.connections, place);
        if let Some(more @ 1..) = copies.len().checked_sub(MOST_LISTED) {
            capture.copies_left_out += more as u64;
            copies.sort_by_key(|copy| std::cmp::Reverse(copy.wall));
            copies.truncate(MOST_LISTED);
        }
        copies.sort_by_key(|copy| (copy.start + copy.wall, copy.frames));
        evidence::prune(&self.room, copies.iter_mut());
        capture.copies = copies;
        capture
    }
}

/// Which connections are listed: those with the longest copies, then others of SMB.
fn length(ended: &Ended) -> Span {
    let longest = ended.copies.iter().map(|copy| copy.wall).max();
    longest.unwrap_or(Span(u64::from(ended.connection.smb.is_some())))
}

/// A connection that begins. It is large, and nobody else needs room for it.
#[cold]
fn follow(
    segment: &Segment<'_>,
    moment: Moment,
    context: &mut AnalysisContext<'_>,
) -> Box<TrackedConnection> {
    Box::new(TrackedConnection::new(segment, moment, context))
}

fn has_detail(copy: &Copy) -> bool {
    copy.breakdown.detail.is_some()
}

fn key_of(segment: &Segment<'_>) -> Key {
    (segment.from.min(segment.to), segment.from.max(segment.to))
}

/// Whether `ends` are those of a segment, whichever sent it.
fn is_between(segment: &Segment<'_>, (one, other): &Key) -> bool {
    (segment.from == *one && segment.to == *other) || (segment.from == *other && segment.to == *one)
}

fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while a != 0 {
        (a, b) = (b % a, a);
    }
    b
}
