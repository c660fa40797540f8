use super::super::*;
use super::lan::{Lan, mac, name, pattern};
use coax_wire::ipx::Host;
use coax_wire::ipx::nbipx::control;
use std::vec;

const NETBIOS: Carriage = Carriage::NetBios;

#[test]
fn a_call_opens_a_session_with_both_names_at_both_ends() {
    let mut lan = Lan::pair();
    let (client, server) = lan.call(NETBIOS);
    let opened = |session, peer, incoming| IpxEvent::SessionOpened {
        session,
        carriage: NETBIOS,
        peer: Host {
            network: Network(0),
            node: mac(peer),
        },
        called: name("SERVER<20>"),
        calling: name("CLIENT<00>"),
        incoming,
    };
    assert_eq!(lan.events[1], [opened(client, 1, false)]);
    assert_eq!(lan.events[0], [opened(server, 2, true)]);
    // docs/ipx.md: what Windows sends and expects
    let headers = lan.headers();
    let (call, accept) = (headers[0], headers[1]);
    assert_eq!((call.control, call.destination), (0x41, 0xffff));
    assert_eq!((accept.control, accept.acknowledged), (0x81, 1));
    assert_eq!((accept.sequence, accept.len), (0, 38));
}

#[test]
fn messages_of_every_length_arrive_whole_in_both_directions() {
    for frame in FrameType::ALL {
        let mut lan = Lan::pair_with(|config| config.frame = Some(frame));
        let (client, server) = lan.call(NETBIOS);
        let piece = frame.max_data() - 18;
        let lengths = [0, 1, piece - 1, piece, piece + 1, 2 * piece, 65_535];
        for (at, len) in lengths.into_iter().enumerate() {
            lan.send(1, client, pattern(len, at));
            lan.send(0, server, pattern(len, at + 7));
            lan.run(Span::from_secs(1));
        }
        let wanted = |by: usize| -> Vec<Vec<u8>> {
            let all = lengths.iter().enumerate();
            all.map(|(at, len)| pattern(*len, at + by)).collect()
        };
        assert_eq!(lan.messages(0, server), wanted(0), "{frame}");
        assert_eq!(lan.messages(1, client), wanted(7), "{frame}");
        assert_eq!(lan.stations[0].buffered(), 0);
        assert_eq!(lan.stations[0].counters().retransmitted, 0);
    }
}

#[test]
fn numbers_continue_over_messages_and_the_first_of_the_server_is_zero() {
    let mut lan = Lan::pair();
    let (client, server) = lan.call(NETBIOS);
    lan.log.clear();
    lan.send(1, client, pattern(3000, 0));
    lan.run(Span::from_millis(5));
    lan.send(0, server, pattern(10, 0));
    lan.run(Span::from_secs(1));
    let headers = lan.headers();
    let data: Vec<_> = headers
        .iter()
        .filter(|header| !header.has(control::SYSTEM))
        .collect();
    let of = |header: &SessionHeader| (header.sequence, header.offset, header.len, header.total);
    let seen: Vec<_> = data.iter().map(|header| of(header)).collect();
    let piece = 1449;
    assert_eq!(
        seen,
        [
            (1, 0, piece, 3000),
            (2, piece, piece, 3000),
            (3, 2 * piece, 102, 3000),
            (0, 0, 10, 10)
        ]
    );
    let ends = data
        .iter()
        .map(|header| header.has(control::END_OF_MESSAGE));
    assert_eq!(ends.collect::<Vec<_>>(), [false, false, true, true]);
}

