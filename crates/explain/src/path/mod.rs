//! The path stage: how long the path takes from the capture to each side and back, and how fast it carries data.
//!
//! It measures with handshakes, acknowledgments and the distances of packets. Every other stage asks it, so it derives
//! the answers only when a measurement changes them.

mod jitter;
mod lateness;
mod model;
mod neighbours;
mod pace;
mod sharing;
mod utilisation;
mod wire;

pub(crate) use jitter::Jitter;
pub(crate) use model::{PathMeasurements, RoundTrip};
pub(crate) use neighbours::{HostPairs, Member, Neighbours, SegmentLoad};
pub(crate) use utilisation::{PathUse, WHOLE};
pub(crate) use wire::{LEAST, overhead, wire_bytes};

use coax_wire::time::{Span, Time};

use crate::constants::MIN_DELAYED_ACK;
use crate::timeline::{Advance, SentSegment, Side, noise, of, of_mut, sum};
use lateness::Lateness;
use model::Path;
use neighbours::{OtherLoad, SharedPath};
use pace::{Pace, Slope, TELLING};
use utilisation::{PathShape, Utilisation};

/// A pace is no longer than that of round trips and this part of it, by which the shortest round trip may be too long.
const ROUND_MARGIN: u64 = 8;

/// The last packet with data: whose it was, how long (also on the wire), and how many of its side came without one of the
/// other's between.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LastData {
    pub(crate) side: Side,
    pub(crate) at: Time,
    pub(crate) len: u64,
    pub(crate) wire: u64,
    pub(crate) in_a_row: u32,
}

/// Sizes of the segments that a side sends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SegmentSizes {
    /// Maximum segment size that the other side announced, bytes.
    pub(crate) mss: u64,
    /// Headers that the wire adds to the data of a segment, bytes.
    pub(crate) overhead: u64,
}

/// An acknowledgment of new data, as far as it shows the pace of the path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NewAck {
    pub(crate) at: Time,
    /// It acknowledges data up to here.
    pub(crate) acked: u64,
    /// Bytes that it acknowledges first.
    pub(crate) bytes: u64,
    /// It carries no data, and fills no hole.
    pub(crate) is_pure: bool,
    /// All data of that side seen so far goes up to here.
    pub(crate) highest: u64,
    /// The data that it acknowledges last, if that is known and was not sent again.
    pub(crate) sent: Option<SentSegment>,
}

impl NewAck {
    /// Whether the path set the distance between the acknowledgment `last` and this: their data was sent closer, or took at
    /// least that much longer than `way`. Else it may be the sender who paces what it sends, or its window.
    fn is_spread_since(&self, last: &Self, way: Span) -> bool {
        let Some((sent, before)) = self.sent.zip(last.sent) else {
            return true;
        };
        let (apart, acked) = (sent.at - before.at, self.at - last.at);
        let longer = (self.at - sent.at).0.saturating_sub(way.0);
        apart.0 < acked.0 / 4 * 3 || sum(Span(longer), noise(acked)) >= acked
    }
}

/// What was seen of the pace of one side's data.
#[derive(Debug, Default)]
struct PaceSamples {
    /// By the distances of data packets, away from the sender.
    data: Pace,
    /// By the distances of acknowledgments, at the sender's end.
    acks: Pace,
    /// By the time until the first acknowledgment of a burst.
    burst: Pace,
    /// By round trips, one after the other, whatever was in flight before: the path is not slower.
    rounds: Pace,
    /// By packets of which each may have waited for the acknowledgment of the one before.
    single: Pace,
    /// More than one segment was acknowledged at once.
    is_acked_in_bunches: bool,
    /// When and where its data began that was sent when nothing was in flight, until something of it is acknowledged.
    burst_start: Option<(Time, u64)>,
    /// The same of the data whose round trip is measured, until enough of it is acknowledged.
    round_start: Option<(Time, u64)>,
    /// The last new acknowledgment, and how long after the one before it came if it may have been delayed.
    last_ack: Option<NewAck>,
    held: Option<Span>,
}

impl PaceSamples {
    /// A burst took no less than the path takes to carry it, so the path is not slower than that.
    fn known(&self) -> Option<u64> {
        let paced = self.data.known().max(self.acks.known());
        let known = [paced, self.burst.known()];
        let known = known.into_iter().flatten().min()?;
        let most = self.rounds.known().map(|most| most + most / ROUND_MARGIN);
        Some(most.map_or(known, |most| known.min(most)))
    }
}

