use super::super::*;
use super::pair::{A, B, Faults, Pair};
use coax_wire::llc::{FrameReject, SAP_NETBIOS, SAP_NULL};
use coax_wire::time::Span;
use std::vec;

const U: fn(Unnumbered, bool) -> Control = |kind, pf| Control::Unnumbered { kind, pf };
const S: fn(Supervisory, u8, bool) -> Control =
    |kind, nr, pf| Control::Supervisory { kind, nr, pf };
const I: fn(u8, u8, bool) -> Control = |ns, nr, pf| Control::Information { ns, nr, pf };

fn feed(link: &mut Link, now: Time, response: bool, control: Control, info: &[u8]) {
    let pdu = Pdu {
        dsap: SAP_NETBIOS,
        ssap: SAP_NETBIOS,
        response,
        control,
        info,
    };
    link.handle_pdu(now, &pdu);
}

fn sent(link: &mut Link) -> Vec<(bool, Control, Vec<u8>)> {
    let mut all = Vec::new();
    while let Some(bytes) = link.poll_transmit() {
        let frame = coax_wire::ether::Frame::parse(&bytes).unwrap();
        assert_eq!((frame.destination, frame.source), (B, A));
        let coax_wire::ether::Payload::Length(payload) = frame.payload else {
            panic!("not 802.3");
        };
        let pdu = Pdu::parse(payload).unwrap();
        all.push((pdu.response, pdu.control, pdu.info.to_vec()));
    }
    all
}

fn events(link: &mut Link) -> Vec<LinkEvent> {
    core::iter::from_fn(|| link.poll_event()).collect()
}

fn closed(config: LinkConfig) -> Link {
    Link::new(Time(0), A, B, SAP_NETBIOS, config)
}

/// A link that the peer opened.
fn open(config: LinkConfig) -> Link {
    let mut link = closed(config);
    feed(&mut link, Time(0), false, U(Unnumbered::Sabme, true), &[]);
    assert_eq!(sent(&mut link), [(true, U(Unnumbered::Ua, true), vec![])]);
    assert_eq!(events(&mut link), [LinkEvent::Established]);
    link
}

fn wide() -> LinkConfig {
    LinkConfig {
        window: 127,
        ..LinkConfig::default()
    }
}

/// The order of frames 68 to 72 of tests/captures/dos-win98-netbeui.pcap.
#[test]
fn a_caller_sends_sabme_then_a_poll_and_may_send_when_that_is_answered() {
    let pair = Pair::open(1, Faults::default(), LinkConfig::default());
    drop(pair);
    let mut pair = Pair::new(1, Faults::default(), LinkConfig::default());
    pair.ends[0].connect(Time(0));
    pair.run(Span::from_secs(1));
    let to_listener = [
        (false, U(Unnumbered::Sabme, true)),
        (false, S(Supervisory::Rr, 0, true)),
    ];
    let to_caller = [
        (true, U(Unnumbered::Ua, true)),
        (true, S(Supervisory::Rr, 0, true)),
    ];
    assert_eq!(pair.sent_to(1), to_listener);
    assert_eq!(pair.sent_to(0), to_caller);
    assert_eq!(
        pair.events,
        [vec![LinkEvent::Established], vec![LinkEvent::Established]]
    );
}

#[test]
fn a_caller_whom_nobody_answers_gives_up_after_n2_retries() {
    let mut link = closed(LinkConfig::default());
    link.connect(Time(0));
    let mut now = Time(0);
    while let Some(due) = link.poll_timeout() {
        now = due;
        link.handle_timeout(now);
    }
    assert_eq!(sent(&mut link).len(), 9);
    assert_eq!(events(&mut link), [LinkEvent::Ended(LinkEnd::NoAnswer)]);
    assert_eq!(now, Time(0) + Span::from_millis(9 * 600));
}

#[test]
fn dm_refuses_a_caller_and_disc_ends_an_open_link() {
    let mut link = closed(LinkConfig::default());
    link.connect(Time(0));
    feed(&mut link, Time(1), true, U(Unnumbered::Dm, true), &[]);
    assert_eq!(events(&mut link), [LinkEvent::Ended(LinkEnd::Refused)]);
    let mut link = open(LinkConfig::default());
    feed(&mut link, Time(1), false, U(Unnumbered::Disc, true), &[]);
    assert_eq!(sent(&mut link), [(true, U(Unnumbered::Ua, true), vec![])]);
    assert_eq!(events(&mut link), [LinkEvent::Ended(LinkEnd::Peer)]);
    feed(&mut link, Time(2), false, U(Unnumbered::Disc, true), &[]);
    feed(&mut link, Time(2), false, S(Supervisory::Rr, 0, true), &[]);
    feed(&mut link, Time(2), false, S(Supervisory::Rr, 0, false), &[]);
    let dm = (true, U(Unnumbered::Dm, true), vec![]);
    assert_eq!(sent(&mut link), [dm.clone(), dm]);
}

