//! What one side's TCP was seen to do, beyond counts: where in a burst it loses, how long it holds acknowledgments back.

use crate::constants::{LINUX_OPTIONS, MIN_BURST_GAP, MIN_DELAYED_ACK, MIN_OBSERVED_RTO};
use crate::latest::Latest;
use crate::report;
use crate::session::Moment;
use crate::timeline::Novelty;
use coax_capture::{Flags, Segment, SynFingerprint};
use coax_catalog::stack;
use coax_wire::time::{Span, Time};

/// Steps of the histogram of holds, and how many: up to 1.28 s.
const STEP_NS: u64 = 20_000_000;
const STEPS: usize = 64;
/// Places in a burst that are told apart; segments remembered; segments counted to an acknowledgment.
const PLACES: usize = 128;
const REMEMBERED: usize = 128;
const MOST_TO_AN_ACK: usize = 64;

/// What is watched of one side.
#[derive(Debug, Default)]
pub(super) struct EndpointObserver {
    told: report::Habits,
    largest: u32,
    /// The offset of the first segment of that length.
    largest_start: u64,
    widest: Option<u32>,
    shut: bool,
    burst: BurstPosition,
    /// Where in its burst each of the latest segments was: its offset, its place, and the burst's number.
    sent: Latest<(u64, u64, u64), REMEMBERED>,
    places: Vec<u32>,
    holds: Vec<(u32, u64)>,
    to_an_ack: Vec<u32>,
    /// The segment sent again last: offset, length, how often, and the frame of the first time.
    latest_again: (u64, u32, u64, u64),
    /// Where a segment ends that is as long as the one that got stuck, and was sent after that: it may arrive.
    passing: Option<u64>,
    /// The other side's segments since this side's last acknowledgment, and when the last of them came.
    unacknowledged: (usize, Option<Time>),
    /// Its SYN has options as Linux has them.
    is_linux: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct BurstPosition {
    number: u64,
    place: u64,
    last: Option<Time>,
    /// It begins with the other side's word, not after a pause: a loss's repair ends in pauses.
    is_fresh: bool,
}

/// What a segment means to its sender's stream and the other side's.
#[derive(Clone, Copy, Debug)]
pub(super) struct SegmentSummary {
    pub(super) moment: Moment,
    /// Its offset in the stream.
    pub(super) start: u64,
    pub(super) novelty: Option<Novelty>,
    /// All that was seen of the stream before it went up to here.
    pub(super) highest: u64,
    /// So far it was acknowledged.
    pub(super) acked: u64,
    /// The window that it offers, bytes.
    pub(super) window: u32,
    /// From here to its sender and back.
    pub(super) way: Span,
    /// It acknowledges something new.
    pub(super) acknowledges: bool,
    /// For so long nobody had said anything.
    pub(super) quiet: Span,
}

impl EndpointObserver {
    /// The shortest timer of its stack, if its SYN tells of one.
    pub(super) fn least_timer(&self) -> Option<Span> {
        self.is_linux.then_some(stack::LINUX_RTO_MIN)
    }

    /// This side sent a segment.
    pub(super) fn sent(&mut self, segment: &Segment<'_>, sent: &SegmentSummary) {
        let frame = sent.moment.frame;
        if segment.flags.has(Flags::SYN) {
            self.told.syn.get_or_insert(frame);
            let greeting = self
                .told
                .greeting
                .get_or_insert_with(|| SynFingerprint::of(segment));
            self.is_linux = greeting.layout.is(&LINUX_OPTIONS);
        }
        if segment.len > self.largest {
            self.largest = segment.len;
            self.largest_start = sent.start;
            self.told.largest_frame = frame;
        }
        if self.widest.is_none_or(|widest| sent.window > widest) {
            self.widest = Some(sent.window);
            self.told.widest_frame = frame;
        }
        let shut = sent.window == 0 && !segment.flags.has(Flags::SYN | Flags::RST | Flags::FIN);
        if shut && !self.shut {
            self.told.shut.note(frame);
        }
        self.shut = shut;
        self.acknowledged(segment, sent);
        match sent.novelty {
            Some(Novelty::New) => self.went_on(sent),
            Some(Novelty::Again | Novelty::Fill) => self.went_again(segment, sent),
            Some(Novelty::KeepAlive) | None => {}
        }
        self.may_pass(segment, sent);
    }

    /// The other side sent data to this one: what this side sends next begins a burst.
    pub(super) fn received(&mut self, at: Time, is_new: bool) {
        self.burst.last = None;
        if is_new {
            self.unacknowledged.0 = self.unacknowledged.0.saturating_add(1);
            self.unacknowledged.1 = Some(at);
        }
    }

    fn acknowledged(&mut self, segment: &Segment<'_>, sent: &SegmentSummary) {
        if !sent.acknowledges {
            return;
        }
        let (segments, last) = std::mem::take(&mut self.unacknowledged);
        let Some(last) = last.filter(|_| segment.len == 0 && segments > 0) else {
            return;
        };
        let held = Span((sent.moment.at - last).0.saturating_sub(sent.way.0));
        if held < MIN_DELAYED_ACK {
            add(
                &mut self.to_an_ack,
                segments.min(MOST_TO_AN_ACK - 1),
                MOST_TO_AN_ACK,
            );
            return;
        }
        self.told.held_acks.note(sent.moment.frame);
        let step = usize::try_from(held.0 / STEP_NS).unwrap_or(STEPS);
        if step < STEPS {
            self.holds.resize(STEPS, (0, 0));
            if let Some((count, total)) = self.holds.get_mut(step) {
                *count = count.saturating_add(1);
                *total = total.saturating_add(held.0);
            }
        }
    }