/// The path stage of one connection.
#[derive(Debug, Default)]
pub(crate) struct PathStage {
    /// SYN and SYN with ACK, until they are answered: when, and how many bytes on the wire.
    handshake: [Option<(Time, u64)>; 2],
    ways: [Option<RoundTrip>; 2],
    samples: [PaceSamples; 2],
    /// How single exchanges grow with their size, by who answers.
    slopes: [Slope; 2],
    /// How busy the path is, by who sends.
    utilisation: [Utilisation; 2],
    /// How much the round trips to each side vary.
    lateness: [Lateness; 2],
    /// What the calibration pass measured; it holds during the packets that were calibrated with.
    calibrated: Option<PathMeasurements>,
    path: Path,
    shapes: [PathShape; 2],
    neighbours: Neighbours,
    client_is_higher: bool,
}

impl PathStage {
    /// Of a connection beside others; `client_is_higher`: of its two addresses, the client has the higher one.
    pub(crate) fn beside(neighbours: Neighbours, client_is_higher: bool) -> Self {
        Self {
            neighbours,
            client_is_higher,
            ..Self::default()
        }
    }

    /// What was measured.
    pub(crate) fn learned(&self) -> PathMeasurements {
        PathMeasurements {
            ways: self.ways,
            paces: [self.pace(Side::Client), self.pace(Side::Server)],
            queued: self.utilisation.each_ref().map(Utilisation::queued_pace),
        }
    }

    /// The round trip from the capture to `side`, if one was measured.
    pub(crate) fn measured_way(&self, side: Side) -> Option<RoundTrip> {
        let ways = self
            .calibrated
            .as_ref()
            .map_or(&self.ways, |known| &known.ways);
        *of(ways, side)
    }

    /// The shortest round trip that this connection itself showed from the capture to `side`.
    pub(crate) fn round_trip(&self, side: Side) -> Option<Span> {
        of(&self.ways, side).map(|way| way.time)
    }

    /// The way from the capture to `side` and back as it was measured.
    pub(crate) fn way(&self, side: Side) -> Span {
        self.path.leg(side).way
    }

    /// The same without what its packets took to be carried.
    pub(crate) fn bare_way(&self, side: Side) -> Span {
        self.path.leg(side).bare
    }

    /// Whether what `side` sends is captured after the path has carried it: at the other end. Between the two a packet is
    /// taken to be captured when it begins to be carried.
    pub(crate) fn is_behind(&self, side: Side) -> bool {
        self.path.leg(side).is_behind
    }

    /// The time in which the path carries the given number of bytes of `side`; zero while its rate is unknown.
    pub(crate) fn carrying(&self, side: Side, bytes: u64) -> Span {
        self.path.leg(side).carrying(bytes)
    }

    /// How long the path takes to carry these bytes of `side`'s data, or one segment if that is more.
    pub(crate) fn serial_of(&self, side: Side, bytes: u64, sizes: SegmentSizes) -> Span {
        let mss = sizes.mss.max(1);
        let segments = bytes.div_ceil(mss).max(1);
        self.carrying(side, bytes.max(mss) + segments * sizes.overhead)
    }

    /// The time from a packet's arrival at `side` to the capture of its response of the given size.
    pub(crate) fn ahead(&self, side: Side, wire: u64) -> Span {
        let leg = self.path.leg(side);
        if leg.is_behind {
            sum(leg.bare, leg.carrying(wire))
        } else {
            leg.bare
        }
    }

    /// The pace of `side`'s data for the report, picoseconds per byte.
    pub(crate) fn reported_pace(&self, side: Side) -> Option<u64> {
        let samples = of(&self.samples, side);
        samples.known().or(samples.single.known())
    }

    /// By how much nine of ten round trips to `side` were longer than the shortest at most.
    pub(crate) fn late(&self, side: Side) -> Option<Span> {
        of(&self.lateness, side).known()
    }

    fn pace(&self, side: Side) -> Option<u64> {
        let samples = |side| of(&self.samples, side);
        let slopes = || {
            let slopes = self.slopes.each_ref().map(Slope::known);
            slopes.into_iter().flatten().min()
        };
        // what a single packet took is no less than the path takes, so it bounds the pace that a slope shows
        let by_exchange = || {
            let single = samples(side).single.known();
            let single = single.or_else(|| samples(side.other()).single.known());
            [slopes(), single].into_iter().flatten().min()
        };
        samples(side)
            .known()
            .or_else(|| samples(side.other()).known())
            .or_else(by_exchange)
    }

