//! The beginning of a connection, held back until its path is known.
//!
//! How fast a path is and how long it is there and back shows only when some packets have passed, but what the first ones
//! waited for depends on it, and a small copy is made of first packets. So the beginning of every connection is kept, and
//! analysed when it is over or its room is full: by then a scout has gone through it, who leaves what it learned.

use std::collections::HashMap;

use crate::charge::Script;
use crate::evidence::MemoryBudget;
use crate::path::{HostPairs, Member, SegmentLoad, wire_bytes};
use crate::report::Quality;
use crate::session::{Moment, Scratch};
use crate::tcp::connection::Connection;
use crate::tcp::connection::finish::Ended;
use coax_capture::{Endpoint, Flags, Segment};

/// Segments held back of a connection, and bytes on the wire: what a capture keeps of them must not matter.
const MOST_SEGMENTS: usize = 1024;
const MOST_BYTES: usize = 1 << 20;
/// Bytes held back of all connections. Those that find no room are analysed as they come.
const MOST_OF_ALL: usize = 12 << 20;
/// What a segment takes beyond its bytes.
const EACH: usize = size_of::<HeldSegment>();

/// What all connections are analysed with.
#[derive(Debug)]
pub(crate) struct AnalysisContext<'a> {
    pub(crate) scratch: &'a mut Scratch,
    pub(crate) quality: &'a mut Quality,
    pub(crate) room: &'a MemoryBudget,
    /// Bytes that all prologues hold.
    pub(crate) held: &'a mut usize,
    /// Charges that are known, by a connection's first frame.
    pub(crate) scripts: &'a mut HashMap<u64, Script>,
    pub(crate) hosts: &'a mut HostPairs,
}

/// A connection, from its first packet on.
#[derive(Debug)]
pub(crate) struct TrackedConnection {
    /// During calibration, the first pass.
    connection: Connection,
    buffer: Option<Box<CalibrationBuffer>>,
    /// Among other connections between its hosts.
    member: Member,
}

impl TrackedConnection {
    /// A connection that begins with this segment, or that the capture begins in.
    pub(crate) fn new(
        segment: &Segment<'_>,
        moment: Moment,
        context: &mut AnalysisContext<'_>,
    ) -> Self {
        let member = context
            .hosts
            .enter(segment.from.machine(), segment.to.machine());
        let mut followed = Self {
            connection: Connection::for_calibration(segment, moment, &member),
            buffer: Some(Box::default()),
            member,
        };
        followed.segment(segment, moment, context);
        followed
    }

    /// Whether this segment begins another connection between the same ends.
    pub(crate) fn is_over_for(&self, segment: &Segment<'_>) -> bool {
        self.connection.is_over_for(segment)
    }

    /// When it was last heard of.
    pub(crate) fn last(&self) -> Moment {
        self.connection.last()
    }

    /// Takes a segment.
    pub(crate) fn segment(
        &mut self,
        segment: &Segment<'_>,
        moment: Moment,
        context: &mut AnalysisContext<'_>,
    ) {
        if self.member.has_others() {
            let has_ack = segment.flags.has(Flags::ACK);
            let load = SegmentLoad {
                from: segment.from.machine(),
                to: segment.to.machine(),
                wire: wire_bytes(segment),
                ack: has_ack.then_some(segment.ack),
            };
            self.member.note(&load, moment.at);
        }
        if self.buffer.is_none() {
            let AnalysisContext {
                scratch, quality, ..
            } = context;
            return self.connection.segment(segment, moment, scratch, quality);
        }
        self.hold(segment, moment, context);
    }

    /// What there is to report, now that no more comes.
    pub(crate) fn finish(mut self, context: &mut AnalysisContext<'_>) -> Ended {
        self.settle(context);
        self.connection
            .give_up_holes(context.scratch, context.quality);
        self.connection.finish(context.quality)
    }

    fn hold(&mut self, segment: &Segment<'_>, moment: Moment, context: &mut AnalysisContext<'_>) {
        let Some(buffer) = &mut self.buffer else {
            return;
        };
        let calibration_quality = &mut buffer.calibration_quality;
        self.connection
            .segment(segment, moment, context.scratch, calibration_quality);
        buffer.add(segment, moment);
        let size = EACH + segment.len as usize;
        *context.held = context.held.saturating_add(size);
        buffer.size += size;
        let is_full = buffer.segments.len() >= MOST_SEGMENTS || buffer.size >= MOST_BYTES;
        if is_full || *context.held >= MOST_OF_ALL {
            self.settle(context);
        }
    }

    /// Analyses what was held back.
    fn settle(&mut self, context: &mut AnalysisContext<'_>) {
        let Some(buffer) = self.buffer.take() else {
            return;
        };
        *context.held = context.held.saturating_sub(buffer.size);
        let calibration = self.connection.calibration();
        let mut held = buffer.held();
        let Some((first, moment)) = held.next() else {
            return;
        };
        self.connection = Connection::new(&first, moment, context.room, &self.member);
        self.connection.begin_calibrated(&calibration);
        if let Some(script) = context.scripts.remove(&moment.frame) {
            self.connection.follow_script(script);
        }
        for (segment, moment) in std::iter::once((first, moment)).chain(held) {
            self.connection
                .segment(&segment, moment, context.scratch, context.quality);
        }
        self.connection.end_calibrated();
    }
}

