//! One direction of a connection: sequence numbers made offsets, bytes put in order, what was sent again.

use crate::path::{overhead, wire_bytes};
use crate::report;
use crate::tcp::captured::Captured;
use crate::tcp::early::EarlyPieces;
use crate::tcp::echoes::Echoes;
use crate::tcp::ip_ids::IpIdTracker;
use crate::tcp::retransmissions::Retransmissions;
use crate::tcp::scale::ScaleEstimate;
use crate::tcp::send_limits::{SendLimits, Sending};
use crate::tcp::sender_clock::{Reading, SenderClock};
use crate::tcp::sent_log::SentLog;
use crate::tcp::settled::Settled;
use crate::timeline::{AckSample, DelayPattern, LossSignals, Missing, Novelty, noise, sum};
use coax_capture::{Flags, Segment};
use coax_wire::time::{Span, Time};

/// See the module.
#[derive(Debug, Default)]
pub(super) struct StreamState {
    pub(super) figures: report::Side,
    /// The windows that this side offered.
    pub(super) settled: Settled,
    origin: Option<u32>,
    /// One past the highest byte seen.
    pub(super) highest: u64,
    /// The highest acknowledgment that came for it.
    pub(super) acked: u64,
    /// Up to where it says that it has sent, in packets without data.
    pub(super) claimed: u64,
    /// Up to where bytes were handed on in order.
    pub(super) delivered: u64,
    pub(super) early: EarlyPieces,
    /// How far this side may send.
    pub(super) send_limits: SendLimits,
    pub(super) window: u32,
    /// The widest of all.
    widest: u32,
    pub(super) scale: ScaleEstimate,
    /// What it sent last was one byte into a shut window: it asks whether that is still shut (RFC 9293 §3.8.6.1).
    pub(super) is_probe: bool,
    pub(super) sent: SentLog,
    /// What it sent again.
    pub(super) retransmissions: Retransmissions,
    /// How it counts its packets.
    pub(super) ip_ids: IpIdTracker,
    /// What is added to its data on the wire.
    pub(super) overhead: u64,
    /// When it sent last, and how many bytes on the wire.
    pub(super) last_sent: Option<(Time, u64)>,
    /// A segment whose acknowledgment is being waited for, when it was sent, and its bytes on the wire.
    timed: Option<(u64, Time, u64)>,
    /// Duplicate acknowledgments since the last new one.
    pub(super) duplicate_acks: u32,
    pub(super) sacked: bool,
    /// Timestamps of its acknowledgments that the other side may echo.
    pub(super) echoes: Echoes,
    /// Its clock, captured behind the path, and what that shows of its latest packet.
    pub(super) sender_clock: SenderClock,
    pub(super) by_clock: Reading,
    /// What makes its packets late.
    pub(super) delays: DelayPattern,
    captured: Captured,
    /// Bytes that the other side reported as received before their turn and has not acknowledged, as far as that is known.
    pub(super) early_acked: u64,
    /// The highest end of a SACK block that reported its data.
    pub(super) sacked_to: u64,
    /// When the last of them came, and the one that is enough for every sender that responds to duplicate ACKs.
    pub(super) told_at: Time,
    pub(super) told_enough: Option<Time>,
    /// Below this, acknowledgments may have waited for a hole to be filled.
    pub(super) recovery_point: u64,
    /// Since when acknowledgments have come as the path carries data, and the last of them.
    pub(super) clock: (Time, Time),
    /// A hole that was acknowledged: since when, and how many packets ago.
    pub(super) unseen: Option<(Time, u32)>,
    /// Since when something is missing before what came.
    pub(super) hole_since: Option<Time>,
    recent: Recent,
}

/// How far apart a packet was captured twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Twice {
    /// At one place, or at two ports of a switch.
    Near,
    /// At two places.
    Later,
}

/// What tells a packet captured twice from one sent twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Fingerprint {
    identification: u32,
    seq: u32,
    ack: u32,
    checksum: u16,
    window: u16,
    len: u32,
    at: Time,
}

/// The latest packets.
#[derive(Debug, Default)]
struct Recent {
    packets: [Fingerprint; 8],
    /// Of each what sets most of them apart, to be looked for at once.
    marks: [u32; 8],
    next: usize,
}

