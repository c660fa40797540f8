use super::super::*;
use super::lan::{Lan, mac, name, unique};
use std::vec;

#[test]
fn a_link_carries_254_sessions_and_refuses_the_next() {
    let mut lan = Lan::pair();
    let mut failed = 0;
    for _ in 0..256 {
        lan.stations[1]
            .call(lan.now, name("SERVER<20>"), name("CLIENT<00>"))
            .unwrap_or_else(|_| {
                failed += 1;
                SessionId(0)
            });
        lan.run(Span::from_millis(100));
    }
    lan.run(Span::from_secs(3));
    assert_eq!((lan.opened(0).len(), lan.opened(1).len()), (254, 254));
    let refused = lan.events[1]
        .iter()
        .filter(|event| matches!(event, NbfEvent::CallFailed { .. }));
    assert_eq!(refused.count() + failed, 2);
    let sessions = lan.opened(1);
    for (at, session) in sessions.iter().enumerate() {
        lan.stations[1]
            .send(lan.now, *session, vec![at as u8; 2000])
            .unwrap();
    }
    lan.run(Span::from_secs(10));
    let servers = lan.opened(0);
    for (at, session) in servers.into_iter().enumerate() {
        assert_eq!(lan.messages(0, session), [vec![at as u8; 2000]]);
    }
}

#[test]
fn five_hundred_sessions_from_ten_stations() {
    let clients = (2..12).map(|n| NbfConfig::new(mac(n), vec![]));
    let server = NbfConfig::new(mac(1), vec![unique("SERVER<20>")]);
    let mut lan = Lan::new([server].into_iter().chain(clients).collect());
    lan.run(Span::from_secs(2));
    for _ in 0..50 {
        for station in 1..=10 {
            lan.stations[station]
                .call(lan.now, name("SERVER<20>"), name("CLIENT<00>"))
                .unwrap();
        }
        lan.run(Span::from_millis(100));
    }
    assert_eq!(lan.stations[0].session_count(), 500);
    assert_eq!(lan.stations[0].link_count(), 10);
    for station in 1..=10 {
        for session in lan.opened(station) {
            lan.stations[station]
                .send(lan.now, session, vec![station as u8; 100])
                .unwrap();
        }
    }
    lan.run(Span::from_secs(5));
    let messages = lan.events[0]
        .iter()
        .filter(|event| matches!(event, NbfEvent::Message { .. }));
    assert_eq!(messages.count(), 500);
}

#[test]
fn offers_that_nobody_takes_expire_and_are_limited() {
    let mut lan = Lan::pair();
    for number in 1..=200u8 {
        let mut frame = coax_wire::nbf::NameFrame::new(
            coax_wire::nbf::NameCommand::NameQuery,
            name("SERVER<20>"),
            name("X<00>"),
        );
        frame.data2 = u16::from(number);
        lan.stations[0].handle_name(lan.now, mac(9), &frame);
    }
    assert_eq!(lan.stations[0].session_count(), 64);
    lan.run(Span::from_secs(4));
    assert_eq!(lan.stations[0].session_count(), 0);
}

#[test]
fn a_message_longer_than_allowed_ends_its_session() {
    let mut lan = Lan::pair_with(|config| config.max_message = 10_000);
    let (client, server) = lan.call(1, 0, "SERVER<20>");
    lan.stations[1]
        .send(lan.now, client, vec![1; 20_000])
        .unwrap();
    lan.run(Span::from_secs(1));
    assert!(lan.events[0].contains(&NbfEvent::SessionClosed {
        session: server,
        why: SessionClose::TooLong,
    }));
    assert!(lan.events[1].contains(&NbfEvent::SessionClosed {
        session: client,
        why: SessionClose::PeerAborted,
    }));
    assert_eq!(lan.stations[0].buffered(), 0);
}

#[test]
fn no_frame_whatever_its_bytes_panics_or_fills_memory() {
    let mut lan = Lan::pair();
    lan.call(1, 0, "SERVER<20>");
    lan.log.clear();
    lan.call(1, 0, "SERVER<20>");
    let frames = core::mem::take(&mut lan.log);
    let mut random = 1u64;
    for round in 0..20_000 {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let mut frame = frames[round % frames.len()].clone();
        let at = 14 + (random >> 33) as usize % (frame.len() - 14);
        frame[at] = (random >> 20) as u8;
        lan.stations[0].handle_frame(lan.now, &frame);
        while lan.stations[0].poll_transmit().is_some() {}
        while let Some(event) = lan.stations[0].poll_event() {
            if let NbfEvent::Message { session, .. } = event {
                lan.stations[0].consumed(lan.now, session);
            }
        }
    }
    let station = &lan.stations[0];
    assert!(station.session_count() < 300 && station.link_count() <= 512);
}