#[test]
fn two_callers_at_once_get_one_link() {
    let mut pair = Pair::new(1, Faults::default(), LinkConfig::default());
    pair.ends.iter_mut().for_each(|end| end.connect(Time(0)));
    pair.run(Span::from_secs(5));
    assert!(pair.ends.iter().all(Link::is_open));
    assert_eq!(
        pair.events,
        [vec![LinkEvent::Established], vec![LinkEvent::Established]]
    );
}

#[test]
fn a_repeated_sabme_is_answered_and_one_after_data_resets_the_link() {
    let mut link = open(LinkConfig::default());
    feed(&mut link, Time(1), false, U(Unnumbered::Sabme, true), &[]);
    assert_eq!(sent(&mut link), [(true, U(Unnumbered::Ua, true), vec![])]);
    assert!(events(&mut link).is_empty());
    feed(&mut link, Time(2), false, I(0, 0, false), b"x");
    feed(&mut link, Time(3), false, U(Unnumbered::Sabme, true), &[]);
    assert_eq!(
        events(&mut link),
        [LinkEvent::Data(b"x".to_vec()), LinkEvent::Reset]
    );
    sent(&mut link);
    feed(&mut link, Time(4), false, I(0, 0, true), b"y");
    assert_eq!(
        sent(&mut link),
        [(true, S(Supervisory::Rr, 1, true), vec![])]
    );
}

#[test]
fn a_poll_is_answered_at_once_with_the_final_bit_and_nothing_else_has_it() {
    let mut link = open(LinkConfig::default());
    for (at, control) in [S(Supervisory::Rr, 0, true), I(0, 0, true)]
        .into_iter()
        .enumerate()
    {
        feed(&mut link, Time(1), false, control, &[]);
        let nr = u8::try_from(at).unwrap();
        assert_eq!(
            sent(&mut link),
            [(true, S(Supervisory::Rr, nr, true), vec![])]
        );
    }
    feed(&mut link, Time(2), false, I(1, 0, false), &[]);
    assert_eq!(
        sent(&mut link),
        [(true, S(Supervisory::Rr, 2, false), vec![])]
    );
}

#[test]
fn acknowledgments_wait_for_t2_or_travel_with_data() {
    let config = LinkConfig {
        acknowledge_every: 3,
        ..LinkConfig::default()
    };
    let mut link = open(config);
    feed(&mut link, Time(0), false, I(0, 0, false), b"0");
    assert!(sent(&mut link).is_empty());
    assert_eq!(link.poll_timeout(), Some(Time(0) + config.delay));
    assert!(link.send(Time(1), b"reply".to_vec(), false));
    assert_eq!(
        sent(&mut link),
        [(false, I(0, 1, false), b"reply".to_vec())]
    );
    feed(&mut link, Time(2), false, I(1, 1, false), b"1");
    link.handle_timeout(Time(2) + config.delay);
    assert_eq!(
        sent(&mut link),
        [(true, S(Supervisory::Rr, 2, false), vec![])]
    );
    for ns in 2..5 {
        feed(&mut link, Time(3), false, I(ns, 1, false), b"n");
    }
    assert_eq!(
        sent(&mut link),
        [(true, S(Supervisory::Rr, 5, false), vec![])]
    );
}

#[test]
fn one_gap_is_rejected_once_and_duplicates_are_acknowledged_again() {
    let mut link = open(LinkConfig::default());
    for ns in [1, 2] {
        feed(&mut link, Time(1), false, I(ns, 0, false), b"?");
    }
    assert_eq!(
        sent(&mut link),
        [(true, S(Supervisory::Rej, 0, false), vec![])]
    );
    for ns in [0, 0, 2, 1] {
        feed(&mut link, Time(2), false, I(ns, 0, false), &[ns]);
    }
    let data = |ns: u8| LinkEvent::Data(vec![ns]);
    assert_eq!(events(&mut link), [data(0), data(1)]);
    let frames = sent(&mut link);
    let controls: Vec<Control> = frames.iter().map(|(_, control, _)| *control).collect();
    assert_eq!(
        controls,
        [
            S(Supervisory::Rr, 1, false),
            S(Supervisory::Rej, 1, false),
            S(Supervisory::Rr, 2, false)
        ]
    );
    assert_eq!(link.counters().discarded, 4);
}

