//! A connection: both directions, what they carry, and where its time went.

mod advance;
mod backlog;
mod delivery;
pub(super) mod finish;
mod frames;
mod load;
mod releases;
mod replies;

use crate::charge::{Charger, Script};
use crate::conversation::Conversation;
use crate::evidence::{MemoryBudget, Shown};
use crate::netbios::marks;
use crate::path::{
    LastData, Member, NewAck, PathMeasurements, PathStage, RoundTrip, SegmentSizes, wire_bytes,
};
use crate::reorder::WINDOW;
use crate::report::{Direction, PacketRow, Quality};
use crate::session::{Boundaries, Moment, Scratch};
use crate::tcp::connection::backlog::ServerBacklog;
use crate::tcp::connection::releases::Releases;
use crate::tcp::connection::replies::Replies;
use crate::tcp::endpoint_stats::{EndpointObserver, SegmentSummary};
use crate::tcp::sender_clock::SenderClock;
use crate::tcp::stream_state::{StreamState, Twice};
use crate::timeline::{DelayPattern, Novelty, Side, of, of_mut};
use coax_capture::{Endpoint, Flags, Segment, Transport};
use coax_cause::Account;
use coax_wire::{
    nbt::session::Framing,
    time::{Span, Time},
};

const NBT_PORT: u16 = 139;
const DIRECT_PORT: u16 = 445;

/// What one pass over the first packets of a connection shows the next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Calibration {
    path: PathMeasurements,
    /// Whether each side responds to duplicate acknowledgments, as far as that was seen.
    responds_to_dup_acks: [Option<bool>; 2],
    /// Whether each side paces, as far as that was seen.
    is_paced: [bool; 2],
    /// Window scales.
    scales: [u8; 2],
    /// What the timestamps of each side show.
    clocks: [(SenderClock, DelayPattern); 2],
}

/// A packet that brings the connection forward, as it comes.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    at: Time,
    side: Side,
    /// Where its data begins, and what that is to the stream.
    start: u64,
    novelty: Option<Novelty>,
    /// Something before it was never captured.
    unseen: bool,
}

/// One connection: it wires the stages together.
#[derive(Debug)]
pub(crate) struct Connection {
    ends: [Endpoint; 2],
    streams: [StreamState; 2],
    stats: [EndpointObserver; 2],
    conversation: Conversation,
    charger: Charger,
    first: Moment,
    last: Moment,
    /// How far the clock was set back since the connection began.
    clock_shift: Span,
    /// How long nobody had said anything before that.
    quiet: Span,
    /// How far the data of each side was captured.
    captured: [u64; 2],
    packets: u64,
    has_start: bool,
    path: PathStage,
    last_data: Option<LastData>,
    backlog: ServerBacklog,
    /// Answers that each side waits for, beyond TCP.
    replies: [Replies; 2],
    /// What acknowledgments let go of each side.
    releases: [Releases; 2],
    end: (Moment, Account),
    closing: bool,
    /// Something is missing in the capture since the last step: nobody knows what the next one waited for.
    unseen: bool,
}

impl Connection {
    /// A connection that begins with this segment, or that the capture begins in.
    pub(crate) fn new(
        segment: &Segment<'_>,
        moment: Moment,
        room: &MemoryBudget,
        member: &Member,
    ) -> Self {
        Self::begin(segment, moment, Some(room), member)
    }

    /// A connection that is followed only to measure its path.
    pub(crate) fn for_calibration(segment: &Segment<'_>, moment: Moment, member: &Member) -> Self {
        Self::begin(segment, moment, None, member)
    }

