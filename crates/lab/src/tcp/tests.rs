//! Two endpoints without a link between them, segment by segment.
#![allow(clippy::unwrap_used)]

use alloc::vec::Vec;

use coax_wire::time::{Span, Time};

use super::{
    params::{CongestionControl, Nagle, RtoRecovery, WindowRefresh},
    *,
};

/// Two endpoints with immediate delivery, except for segments that `loses` selects by number.
struct Pair {
    ends: [Endpoint; 2],
    now: Time,
    sent: u64,
    loses: Vec<u64>,
    seen: Vec<(usize, Segment)>,
}

fn pair(client: StackParams, server: StackParams) -> Pair {
    let mut ends = [Endpoint::new(client, 1000), Endpoint::new(server, u32::MAX)];
    let [client, server] = &mut ends;
    server.listen();
    client.connect();
    let mut pair = Pair {
        ends,
        now: Time(1_000_000),
        sent: 0,
        loses: Vec::new(),
        seen: Vec::new(),
    };
    pair.exchange();
    pair.seen.clear();
    pair
}

impl Pair {
    fn client(&mut self) -> &mut Endpoint {
        &mut self.ends[0]
    }

    fn server(&mut self) -> &mut Endpoint {
        &mut self.ends[1]
    }

    /// Exchanges segments until neither endpoint has one. Each one is answered before the next is delivered.
    fn exchange(&mut self) {
        let mut under_way = VecDeque::new();
        self.collect(0, &mut under_way);
        self.collect(1, &mut under_way);
        while let Some((from, segment)) = under_way.pop_front() {
            self.sent += 1;
            let lost = self.loses.contains(&self.sent);
            if !lost {
                self.ends[1 - from].handle_segment(self.now, &segment);
            }
            self.seen.push((from, segment));
            self.collect(1 - from, &mut under_way);
        }
    }

    fn collect(&mut self, from: usize, under_way: &mut VecDeque<(usize, Segment)>) {
        while let Some(segment) = self.ends[from].poll_segment(self.now) {
            under_way.push_back((from, segment));
        }
    }

    /// Advances to the next deadline of either endpoint, and exchanges segments.
    fn wait(&mut self) -> Span {
        let next = self
            .ends
            .iter()
            .filter_map(Endpoint::poll_timeout)
            .min()
            .unwrap();
        let waited = next - self.now;
        self.now = next;
        self.ends
            .iter_mut()
            .for_each(|end| end.handle_timeout(next));
        self.exchange();
        waited
    }

    fn lose_from_now(&mut self, numbers: &[u64]) {
        self.loses = numbers.iter().map(|number| number + self.sent).collect();
        self.seen.clear();
    }

    fn data_of_client(&self) -> Vec<(u64, u64)> {
        let data = self
            .seen
            .iter()
            .filter(|(from, segment)| *from == 0 && !segment.payload.is_empty());
        data.map(|(_, segment)| (segment.seq - 1001, segment.payload.len()))
            .collect()
    }
}

fn plain() -> StackParams {
    StackParams {
        congestion: CongestionControl::None,
        nagle: Nagle::Off,
        delayed_ack: Span(0),
        ..StackParams::default()
    }
}

fn events(end: &mut Endpoint) -> Vec<TcpEvent> {
    core::iter::from_fn(|| end.poll_event()).collect()
}

#[test]
fn the_smaller_mss_and_what_both_understand_is_agreed_on() {
    let modern = StackParams {
        window_scale: Some(7),
        sack: true,
        timestamps: true,
        receive_window: 1 << 20,
        ..plain()
    };
    let mut old = pair(
        modern.clone(),
        StackParams {
            mss: 1450,
            ..plain()
        },
    );
    assert_eq!((old.client().mss(), old.server().mss()), (1450, 1450));
    assert!(!old.client().agreed.sack && !old.client().agreed.timestamps);
    assert_eq!(old.server().sender.window, 65_535);
    let mut new = pair(modern.clone(), modern);
    assert_eq!(new.client().mss(), 1448);
    assert_eq!(new.client().agreed.my_shift, 7);
    new.client().send(Payload::pattern(0, 10));
    new.exchange();
    assert_eq!(new.server().sender.window, 1 << 20);
    assert_eq!(
        events(new.server()),
        [TcpEvent::Connected, TcpEvent::Readable]
    );
}