#[test]
fn rej_makes_the_sender_go_back_and_halves_its_window() {
    let mut link = open(wide());
    for n in 0..8u8 {
        assert!(link.send(Time(0), vec![n], false));
    }
    let first = sent(&mut link);
    assert_eq!(first.len(), 2, "a link starts with a window of 2");
    assert_eq!(
        first[1].1,
        I(1, 0, true),
        "the frame that fills the window polls"
    );
    feed(&mut link, Time(1), true, S(Supervisory::Rr, 2, true), &[]);
    assert_eq!(sent(&mut link).len(), 3);
    feed(&mut link, Time(2), true, S(Supervisory::Rej, 3, false), &[]);
    let again: Vec<Control> = sent(&mut link)
        .into_iter()
        .map(|(_, control, _)| control)
        .collect();
    assert_eq!(again, [I(3, 0, false)]);
    assert_eq!(link.counters().retransmitted, 1);
}

#[test]
fn rnr_stops_the_sender_until_a_poll_finds_the_peer_ready() {
    let mut link = open(wide());
    feed(&mut link, Time(0), true, S(Supervisory::Rnr, 0, false), &[]);
    assert!(link.send(Time(0), b"x".to_vec(), false));
    assert!(sent(&mut link).is_empty());
    let mut now = Time(0);
    // Far more often than N2: a busy peer that answers is alive.
    for _ in 0..20 {
        now = link.poll_timeout().unwrap();
        link.handle_timeout(now);
        assert_eq!(
            sent(&mut link),
            [(false, S(Supervisory::Rr, 0, true), vec![])]
        );
        feed(&mut link, now, true, S(Supervisory::Rnr, 0, true), &[]);
    }
    feed(&mut link, now, true, S(Supervisory::Rr, 0, false), &[]);
    assert_eq!(sent(&mut link), [(false, I(0, 0, false), b"x".to_vec())]);
}

#[test]
fn a_busy_receiver_says_rnr_takes_nothing_and_loses_nothing() {
    let mut pair = Pair::open(3, Faults::default(), LinkConfig::default());
    pair.ends[1].set_busy(true);
    for n in 0..4u8 {
        assert!(pair.ends[0].send(pair.net.now, vec![n], false));
    }
    pair.run(Span::from_secs(10));
    assert!(pair.data(1).is_empty());
    pair.ends[1].set_busy(false);
    pair.run(Span::from_secs(2));
    assert_eq!(pair.data(1), [[0], [1], [2], [3]]);
}

#[test]
fn a_wrong_acknowledgment_and_a_long_frame_are_rejected_with_their_reasons() {
    let config = LinkConfig {
        max_info: 10,
        ..LinkConfig::default()
    };
    let cases = [
        (S(Supervisory::Rr, 1, false), &[][..], FrameReject::BAD_NR),
        (I(0, 5, false), b"x", FrameReject::BAD_NR),
        (S(Supervisory::Rr, 0, false), b"x", FrameReject::INFORMATION),
        (I(0, 0, false), b"longer than ten", FrameReject::TOO_LONG),
    ];
    for (control, info, reasons) in cases {
        let mut link = open(config);
        feed(&mut link, Time(1), false, control, info);
        let frames = sent(&mut link);
        assert_eq!(frames[0].1, U(Unnumbered::Frmr, false));
        let reject = FrameReject::parse(&frames[0].2).unwrap();
        assert_eq!(
            (reject.reasons, reject.rejected),
            (reasons, control.emit().0)
        );
        assert_eq!(events(&mut link), [LinkEvent::Ended(LinkEnd::Protocol)]);
    }
    let mut link = open(config);
    feed(&mut link, Time(1), true, U(Unnumbered::Frmr, true), &[0; 5]);
    assert_eq!(events(&mut link), [LinkEvent::Ended(LinkEnd::Protocol)]);
}

#[test]
fn an_idle_link_is_tested_and_a_dead_one_ends() {
    let mut pair = Pair::open(5, Faults::default(), LinkConfig::default());
    pair.run(Span::from_secs(100));
    assert!(pair.ends.iter().all(Link::is_open));
    assert!(
        pair.sent_to(1)
            .contains(&(false, S(Supervisory::Rr, 0, true)))
    );
    pair.net.cut = true;
    pair.run(Span::from_secs(60));
    for events in &pair.events {
        assert_eq!(*events, [LinkEvent::Ended(LinkEnd::NoAnswer)]);
    }
}

#[test]
fn an_outage_shorter_than_n2_retries_loses_nothing() {
    let mut pair = Pair::open(7, Faults::default(), LinkConfig::default());
    pair.net.cut = true;
    for n in 0..6u8 {
        assert!(pair.ends[0].send(pair.net.now, vec![n], false));
    }
    pair.run(Span::from_secs(4));
    pair.net.cut = false;
    pair.run(Span::from_secs(4));
    assert_eq!(pair.data(1), [[0], [1], [2], [3], [4], [5]]);
    assert!(pair.ends[0].is_idle());
}