    fn begin(
        segment: &Segment<'_>,
        moment: Moment,
        room: Option<&MemoryBudget>,
        member: &Member,
    ) -> Self {
        let is_syn = segment.flags.has(Flags::SYN);
        let ends = ends_of(segment);
        let is_framed = ends[1].transport() != Transport::Tcp;
        let boundaries = match ends[1].port {
            _ if is_framed => Boundaries::Marked,
            DIRECT_PORT => Boundaries::Headers(Framing::Direct),
            _ => Boundaries::Headers(Framing::Nbt),
        };
        let is_service = is_framed || is_service(ends[1].port);
        let conversation = Conversation::new((boundaries, is_service), !is_syn, moment, room);
        Self {
            ends,
            streams: <[StreamState; 2]>::default(),
            stats: <[EndpointObserver; 2]>::default(),
            conversation,
            charger: Charger::starting(moment.at),
            first: moment,
            last: moment,
            clock_shift: Span(0),
            quiet: Span(0),
            captured: [0; 2],
            packets: 0,
            has_start: is_syn,
            path: PathStage::beside(member.neighbours(), ends[0].ip() > ends[1].ip()),
            last_data: None,
            backlog: ServerBacklog::default(),
            replies: <[Replies; 2]>::default(),
            releases: <[Releases; 2]>::default(),
            end: (moment, Account::default()),
            closing: false,
            unseen: false,
        }
    }

    /// What its time was spent on is known.
    pub(crate) fn follow_script(&mut self, script: Script) {
        self.charger.set_script(script);
    }

    /// Whether this segment begins another connection between the same ends.
    pub(crate) fn is_over_for(&self, segment: &Segment<'_>) -> bool {
        let is_first_syn = segment.flags.has(Flags::SYN) && !segment.flags.has(Flags::ACK);
        // sessions of other transports open once each, with the same number
        let is_other = || {
            segment.from.transport() != Transport::Tcp
                || (self.closing || self.streams.iter().all(StreamState::has_begun))
                    && !self.streams[0].is_syn_of(segment)
        };
        is_first_syn && is_other()
    }

    /// When it was last heard of.
    pub(crate) fn last(&self) -> Moment {
        self.last
    }

    /// Takes a segment.
    pub(crate) fn segment(
        &mut self,
        segment: &Segment<'_>,
        moment: Moment,
        scratch: &mut Scratch,
        quality: &mut Quality,
    ) {
        let Some((side, moment)) = self.enter(segment, moment, quality) else {
            return;
        };
        let at = moment.at;
        let start = if segment.flags.has(Flags::SYN) {
            self.synchronize(segment, side, at);
            0
        } else {
            of_mut(&mut self.streams, side).offset(segment.seq)
        };
        self.note_clock(segment, side, at);
        let stream = of(&self.streams, side);
        let before = (stream.highest, of(&self.streams, side.other()).acked);
        self.unseen |= segment.flags.has(Flags::ACK) && self.acknowledgment(segment, side, at);
        self.note_replies(segment, side, at);
        quality.acked_before += u64::from(self.was_acked_before(segment, side, start));
        let novelty = of_mut(&mut self.streams, side).take(segment, start, at);
        let novelty = self.novelty_of(segment, side, novelty);
        self.note_load(segment, side, novelty, at);
        self.watch(segment, side, moment, start, novelty, before);
        self.note_coalescing(segment, side, quality);
        if self.is_step(segment, side, novelty) {
            let arrival = Arrival {
                at,
                side,
                start,
                novelty,
                unseen: std::mem::take(&mut self.unseen) || self.lacks(),
            };
            self.step(segment, arrival);
        }
        self.note_waits(segment, side, at);
        self.record(segment, side, start, novelty, moment);
        if matches!(novelty, Some(Novelty::New | Novelty::Fill)) {
            self.data(segment, side, start, moment, scratch);
            self.goes_up_to(moment);
        }
        self.settle_holes(moment, scratch, quality);
    }

    /// Whose segment it is, and when it comes as far as the connection is concerned; `None` if it was captured already.
    fn enter(
        &mut self,
        segment: &Segment<'_>,
        moment: Moment,
        quality: &mut Quality,
    ) -> Option<(Side, Moment)> {
        let side = if segment.from == self.ends[0] {
            Side::Client
        } else {
            Side::Server
        };
        self.packets += 1;
        let at = self.steady(moment.at);
        let stream = of_mut(&mut self.streams, side);
        if let Some(twice) = stream.captured_before(segment, at) {
            quality.duplicates += 1;
            quality.captured_later += u64::from(twice == Twice::Later);
            return None;
        }
        stream.ip_ids.next(segment.identification);
        self.quiet = at - self.last.at;
        self.last = Moment { at, ..moment };
        self.closing |= segment.flags.has(Flags::FIN | Flags::RST);
        Some((side, self.last))
    }