#[test]
fn a_write_ends_with_push_and_a_close_with_fin() {
    let mut pair = pair(plain(), plain());
    pair.client().send(Payload::pattern(0, 2000));
    pair.client().send(Payload::pattern(2000, 10));
    pair.client().close();
    pair.exchange();
    let flags: Vec<_> = pair
        .seen
        .iter()
        .filter(|(from, _)| *from == 0)
        .map(|(_, s)| (s.flags.psh, s.flags.fin))
        .collect();
    assert_eq!(flags, [(false, false), (true, true)]);
    assert!(pair.server().recv(u64::MAX).is_pattern_at(0));
    assert!(events(pair.server()).contains(&TcpEvent::PeerFinished));
    pair.server().close();
    pair.exchange();
    assert!(events(pair.client()).contains(&TcpEvent::PeerFinished));
    assert_eq!(pair.client().poll_timeout(), None);
}

#[test]
fn a_timeout_sends_everything_again_or_the_oldest_alone() {
    for (recovery, again) in [
        (
            RtoRecovery::GoBackN,
            alloc::vec![(0, 1460), (1460, 1460), (2920, 1460)],
        ),
        (RtoRecovery::OldestOnly, alloc::vec![(0, 1460)]),
    ] {
        let mut pair = pair(
            StackParams {
                rto_recovery: recovery,
                fast_retransmit: 0,
                ..plain()
            },
            StackParams {
                reassembly: recovery == RtoRecovery::OldestOnly,
                ..plain()
            },
        );
        pair.lose_from_now(&[1]);
        pair.client().send(Payload::pattern(0, 4380));
        pair.exchange();
        pair.seen.clear();
        assert_eq!(pair.wait(), Span::from_secs(3));
        assert_eq!(pair.data_of_client(), again);
        assert_eq!(pair.server().recv(u64::MAX).len(), 4380);
    }
}

#[test]
fn selective_acknowledgments_fill_the_holes_and_nothing_else() {
    let sack = StackParams {
        sack: true,
        congestion: CongestionControl::NewReno,
        initial_window: 12,
        ..plain()
    };
    let mut pair = pair(sack.clone(), sack);
    pair.lose_from_now(&[2, 5]);
    pair.client().send(Payload::pattern(0, 14_600));
    pair.exchange();
    assert_eq!(
        pair.data_of_client().split_off(10),
        [(1460, 1460), (5840, 1460)]
    );
    assert!(pair.server().recv(u64::MAX).is_pattern_at(0));
    assert_eq!(pair.client().stats().timeouts, 0);
}

#[test]
fn without_selective_acknowledgments_new_reno_repairs_hole_by_hole() {
    let new_reno = StackParams {
        congestion: CongestionControl::NewReno,
        initial_window: 12,
        ..plain()
    };
    let mut pair = pair(new_reno.clone(), new_reno);
    pair.lose_from_now(&[2, 5]);
    pair.client().send(Payload::pattern(0, 14_600));
    pair.exchange();
    assert_eq!(
        pair.data_of_client().split_off(10),
        [(1460, 1460), (5840, 1460)]
    );
    assert_eq!(
        (pair.client().stats().timeouts, pair.server().readable()),
        (0, 14_600)
    );
}

/// The first flight of a client that has 9,000 bytes to send into a window of 3,000.
fn first_flight(client: StackParams) -> Vec<(u64, u64)> {
    let narrow = StackParams {
        receive_window: 3000,
        ..plain()
    };
    let mut pair = pair(client, narrow);
    pair.client().send(Payload::pattern(0, 9000));
    let mut flight = VecDeque::new();
    pair.collect(0, &mut flight);
    pair.seen.extend(flight);
    pair.data_of_client()
}

#[test]
fn linux_fills_what_is_left_of_a_window_behind_full_segments() {
    let cut = StackParams {
        sender_sws_avoidance: false,
        cut_behind_full: true,
        ..plain()
    };
    let whole = [(0, 1460), (1460, 1460)];
    assert_eq!(first_flight(plain()), whole);
    assert_eq!(
        first_flight(cut.clone()),
        [&whole[..], &[(2920, 80)]].concat()
    );
    // by Minshall's rule one short segment may be unacknowledged, by Nagle's none
    let minshall = StackParams {
        nagle: Nagle::Minshall,
        ..cut.clone()
    };
    assert_eq!(first_flight(minshall).len(), 3);
    let standard = StackParams {
        nagle: Nagle::Standard,
        ..cut.clone()
    };
    assert_eq!(first_flight(standard), whole);
    // without a full one before it, it waits
    let mut pair = pair(
        cut,
        StackParams {
            receive_window: 3000,
            ..plain()
        },
    );
    pair.client().send(Payload::pattern(0, 9000));
    pair.exchange();
    let short: Vec<_> = pair
        .data_of_client()
        .into_iter()
        .filter(|(_, len)| *len < 1460)
        .collect();
    assert_eq!(short.first(), Some(&(2920, 80)));
}

