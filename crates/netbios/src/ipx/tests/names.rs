use super::super::*;
use super::lan::{Lan, group, mac, name, unique};
use crate::datagram::{Outgoing, Route as Reach};
use coax_wire::ipx::Host;
use coax_wire::mailslot::{BROWSE, MailslotMessage};
use std::vec;

fn registered(lan: &Lan, station: usize, text: &str) -> bool {
    lan.events[station].contains(&IpxEvent::NameRegistered(name(text)))
}

#[test]
fn names_are_registered_after_three_queries_that_nobody_answers() {
    let config = IpxConfig::new(mac(1), vec![unique("SERVER<20>"), group("LAB<00>")]);
    let mut lan = Lan::new(vec![config]);
    lan.run(Span::from_secs(3));
    assert!(registered(&lan, 0, "SERVER<20>") && registered(&lan, 0, "LAB<00>"));
    let queries = lan.log.iter().filter(|frame| {
        let frame = Frame::parse(frame).unwrap();
        let (_, packet) = FrameType::parse(&frame).unwrap();
        packet.kind == kind::PROPAGATED
            && NamePacket::parse(packet.data).is_ok_and(|name| name.stream == stream::CHECK_NAME)
    });
    assert_eq!(
        queries.count(),
        3 * 2 * 4,
        "three times, two names, four frame types"
    );
}

#[test]
fn a_name_that_another_station_has_is_refused_and_the_owner_keeps_it() {
    let first = IpxConfig::new(mac(1), vec![unique("SERVER<20>"), group("LAB<00>")]);
    let mut second = IpxConfig::new(mac(2), vec![unique("SERVER<20>"), group("LAB<00>")]);
    second.frame = Some(FrameType::Raw802_3);
    let mut lan = Lan::new(vec![first]);
    lan.run(Span::from_secs(3));
    let now = lan.now;
    lan.stations.push(Ipx::new(now, second));
    lan.events.push(vec![]);
    lan.run(Span::from_secs(3));
    let refused = IpxEvent::NameRefused {
        name: name("SERVER<20>"),
        by: Host {
            network: Network(0),
            node: mac(1),
        },
    };
    assert!(lan.events[1].contains(&refused), "{:?}", lan.events[1]);
    assert!(registered(&lan, 1, "LAB<00>"), "a group is shared");
    assert!(lan.stations[0].owns(&name("SERVER<20>")));
    assert!(!lan.stations[1].owns(&name("SERVER<20>")));
    // The owner leaves; a minute later the name is free.
    lan.unplugged = vec![0];
    lan.run(Span::from_secs(70));
    assert!(lan.stations[1].owns(&name("SERVER<20>")));
}

#[test]
fn the_number_of_the_network_is_learned_from_a_station_that_knows_it() {
    let mut lan = Lan::pair_with(|config| {
        if config.mac == mac(1) {
            config.network = Some(Network(0x0017_4a2c));
        }
    });
    assert_eq!(lan.stations[1].network(), Network(0x0017_4a2c));
    let (_, _) = lan.call(Carriage::NetBios);
    let opened = lan.events[0].iter().find_map(|event| match event {
        IpxEvent::SessionOpened { peer, .. } => Some(*peer),
        _ => None,
    });
    assert_eq!(opened.unwrap().network, Network(0x0017_4a2c));
}

fn ask(lan: &mut Lan, own: u16, to: u16, data: &[u8]) -> Vec<Vec<u8>> {
    let place = Place {
        route: Route {
            frame: FrameType::EthernetII,
            hop: Mac::BROADCAST,
            host: Host {
                network: Network(0),
                node: Mac::BROADCAST,
            },
        },
        socket: to,
    };
    let frame = lan.stations[1]
        .frame(kind::UNKNOWN, own, place, &[data])
        .unwrap();
    lan.log.clear();
    lan.inject(0, &frame);
    let answers = lan.log.iter().map(|bytes| {
        let frame = Frame::parse(bytes).unwrap();
        assert_eq!(frame.destination, mac(2));
        let (frame_type, packet) = FrameType::parse(&frame).unwrap();
        assert_eq!(frame_type, FrameType::EthernetII, "the asker's frame type");
        assert_eq!(packet.destination.socket, own);
        packet.data.to_vec()
    });
    answers.collect()
}

