use super::super::*;
use super::lan::{Lan, mac, name, pattern};
use coax_wire::block::BlockWriter;
use coax_wire::command;
use coax_wire::header::{Flags, Header, Mid, Pid};
use coax_wire::io::Writer;
use coax_wire::ipx::Host;
use coax_wire::smb::transaction::{Kind, Response};
use std::collections::BTreeMap;
use std::vec;

const DIRECT: Carriage = Carriage::Direct;

fn message(command: u8, mid: u16, data: &[u8], reply: bool) -> Vec<u8> {
    let header = Header {
        command,
        flags: Flags(if reply { Flags::REPLY } else { 0 }),
        pid: Pid(77),
        mid: Mid(mid),
        ..Header::default()
    };
    let mut out = Writer::default();
    header.emit(&mut out);
    let mut block = BlockWriter::begin(&mut out);
    block.bytes().bytes(data);
    block.finish(0);
    out.into_vec()
}

fn request(command: u8, mid: u16, data: &[u8]) -> Vec<u8> {
    message(command, mid, data, false)
}

/// A server that answers every request with its data, and counts how often it served each.
#[derive(Default)]
struct Echo {
    served: BTreeMap<(u8, u16), usize>,
    seen: usize,
}

impl Echo {
    fn run(&mut self, lan: &mut Lan) {
        let new: Vec<_> = lan.events[0][self.seen..].to_vec();
        self.seen = lan.events[0].len();
        for event in new {
            let IpxEvent::Message { session, bytes } = event else {
                continue;
            };
            let header = Header::parse(&bytes).unwrap();
            assert_eq!(
                header.signature, [0; 8],
                "the program sees no fields of the transport"
            );
            *self
                .served
                .entry((header.command, header.mid.0))
                .or_default() += 1;
            let data = bytes[35..].to_vec();
            lan.send(
                0,
                session,
                message(header.command, header.mid.0, &data, true),
            );
        }
    }
}

fn answers(lan: &Lan, client: SessionId) -> Vec<(u16, Vec<u8>)> {
    let all = lan.messages(1, client);
    let of = |bytes: &Vec<u8>| (Header::parse(bytes).unwrap().mid.0, bytes[35..].to_vec());
    all.iter().map(of).collect()
}

/// The SMB packets in the log: socket of the receiver, connection, number.
fn fields(lan: &Lan) -> Vec<(u16, u16, u16)> {
    let of = |bytes: &Vec<u8>| {
        let frame = Frame::parse(bytes).unwrap();
        let (_, packet) = FrameType::parse(&frame).unwrap();
        let header = Header::parse(packet.data).ok()?;
        let [_, _, _, _, c, d, s, t] = header.signature;
        let word = |low, high| u16::from_le_bytes([low, high]);
        Some((packet.destination.socket, word(c, d), word(s, t)))
    };
    lan.log.iter().filter_map(of).collect()
}

#[test]
fn the_server_gives_a_number_to_the_connection_and_the_client_numbers_its_requests() {
    let mut lan = Lan::pair();
    let (client, _) = lan.call(DIRECT);
    let mut echo = Echo::default();
    lan.log.clear();
    for (mid, command) in [
        (1, command::NEGOTIATE),
        (2, command::ECHO),
        (3, command::ECHO),
    ] {
        lan.send(1, client, request(command, mid, b"hello"));
        lan.run(Span::from_millis(10));
        echo.run(&mut lan);
        lan.run(Span::from_millis(10));
    }
    let hello = b"hello".to_vec();
    assert_eq!(
        answers(&lan, client),
        [(1, hello.clone()), (2, hello.clone()), (3, hello)]
    );
    let (ask, tell) = (0x550, 0x552);
    let seen = fields(&lan);
    let connection = seen[1].1;
    assert!(!matches!(connection, 0 | 0xffff));
    assert_eq!(
        seen,
        [
            (ask, 0, 1),
            (tell, connection, 1),
            (ask, connection, 2),
            (tell, connection, 2),
            (ask, connection, 3),
            (tell, connection, 3)
        ]
    );
    let opened = lan.events[0].iter().find_map(|event| match event {
        IpxEvent::SessionOpened {
            called, calling, ..
        } => Some((*called, *calling)),
        _ => None,
    });
    assert_eq!(
        opened,
        Some((name("SERVER<20>"), name("CLIENT<00>"))),
        "from the names behind NEGOTIATE"
    );
}

