#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::type_complexity)]

mod kernel;
mod look;

use coax_cause::Cause;
use coax_wire::time::{Span, Time};
use proptest::prelude::*;
use std::vec::Vec;

use crate::{
    Direction, Doing, Family, Kernel, Meter, Purpose, Request,
    charge::{Reported, Slice, Slow, charge, for_room},
    inbound::{Path, Pieces},
};

const MS: u64 = 1_000_000;

fn ms(ms: u64) -> Span {
    Span::from_millis(ms)
}

/// A message with a command and words.
fn message(command: u8, words: &[u16]) -> Vec<u8> {
    let mut out = std::vec![0; 33];
    out[..4].copy_from_slice(b"\xffSMB");
    out[4] = command;
    out[32] = words.len() as u8;
    out.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    out.extend([0, 0]);
    out
}

fn read(fid: u16, count: u16) -> Request {
    let mut words = [0; 10];
    (words[2], words[5]) = (fid, count);
    Request::of(&message(0x2e, &words))
}

fn write(fid: u16, count: u16) -> Request {
    let mut words = [0; 12];
    (words[2], words[10]) = (fid, count);
    Request::of(&message(0x2f, &words))
}

/// A path of 20 ms without a limit of its rate.
fn far() -> Kernel {
    Kernel {
        rtt: ms(20),
        min_rtt: ms(20),
        mss: 1460,
        client_window: 1 << 20,
        server_window: 1 << 20,
        delivery_rate: 3_000_000,
        congestion_window: 10,
        ..Kernel::default()
    }
}

/// The shares of a slice in percent.
fn shares(slice: Slice, reported: Reported) -> Vec<(Cause, u64)> {
    let (account, _) = charge(&slice, &reported);
    let total = account.total().0;
    assert_eq!(total, slice.gaps.0 + slice.sending.0);
    let shares = account
        .iter()
        .map(|(cause, span)| (cause, (span.0 * 100 + total / 2) / total));
    shares.filter(|(_, share)| *share > 0).collect()
}

#[test]
fn a_round_trip_that_a_delayed_acknowledgment_makes_longer_is_no_bandwidth() {
    let kernel = Kernel {
        rtt: ms(201),
        min_rtt: ms(1),
        client_window: 1460,
        delivery_rate: 10_000_000,
        ..far()
    };
    let slice = Slice {
        gaps: ms(2000),
        longest: ms(2000),
        data: 1,
        bytes: 14_600,
        ..Slice::default()
    };
    let reported = Reported {
        kernel,
        busy: ms(2000),
        window_limited: ms(2000),
        acknowledged: 14_600,
        delivery_rate: 10_000_000,
        ..Reported::default()
    };
    let (account, used) = charge(&slice, &reported);
    assert_eq!(account.dominant(), Cause::NagleDelayedAck);
    assert!(account.get(Cause::Bandwidth) <= ms(2), "{account:?}");
    assert_eq!(used.busy, ms(2000));
}

/// What the pauses of a message are charged to, in percent of its time.
fn pieces(path: &mut Path, kernel: &Kernel, first: u64, list: &[(u64, u64)]) -> Vec<(Cause, u64)> {
    let mut pieces = Pieces::default();
    pieces.begin(first);
    for (pause_us, bytes) in list {
        pieces.add(Span(pause_us * 1000), *bytes);
    }
    let account = pieces.finish(path, kernel);
    let total = account.total().0;
    assert_eq!(total, list.iter().map(|piece| piece.0 * 1000).sum::<u64>());
    let shares = account
        .iter()
        .map(|(cause, span)| (cause, span.0 * 100 / total));
    shares.filter(|(_, share)| *share > 0).collect()
}

#[test]
fn pieces_at_a_steady_pace_are_bandwidth_and_bursts_a_round_trip_apart_are_not() {
    // 10 Mbit/s: a segment each 1.2 ms
    let near = Kernel {
        rtt: Span(200_000),
        min_rtt: Span(200_000),
        ..far()
    };
    let steady: Vec<_> = (0..44).map(|_| (1200, 1460)).collect();
    let mut path = Path::default();
    assert_eq!(
        pieces(&mut path, &near, 1460, &steady),
        [(Cause::Bandwidth, 100)]
    );
    // the pace is known now: the same with the client working for 3 ms before each segment is the client
    let slow: Vec<_> = (0..44).map(|_| (4200, 1460)).collect();
    let shares = pieces(&mut path, &near, 1460, &slow);
    assert_eq!(shares[0].0, Cause::ClientThink);
    assert!(shares[0].1 > 65, "{shares:?}");
    // bursts of 10, 20 and 14 segments, 20 ms apart, on a fast path
    let mut bursts: Vec<(u64, u64)> = Vec::new();
    for (place, length) in [9, 20, 14].into_iter().enumerate() {
        for segment in 0..length {
            let waits = segment == 0 && place > 0;
            bursts.push((if waits { 20_000 } else { 12 }, 1460));
        }
    }
    let shares = pieces(&mut Path::default(), &far(), 1460, &bursts);
    assert_eq!(shares[0].0, Cause::SlowStart);
    assert!(shares[0].1 >= 98, "{shares:?}");
}

