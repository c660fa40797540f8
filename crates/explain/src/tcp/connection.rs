//! A connection: both directions, what they carry, and where its time went.

use coax_cause::{Account, Cause};
use coax_wire::{
    nbt::session::Framing,
    time::{Span, Time},
};

use super::{
    habits::{Habits, Sent},
    half::{Half, Novelty},
    held::Served,
    ledger::{DELAYED, Ledger, Side},
    pace::Slope,
    path::{Learned, Path, Way},
    step::{Last, wire_bytes},
    testimony::heading,
};
use crate::{
    evidence::{Room, Ticket, Witness},
    net::{Endpoint, Flags, Segment},
    report::Quality,
    session::{Chunk, Framer, Message, Moment, Scratch, Sink, Verdict},
    smb::{Context, Smb},
};

const NBT_PORT: u16 = 139;
const DIRECT_PORT: u16 = 445;
/// A hole that was acknowledged is a fault of the capture when so long has passed, or so many packets: until then, what
/// fills it may only have been written down late.
const HOLE_PATIENCE: Span = Span(5_000_000);
const HOLE_PACKETS: u32 = 32;
/// A stream that began before the capture is searched so far for SMB.
const SEARCHED: u64 = 1 << 22;

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
    pub(super) handshake: [Option<(Time, u64)>; 2],
    /// From here to each side and back.
    pub(super) ways: [Option<Way>; 2],
    /// How single exchanges grow with their size, by who answers.
    pub(super) slopes: [Slope; 2],
    /// What somebody who went before learned of the path.
    pub(super) guide: Option<Learned>,
    /// What follows from all that.
    pub(super) path: Path,
    /// It only goes before, and bears witness of nothing.
    pub(super) is_scout: bool,
    /// The last new acknowledgment of each side's data, and up to where that had been sent by then.
    pub(super) acks: [Option<(Time, u64)>; 2],
    pub(super) last_data: Option<Last>,
    pub(super) served: Served,
    pub(super) end: (Moment, Account),
    pub(super) closing: bool,
    /// Who sees all of it, as long as `smb` does not have it.
    pub(super) witness: Box<Witness>,
    /// Where the evidence of a connection is kept that may carry no SMB.
    pub(super) ticket: Option<Ticket>,
    /// Something is missing in the capture since the last step: nobody knows what the next one waited for.
    unseen: bool,
}

pub(super) fn of<T>(both: &[T; 2], side: Side) -> &T {
    match side {
        Side::Client => &both[0],
        Side::Server => &both[1],
    }
}

pub(super) fn of_mut<T>(both: &mut [T; 2], side: Side) -> &mut T {
    match side {
        Side::Client => &mut both[0],
        Side::Server => &mut both[1],
    }
}