    /// New data: its place in the burst; a hole before it was a loss before the capture.
    fn went_on(&mut self, sent: &SegmentSummary) {
        let last = self.burst.last;
        if last.is_none_or(|last| sent.moment.at - last > MIN_BURST_GAP) {
            self.burst = BurstPosition {
                number: self.burst.number + 1,
                is_fresh: last.is_none(),
                ..BurstPosition::default()
            };
        }
        self.burst.last = Some(sent.moment.at);
        if sent.start > sent.highest {
            let missing = (sent.start - sent.highest).div_ceil(u64::from(self.largest.max(1)));
            self.remember(sent.highest, self.burst.place + 1);
            self.burst.place = self.burst.place.saturating_add(missing);
        }
        self.burst.place = self.burst.place.saturating_add(1);
        self.remember(sent.start, self.burst.place);
    }

    fn remember(&mut self, start: u64, place: u64) {
        if !self.burst.is_fresh {
            return;
        }
        self.sent.push((start, place, self.burst.number));
    }

    /// Data sent again: where in its burst it was the first time, if it is the first of that burst to be sent again.
    fn went_again(&mut self, segment: &Segment<'_>, sent: &SegmentSummary) {
        let frame = sent.moment.frame;
        self.told.again.note(frame);
        // the oldest of all, out of silence: a timer
        let before = self.told.shortest_timer.map(|it| it.0);
        let is_timer = sent.quiet >= MIN_OBSERVED_RTO && sent.start == sent.acked;
        if is_timer && before.is_none_or(|before| sent.quiet < before) {
            self.told.shortest_timer = Some((sent.quiet, frame));
        }
        let (start, _, count, first) = self.latest_again;
        self.latest_again = if count > 0 && start == sent.start {
            (start, segment.len, count + 1, first)
        } else {
            (sent.start, segment.len, 1, frame)
        };
        // once one as long has arrived, it is no length that the path refuses
        let none_arrived = segment.len == self.largest && sent.acked <= self.largest_start;
        if none_arrived && self.latest_again.2 > self.told.stuck.count {
            self.told.stuck = report::Seen {
                count: self.latest_again.2,
                frame: self.latest_again.3,
            };
            self.told.stuck_bytes = segment.len;
        }
        let is_first = |(first, ..): &&(u64, u64, u64)| *first == sent.start;
        let Some((_, place, number)) = self.sent.iter().find(is_first).copied() else {
            return;
        };
        // one loss a burst: what follows the first is its consequence as often as not
        let others = self.sent.iter().filter(|(.., other)| *other != number);
        let others = others.copied().collect();
        self.sent = others;
        let place = usize::try_from(place).unwrap_or(PLACES).min(PLACES - 1);
        add(&mut self.places, place, PLACES);
    }

    /// Whether what got stuck, or one as long, arrived after all and not in smaller pieces: then the path refuses no length.
    fn may_pass(&mut self, segment: &Segment<'_>, sent: &SegmentSummary) {
        if self.passing.is_some_and(|end| sent.acked >= end) {
            (self.told.stuck, self.told.stuck_bytes) = Default::default();
            self.passing = None;
        }
        if self.told.stuck.count == 0 || segment.len == 0 {
            return;
        }
        if segment.len >= self.told.stuck_bytes {
            let end = sent.start.saturating_add(u64::from(segment.len));
            self.passing.get_or_insert(end);
        } else if self.passing.is_some_and(|end| sent.start < end) {
            self.passing = None;
        }
    }

    /// What there is to report.
    pub(super) fn report(&self) -> report::Habits {
        let places = most(self.places.iter().map(|count| (*count, *count)));
        let to_an_ack = most(self.to_an_ack.iter().map(|count| (*count, *count)));
        let hold = most(self.holds.iter().map(|hold| (hold.0, *hold)));
        let losses = self.places.iter().map(|count| u64::from(*count)).sum();
        report::Habits {
            burst_losses: (losses, places.map_or(0, |(_, count)| u64::from(count))),
            burst_place: places.map(|(place, _)| place as u64),
            hold: hold.map(|(_, (count, total))| Span(total / u64::from(count.max(1)))),
            ack_every: to_an_ack.map(|(segments, _)| segments as u64),
            ..self.told
        }
    }
}

fn add(counts: &mut Vec<u32>, place: usize, size: usize) {
    counts.resize(size, 0);
    if let Some(count) = counts.get_mut(place) {
        *count = count.saturating_add(1);
    }
}

/// The place with the most, and what stands there; the first of several, `None` of nothing.
fn most<T>(counts: impl Iterator<Item = (u32, T)>) -> Option<(usize, T)> {
    let mut best: Option<(u32, usize, T)> = None;
    for (place, (count, value)) in counts.enumerate() {
        if count > best.as_ref().map_or(0, |best| best.0) {
            best = Some((count, place, value));
        }
    }
    best.map(|(_, place, value)| (place, value))
}