#[test]
fn bursts_as_large_as_the_servers_window_wait_for_it() {
    let kernel = Kernel {
        server_window: 8760,
        ..far()
    };
    let bursts: Vec<(u64, u64)> = (0..6).map(|_| (20_000, 8760)).collect();
    let shares = pieces(
        &mut Path {
            pace: 800,
            flight: 8760,
        },
        &kernel,
        8760,
        &bursts,
    );
    assert_eq!(
        shares.iter().max_by_key(|share| share.1).unwrap().0,
        Cause::ReceiveWindow
    );
}

#[test]
fn a_long_pause_in_a_message_is_a_timeout_and_a_small_last_piece_after_40_ms_a_delayed_ack() {
    let near = Kernel {
        rtt: ms(1),
        min_rtt: ms(1),
        ..far()
    };
    let long = pieces(&mut Path::default(), &near, 1460, &[(500_000, 1460)]);
    assert_eq!(long, [(Cause::Timeout, 100)]);
    let late = pieces(&mut Path::default(), &near, 1460, &[(40_000, 100)]);
    assert_eq!(late, [(Cause::NagleDelayedAck, 100)]);
}

#[test]
fn requests_are_told_apart_by_their_commands_and_words() {
    let data = |direction, family, fid, bytes| Purpose::Data {
        direction,
        family,
        fid,
        bytes,
    };
    let (to_client, to_server) = (Direction::ToClient, Direction::ToServer);
    let table = [
        (
            message(0x0a, &[7, 512, 0, 0, 0]),
            data(to_client, Family::Core, 7, 512),
        ),
        (
            message(0x0b, &[7, 1024, 0, 0, 0]),
            data(to_server, Family::Core, 7, 1024),
        ),
        (
            message(0x1a, &[9, 0, 0, 65_535, 0, 0, 0, 0]),
            data(to_client, Family::Raw, 9, 65_535),
        ),
        (message(0x04, &[7, 0, 0]), Purpose::Close { fid: 7 }),
        (message(0x05, &[7]), Purpose::Flush),
        (message(0x08, &[]), Purpose::Metadata),
        (message(0x2e, &[]), Purpose::Metadata),
        (b"raw data".to_vec(), Purpose::RawData),
        (Vec::new(), Purpose::RawData),
    ];
    for (bytes, wanted) in table {
        assert_eq!(Request::of(&bytes).purpose, wanted);
    }
}

/// A connection in virtual time.
struct World {
    meter: Meter,
    now: u64,
    kernel: Kernel,
}

impl World {
    fn new(kernel: Kernel) -> Self {
        Self {
            meter: Meter::new(Time(0)),
            now: 0,
            kernel,
        }
    }

    fn after(&mut self, span: Span) -> Time {
        self.now += span.0;
        Time(self.now)
    }

    /// The client is silent for `gap`, then asks; the server works for `work` and replies with `bytes`.
    fn exchange(&mut self, gap: Span, request: Request, work: Span, bytes: u64) {
        let now = self.after(gap);
        if self.meter.received(now, 60, true) {
            self.kernel.busy.0 += gap.0.min(self.kernel.rtt.0);
            self.meter.sample(now, self.kernel);
        }
        self.meter.request(now, request);
        let now = self.after(work);
        self.meter.served(now, false);
        self.meter.handed(now, bytes, true, None);
    }

    fn shares(&self) -> Vec<(Cause, u64)> {
        let copy = self.meter.copy().unwrap();
        let total = copy.account.total().0;
        let shares = copy
            .account
            .iter()
            .map(|(cause, span)| (cause, span.0 * 100 / total));
        shares.filter(|(_, share)| *share > 0).collect()
    }
}