    /// Time on a connection never goes back. Where the clock was set back, later times are moved.
    fn steady(&mut self, at: Time) -> Time {
        if at + self.clock_shift + WINDOW < self.last.at {
            self.clock_shift = self.last.at - at;
        }
        (at + self.clock_shift).max(self.last.at)
    }

    /// The copy that a connection without SMB is goes up to here at least.
    fn goes_up_to(&mut self, moment: Moment) {
        if self.conversation.is_plain() {
            self.end = (moment, *self.charger.account());
            self.conversation.extend_plain();
        }
    }

    /// Whether bytes were acknowledged that should have been captured before and were not.
    fn lacks(&self) -> bool {
        let mut streams = self.streams.iter();
        streams.any(|stream| stream.acked > stream.delivered.saturating_add(1))
    }

    /// Whether data comes for the first time and after its acknowledgment: the clocks of the two directions differ.
    fn was_acked_before(&mut self, segment: &Segment<'_>, side: Side, start: u64) -> bool {
        let captured = of_mut(&mut self.captured, side);
        let end = start.saturating_add(segment.len.into());
        let is_first = segment.len > 0 && end > *captured;
        *captured = end.max(*captured);
        is_first && end <= of(&self.streams, side).acked
    }

    /// `before` is how far this side's data went before this segment, and how far the other's was acknowledged.
    fn watch(
        &mut self,
        segment: &Segment<'_>,
        side: Side,
        moment: Moment,
        start: u64,
        novelty: Option<Novelty>,
        before: (u64, u64),
    ) {
        let other = of(&self.streams, side.other());
        let sent = SegmentSummary {
            moment,
            start,
            novelty,
            highest: before.0,
            acked: of(&self.streams, side).acked,
            window: other.window,
            way: self.path.way(side),
            acknowledges: other.acked > before.1,
            quiet: self.quiet,
        };
        of_mut(&mut self.stats, side).sent(segment, &sent);
        if segment.len > 0 {
            let is_new = novelty == Some(Novelty::New);
            of_mut(&mut self.stats, side.other()).received(moment.at, is_new);
        }
    }

    fn note_coalescing(&self, segment: &Segment<'_>, side: Side, quality: &mut Quality) {
        let is_coalesced =
            of(&self.streams, side).is_coalesced(segment, of(&self.streams, side.other()));
        quality.coalesced += u64::from(is_coalesced);
    }

    fn is_step(&self, segment: &Segment<'_>, side: Side, novelty: Option<Novelty>) -> bool {
        match novelty {
            Some(Novelty::KeepAlive) => false,
            Some(_) => !of(&self.streams, side).is_probe,
            None => segment.flags.has(Flags::SYN),
        }
    }

    fn synchronize(&mut self, segment: &Segment<'_>, side: Side, at: Time) {
        of_mut(&mut self.streams, side).begin(segment);
        self.path.note_syn(side, at, wire_bytes(segment));
    }

    /// What a segment says of the other side's data; whether it acknowledges what was never captured.
    fn acknowledgment(&mut self, segment: &Segment<'_>, side: Side, at: Time) -> bool {
        let is_syn = segment.flags.has(Flags::SYN);
        self.path
            .note_handshake(side, is_syn, at, wire_bytes(segment));
        let shift = self.shift(side);
        let clock = of(&self.streams, side).by_clock;
        let carried = if self.path.is_behind(side) {
            at
        } else {
            let free = of(&self.streams, side).sent.busy.max(at);
            free + self.path.carrying(side, wire_bytes(segment))
        };
        let other = of_mut(&mut self.streams, side.other());
        let ack = other.offset(segment.ack);
        // a FIN takes a number too, whether it was captured or not
        let beyond = ack.saturating_sub(other.highest);
        let ack = if beyond <= 1 {
            ack.min(other.highest)
        } else {
            ack
        };
        let (window_before, before) = (other.window, other.acked);
        other.offered(segment, shift, ack, ((at, carried), clock));
        self.note_needless(segment, side, ack, at);
        let other = of_mut(&mut self.streams, side.other());
        let has_more = other.highest > ack && !other.only_probes();
        let way = if ack > before {
            self.acknowledged(segment, side, (before, ack), at)
        } else {
            if ack == before && segment.len == 0 && has_more && !self.is_framed() {
                self.duplicate_ack(segment, side, window_before, at);
            }
            None
        };
        self.note_window(segment, side, window_before);
        if let Some((time, bytes)) = way {
            let bytes = (bytes, wire_bytes(segment));
            self.path.note_way(side, RoundTrip { time, bytes });
        }
        beyond > 1
    }

