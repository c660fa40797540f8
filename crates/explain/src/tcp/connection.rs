//! A connection: both directions, what they carry, and where its time went.

use crate::charge::Ledger;
use crate::evidence::{Room, Ticket, Witness};
use crate::path::{LastData, NewAck, PathStage, SegmentSizes, Way, wire_bytes};
use crate::report::Quality;
use crate::session::{Framer, Moment, Scratch, Verdict};
use crate::smb::Smb;
use crate::tcp::habits::{Habits, SegmentSummary};
use crate::tcp::half::Half;
use crate::tcp::held::Served;
use crate::tcp::step::Arrival;
use crate::timeline::{Novelty, Side, of, of_mut};
use coax_capture::{Endpoint, Flags, Segment};
use coax_cause::Account;
use coax_wire::{
    nbt::session::Framing,
    time::{Span, Time},
};

const NBT_PORT: u16 = 139;
const DIRECT_PORT: u16 = 445;

/// See the module.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(super) ends: [Endpoint; 2],
    pub(super) halves: [Half; 2],
    pub(super) habits: [Habits; 2],
    pub(super) framers: [Framer; 2],
    pub(super) verdict: Verdict,
    pub(super) smb: Option<Box<Smb>>,
    pub(super) ledger: Ledger,
    pub(super) first: Moment,
    pub(super) last: Moment,
    /// How long nobody had said anything before that.
    quiet: Span,
    pub(super) packets: u64,
    pub(super) has_start: bool,
    pub(super) path: PathStage,
    /// It only goes before, and bears witness of nothing.
    pub(super) is_scout: bool,
    pub(super) last_data: Option<LastData>,
    pub(super) served: Served,
    pub(super) end: (Moment, Account),
    pub(super) closing: bool,
    /// Who sees all of it, as long as `smb` does not have it.
    pub(super) witness: Box<Witness>,
    /// Where the evidence of a connection is kept that may carry no SMB.
    pub(super) ticket: Option<Ticket>,
    /// Something is missing in the capture since the last step: nobody knows what the next one waited for.
    pub(super) unseen: bool,
}

impl Connection {
    /// A connection that begins with this segment, or that the capture begins in.
    pub(crate) fn new(segment: &Segment<'_>, moment: Moment, room: &Room) -> Self {
        let is_syn = segment.flags.has(Flags::SYN);
        let ends = ends(segment);
        let framing = if ends[1].port == DIRECT_PORT {
            Framing::Direct
        } else {
            Framing::Nbt
        };
        let framer = || Framer::new(framing, !is_syn);
        Self {
            ends,
            halves: <[Half; 2]>::default(),
            habits: <[Habits; 2]>::default(),
            framers: [framer(), framer()],
            verdict: Verdict::Unknown,
            smb: None,
            ledger: Ledger::starting(moment.at),
            first: moment,
            last: moment,
            quiet: Span(0),
            packets: 0,
            has_start: is_syn,
            path: PathStage::default(),
            is_scout: false,
            last_data: None,
            served: Served::default(),
            end: (moment, Account::default()),
            closing: false,
            witness: Box::new(Witness::new(room)),
            ticket: None,
            unseen: false,
        }
    }