    /// From now on the path is what another pass measured; after `None`, what this connection shows.
    pub(crate) fn calibrate(&mut self, by: Option<PathMeasurements>) {
        self.calibrated = by;
        if let Some(known) = by {
            for (utilisation, pace) in self.utilisation.iter_mut().zip(known.queued) {
                utilisation.calibrate(pace);
            }
        }
        self.derive();
    }

    fn derive(&mut self) {
        let known = self.calibrated.unwrap_or_else(|| self.learned());
        self.path = Path::from_measurements(&known);
        self.shapes = Side::BOTH.map(|side| self.shape(side));
    }

    /// A packet of `side` answered one that was captured `way.time` before.
    pub(crate) fn note_way(&mut self, side: Side, way: RoundTrip) {
        let known = of_mut(&mut self.ways, side);
        if known.is_none_or(|known| way.time < known.time) {
            *known = Some(way);
            // samples by the longer way show too fast a path
            of_mut(&mut self.samples, side.other()).rounds = Pace::default();
            self.derive();
        }
    }

    /// `side` sent a SYN; `wire` is its length on the wire, bytes.
    pub(crate) fn note_syn(&mut self, side: Side, at: Time, wire: u64) {
        *of_mut(&mut self.handshake, side) = Some((at, wire));
        if side == Side::Server
            && let Some((syn, bytes)) = self.handshake[0]
        {
            let time = at - syn;
            let bytes = (bytes, wire);
            self.note_way(Side::Server, RoundTrip { time, bytes });
        }
    }

    /// `side` acknowledged something: the last packet of a handshake shows the way to the client.
    pub(crate) fn note_handshake(&mut self, side: Side, is_syn: bool, at: Time, wire: u64) {
        if side == Side::Client
            && let Some((syn_ack, bytes)) = self.handshake[1].take()
            && !is_syn
        {
            let time = at - syn_ack;
            let bytes = (bytes, wire);
            self.note_way(Side::Client, RoundTrip { time, bytes });
        }
    }

    /// `side` acknowledged data. At the sender's end the distances of acknowledgments are those of the data at the
    /// receiver's, if it was all in flight. Where those of the data are seen too, an acknowledgment of a single segment is
    /// no sample if it may have been delayed.
    pub(crate) fn note_ack_pace(&mut self, side: Side, ack: &NewAck, sizes: SegmentSizes) {
        let is_ahead = !self.is_behind(side.other());
        let (way, is_next) = (self.way(side), self.is_behind(side));
        let samples = of_mut(&mut self.samples, side.other());
        let previous = samples.last_ack.replace(*ack);
        samples.is_acked_in_bunches |= ack.is_pure && ack.bytes > sizes.mss;
        let may_be_delayed =
            samples.data.known().is_some() && samples.is_acked_in_bunches && ack.bytes <= sizes.mss;
        let Some(last) = previous.filter(|_| is_ahead) else {
            return;
        };
        // the next one comes as soon as its data, however long that was on the path
        let apart = ack.at - last.at;
        let may_be_held = ack.bytes <= sizes.mss && apart >= MIN_DELAYED_ACK;
        let held = std::mem::replace(&mut samples.held, may_be_held.then_some(apart));
        let is_behind_held = held.is_some_and(|held| apart.0 < held.0 / 4);
        // between the two ends it was spread before it was captured
        let is_spread = !is_next || ack.is_spread_since(&last, way);
        if ack.is_pure
            && ack.acked <= last.highest
            && is_spread
            && !is_behind_held
            && !(may_be_delayed && apart >= MIN_DELAYED_ACK)
        {
            let bytes = ack.bytes + ack.bytes.div_ceil(sizes.mss.max(1)) * sizes.overhead;
            if samples.acks.add(apart, bytes) {
                self.derive();
            }
        }
        // one that acknowledges a single segment may have been delayed, unless others come with it
        let is_prompt =
            ack.bytes > sizes.mss || (ack.acked < ack.highest && apart < MIN_DELAYED_ACK);
        if let Some(sent) = ack.sent.filter(|_| is_prompt) {
            self.note_round(side.other(), ack.at, ack.at - sent.at, ack.is_pure);
        }
    }

    /// A packet of `side` and its acknowledgment took so long; one that comes with an answer (not `is_pure`) may have waited
    /// for the program.
    pub(crate) fn note_round(&mut self, side: Side, at: Time, round: Span, is_pure: bool) {
        if is_pure {
            let far = if self.is_behind(side) {
                side
            } else {
                side.other()
            };
            of_mut(&mut self.lateness, far).add(round);
        }
        let shared = self.shared_path(side);
        let others = OtherLoad::new(&self.neighbours, side, self.client_is_higher).on(shared);
        let shape = of(&self.shapes, side);
        of_mut(&mut self.utilisation, side).took(at, (round, is_pure), shape, others);
    }