#[test]
fn a_copy_begins_with_its_first_data_and_ends_when_its_file_is_closed() {
    let mut world = World::new(far());
    let other = Request {
        purpose: Purpose::Metadata,
    };
    world.exchange(ms(500), other, ms(1), 100);
    for _ in 0..10 {
        world.exchange(ms(20), read(5, 4096), ms(1), 4160);
    }
    let close = Request {
        purpose: Purpose::Close { fid: 5 },
    };
    assert!(!world.meter.copy().unwrap().ended);
    world.exchange(ms(20), close, ms(1), 40);
    let copy = world.meter.copy().unwrap().clone();
    assert!(copy.ended);
    assert_eq!(copy.wall(), Span(10 * 21 * MS));
    assert_eq!(
        (copy.bytes, copy.usual, copy.count(Family::Andx)),
        (40_960, 4096, 10)
    );
    assert_eq!(
        world.shares(),
        [(Cause::ServerThink, 4), (Cause::RoundTrips, 95)]
    );
    world.exchange(ms(20), write(5, 100), ms(1), 50);
    assert_eq!(world.meter.copy().unwrap().direction, Direction::ToServer);
}

#[test]
fn a_client_that_does_not_read_closes_its_window_and_is_what_is_waited_for() {
    let kernel = Kernel {
        rtt: ms(45),
        min_rtt: ms(1),
        client_window: 500,
        ..far()
    };
    let slice = Slice {
        gaps: ms(1000),
        longest: ms(1000),
        data: 1,
        bytes: 65_536,
        ..Slice::default()
    };
    let reported = Reported {
        kernel,
        acknowledged: 65_536,
        busy: ms(1000),
        window_limited: ms(900),
        delivery_rate: 10_000_000,
        is_closed: true,
        widest: 65_536,
        ..Reported::default()
    };
    assert_eq!(shares(slice, reported), [(Cause::ClientThink, 100)]);
}

#[test]
fn a_slow_hand_over_waits_for_room_as_far_as_acknowledgments_explain_it() {
    let before = Kernel {
        acknowledged: 1000,
        ..far()
    };
    let acked = |acknowledged| Kernel {
        acknowledged,
        delivery_rate: 1_000_000,
        ..far()
    };
    let table = [
        ("older data is still in flight", acked(1500), 10, 100),
        ("nothing of it is acknowledged: a disk", acked(2000), 10, 0),
        (
            "the kilobyte before it was in flight: 1 ms at 1 MB/s",
            acked(2000),
            0,
            1,
        ),
        (
            "40 KB of it are: 40 ms at 1 MB/s and two round trips",
            acked(42_000),
            10,
            80,
        ),
        ("not TCP", Kernel::default(), 10, 100),
    ];
    for (what, kernel, age, room) in table {
        let slow = Slow {
            span: ms(100),
            start: 2000,
            before: &before,
            age: ms(age),
            now: &kernel,
        };
        assert_eq!(for_room(&slow), ms(room), "{what}");
    }
}

/// The client asks for the next reply before it has this one: 122,880 bytes of each wait in a send buffer that holds 90,000.
#[test]
fn replies_to_requests_in_advance_wait_for_the_path_and_not_for_a_disk() {
    const SIZE: u64 = 122_880;
    const RATE: u64 = 1_250_000;
    let path = Kernel {
        rtt: ms(70),
        min_rtt: ms(2),
        delivery_rate: RATE,
        ..far()
    };
    let mut meter = Meter::new(Time(0));
    let mut now = 0;
    for reply in 0..10_u64 {
        meter.received(Time(now), 60, true);
        meter.request(Time(now), read(5, 61_440));
        meter.served(Time(now), false);
        let start = reply * SIZE;
        let acknowledged = (start + SIZE).saturating_sub(90_000);
        now = acknowledged * 1_000_000_000 / RATE;
        let kernel = Kernel {
            acknowledged,
            busy: Span(now),
            ..path
        };
        meter.handed(Time(now), SIZE, true, Some((start, kernel)));
        meter.received(Time(now), 60, true);
        meter.sample(Time(now), kernel);
    }
    let copy = meter.copy().unwrap();
    let thought = copy.account.get(Cause::ServerThink);
    assert!(
        thought.0 * 20 < copy.wall().0,
        "{thought:?} of {:?}",
        copy.wall()
    );
}

#[test]
fn a_request_that_waits_for_another_client_is_the_servers_time_and_said_apart() {
    let mut world = World::new(far());
    world.exchange(ms(20), read(1, 100), ms(1), 100);
    let now = world.after(ms(20));
    world.meter.received(now, 60, true);
    world.meter.request(now, read(1, 100));
    world.meter.served(now, true);
    world.meter.handed(now, 0, true, None);
    assert_eq!(world.meter.doing(), (Doing::Parked, now));
    let now = world.after(ms(300));
    world.meter.resumed(now);
    world.meter.served(now, false);
    world.meter.handed(now, 100, true, None);
    assert_eq!(world.meter.server().others, ms(300));
    assert_eq!(world.meter.doing().0, Doing::Waiting);
}