/// Requests and responses acknowledge each other; only the last one gets a packet of its own.
#[test]
fn acknowledgments_travel_with_data() {
    let mut lan = Lan::pair();
    let (client, server) = lan.call(NETBIOS);
    lan.run(Span::from_secs(1));
    lan.log.clear();
    for _ in 0..10 {
        lan.send(1, client, b"request".to_vec());
        lan.run(Span::from_millis(5));
        lan.send(0, server, b"response".to_vec());
        lan.run(Span::from_millis(5));
    }
    let systems = |lan: &Lan| {
        let all = lan.headers();
        all.iter()
            .filter(|header| header.has(control::SYSTEM))
            .count()
    };
    assert_eq!(systems(&lan), 0);
    lan.run(Span::from_secs(1));
    assert_eq!(systems(&lan), 1);
}

#[test]
fn a_station_that_does_not_consume_stops_its_peer_and_lets_it_go_on() {
    let mut lan = Lan::pair_with(|config| config.max_buffered = 100_000);
    let (client, server) = lan.call(NETBIOS);
    lan.consuming = false;
    let mut sent = 0;
    for _ in 0..200 {
        let now = lan.now;
        while lan.stations[1].can_send(client) {
            lan.stations[1]
                .send(now, client, pattern(30_000, sent))
                .unwrap();
            sent += 1;
        }
        lan.run(Span::from_secs(1));
    }
    let held = lan.stations[0].buffered();
    assert!((100_000..300_000).contains(&held), "{held}");
    let before = lan.messages(0, server).len();
    lan.consuming = true;
    let now = lan.now;
    (0..before).for_each(|_| lan.stations[0].consumed(now, server));
    lan.run(Span::from_secs(10));
    let messages = lan.messages(0, server);
    assert!(
        messages.len() == sent && sent > before,
        "{} of {sent}",
        messages.len()
    );
    for (at, message) in messages.iter().enumerate() {
        assert_eq!(*message, pattern(30_000, at));
    }
}

/// Windows NT sends nothing before it is told a window, and asks for one every 600 ms (docs/ipx.md).
#[test]
fn a_question_is_answered_with_the_window_and_takes_no_number() {
    let mut lan = Lan::pair();
    let (client, server) = lan.call(NETBIOS);
    lan.run(Span::from_secs(1));
    let opened = lan.headers();
    let (call, accept) = (opened[0], opened[1]);
    let ask = SessionHeader {
        control: control::SYSTEM | control::ACK_REQUIRED,
        stream: stream::SESSION_DATA,
        source: call.source,
        destination: accept.source,
        sequence: 1,
        ..SessionHeader::default()
    };
    lan.log.clear();
    let place = Place {
        route: Route {
            frame: FrameType::Ieee802_2,
            hop: mac(1),
            host: Host {
                network: Network(0),
                node: mac(1),
            },
        },
        socket: socket::NETBIOS,
    };
    let frame = lan.stations[1].frame(
        kind::PACKET_EXCHANGE,
        socket::NETBIOS,
        place,
        &[&ask.emit()],
    );
    for _ in 0..3 {
        lan.inject(0, frame.as_ref().unwrap());
    }
    let answers = lan.headers();
    assert_eq!(answers.len(), 3);
    for answer in answers {
        assert_eq!((answer.control, answer.acknowledged), (control::SYSTEM, 1));
        assert_eq!(answer.window_end, 33);
    }
    lan.send(1, client, b"after all".to_vec());
    lan.run(Span::from_secs(1));
    assert_eq!(lan.messages(0, server), [b"after all"]);
}

#[test]
fn hanging_up_sends_what_waits_and_tells_the_peer() {
    let mut lan = Lan::pair();
    let (client, server) = lan.call(NETBIOS);
    lan.send(1, client, pattern(50_000, 3));
    let now = lan.now;
    lan.stations[1].hang_up(now, client);
    lan.run(Span::from_secs(2));
    assert_eq!(lan.messages(0, server), [pattern(50_000, 3)]);
    assert_eq!(lan.closed(0, server), Some(SessionClose::Peer));
    assert_eq!(lan.closed(1, client), Some(SessionClose::Local));
    assert_eq!(
        lan.stations[0].session_count() + lan.stations[1].session_count(),
        0
    );
}