/// See the module.
#[derive(Debug, Default)]
struct CalibrationBuffer {
    segments: Vec<HeldSegment>,
    /// Options and data of all of them.
    bytes: Vec<u8>,
    /// What it counts as, bytes.
    size: usize,
    /// What the scout says of the capture.
    calibration_quality: Quality,
}

/// A segment without its bytes.
#[derive(Clone, Copy, Debug)]
struct HeldSegment {
    moment: Moment,
    from: Endpoint,
    to: Endpoint,
    seq: u32,
    ack: u32,
    identification: u32,
    ttl: u8,
    has_all_options: bool,
    len: u32,
    /// How many bytes of options there are, and of data after them.
    kept: (u32, u32),
    window: u16,
    checksum: u16,
    flags: Flags,
}

impl CalibrationBuffer {
    fn add(&mut self, segment: &Segment<'_>, moment: Moment) {
        let Segment { options, data, .. } = *segment;
        self.bytes.extend_from_slice(options);
        self.bytes.extend_from_slice(data);
        self.segments.push(HeldSegment {
            moment,
            from: segment.from,
            to: segment.to,
            seq: segment.seq,
            ack: segment.ack,
            identification: segment.identification,
            ttl: segment.ttl,
            has_all_options: segment.has_all_options,
            len: segment.len,
            kept: (options.len() as u32, data.len() as u32),
            window: segment.window,
            checksum: segment.checksum,
            flags: segment.flags,
        });
    }

    fn held(&self) -> impl Iterator<Item = (Segment<'_>, Moment)> {
        let mut rest = self.bytes.as_slice();
        let mut take = move |len: u32| {
            let (taken, after) = rest.split_at_checked(len as usize).unwrap_or_default();
            rest = after;
            taken
        };
        self.segments.iter().map(move |held| {
            let segment = Segment {
                from: held.from,
                to: held.to,
                seq: held.seq,
                ack: held.ack,
                flags: held.flags,
                window: held.window,
                checksum: held.checksum,
                identification: held.identification,
                ttl: held.ttl,
                has_all_options: held.has_all_options,
                options: take(held.kept.0),
                data: take(held.kept.1),
                len: held.len,
            };
            (segment, held.moment)
        })
    }
}

#[cfg(test)]
mod tests {
    use coax_wire::time::Time;

    use super::*;
    use coax_capture::Endpoint;

    fn segment<'a>(data: &'a [u8], options: &'a [u8]) -> Segment<'a> {
        Segment {
            from: Endpoint::default(),
            to: Endpoint::default(),
            seq: 7,
            ack: 8,
            flags: Flags(Flags::ACK),
            window: 9,
            checksum: 10,
            identification: 11,
            ttl: 64,
            has_all_options: true,
            options,
            data,
            len: data.len() as u32 + 5,
        }
    }

    #[test]
    fn what_is_held_back_comes_out_as_it_went_in() {
        let mut buffer = CalibrationBuffer::default();
        let put = [
            segment(b"one", b""),
            segment(b"", b"\x01\x01"),
            segment(b"two", b"\x01"),
        ];
        for (frame, segment) in put.iter().enumerate() {
            let frame = frame as u64;
            buffer.add(
                segment,
                Moment {
                    at: Time(frame),
                    frame,
                },
            );
        }
        let got: Vec<_> = buffer.held().collect();
        assert_eq!(got.len(), put.len());
        for ((got, moment), (place, put)) in got.iter().zip(put.iter().enumerate()) {
            assert_eq!(moment.frame, place as u64);
            assert_eq!(format!("{got:?}"), format!("{put:?}"));
        }
    }

    #[test]
    fn a_full_room_holds_nothing_back_and_forgets_nothing() {
        let (mut scratch, mut quality) = (Scratch::default(), Quality::default());
        let mut held = MOST_OF_ALL;
        let room = MemoryBudget::default();
        let mut context = AnalysisContext {
            scratch: &mut scratch,
            quality: &mut quality,
            room: &room,
            held: &mut held,
            scripts: &mut HashMap::new(),
            hosts: &mut HostPairs::default(),
        };
        let moment = Moment {
            at: Time(0),
            frame: 1,
        };
        let mut followed = TrackedConnection::new(&segment(b"one", b""), moment, &mut context);
        assert!(followed.buffer.is_none());
        let next = Segment {
            seq: 15,
            ..segment(b"next", b"")
        };
        followed.segment(&next, moment, &mut context);
        let ended = followed.finish(&mut context);
        assert_eq!(*context.held, MOST_OF_ALL);
        let segments = ended.connection.sides.iter().map(|side| side.segments);
        assert_eq!(segments.sum::<u64>(), 2);
    }
}