#[test]
fn idle_time_is_not_charged_and_the_minute_passes() {
    let mut world = World::new(far());
    for _ in 0..10 {
        world.exchange(ms(20), read(1, 100), ms(1), 100);
    }
    world.exchange(Span::from_secs(45), read(1, 100), ms(1), 100);
    let now = Time(world.now);
    let minute = world.meter.recent(now, crate::MINUTE);
    assert!(minute.total() < 300_000, "{minute:?}");
    assert_eq!(minute.dominant(), Some(Cause::RoundTrips));
    assert_eq!(world.meter.recent(now, crate::SECONDS).total(), 0);
    assert!(!world.meter.is_old(now));
    assert!(world.meter.is_old(now + Span::from_secs(66)));
    assert_eq!(
        world
            .meter
            .recent(now + Span::from_secs(66), crate::MINUTE)
            .total(),
        0
    );
}

#[test]
fn the_account_of_an_active_client_is_small() {
    assert!(size_of::<Meter>() <= 4096, "{}", size_of::<Meter>());
}

#[derive(Clone, Debug)]
enum Event {
    Received(u64, usize, bool),
    Request(u64, u8),
    Served(u64, bool),
    Handed(u64, u64, bool),
    Resumed(u64),
}

fn event() -> impl Strategy<Value = Event> {
    let gap = 0..40_000_000_u64;
    prop_oneof![
        (gap.clone(), 1..70_000_usize, any::<bool>())
            .prop_map(|(g, b, w)| Event::Received(g, b, w)),
        (gap.clone(), any::<u8>()).prop_map(|(g, c)| Event::Request(g, c)),
        (gap.clone(), any::<bool>()).prop_map(|(g, p)| Event::Served(g, p)),
        (gap.clone(), 0..100_000_u64, any::<bool>()).prop_map(|(g, b, a)| Event::Handed(g, b, a)),
        gap.prop_map(Event::Resumed),
    ]
}

proptest! {
    /// In whatever order things happen, and whatever the kernel reports, each nanosecond of a copy is charged once.
    #[test]
    fn every_nanosecond_of_a_copy_is_charged_once(
        events in proptest::collection::vec(event(), 1..120),
        counters in proptest::collection::vec(0..1u64 << 40, 12),
        jumps in any::<bool>(),
    ) {
        let mut meter = Meter::new(Time(0));
        let mut now = 0;
        let mut began = None;
        let mut kernel = Kernel { rtt: ms(20), min_rtt: ms(10), mss: 1460, ..Kernel::default() };
        for (step, event) in events.into_iter().enumerate() {
            let at = |now: &mut u64, gap: u64| { *now += gap; Time(*now) };
            match event {
                Event::Received(gap, bytes, whole) => {
                    let now = at(&mut now, gap);
                    if meter.received(now, bytes, whole) {
                        let pick = |place: usize| counters[(place + step) % 12];
                        if jumps {
                            kernel = Kernel {
                                rtt: Span(pick(0)), min_rtt: Span(pick(1)), busy: Span(pick(2)), window_limited: Span(pick(3)),
                                acknowledged: pick(11), unacknowledged: pick(0) % 3, unsent: pick(1) % 2, retransmitted: pick(4), out_of_order: pick(5), delivery_rate: pick(6), client_window: pick(7),
                                server_window: pick(8), congestion_window: pick(9), slow_start: pick(10) % 2 == 0, mss: pick(11),
                            };
                        } else {
                            kernel.busy.0 += pick(0) % (30 * MS);
                            kernel.window_limited.0 += pick(1) % (10 * MS);
                        }
                        meter.sample(now, kernel);
                    }
                }
                Event::Request(gap, command) => {
                    let now = at(&mut now, gap);
                    let request = if command % 2 == 0 { read(1, 100) } else { Request::of(&message(command, &[2, 100, 0, 0])) };
                    let before = meter.copy().map(|copy| (copy.began, copy.fid));
                    meter.request(now, request);
                    if meter.copy().map(|copy| (copy.began, copy.fid)) != before {
                        began = Some(now);
                    }
                }
                Event::Served(gap, parked) => { let now = at(&mut now, gap); meter.served(now, parked); }
                Event::Handed(gap, bytes, all) => { let now = at(&mut now, gap); meter.handed(now, bytes, all, None); }
                Event::Resumed(gap) => { let now = at(&mut now, gap); meter.resumed(now); }
            }
        }
        // the last stretch: a whole request, so that nothing is in progress
        meter.received(Time(now), 1, true);
        meter.sample(Time(now), kernel);
        if let (Some(copy), Some(began)) = (meter.copy(), began)
            && !copy.ended
        {
            prop_assert_eq!(copy.wall(), Time(now) - began);
        }
    }
}