#[test]
fn servers_of_our_type_are_found_by_service_queries_and_others_are_not() {
    let mut lan = Lan::pair_with(|config| {
        if config.mac == mac(1) {
            config.network = Some(Network(5));
            config.advertised = Some(b"SERVER".to_vec());
        }
    });
    for (query, answer) in [(1, 2), (3, 4)] {
        let wanted = [0, query, 6, 0x40];
        let answers = ask(&mut lan, 0x4003, socket::SAP, &wanted);
        let sap = sap::Packet::parse(&answers[0]).unwrap();
        assert_eq!((answers.len(), answers[0][1]), (1, answer));
        let service = &sap.services[0];
        assert_eq!((&service.name[..], service.kind), (&b"SERVER"[..], 0x640));
        let address = Address::new(Network(5), mac(1), socket::SMB_SERVER);
        assert_eq!(service.address, address);
        let netware = [0, query, 0, 4];
        assert_eq!(ask(&mut lan, 0x4003, socket::SAP, &netware).len(), 0);
    }
    let any = ask(&mut lan, 0x4003, socket::SAP, &[0, 1, 0xff, 0xff]);
    assert_eq!(any.len(), 1);
    let rip = [0, 1, 0xff, 0xff, 0xff, 0xff, 0, 16, 0xff, 0xff];
    let answers = ask(&mut lan, 0x4004, socket::RIP, &rip);
    assert_eq!(answers, [vec![0, 2, 0, 0, 0, 5, 0, 1, 0, 2]]);
    let elsewhere = [0, 1, 0, 0, 0, 9, 0, 16, 0xff, 0xff];
    assert_eq!(ask(&mut lan, 0x4004, socket::RIP, &elsewhere).len(), 0);
}

#[test]
fn a_station_gets_a_limited_number_of_answers() {
    let mut lan = Lan::pair_with(|config| config.advertised = Some(b"SERVER".to_vec()));
    let mut answers = 0;
    for _ in 0..1000 {
        answers += ask(&mut lan, 0x4003, socket::SAP, &[0, 3, 6, 0x40]).len();
    }
    assert!((50..=100).contains(&answers), "{answers}");
    assert_eq!(
        lan.stations[0].counters().suppressed as usize,
        1000 - answers
    );
}

#[test]
fn a_question_for_a_name_gets_what_windows_98_answers() {
    let mut lan = Lan::pair();
    let query = NamePacket::new(stream::FIND_NAME, 0, name("SERVER<20>"));
    let answers = ask(&mut lan, socket::NETBIOS, socket::NETBIOS, &query.emit());
    let mut wanted = vec![0x10, 2];
    wanted.extend_from_slice(b"SERVER         \0");
    wanted.extend_from_slice(b"LAB           ");
    wanted.extend_from_slice(&[0x44, 2]);
    wanted.extend_from_slice(b"SERVER          ");
    assert_eq!(answers, [wanted]);
}

#[test]
fn announcements_reach_the_members_of_the_workgroup() {
    let server = vec![unique("SERVER<20>"), group("LAB<00>"), group("LAB<1e>")];
    let mut lan = Lan::new(vec![
        IpxConfig::new(mac(1), server),
        IpxConfig::new(mac(2), vec![group("LAB<00>")]),
        IpxConfig::new(mac(3), vec![group("OTHER<00>")]),
    ]);
    lan.run(Span::from_secs(3));
    lan.events.iter_mut().for_each(Vec::clear);
    let mailslot = |opcode: u8| MailslotMessage::new(BROWSE, vec![opcode, 0]).emit();
    let send = |lan: &mut Lan, destination: &str, opcode| {
        let outgoing = Outgoing {
            source: name("SERVER<00>"),
            destination: name(destination),
            group: true,
            route: Reach::Everybody,
            data: mailslot(opcode),
        };
        lan.log.clear();
        assert!(lan.stations[0].send_datagram(&outgoing));
        lan.run(Span::from_millis(100));
        let frame = Frame::parse(&lan.log[0]).unwrap();
        let (_, packet) = FrameType::parse(&frame).unwrap();
        let packet = nmpi::Packet::parse(packet.data).unwrap();
        (packet.name_type, packet.requested)
    };
    // frames 36 and 56 of tests/captures/tcpdump-ipx.pcap
    assert_eq!(send(&mut lan, "LAB<1d>", 1), (2, name("LAB<00>")));
    assert_eq!(send(&mut lan, "LAB<1e>", 15), (3, name("LAB<00>")));
    let heard: Vec<_> = lan.events[1]
        .iter()
        .filter_map(|event| match event {
            IpxEvent::Datagram {
                source,
                destination,
                data,
                ..
            } => Some((*source, *destination, data.clone())),
            _ => None,
        })
        .collect();
    // It arrives once in each frame type that the sender uses.
    assert_eq!(heard.len(), 8);
    assert_eq!(heard[0], (name("SERVER<00>"), name("LAB<1d>"), mailslot(1)));
    assert_eq!(lan.events[2], [], "another workgroup");
}