/// [MS-CIFS] 2.1.2.1: the server repeats its last reply, says that it works on a request, and ignores older ones.
#[test]
fn repeated_requests_are_served_once() {
    let mut lan = Lan::pair();
    let (client, _) = lan.call(DIRECT);
    let mut echo = Echo::default();
    lan.send(1, client, request(command::NEGOTIATE, 1, b""));
    lan.run(Span::from_millis(10));
    echo.run(&mut lan);
    lan.run(Span::from_millis(10));
    lan.log.clear();
    lan.send(1, client, request(command::CREATE_DIRECTORY, 2, b"x"));
    lan.run(Span::from_millis(10));
    let frame = lan.log[0].clone();
    lan.log.clear();
    lan.inject(0, &frame);
    let working = Frame::parse(&lan.log[0]).unwrap();
    let (_, packet) = FrameType::parse(&working).unwrap();
    assert_eq!(packet.data[5..9], [2, 0, 0x11, 0], "ERRSRV/ERRworking");
    echo.run(&mut lan);
    lan.run(Span::from_millis(10));
    lan.log.clear();
    (0..3).for_each(|_| lan.inject(0, &frame));
    assert_eq!(fields(&lan).len(), 3, "the last reply again");
    lan.send(1, client, request(command::ECHO, 3, b""));
    lan.run(Span::from_millis(10));
    echo.run(&mut lan);
    lan.run(Span::from_millis(10));
    lan.log.clear();
    lan.inject(0, &frame);
    assert_eq!(fields(&lan), [], "an older number");
    assert_eq!(echo.served[&(command::CREATE_DIRECTORY, 2)], 1);
    assert_eq!(lan.stations[0].counters().repeated_requests, 5);
}

#[test]
fn requests_over_a_bad_cable_are_answered_once_and_served_once() {
    for seed in 0..30 {
        let mut lan = Lan::pair();
        lan.seed(seed);
        let (client, _) = lan.call(DIRECT);
        (lan.loss, lan.duplication, lan.delay) = (100, 50, 100);
        let mut echo = Echo::default();
        let mut sent = 0u16;
        for _ in 0..3000 {
            let now = lan.now;
            while sent < 60 && lan.stations[1].can_send(client) {
                sent += 1;
                let command = match sent {
                    1 => command::NEGOTIATE,
                    _ => command::CREATE_DIRECTORY,
                };
                let data = pattern(usize::from(sent) * 20, sent.into());
                lan.stations[1]
                    .send(now, client, request(command, sent, &data))
                    .unwrap();
            }
            lan.run(Span::from_millis(20));
            echo.run(&mut lan);
            if answers(&lan, client).len() == 60 {
                break;
            }
        }
        let wanted: Vec<_> = (1..=60u16)
            .map(|mid| (mid, pattern(usize::from(mid) * 20, mid.into())))
            .collect();
        assert_eq!(answers(&lan, client), wanted, "seed {seed}");
        let changes = echo
            .served
            .iter()
            .filter(|((command, _), _)| *command != command::NEGOTIATE);
        assert!(
            changes.map(|(_, count)| *count).all(|count| count == 1),
            "seed {seed}"
        );
    }
}