    /// More of the other side's data is acknowledged than before; how long that of a segment which is waited for took to
    /// come, and of how many bytes.
    fn acknowledged(
        &mut self,
        segment: &Segment<'_>,
        side: Side,
        (before, ack): (u64, u64),
        at: Time,
    ) -> Option<(Span, u64)> {
        of_mut(&mut self.releases, side.other()).acknowledged(segment, at);
        let other = of_mut(&mut self.streams, side.other());
        let fills = before < other.recovery_point;
        let way = other.acknowledge(ack, at);
        let is_pure = segment.len == 0 && !fills;
        let sent = other.sent.up_to(ack);
        let sent = sent.filter(|sent| sent.end == ack && !fills);
        let known = other.early_acked.min(ack - before);
        other.early_acked -= known;
        let new = NewAck {
            at,
            acked: ack,
            bytes: ack - before,
            is_pure,
            highest: other.highest,
            sent,
        };
        let sizes = self.sizes(side.other());
        self.note_delivered_by_ack(side.other(), &new, known, sizes);
        self.path.note_ack_pace(side, &new, sizes);
        self.path.note_burst(side.other(), &new, sizes);
        let carried = if fills { 0 } else { new.bytes };
        let serial = self.path.serial_of(side.other(), carried, sizes);
        let other = of_mut(&mut self.streams, side.other());
        other.tick(at, serial);
        if segment.reports_hole() {
            other.told_of_hole(at);
        }
        way
    }

    /// Sizes of the segments that `side` sends.
    fn sizes(&self, side: Side) -> SegmentSizes {
        let mss = of(&self.streams, side.other()).figures.mss;
        SegmentSizes {
            mss: mss.map_or(1460, u64::from),
            overhead: of(&self.streams, side).overhead,
        }
    }

    fn duplicate_ack(&mut self, segment: &Segment<'_>, side: Side, window_before: u32, at: Time) {
        let sizes = self.sizes(side.other());
        let serial = self.path.serial_of(side.other(), 0, sizes);
        let other = of_mut(&mut self.streams, side.other());
        let has_sack = segment.has_sack();
        if other.window == window_before || has_sack {
            other.told(segment.reports_hole(), at);
            other.tick(at, serial);
            self.note_delivered_early(side.other(), segment, at);
            of_mut(&mut self.streams, side).figures.duplicate_acks += 1;
        }
    }

    fn note_window(&mut self, segment: &Segment<'_>, side: Side, before: u32) {
        let other = of(&self.streams, side.other());
        let (now, acknowledged) = (other.window, other.acked);
        let own = of_mut(&mut self.streams, side);
        own.settled.note(now, acknowledged);
        let figures = &mut own.figures;
        figures.max_window = figures.max_window.max(now);
        figures.settled_window = own.settled.window();
        if !segment.flags.has(Flags::SYN | Flags::RST | Flags::FIN) {
            figures.min_window = Some(figures.min_window.map_or(now, |least| least.min(now)));
            figures.zero_windows += u64::from(now == 0 && before != 0);
        }
    }