impl Recent {
    /// How long before `new` one was captured that is the same, if that is no more than `near`.
    fn before(&self, new: &Fingerprint, near: Span) -> Option<Span> {
        let mark = new.mark();
        let is_marked = |found, known: &u32| found | (*known == mark);
        if !self.marks.iter().fold(false, is_marked) {
            return None;
        }
        let is_same = |old: &&Fingerprint| {
            Fingerprint {
                at: new.at,
                ..**old
            } == *new
                && new.at - old.at <= near
        };
        self.packets.iter().find(is_same).map(|old| new.at - old.at)
    }

    fn add(&mut self, new: Fingerprint) {
        let places = self.packets.get_mut(self.next);
        if let Some((place, mark)) = places.zip(self.marks.get_mut(self.next)) {
            (*place, *mark) = (new, new.mark());
        }
        self.next = (self.next + 1) % self.packets.len();
    }
}

impl Fingerprint {
    fn mark(&self) -> u32 {
        self.seq ^ self.ack ^ self.identification.rotate_left(16)
    }
}

impl StreamState {
    /// How long ago this very packet was captured already, if it was: near means no more than at two ports of a switch.
    pub(super) fn captured_before(&mut self, segment: &Segment<'_>, at: Time) -> Option<Twice> {
        /// Two ports of a switch see a packet no further apart.
        const NEAR: Span = Span(200_000);
        if let Some(before) = self.duplicate(segment, at) {
            return Some(match before <= NEAR {
                true => Twice::Near,
                false => Twice::Later,
            });
        }
        let is_old = segment.len > 0 && self.origin.is_some() && {
            let start = self.offset(segment.seq);
            start.saturating_add(segment.len.into()) <= self.highest
        };
        if is_old && self.captured.has(segment) {
            return Some(Twice::Later);
        }
        if segment.len > 0 {
            self.captured.add(segment);
        }
        None
    }

    fn duplicate(&mut self, segment: &Segment<'_>, at: Time) -> Option<Span> {
        let new = Fingerprint {
            identification: segment.identification,
            seq: segment.seq,
            ack: segment.ack,
            checksum: segment.checksum,
            window: segment.window,
            len: segment.len,
            at,
        };
        // without an identification only what is next to it can be told to be the same
        const CLOSE: Span = Span(100_000_000);
        const TOUCHING: Span = Span(50_000);
        let near = if segment.identification == 0 {
            TOUCHING
        } else {
            CLOSE
        };
        let found = self.recent.before(&new, near);
        self.recent.add(new);
        // acknowledgments that tell of more loss are alike; only data is told by its identification alone
        found.filter(|_| segment.len > 0 || segment.identification != 0)
    }

    /// The offset in the stream of a sequence number.
    pub(super) fn offset(&mut self, seq: u32) -> u64 {
        let Some(origin) = self.origin else {
            // a beginning in the middle: room below for what comes late
            const ROOM: u32 = 1 << 20;
            self.origin = Some(seq.wrapping_sub(ROOM));
            self.highest = u64::from(ROOM);
            self.acked = self.highest;
            self.delivered = self.highest;
            return self.highest;
        };
        let near = origin.wrapping_add(self.highest as u32);
        let distance = i64::from(seq.wrapping_sub(near) as i32);
        // no stream is so long that it does not fit
        (self.highest as i64).saturating_add(distance).max(0) as u64
    }

    /// A SYN gives the first sequence number.
    pub(super) fn begin(&mut self, segment: &Segment<'_>) {
        if self.origin.is_none() {
            self.origin = Some(segment.seq.wrapping_add(1));
        }
        let options = segment.syn_options();
        self.figures.mss = options.mss.or(self.figures.mss);
        self.figures.window_scale = options.window_scale.or(self.figures.window_scale);
        self.figures.sack |= options.sack;
        self.figures.timestamps |= options.timestamps;
    }

    /// Whether its sequence numbers are known.
    pub(super) fn has_begun(&self) -> bool {
        self.origin.is_some()
    }

    /// Whether a SYN with this sequence number belongs to this very connection.
    pub(super) fn is_syn_of(&self, segment: &Segment<'_>) -> bool {
        self.origin == Some(segment.seq.wrapping_add(1))
    }