impl Connection {
    /// A connection that begins with this segment, or that the capture begins in.
    pub(crate) fn new(segment: &Segment<'_>, moment: Moment, room: &Room) -> Self {
        let is_syn = segment.flags.has(Flags::SYN);
        let from_client = if is_syn {
            !segment.flags.has(Flags::ACK)
        } else {
            is_service(segment.to.port)
                || (!is_service(segment.from.port) && segment.to.port < segment.from.port)
        };
        let (client, server) = if from_client {
            (segment.from, segment.to)
        } else {
            (segment.to, segment.from)
        };
        let framing = if server.port == DIRECT_PORT {
            Framing::Direct
        } else {
            Framing::Nbt
        };
        let framer = || Framer::new(framing, !is_syn);
        let mut ledger = Ledger::default();
        ledger.begin(moment.at);
        Self {
            ends: [client, server],
            halves: <[Half; 2]>::default(),
            habits: <[Habits; 2]>::default(),
            framers: [framer(), framer()],
            verdict: Verdict::Unknown,
            smb: None,
            ledger,
            first: moment,
            last: moment,
            quiet: Span(0),
            packets: 0,
            has_start: is_syn,
            handshake: [None; 2],
            ways: [None; 2],
            slopes: <[Slope; 2]>::default(),
            guide: None,
            path: Path::of(&Learned::default()),
            is_scout: false,
            acks: [None; 2],
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
        let side = if segment.from == self.ends[0] {
            Side::Client
        } else {
            Side::Server
        };
        self.packets += 1;
        let at = moment.at.max(self.ledger.at());
        let moment = Moment {
            at,
            frame: moment.frame,
        };
        if of_mut(&mut self.halves, side).is_duplicate(segment, at) {
            quality.duplicates += 1;
            return;
        }
        self.quiet = at - self.last.at;
        let half = of_mut(&mut self.halves, side);
        half.counter.next(segment.identification);
        self.last = moment;
        self.closing |= segment.flags.has(Flags::FIN | Flags::RST);
        if segment.flags.has(Flags::SYN) {
            self.synchronize(segment, side, at);
        }
        let start = if segment.flags.has(Flags::SYN) {
            0
        } else {
            of_mut(&mut self.halves, side).offset(segment.seq)
        };
        let before = (
            of(&self.halves, side).highest,
            of(&self.halves, side.other()).acked,
        );
        self.unseen |= segment.flags.has(Flags::ACK) && self.acknowledgment(segment, side, at);
        let novelty = of_mut(&mut self.halves, side).take(segment, start, at);
        self.watch(segment, side, moment, start, novelty, before);
        self.note_coalescing(segment, side, quality);
        if self.is_step(segment, side, novelty) {
            let unseen = std::mem::take(&mut self.unseen) || self.lacks();
            self.step(segment, side, start, novelty, unseen, at);
        }
        if self.is_scout {
            self.ledger.journal.drain();
        } else {
            self.testify(segment, side, start, novelty, moment);
        }
        if matches!(novelty, Some(Novelty::New | Novelty::Fill)) {
            self.data(segment, side, start, moment, scratch);
            if self.is_plain() {
                self.goes_up_to(moment);
            }
        }
        self.settle_holes(moment, scratch, quality);
    }

    /// The copy that a connection without SMB is goes up to here at least.
    fn goes_up_to(&mut self, moment: Moment) {
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
        let sent = Sent {
            moment,
            start,
            novelty,
            highest: before.0,
            acked: of(&self.halves, side).acked,
            window: other.window,
            way: self.way(side),
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
        if side == Side::Client {
            self.handshake[0] = Some((at, wire_bytes(segment)));
        } else {
            self.handshake[1] = Some((at, wire_bytes(segment)));
            if let Some((syn, bytes)) = self.handshake[0] {
                let bytes = (bytes, wire_bytes(segment));
                let time = at - syn;
                self.measured(Side::Server, Way { time, bytes });
            }
        }
    }

    /// What a segment says of the other side's data; whether it acknowledges what was never captured.
    fn acknowledgment(&mut self, segment: &Segment<'_>, side: Side, at: Time) -> bool {
        if side == Side::Client
            && let Some((syn_ack, bytes)) = self.handshake[1].take()
            && !segment.flags.has(Flags::SYN)
        {
            let bytes = (bytes, wire_bytes(segment));
            let time = at - syn_ack;
            self.measured(Side::Client, Way { time, bytes });
        }
        let shift = self.shift(side);
        let carried = if self.is_behind(side) {
            at
        } else {
            let free = of(&self.halves, side).sent.busy.max(at);
            free + self.carrying(side, wire_bytes(segment))
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
        let mut way = None;
        if ack > before {
            let fills = before < other.torn;
            way = other.acknowledge(ack, at);
            let is_pure = segment.len == 0 && !fills;
            self.note_ack_pace(side, ack, ack - before, is_pure, at);
            self.note_burst(side.other(), ack, at, is_pure);
            let serial = self.serial_of(side.other(), if fills { 0 } else { ack - before });
            let other = of_mut(&mut self.halves, side.other());
            other.tick(at, serial);
            if segment.tells_of_hole() {
                other.told_of_hole(at);
            }
        } else if ack == before && segment.len == 0 && other.highest > ack && !other.only_probes() {
            self.duplicate_ack(segment, side, window_before, at);
        }
        self.note_window(segment, side, window_before);
        if let Some(way) = way {
            let bytes = (way.1, wire_bytes(segment));
            self.measured(side, Way { time: way.0, bytes });
        }
        beyond > 1
    }

    /// At the sender's end the distances of acknowledgments are those of the data at the receiver's, if it was all on its
    /// way already. Where those of the data are seen too, one of a single segment is no news if it may have been held back.
    fn note_ack_pace(&mut self, side: Side, ack: u64, new: u64, is_pure: bool, at: Time) {
        let is_ahead = !self.is_behind(side.other());
        let mss = of(&self.halves, side).figures.mss.map_or(1460, u64::from);
        let other = of_mut(&mut self.halves, side.other());
        let previous = of_mut(&mut self.acks, side.other()).replace((at, other.highest));
        other.is_acked_in_bunches |= is_pure && new > mss;
        let may_be_held = other.pace.known().is_some() && other.is_acked_in_bunches && new <= mss;
        if let Some((last, highest)) = previous
            && is_ahead
            && is_pure
            && ack <= highest
            && !(may_be_held && at - last >= DELAYED)
        {
            let bytes = new + new.div_ceil(mss.max(1)) * other.overhead;
            if other.ack_pace.add(at - last, bytes) {
                self.survey();
            }
        }
    }

    /// What the path takes to carry so much of `side`'s data, or one segment if that is more.
    fn serial_of(&self, side: Side, bytes: u64) -> Span {
        let mss = of(&self.halves, side.other()).figures.mss;
        let mss = mss.map_or(1460, u64::from).max(1);
        let segments = bytes.div_ceil(mss).max(1);
        self.carrying(
            side,
            bytes.max(mss) + segments * of(&self.halves, side).overhead,
        )
    }

    fn duplicate_ack(&mut self, segment: &Segment<'_>, side: Side, window_before: u32, at: Time) {
        let serial = self.serial_of(side.other(), 0);
        let other = of_mut(&mut self.halves, side.other());
        let has_sack = segment.has_sack();
        if other.window == window_before || has_sack {
            other.told(segment.tells_of_hole(), at);
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

    /// Hands on what is in order now.
    fn data(
        &mut self,
        segment: &Segment<'_>,
        side: Side,
        start: u64,
        moment: Moment,
        scratch: &mut Scratch,
    ) {
        let half = of_mut(&mut self.halves, side);
        let len = u64::from(segment.len);
        if start > half.delivered {
            half.keep_early(
                start,
                len,
                if self.verdict == Verdict::Other {
                    &[]
                } else {
                    segment.data
                },
            );
            return;
        }
        let known = half.delivered - start;
        if known >= len {
            return;
        }
        let kept = usize::try_from(known)
            .unwrap_or(usize::MAX)
            .min(segment.data.len());
        let bytes = segment.data.get(kept..).unwrap_or_default();
        half.delivered = start.saturating_add(len);
        self.push(
            side,
            Chunk {
                bytes,
                len: len - known,
                moment,
            },
            scratch,
        );
        self.push_early(side, moment, scratch);
    }

    fn push_early(&mut self, side: Side, moment: Moment, scratch: &mut Scratch) {
        while let Some((len, bytes)) = of_mut(&mut self.halves, side).next_early() {
            of_mut(&mut self.halves, side).delivered += len;
            self.push(
                side,
                Chunk {
                    bytes: &bytes,
                    len,
                    moment,
                },
                scratch,
            );
        }
    }

    fn push(&mut self, side: Side, chunk: Chunk<'_>, scratch: &mut Scratch) {
        if self.verdict == Verdict::Other {
            return;
        }
        let (framers, smb, spent) = self.listeners();
        let mut listener = Listener {
            smb,
            side,
            spent,
            scratch,
            heard_whole: false,
        };
        of_mut(framers, side).push(chunk, spent, &mut listener);
        if listener.heard_whole {
            of_mut(&mut self.halves, side).sent.is_whole();
        }
        self.judge();
    }

    fn judge(&mut self) {
        if self.verdict != Verdict::Unknown {
            return;
        }
        let verdicts = self.framers.each_ref().map(Framer::verdict);
        let is_service = is_service(self.ends[1].port);
        let searched = self.framers.iter().map(Framer::skipped).max().unwrap_or(0);
        if verdicts.contains(&Verdict::Smb) {
            self.verdict = Verdict::Smb;
            if let Some(ticket) = self.ticket.take() {
                self.witness().end(ticket, None);
            }
        } else if (verdicts.contains(&Verdict::Other) && !is_service) || searched > SEARCHED {
            self.verdict = Verdict::Other;
            if let Some(smb) = self.smb.take() {
                self.witness = smb.into_witness();
            }
        }
    }

    /// Goes over holes that nothing will fill any more.
    fn settle_holes(&mut self, moment: Moment, scratch: &mut Scratch, quality: &mut Quality) {
        for side in [Side::Client, Side::Server] {
            let half = of_mut(&mut self.halves, side);
            let is_acked = half.acked > half.delivered;
            if !is_acked && !half.is_overfull() {
                half.unseen = None;
                continue;
            }
            let (since, packets) = half.unseen.get_or_insert((moment.at, 0));
            *packets += 1;
            if moment.at - *since >= HOLE_PATIENCE || *packets >= HOLE_PACKETS || half.is_overfull()
            {
                self.skip_hole(side, moment, scratch, quality);
            }
        }
    }

    pub(super) fn skip_hole(
        &mut self,
        side: Side,
        moment: Moment,
        scratch: &mut Scratch,
        quality: &mut Quality,
    ) {
        let half = of_mut(&mut self.halves, side);
        let Some(end) = half.hole_end() else {
            return;
        };
        let len = end - half.delivered;
        half.delivered = end;
        half.highest = half.highest.max(end);
        half.unseen = None;
        quality.holes += 1;
        quality.missing_bytes = quality.missing_bytes.saturating_add(len);
        self.unseen |= moment.at <= self.ledger.at();
        self.ledger.catch_up(moment.at, Cause::Capture);
        self.account_for(moment.frame, heading(side));
        if self.verdict != Verdict::Other {
            let (framers, smb, spent) = self.listeners();
            let mut listener = Listener {
                smb,
                side,
                spent,
                scratch,
                heard_whole: false,
            };
            of_mut(framers, side).gap(len, moment, spent, &mut listener);
        }
        self.push_early(side, moment, scratch);
    }
}

fn is_service(port: u16) -> bool {
    matches!(port, NBT_PORT | DIRECT_PORT)
}

/// Tells SMB what one side said.
struct Listener<'a> {
    smb: &'a mut Smb,
    side: Side,
    spent: &'a Account,
    scratch: &'a mut Scratch,
    /// A message was whole.
    heard_whole: bool,
}

impl Sink for Listener<'_> {
    fn message(&mut self, message: Message<'_>) {
        self.heard_whole = true;
        let mut context = Context {
            spent: *self.spent,
            scratch: self.scratch,
        };
        match self.side {
            Side::Client => self.smb.client_said(&message, &mut context),
            Side::Server => self.smb.server_said(&message, &mut context),
        }
    }

    fn expected(&self) -> Option<u64> {
        match self.side {
            Side::Client => self.smb.expected_of_client(),
            Side::Server => self.smb.expected_of_server(),
        }
    }
}