#[test]
fn reads_that_are_asked_for_ahead_travel_together_and_without_numbers() {
    let mut lan = Lan::pair();
    let (client, _) = lan.call(DIRECT);
    let mut echo = Echo::default();
    lan.send(1, client, request(command::NEGOTIATE, 1, b""));
    lan.run(Span::from_millis(10));
    echo.run(&mut lan);
    lan.run(Span::from_millis(10));
    lan.log.clear();
    for mid in 2..8 {
        lan.send(1, client, request(command::READ, mid, b""));
    }
    lan.send(1, client, request(command::CLOSE, 8, b""));
    lan.run(Span::from_millis(10));
    let numbers: Vec<_> = fields(&lan).iter().map(|(_, _, number)| *number).collect();
    assert_eq!(numbers, [2, 0, 0, 0, 0, 0], "the close waits for them");
    echo.run(&mut lan);
    lan.run(Span::from_millis(10));
    echo.run(&mut lan);
    lan.run(Span::from_millis(10));
    assert_eq!(answers(&lan, client).len(), 8);
}

#[test]
fn a_server_that_works_long_is_waited_for() {
    let mut lan = Lan::pair();
    let (client, _) = lan.call(DIRECT);
    let mut echo = Echo::default();
    lan.send(1, client, request(command::NEGOTIATE, 1, b""));
    lan.run(Span::from_secs(600));
    echo.run(&mut lan);
    lan.run(Span::from_secs(5));
    assert_eq!(answers(&lan, client).len(), 1);
    assert_eq!(echo.served[&(command::NEGOTIATE, 1)], 1);
    // And one that is gone is not.
    lan.unplugged = vec![0];
    lan.send(1, client, request(command::ECHO, 2, b""));
    lan.run(Span::from_secs(60));
    assert_eq!(lan.closed(1, client), Some(SessionClose::NoAnswer));
}

#[test]
fn further_responses_of_a_transaction_are_asked_for_one_by_one() {
    for loss in [0, 100] {
        let mut lan = Lan::pair();
        lan.seed(5);
        let (client, _) = lan.call(DIRECT);
        let mut echo = Echo::default();
        lan.send(1, client, request(command::NEGOTIATE, 1, b""));
        lan.run(Span::from_millis(10));
        echo.run(&mut lan);
        lan.run(Span::from_millis(10));
        lan.loss = loss;
        lan.send(1, client, request(command::TRANSACTION2, 2, b""));
        lan.run(Span::from_secs(3));
        let server = lan.opened(0)[0];
        let whole = pattern(5000, 4);
        for at in (0..5000).step_by(1000) {
            let mut out = Writer::default();
            let header = Header {
                command: command::TRANSACTION2,
                flags: Flags(Flags::REPLY),
                pid: Pid(77),
                mid: Mid(2),
                ..Header::default()
            };
            header.emit(&mut out);
            Response {
                kind: Kind::Transaction2,
                total_parameters: 0,
                total_data: 5000,
                setup: &[],
                parameters: &[],
                parameter_displacement: 0,
                data: &whole[at..at + 1000],
                data_displacement: at as u32,
            }
            .emit(&mut out);
            lan.send(0, server, out.into_vec());
        }
        lan.run(Span::from_secs(30));
        let got = lan.messages(1, client);
        assert_eq!(got.len(), 6, "NEGOTIATE and five parts");
        let mut collected = vec![];
        for part in &got[1..] {
            let block = coax_wire::block::Block::first(part).unwrap();
            let response = Response::parse(Kind::Transaction2, &block)
                .unwrap()
                .unwrap();
            collected.extend_from_slice(response.data);
        }
        assert_eq!(collected, whole);
    }
}

#[test]
fn a_request_for_another_server_or_an_unknown_connection_is_refused() {
    let mut lan = Lan::pair();
    let mut wrong = request(command::NEGOTIATE, 1, b"");
    wrong.extend_from_slice(&name("CLIENT<00>").0);
    wrong.extend_from_slice(&name("OTHER<20>").0);
    let mut stale = request(command::ECHO, 2, b"");
    stale[18] = 99;
    let place = Place {
        route: Route {
            frame: FrameType::Ieee802_2,
            hop: mac(1),
            host: Host {
                network: Network(0),
                node: mac(1),
            },
        },
        socket: socket::SMB_SERVER,
    };
    for (bytes, code) in [(wrong, 0x12), (stale, 0x10)] {
        let frame =
            lan.stations[1].frame(kind::PACKET_EXCHANGE, socket::SMB_CLIENT, place, &[&bytes]);
        lan.log.clear();
        lan.inject(0, &frame.unwrap());
        let frame = Frame::parse(&lan.log[0]).unwrap();
        let (_, packet) = FrameType::parse(&frame).unwrap();
        assert_eq!(packet.data[5..9], [2, 0, code, 0]);
    }
    assert_eq!(lan.stations[0].session_count(), 0);
}