    /// Records a segment and what the time before it was spent on.
    fn record(
        &mut self,
        segment: &Segment<'_>,
        side: Side,
        start: u64,
        novelty: Option<Novelty>,
        moment: Moment,
    ) {
        let again = novelty == Some(Novelty::Again);
        let stream = of(&self.streams, side);
        let shown = Shown {
            at: moment.at,
            frame: moment.frame,
            end: start.saturating_add(u64::from(segment.len)),
            acked: stream.acked,
            edge: stream.send_limits.latest().unwrap_or(stream.acked),
            again,
        };
        let rung = PacketRow {
            at: moment.at,
            frame: moment.frame,
            to: heading(side),
            len: segment.len,
            again,
            window: of(&self.streams, side.other()).window,
            flags: segment.flags,
            control: self.control(segment),
            said: None,
        };
        let is_shown = segment.len > 0 && novelty != Some(Novelty::KeepAlive);
        let shown = is_shown.then_some(&shown);
        let charges = self.charger.take_charges();
        self.conversation
            .record_segment(segment, rung, shown, charges);
    }

    /// How far `side`'s windows are shifted: only if both sides offered to (RFC 7323 §2.2).
    fn shift(&mut self, side: Side) -> u8 {
        if !self.has_start {
            let other = of_mut(&mut self.streams, side.other());
            return other.scale.estimate(other.figures.max_in_flight);
        }
        let own = of(&self.streams, side).figures.window_scale;
        let other = of(&self.streams, side.other()).figures.window_scale;
        own.zip(other).map_or(0, |(own, _)| own)
    }

    /// What an acknowledgment says of data that was sent again.
    fn note_needless(&mut self, segment: &Segment<'_>, side: Side, ack: u64, at: Time) {
        let far = self.path.way(side);
        let other = of_mut(&mut self.streams, side.other());
        let twice = segment.duplicate_sack();
        if twice.is_none() && other.retransmissions.is_settled() {
            return;
        }
        let twice = twice.map(|(from, to)| (other.offset(from), other.offset(to)));
        other
            .retransmissions
            .heard(ack.max(other.acked), twice, at, far);
        // unless what it sent itself meanwhile was lost: then that is what both waited for
        let own = of_mut(&mut self.streams, side);
        let is_whole = own.offset(segment.seq) <= own.highest;
        if let Some(twice) = twice.filter(|_| is_whole) {
            self.charger.came_twice(side.other(), twice);
        }
    }

    /// What a calibration pass has measured.
    pub(crate) fn calibration(&self) -> Calibration {
        Calibration {
            path: self.path.learned(),
            responds_to_dup_acks: self.charger.responds_to_dup_acks(),
            is_paced: self.charger.is_paced(),
            scales: self.streams.each_ref().map(|stream| stream.scale.least()),
            clocks: self
                .streams
                .each_ref()
                .map(|stream| (stream.sender_clock, stream.delays)),
        }
    }

    /// The packets that come now are those of the calibration pass.
    pub(crate) fn begin_calibrated(&mut self, calibration: &Calibration) {
        self.path.calibrate(Some(calibration.path));
        self.charger
            .calibrate(calibration.responds_to_dup_acks, calibration.is_paced);
        for (stream, scale) in self.streams.iter_mut().zip(calibration.scales) {
            stream.scale.calibrate(scale);
        }
        for (stream, (clock, delays)) in self.streams.iter_mut().zip(&calibration.clocks) {
            stream.sender_clock.calibrate(clock);
            stream.delays.calibrate(delays);
        }
    }

    /// The packets of the calibration pass are over.
    pub(crate) fn end_calibrated(&mut self) {
        self.path.calibrate(None);
    }
}

/// The client and the server of the connection that a segment belongs to: as its SYN says, else as its ports do.
pub(crate) fn ends_of(segment: &Segment<'_>) -> [Endpoint; 2] {
    let from_client = if segment.from.transport() != Transport::Tcp {
        segment.flags.has(marks::FROM_CLIENT)
    } else if segment.flags.has(Flags::SYN) {
        !segment.flags.has(Flags::ACK)
    } else {
        is_service(segment.to.port)
            || (!is_service(segment.from.port) && segment.to.port < segment.from.port)
    };
    if from_client {
        [segment.from, segment.to]
    } else {
        [segment.to, segment.from]
    }
}

fn is_service(port: u16) -> bool {
    matches!(port, NBT_PORT | DIRECT_PORT)
}

fn heading(from: Side) -> Direction {
    match from {
        Side::Client => Direction::ToServer,
        Side::Server => Direction::ToClient,
    }
}