    /// Whether this segment begins another connection between the same ends.
    pub(crate) fn is_over_for(&self, segment: &Segment<'_>) -> bool {
        let is_first_syn = segment.flags.has(Flags::SYN) && !segment.flags.has(Flags::ACK);
        is_first_syn
            && (self.closing || self.halves.iter().all(Half::has_begun))
            && !self.halves[0].is_syn_of(segment)
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
            of_mut(&mut self.halves, side).offset(segment.seq)
        };
        let half = of(&self.halves, side);
        let before = (half.highest, of(&self.halves, side.other()).acked);
        self.unseen |= segment.flags.has(Flags::ACK) && self.acknowledgment(segment, side, at);
        let novelty = of_mut(&mut self.halves, side).take(segment, start, at);
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
        self.testify(segment, side, start, novelty, moment);
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
        let at = moment.at.max(self.ledger.at());
        let half = of_mut(&mut self.halves, side);
        if half.is_duplicate(segment, at) {
            quality.duplicates += 1;
            return None;
        }
        half.counter.next(segment.identification);
        self.quiet = at - self.last.at;
        self.last = Moment { at, ..moment };
        self.closing |= segment.flags.has(Flags::FIN | Flags::RST);
        Some((side, self.last))
    }

    /// The copy that a connection without SMB is goes up to here at least.
    fn goes_up_to(&mut self, moment: Moment) {
        if !self.is_plain() {
            return;
        }
        self.end = (moment, *self.ledger.account());
        if let Some(ticket) = self.ticket {
            self.witness().used(ticket, None);
        }
    }

    /// Whether bytes were acknowledged that should have been captured before and were not.
    fn lacks(&self) -> bool {
        let mut halves = self.halves.iter();
        halves.any(|half| half.acked > half.delivered.saturating_add(1))
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
        let other = of(&self.halves, side.other());
        let sent = SegmentSummary {
            moment,
            start,
            novelty,
            highest: before.0,
            acked: of(&self.halves, side).acked,
            window: other.window,
            way: self.path.way(side),
            acknowledges: other.acked > before.1,
            quiet: self.quiet,
        };
        of_mut(&mut self.habits, side).sent(segment, &sent);
        if segment.len > 0 {
            let is_new = novelty == Some(Novelty::New);
            of_mut(&mut self.habits, side.other()).received(moment.at, is_new);
        }
    }

    fn note_coalescing(&self, segment: &Segment<'_>, side: Side, quality: &mut Quality) {
        let is_coalesced =
            of(&self.halves, side).is_coalesced(segment, of(&self.halves, side.other()));
        quality.coalesced += u64::from(is_coalesced);
    }

    fn is_step(&self, segment: &Segment<'_>, side: Side, novelty: Option<Novelty>) -> bool {
        match novelty {
            Some(Novelty::KeepAlive) => false,
            Some(_) => !of(&self.halves, side).is_probe,
            None => segment.flags.has(Flags::SYN),
        }
    }

    fn synchronize(&mut self, segment: &Segment<'_>, side: Side, at: Time) {
        of_mut(&mut self.halves, side).begin(segment);
        self.path.note_syn(side, at, wire_bytes(segment));
    }

    /// What a segment says of the other side's data; whether it acknowledges what was never captured.
    fn acknowledgment(&mut self, segment: &Segment<'_>, side: Side, at: Time) -> bool {
        let is_syn = segment.flags.has(Flags::SYN);
        self.path
            .note_handshake(side, is_syn, at, wire_bytes(segment));
        let shift = self.shift(side);
        let carried = if self.path.is_behind(side) {
            at
        } else {
            let free = of(&self.halves, side).sent.busy.max(at);
            free + self.path.carrying(side, wire_bytes(segment))
        };
        let other = of_mut(&mut self.halves, side.other());
        let ack = other.offset(segment.ack);
        // a FIN takes a number too, whether it was captured or not
        let beyond = ack.saturating_sub(other.highest);
        let ack = if beyond <= 1 {
            ack.min(other.highest)
        } else {
            ack
        };
        let (window_before, before) = (other.window, other.acked);
        other.offered(segment, shift, ack, (at, carried));
        self.note_needless(segment, side, ack, at);
        let other = of_mut(&mut self.halves, side.other());
        let has_more = other.highest > ack && !other.only_probes();
        let way = if ack > before {
            self.acknowledged(segment, side, (before, ack), at)
        } else {
            if ack == before && segment.len == 0 && has_more {
                self.duplicate_ack(segment, side, window_before, at);
            }
            None
        };
        self.note_window(segment, side, window_before);
        if let Some((time, bytes)) = way {
            let bytes = (bytes, wire_bytes(segment));
            self.path.note_way(side, Way { time, bytes });
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
        let other = of_mut(&mut self.halves, side.other());
        let fills = before < other.torn;
        let way = other.acknowledge(ack, at);
        let is_pure = segment.len == 0 && !fills;
        let new = NewAck {
            at,
            acked: ack,
            bytes: ack - before,
            is_pure,
            highest: other.highest,
        };
        let sizes = self.sizes(side.other());
        self.path.note_ack_pace(side, &new, sizes);
        self.path.note_burst(side.other(), &new, sizes);
        let carried = if fills { 0 } else { new.bytes };
        let serial = self.path.serial_of(side.other(), carried, sizes);
        let other = of_mut(&mut self.halves, side.other());
        other.tick(at, serial);
        if segment.reports_hole() {
            other.told_of_hole(at);
        }
        way
    }

    /// Sizes of the segments that `side` sends.
    fn sizes(&self, side: Side) -> SegmentSizes {
        let mss = of(&self.halves, side.other()).figures.mss;
        SegmentSizes {
            mss: mss.map_or(1460, u64::from),
            overhead: of(&self.halves, side).overhead,
        }
    }

    fn duplicate_ack(&mut self, segment: &Segment<'_>, side: Side, window_before: u32, at: Time) {
        let sizes = self.sizes(side.other());
        let serial = self.path.serial_of(side.other(), 0, sizes);
        let other = of_mut(&mut self.halves, side.other());
        let has_sack = segment.has_sack();
        if other.window == window_before || has_sack {
            other.told(segment.reports_hole(), at);
            other.tick(at, serial);
            of_mut(&mut self.halves, side).figures.duplicate_acks += 1;
        }
    }

    fn note_window(&mut self, segment: &Segment<'_>, side: Side, before: u32) {
        let now = of(&self.halves, side.other()).window;
        let figures = &mut of_mut(&mut self.halves, side).figures;
        figures.max_window = figures.max_window.max(now);
        if !segment.flags.has(Flags::SYN | Flags::RST | Flags::FIN) {
            figures.min_window = Some(figures.min_window.map_or(now, |least| least.min(now)));
            figures.zero_windows += u64::from(now == 0 && before != 0);
        }
    }

    /// Whether what it carries is not known to be SMB: then it is one message without an end.
    pub(super) fn is_plain(&self) -> bool {
        self.verdict != Verdict::Smb
    }

    /// Whether a side has answers to give that were asked for already: then it may be TCP that keeps it.
    pub(super) fn owes(&self, side: Side) -> bool {
        side == Side::Server && self.smb.as_ref().is_some_and(|smb| smb.is_waiting())
    }
}

/// The client and the server of the connection that a segment belongs to: as its SYN says, else as its ports do.
fn ends(segment: &Segment<'_>) -> [Endpoint; 2] {
    let from_client = if segment.flags.has(Flags::SYN) {
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

pub(super) fn is_service(port: u16) -> bool {
    matches!(port, NBT_PORT | DIRECT_PORT)
}