#[test]
fn disconnect_is_acknowledged_by_both_ends() {
    let mut pair = Pair::open(9, Faults::default(), LinkConfig::default());
    let now = pair.net.now;
    pair.ends[0].disconnect(now);
    pair.run(Span::from_secs(1));
    assert_eq!(pair.events[0], [LinkEvent::Ended(LinkEnd::Local)]);
    assert_eq!(pair.events[1], [LinkEvent::Ended(LinkEnd::Peer)]);
}

#[test]
fn stations_answer_test_and_xid_and_polls_without_a_link() {
    let answer = |sap, response, control, info: &[u8]| {
        let pdu = Pdu {
            dsap: sap,
            ssap: SAP_NETBIOS,
            response,
            control,
            info,
        };
        let frame = answer_without_link(A, B, &pdu, 7)?;
        Some(frame.get(14..22).unwrap().to_vec())
    };
    let test = answer(SAP_NULL, false, U(Unnumbered::Test, true), b"echo!");
    assert_eq!(test.unwrap(), b"\xf0\x01\xf3echo!");
    let xid = answer(SAP_NETBIOS, false, U(Unnumbered::Xid, false), &[]).unwrap();
    assert_eq!(xid, [0xf0, 0xf1, 0xaf, 0x81, 0x03, 0x0e, 0, 0]);
    let dm = answer(SAP_NETBIOS, false, S(Supervisory::Rr, 0, true), &[]).unwrap();
    assert_eq!(dm[..3], [0xf0, 0xf1, 0x1f]);
    assert!(answer(SAP_NETBIOS, true, U(Unnumbered::Test, true), &[]).is_none());
    assert!(answer(SAP_NETBIOS, false, S(Supervisory::Rr, 0, false), &[]).is_none());
}

/// Sends numbered frames both ways until all have arrived, and checks that each arrived once and in order.
fn exchange(seed: u64, window: u8, faults: Faults) -> u64 {
    let config = LinkConfig {
        window,
        acknowledge_every: 1 + u8::try_from(seed % 3).unwrap(),
        // A link with a fifth of its frames lost must not die of bad luck.
        retries: 50,
        ..LinkConfig::default()
    };
    let mut pair = Pair::open(seed, faults, config);
    let total = [400u32, if seed.is_multiple_of(2) { 300 } else { 0 }];
    let mut next = [0u32; 2];
    let end = pair.net.now + Span::from_secs(3000);
    for step in 0.. {
        assert!(step < 400_000, "no progress: seed {seed}, window {window}");
        let now = pair.net.now;
        for side in 0..2 {
            while next[side] < total[side] && pair.ends[side].room() > 0 {
                let mut info = next[side].to_le_bytes().to_vec();
                info.resize(4 + (next[side] as usize * 37) % 1400, 0x5a);
                let poll = pair.net.chance(100);
                assert!(pair.ends[side].send(now, info, poll));
                next[side] += 1;
            }
        }
        let done = next == total && pair.ends.iter().all(Link::is_idle);
        if done || !pair.step(end) {
            break;
        }
    }
    for (side, total) in total.into_iter().enumerate() {
        let numbers: Vec<u32> = pair
            .data(1 - side)
            .iter()
            .map(|info| u32::from_le_bytes(info[..4].try_into().unwrap()))
            .collect();
        let wanted: Vec<u32> = (0..total).collect();
        assert_eq!(numbers, wanted, "seed {seed}, window {window}, side {side}");
    }
    let ended = pair
        .events
        .iter()
        .flatten()
        .any(|e| !matches!(e, LinkEvent::Data(_)));
    assert!(!ended, "seed {seed}");
    pair.ends
        .iter()
        .map(|end| end.counters().retransmitted)
        .sum()
}

#[test]
fn no_frame_is_lost_doubled_or_out_of_order_whatever_the_network_does() {
    let faults = [
        Faults {
            loss: 50,
            ..Faults::default()
        },
        Faults {
            loss: 200,
            duplication: 50,
            ..Faults::default()
        },
        Faults {
            duplication: 300,
            ..Faults::default()
        },
        Faults {
            reordering: 200,
            ..Faults::default()
        },
        Faults {
            loss: 30,
            duplication: 100,
            reordering: 100,
        },
    ];
    let mut retransmitted = 0;
    for (index, faults) in faults.into_iter().enumerate() {
        for window in [1, 2, 7, 40, 127] {
            if window == 127 && faults.reordering > 0 {
                // With 127 frames in flight an acknowledgment that comes late looks like a new one.
                continue;
            }
            retransmitted += exchange(1000 + index as u64 * 10 + u64::from(window), window, faults);
        }
    }
    assert!(retransmitted > 1000, "{retransmitted}");
}

#[test]
fn a_clean_network_carries_every_frame_once() {
    for window in [1, 7, 127] {
        assert_eq!(exchange(2, window, Faults::default()), 0, "window {window}");
    }
}