    /// Counts a segment and says what its data is to the stream. `start` is its offset.
    pub(super) fn take(&mut self, segment: &Segment<'_>, start: u64, at: Time) -> Option<Novelty> {
        let figures = &mut self.figures;
        // without its SYN, its first segment shows them
        figures.timestamps |= figures.segments == 0 && segment.syn_options().timestamps;
        figures.segments += 1;
        if segment.len == 0 {
            self.claimed = self.claimed.max(start);
            return None;
        }
        let len = u64::from(segment.len);
        let end = start.saturating_add(len);
        if len <= 1 && start.saturating_add(1) == self.acked && end <= self.highest.max(self.acked)
        {
            return Some(Novelty::KeepAlive);
        }
        self.is_probe = len == 1
            && start == self.acked
            && (self.send_limits.full().is_some() || self.send_limits.latest() == Some(start));
        if self.is_probe && end <= self.highest {
            return Some(Novelty::KeepAlive);
        }
        figures.data_segments += 1;
        self.overhead = overhead(segment);
        figures.largest_segment = figures.largest_segment.max(segment.len);
        if end > self.highest {
            figures.bytes = figures.bytes.saturating_add(end - start.max(self.highest));
            self.highest = end;
            self.timed.get_or_insert((end, at, wire_bytes(segment)));
            figures.max_in_flight = figures.max_in_flight.max(end.saturating_sub(self.acked));
            figures.window_full += u64::from(self.send_limits.latest() == Some(end));
            return Some(Novelty::New);
        }
        Some(self.take_late(start, end))
    }

    /// The same of data beyond which there is more.
    fn take_late(&mut self, start: u64, end: u64) -> Novelty {
        self.timed = None;
        self.recovery_point = self.highest;
        let was_seen = self.early.covers(self.delivered.max(start), end);
        let figures = &mut self.figures;
        let len = end - start;
        if was_seen {
            figures.retransmissions += 1;
            figures.retransmitted_bytes = figures.retransmitted_bytes.saturating_add(len);
            return Novelty::Again;
        }
        figures.out_of_order += 1;
        figures.bytes = figures.bytes.saturating_add(len);
        Novelty::Fill
    }

    /// An acknowledgment came for what this side sent: how long its answer took to come here, and of
    /// how many bytes, if that is known.
    pub(super) fn acknowledge(&mut self, ack: u64, at: Time) -> Option<(Span, u64)> {
        self.acked = ack;
        self.duplicate_acks = 0;
        self.told_enough = None;
        self.sacked = false;
        let (end, sent, bytes) = self.timed?;
        if ack < end {
            return None;
        }
        self.timed = None;
        Some((at - sent, bytes))
    }

    /// A duplicate acknowledgment came.
    pub(super) fn told(&mut self, is_hole: bool, at: Time) {
        /// RFC 5681 §3.2; no sender waits for more before it has seen the path change the order.
        const ENOUGH: u32 = 3;
        self.duplicate_acks += 1;
        self.told_at = at;
        if self.duplicate_acks == ENOUGH {
            self.told_enough = Some(at);
        }
        self.recovery_point = self.highest;
        if is_hole {
            self.told_of_hole(at);
        }
    }

    /// The receiver asked for what it expects next, and all behind it: no sender ignores that (REJ of LLC).
    pub(super) fn rejected(&mut self, at: Time) {
        self.told_enough = Some(at);
        self.told_of_hole(at);
    }

    /// Data that is new to the capture had been sent before.
    pub(super) fn fills(&mut self) {
        self.timed = None;
        self.recovery_point = self.highest;
        self.figures.out_of_order += 1;
    }

    /// An acknowledgment says what arrived beyond a hole.
    pub(super) fn told_of_hole(&mut self, at: Time) {
        self.sacked = true;
        self.told_at = at;
        self.recovery_point = self.highest;
    }

    /// An acknowledgment came at `at` that the path needed `serial` for since the one before it, if it carried data without
    /// a pause.
    pub(super) fn tick(&mut self, at: Time, serial: Span) {
        let (since, last) = &mut self.clock;
        if at - *last > sum(serial, noise(serial)) {
            *since = at;
        }
        *last = at;
    }