    /// By its sender's clock, a packet of `side` took so much longer than the shortest time.
    pub(crate) fn note_late(&mut self, side: Side, at: Time, late: Span) {
        let shortest = of(&self.shapes, side).round();
        of_mut(&mut self.utilisation, side).is_by_clock();
        self.note_round(side, at, sum(shortest, late), true);
    }

    /// The path delivered `bytes` of `side`.
    pub(crate) fn note_delivered(&mut self, side: Side, at: Time, bytes: u64) {
        let shared = self.shared_path(side);
        let others = OtherLoad::new(&self.neighbours, side, self.client_is_higher).on(shared);
        let shape = of(&self.shapes, side);
        of_mut(&mut self.utilisation, side).delivered(at, bytes, shape, others);
    }

    /// How busy the path has been with data of `side` for some round trips.
    pub(crate) fn path_use(&self, side: Side, at: Time) -> Option<PathUse> {
        of(&self.utilisation, side).path_use(at, of(&self.shapes, side))
    }

    /// When it was acknowledged that all of `side`'s data up to `end` had come, if the latest acknowledgment did that.
    pub(crate) fn acked_at(&self, side: Side, end: u64) -> Option<Time> {
        let last = of(&self.samples, side).last_ack;
        last.filter(|ack| ack.acked >= end).map(|ack| ack.at)
    }

    /// For how long the path carried what other connections sent in `side`'s direction, and was captured from `from` until `until`.
    pub(crate) fn rivals(&self, side: Side, from: Time, until: Time) -> Span {
        // they may have ended by the time that this connection's first packets are analysed for the second time
        let shared = self.shared_path(side);
        let others = OtherLoad::new(&self.neighbours, side, self.client_is_higher).on(shared);
        self.carrying(side, others.between(from, until))
    }

    /// The path of `side`'s data, which other hosts may share with the host next to the capture.
    fn shared_path(&self, side: Side) -> Option<SharedPath> {
        let near = Side::BOTH
            .into_iter()
            .find(|near| self.is_behind(near.other()) && !self.is_behind(*near))?;
        Some(SharedPath {
            is_of_client: near == Side::Client,
            pace: self.path.leg(side).carrying(1000).0,
            by_acks: side == near,
        })
    }

    /// The path as the utilisation by `side` depends on it.
    fn shape(&self, side: Side) -> PathShape {
        let leg = self.path.leg(side);
        // behind the path, round trips are those of an acknowledgment and the data that it releases
        let round = if leg.is_behind {
            leg.way
        } else {
            self.path.leg(side.other()).way
        };
        PathShape::new(round, leg.carrying(1000).0, !leg.is_behind)
    }

    /// `side` sent data from `start`. `is_first`: nothing of it was in flight.
    pub(crate) fn begin_burst(&mut self, side: Side, at: Time, start: u64, is_first: bool) {
        let samples = of_mut(&mut self.samples, side);
        if is_first {
            samples.burst_start = Some((at, start));
        }
        samples.round_start.get_or_insert((at, start));
    }

    /// Data of `side` was acknowledged. An acknowledgment of more than one segment is not delayed: if they were sent at
    /// once, what it took longer than that of a SYN shows the pace. What any acknowledgment took longer bounds it.
    pub(crate) fn note_burst(&mut self, side: Side, ack: &NewAck, sizes: SegmentSizes) {
        let is_captured_at_it = self.is_behind(side.other());
        let new = |start: u64| ack.acked.saturating_sub(start);
        let samples = of_mut(&mut self.samples, side);
        let burst = samples
            .burst_start
            .take()
            .filter(|(_, start)| new(*start) > sizes.mss.max(1) && ack.is_pure);
        let round = samples
            .round_start
            .take_if(|(_, start)| new(*start) >= TELLING);
        let Some(way) = self
            .measured_way(side.other())
            .filter(|_| is_captured_at_it)
        else {
            return;
        };
        let samples = of_mut(&mut self.samples, side);
        let bytes = |start: u64| {
            let new = new(start);
            let wire = new + new.div_ceil(sizes.mss.max(1)) * sizes.overhead + LEAST;
            wire.saturating_sub(way.bytes.0.saturating_add(way.bytes.1))
                .max(1)
        };
        let longer = |begin: Time| Span((ack.at - begin).0.saturating_sub(way.time.0));
        let is_at_once = |begin: Time| {
            let apart = ack.sent.map_or(Span(0), |last| last.at - begin);
            apart.0 <= longer(begin).0 / 4
        };
        let burst = burst
            .filter(|(at, _)| is_at_once(*at))
            .is_some_and(|(at, start)| samples.burst.add(longer(at), bytes(start)));
        let round = round.is_some_and(|(at, start)| samples.rounds.add(longer(at), bytes(start)));
        if burst || round {
            self.derive();
        }
    }