#[test]
fn an_aborted_session_ends_at_both_sides() {
    let mut lan = Lan::pair();
    let (client, server) = lan.call(NETBIOS);
    lan.send(0, server, pattern(60_000, 1));
    lan.run(Span::from_millis(2));
    let now = lan.now;
    lan.stations[0].abort(now, server);
    lan.run(Span::from_secs(3));
    assert_eq!(lan.closed(1, client), Some(SessionClose::Peer));
    assert_eq!(lan.closed(0, server), Some(SessionClose::Local));
}

#[test]
fn a_silent_peer_is_given_up_and_an_idle_one_is_not() {
    let mut lan = Lan::pair();
    let (client, server) = lan.call(NETBIOS);
    lan.run(Span::from_secs(3600));
    assert_eq!((lan.closed(0, server), lan.closed(1, client)), (None, None));
    lan.unplugged = vec![1];
    lan.run(Span::from_secs(60));
    assert_eq!(lan.closed(0, server), Some(SessionClose::NoAnswer));
    assert_eq!(lan.stations[0].session_count(), 0);
}

#[test]
fn a_name_that_nobody_has_and_one_without_a_listener_fail_differently() {
    let mut lan = Lan::pair();
    let now = lan.now;
    let call = |lan: &mut Lan, called: &str| {
        let calling = name("CLIENT<00>");
        lan.stations[1]
            .call(now, name(called), calling, Some(NETBIOS))
            .unwrap()
    };
    let nobody = call(&mut lan, "NOBODY<20>");
    let deaf = call(&mut lan, "SERVER<00>");
    lan.run(Span::from_secs(20));
    let failed = |session, why| IpxEvent::CallFailed { session, why };
    assert!(lan.events[1].contains(&failed(nobody, CallError::NoAnswer)));
    assert!(lan.events[1].contains(&failed(deaf, CallError::NotAccepted)));
    assert_eq!(lan.stations[1].session_count(), 0);
}

#[test]
fn pieces_that_make_no_message_end_the_session() {
    let mut lan = Lan::pair();
    let (client, server) = lan.call(NETBIOS);
    lan.run(Span::from_secs(1));
    let opened = lan.headers();
    let bad = SessionHeader {
        control: control::END_OF_MESSAGE,
        stream: stream::SESSION_DATA,
        source: opened[0].source,
        destination: opened[1].source,
        sequence: 1,
        total: 2,
        offset: 0,
        len: 3,
        ..SessionHeader::default()
    };
    let place = Place {
        route: Route {
            frame: FrameType::Snap,
            hop: mac(1),
            host: Host::default(),
        },
        socket: socket::NETBIOS,
    };
    let parts: [&[u8]; 2] = [&bad.emit(), b"abc"];
    let frame = lan.stations[1].frame(kind::PACKET_EXCHANGE, socket::NETBIOS, place, &parts);
    let mut frame = frame.unwrap();
    frame[22 + 10..22 + 16].copy_from_slice(&mac(1).0);
    lan.inject(0, &frame);
    lan.run(Span::from_secs(3));
    assert_eq!(lan.closed(0, server), Some(SessionClose::BadMessage));
    assert_eq!(lan.closed(1, client), Some(SessionClose::Peer));
}

#[test]
fn a_station_has_its_share_of_sessions_and_the_oldest_makes_room() {
    let mut lan = Lan::pair_with(|config| config.max_per_station = 5);
    let all: Vec<_> = (0..8).map(|_| lan.call(NETBIOS)).collect();
    assert_eq!(lan.stations[0].session_count(), 5);
    assert_eq!(lan.closed(0, all[0].1), Some(SessionClose::Replaced));
    let (client, server) = all[7];
    lan.send(1, client, b"still here".to_vec());
    lan.run(Span::from_secs(1));
    assert_eq!(lan.messages(0, server), [b"still here"]);
}