    /// Where the first hole ends: at what came early, or at what was acknowledged.
    pub(super) fn hole_end(&self) -> Option<u64> {
        let early = self.early.first();
        let acked = (self.acked > self.delivered).then_some(self.acked);
        let end = match (early, acked) {
            (Some(early), Some(acked)) => early.min(acked),
            (early, acked) => early.or(acked)?,
        };
        (end > self.delivered).then_some(end)
    }

    /// Whether a segment is longer than the other side's maximum allows.
    pub(super) fn is_coalesced(&self, segment: &Segment<'_>, other: &Self) -> bool {
        other
            .figures
            .mss
            .is_some_and(|mss| segment.len > u32::from(mss))
    }

    /// What the other side says of its window in `segment`, which was captured `at` this time and had been carried then.
    /// `clock` shows how late it is.
    pub(super) fn offered(
        &mut self,
        segment: &Segment<'_>,
        shift: u8,
        ack: u64,
        (at, clock): ((Time, Time), Reading),
    ) {
        let window = if segment.flags.has(Flags::SYN) {
            u32::from(segment.window)
        } else {
            u32::from(segment.window) << shift
        };
        self.window = window;
        self.widest = self.widest.max(window);
        self.scale.note_window(segment.window);
        let is_new = ack > self.acked;
        let edge = ack.saturating_add(u64::from(window));
        let is_wider = self.send_limits.latest().is_none_or(|latest| edge > latest);
        let again = is_new.then(|| self.sent.again(self.acked)).flatten();
        let of = || again.or_else(|| self.sent.up_to(ack));
        let heard = AckSample {
            at: at.0,
            carried: at.1,
            acked: ack,
            edge,
            late: clock.late,
            is_late_alone: clock.is_alone,
            freed: None,
            fills: again.is_some(),
            is_of_two: ack.saturating_sub(self.acked) >= 2 * self.full_segment(),
            next: self.sent.after(ack).map(|sent| sent.carried),
            // of what says nothing new nobody asks it
            of: (is_new || is_wider).then(of).flatten(),
        };
        let least = self.least();
        let room = self
            .send_limits
            .latest()
            .unwrap_or(0)
            .saturating_sub(self.highest);
        let last = (room < least).then(|| self.sent.up_to(self.highest));
        let sending = Sending {
            highest: self.highest,
            last: last.flatten(),
            least,
        };
        self.send_limits.heard(heard, is_new, &sending);
    }

    /// A sender sends nothing into less room than this: a segment (as long as Ethernet's may be), or half of the widest
    /// window (RFC 1122 §4.2.3.4).
    pub(super) fn least(&self) -> u64 {
        const SEGMENT: u32 = 1460;
        let segment = self.figures.largest_segment.clamp(1, SEGMENT);
        u64::from(segment.min(self.widest / 2).max(1))
    }

    /// A segment that its side would call full.
    fn full_segment(&self) -> u64 {
        const SEGMENTS: (u32, u32) = (536, 1460);
        u64::from(self.figures.largest_segment.clamp(SEGMENTS.0, SEGMENTS.1))
    }

    /// Whether nothing but such a byte is on its way.
    pub(super) fn only_probes(&self) -> bool {
        self.send_limits.full().is_some() && self.highest <= self.acked.saturating_add(1)
    }

    /// What acknowledgments told this side, and `other`, of data that ends at `end`.
    pub(super) fn told_of(&self, end: u64, other: &Self) -> LossSignals {
        let (first, second) = self.send_limits.first_two_of(end);
        LossSignals {
            loss: (self.duplicate_acks >= 2 || self.sacked).then_some(self.told_at),
            enough: self.told_enough,
            clock: self.clock,
            first,
            second,
            peer: other
                .send_limits
                .last()
                .map(|heard| (heard.at, heard.acked)),
        }
    }

    /// What the capture lacks of a packet whose data begins at `start`.
    pub(super) fn missing(&self, start: u64, unseen: bool) -> Missing {
        let leaves_hole = start > self.delivered;
        Missing {
            unseen,
            leaves_hole,
            is_beyond_hole: leaves_hole && !self.early.is_empty(),
            lacks: self.figures.timestamps && self.ip_ids.lacks,
            has_all: self.figures.timestamps && self.ip_ids.has_all,
            was_claimed: start < self.claimed,
        }
    }
}