    /// New data came. Away from the sender, the distances of packets that follow each other show the pace of the path.
    /// `last` is the last packet of its side with none of the other side's between.
    pub(crate) fn note_data_pace(&mut self, step: &Advance, last: Option<LastData>) {
        let Some(last) = last.filter(|_| step.place.inside) else {
            return;
        };
        if self.is_behind(step.side.other()) || step.len < TELLING {
            return;
        }
        let bytes = if step.is_behind { step.wire } else { last.wire };
        let samples = of_mut(&mut self.samples, step.side);
        // what waited for the acknowledgment of the one before it shows the way, not the pace of the path
        let start = step.end.saturating_sub(step.len);
        let is_new = match step.heard {
            Some(heard) if heard.acked >= start => {
                let since = heard.carried + step.near;
                let is_told = step.is_behind && since > last.at;
                is_told && samples.single.add(step.at - since, bytes)
            }
            _ => last.len >= TELLING && samples.data.add(step.at - last.at, bytes),
        };
        if is_new {
            self.derive();
        }
    }

    /// New data came after `last`: single exchanges show the pace by how much longer the large ones take.
    pub(crate) fn note_exchange(&mut self, step: &Advance, last: Option<LastData>) {
        let Some(last) = last else { return };
        if last.side == step.side || last.in_a_row > 1 || self.way(step.side) < self.way(last.side)
        {
            return;
        }
        let mut bytes = 0;
        if !self.is_behind(last.side) {
            bytes += last.wire;
        }
        if step.is_behind {
            bytes += step.wire;
        }
        let slope = of_mut(&mut self.slopes, step.side);
        if slope.add(step.at - last.at, bytes) {
            self.derive();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(pace: &mut Pace, ns_per_byte: u64) {
        for _ in 0..20 {
            pace.add(Span(1514 * ns_per_byte), 1514);
        }
    }

    #[test]
    fn round_trips_bound_what_acknowledgments_show() {
        let mut samples = PaceSamples::default();
        add(&mut samples.rounds, 80);
        // a bound alone is no pace
        assert_eq!(samples.known(), None);
        // the distances of a sender that paces what it sends
        add(&mut samples.acks, 560);
        let known = samples.known().unwrap_or_default();
        assert!((80_000..100_000).contains(&known), "{known}");
        // slower round trips change nothing
        samples.rounds = Pace::default();
        add(&mut samples.rounds, 900);
        let known = samples.known().unwrap_or_default();
        assert!((550_000..570_000).contains(&known), "{known}");
    }

    /// Picoseconds per byte that a sender sees in acknowledgments of one segment each that come these times after each other, ms.
    fn pace_of_acks(apart_tenths_ms: &[u64]) -> Option<u64> {
        const TENTH: u64 = 100_000;
        let mut path = PathStage::default();
        path.note_syn(Side::Client, Time(0), 78);
        path.note_syn(Side::Server, Time(250 * TENTH), 78);
        path.note_handshake(Side::Client, false, Time(250 * TENTH + 1000), 66);
        let sizes = SegmentSizes {
            mss: 1448,
            overhead: 66,
        };
        let (mut at, mut acked) = (1000 * TENTH, 0);
        for apart in apart_tenths_ms {
            (at, acked) = (at + apart * TENTH, acked + 1448);
            let ack = NewAck {
                at: Time(at),
                acked,
                bytes: 1448,
                is_pure: true,
                highest: 1 << 20,
                sent: None,
            };
            path.note_ack_pace(Side::Server, &ack, sizes);
        }
        path.reported_pace(Side::Client)
    }

    #[test]
    fn the_acknowledgment_behind_a_delayed_one_shows_no_pace() {
        // 286 kbit/s: a segment takes 42.4 ms, and its receiver delays every other acknowledgment until the next segment comes
        let slow = [424, 424, 424, 848, 25].repeat(8);
        let pace = pace_of_acks(&slow).unwrap_or_default();
        assert!((27_000_000..29_000_000).contains(&pace), "{pace}");
        // 4.8 Mbit/s, in flights 100 ms apart
        let fast = [1000, 25, 25, 25, 25].repeat(8);
        let pace = pace_of_acks(&fast).unwrap_or_default();
        assert!((1_500_000..1_800_000).contains(&pace), "{pace}");
    }
}