#[test]
fn a_client_that_is_silent_for_an_hour_is_forgotten_and_hears_so() {
    let mut lan = Lan::pair();
    let (client, _) = lan.call(DIRECT);
    let mut echo = Echo::default();
    let ask = |lan: &mut Lan, echo: &mut Echo, command, mid| {
        lan.send(1, client, request(command, mid, b""));
        lan.run(Span::from_millis(10));
        echo.run(lan);
        lan.run(Span::from_millis(10));
    };
    ask(&mut lan, &mut echo, command::NEGOTIATE, 1);
    ask(&mut lan, &mut echo, command::TREE_CONNECT, 2);
    lan.run(Span::from_secs(3500));
    let server = lan.opened(0)[0];
    assert_eq!(lan.closed(0, server), None);
    lan.run(Span::from_secs(200));
    assert_eq!(lan.closed(0, server), Some(SessionClose::Idle));
    lan.send(1, client, request(command::ECHO, 3, b""));
    lan.run(Span::from_secs(1));
    assert_eq!(lan.closed(1, client), Some(SessionClose::Unknown));
}

#[test]
fn a_client_without_a_share_is_kept_for_five_minutes() {
    let mut lan = Lan::pair();
    let (client, _) = lan.call(DIRECT);
    let mut echo = Echo::default();
    for (mid, command) in [
        (1, command::NEGOTIATE),
        (2, command::TREE_CONNECT),
        (3, command::TREE_DISCONNECT),
    ] {
        lan.send(1, client, request(command, mid, b""));
        lan.run(Span::from_millis(10));
        echo.run(&mut lan);
        lan.run(Span::from_millis(10));
    }
    lan.run(Span::from_secs(290));
    assert_eq!(lan.stations[0].session_count(), 1);
    lan.run(Span::from_secs(20));
    assert_eq!(lan.stations[0].session_count(), 0);
}

#[test]
fn a_call_without_a_choice_takes_what_the_station_offers() {
    for (accepts, wanted) in [
        (vec![Carriage::NetBios, DIRECT], Carriage::NetBios),
        (vec![Carriage::NetBios], Carriage::NetBios),
        (vec![DIRECT], DIRECT),
    ] {
        let mut lan = Lan::pair_with(|config| config.accepts = accepts.clone());
        let (called, calling) = (name("SERVER<20>"), name("CLIENT<00>"));
        let now = lan.now;
        lan.stations[1].call(now, called, calling, None).unwrap();
        lan.run(Span::from_secs(1));
        let opened = lan.events[1].iter().find_map(|event| match event {
            IpxEvent::SessionOpened { carriage, .. } => Some(*carriage),
            _ => None,
        });
        assert_eq!(opened, Some(wanted));
    }
}

#[test]
fn messages_that_do_not_fit_end_nothing_but_themselves() {
    let mut lan = Lan::pair();
    let (client, _) = lan.call(DIRECT);
    lan.send(1, client, request(command::NEGOTIATE, 1, b""));
    lan.run(Span::from_millis(10));
    let server = lan.opened(0)[0];
    let long = message(command::NEGOTIATE, 1, &[0; 2000], true);
    lan.send(0, server, long);
    lan.run(Span::from_millis(10));
    let got = lan.messages(1, client);
    assert_eq!(got[0][5..9], [2, 0, 1, 0], "ERRSRV/ERRerror");
    lan.send(1, client, request(command::ECHO, 2, &[0; 2000]));
    lan.run(Span::from_millis(10));
    assert_eq!(lan.closed(1, client), Some(SessionClose::TooLong));
}