/// The server's window of 2,920 bytes is full; 2,080 of the client's 5,000 bytes wait.
fn with_a_shut_window() -> Pair {
    let small = StackParams {
        receive_window: 2920,
        ..plain()
    };
    let mut pair = pair(plain(), small);
    pair.client().send(Payload::pattern(0, 5000));
    pair.exchange();
    pair
}

#[test]
fn a_shut_window_is_probed_with_one_byte_until_it_opens() {
    let mut pair = with_a_shut_window();
    assert_eq!(pair.client().blocked(), Some(Blocked::ZeroWindow));
    assert_eq!(pair.wait(), Span::from_secs(5));
    assert_eq!(pair.wait(), Span::from_secs(10));
    assert_eq!(
        (pair.client().stats().probes, pair.server().readable()),
        (2, 2920)
    );
    assert!(pair.server().recv(u64::MAX).is_pattern_at(0));
    pair.exchange();
    assert!(pair.server().recv(u64::MAX).is_pattern_at(2920));
    assert_eq!(pair.client().unacknowledged(), 0);
}

#[test]
fn answers_to_probes_are_no_duplicates_and_the_byte_goes_again_as_part_of_the_next_segment() {
    let mut pair = with_a_shut_window();
    for _ in 0..6 {
        pair.wait();
    }
    let probed = *pair.client().stats();
    assert_eq!((probed.probes, probed.fast_retransmissions), (6, 0));
    assert!(pair.server().recv(u64::MAX).is_pattern_at(0));
    pair.exchange();
    let stats = *pair.client().stats();
    assert!(pair.server().recv(u64::MAX).is_pattern_at(2920));
    assert_eq!((stats.timeouts, stats.timeout_retransmissions), (0, 0));
}

#[test]
fn a_connection_is_given_up_after_so_many_retransmissions() {
    let mut pair = pair(
        StackParams {
            max_retries: 3,
            ..plain()
        },
        plain(),
    );
    events(pair.client());
    pair.lose_from_now(&(1..100).collect::<Vec<_>>());
    pair.client().send(Payload::pattern(0, 10));
    pair.exchange();
    let waits = [(); 4].map(|()| pair.wait().as_millis());
    assert_eq!(waits, [3000, 6000, 12_000, 24_000]);
    assert_eq!(events(pair.client()), [TcpEvent::Reset]);
    assert_eq!(pair.client().poll_timeout(), None);
}

#[test]
fn a_lost_syn_is_sent_again() {
    let mut ends = [Endpoint::new(plain(), 1), Endpoint::new(plain(), 2)];
    let [client, server] = &mut ends;
    client.connect();
    server.listen();
    assert!(client.poll_segment(Time(0)).unwrap().flags.syn);
    client.handle_timeout(client.poll_timeout().unwrap());
    let again = client.poll_segment(Time(3_000_000_000)).unwrap();
    assert!(again.flags.syn);
    server.handle_segment(Time(3_000_000_000), &again);
    let answer = server.poll_segment(Time(3_000_000_000)).unwrap();
    client.handle_segment(Time(3_000_000_000), &answer);
    assert!(client.is_open());
}

#[test]
fn a_peers_window_is_believed_late_by_a_stack_that_looks_when_it_has_nothing_outstanding() {
    let mut pair = pair(
        StackParams {
            window_refresh: WindowRefresh::WhenDrained,
            ..plain()
        },
        plain(),
    );
    pair.client().send(Payload::pattern(0, 2920));
    let [first, _second] = [(); 2].map(|()| pair.ends[0].poll_segment(Time(0)).unwrap());
    pair.ends[1].handle_segment(Time(0), &first);
    let answer = pair.ends[1].poll_segment(Time(0)).unwrap();
    assert_eq!(answer.window, 65_535 - 1460);
    pair.ends[0].handle_segment(Time(0), &answer);
    assert_eq!(pair.ends[0].sender.window, 65_535);
}
