use super::super::*;
use super::lan::{Lan, group, mac, name, unique};
use coax_wire::nbf::NameCommand;
use std::vec;

fn count(lan: &Lan, command: u8) -> usize {
    lan.commands()
        .iter()
        .filter(|found| **found == command)
        .count()
}

#[test]
fn names_are_claimed_three_times_and_then_ours() {
    let names = vec![unique("SERVER<20>"), group("LAB<00>")];
    let mut lan = Lan::new(vec![NbfConfig::new(mac(1), names)]);
    lan.log.clear();
    lan.run(Span::from_millis(1400));
    assert!(!lan.stations[0].owns(&name("SERVER<20>")));
    lan.run(Span::from_millis(200));
    assert_eq!((count(&lan, 0x01), count(&lan, 0x00)), (3, 3));
    let registered = ["SERVER<20>", "LAB<00>"].map(|text| NbfEvent::NameRegistered(name(text)));
    assert_eq!(lan.events[0], registered);
    assert_eq!(lan.stations[0].poll_timeout(), None);
}

#[test]
fn a_name_is_defended_and_the_second_station_does_without_it() {
    let mut lan = Lan::pair();
    let second = NbfConfig::new(mac(3), vec![unique("SERVER<20>"), group("LAB<00>")]);
    lan.stations.push(Nbf::new(lan.now, second));
    lan.events.push(vec![]);
    lan.run(Span::from_secs(3));
    let refused = NbfEvent::NameRefused {
        name: name("SERVER<20>"),
        by: mac(1),
    };
    assert_eq!(
        lan.events[2],
        [refused, NbfEvent::NameRegistered(name("LAB<00>"))]
    );
    let defended = NbfEvent::NameDefended {
        name: name("SERVER<20>"),
        claimant: mac(3),
    };
    assert_eq!(lan.events[0], [defended]);
    // The first goes away: the second has the name within a minute.
    lan.unplugged.push(0);
    lan.run(Span::from_secs(65));
    assert!(lan.stations[2].owns(&name("SERVER<20>")));
}

#[test]
fn a_group_name_is_defended_against_one_that_wants_it_alone() {
    let mut lan = Lan::pair();
    lan.stations.push(Nbf::new(
        lan.now,
        NbfConfig::new(mac(3), vec![unique("LAB<00>")]),
    ));
    lan.events.push(vec![]);
    lan.run(Span::from_secs(3));
    assert!(matches!(lan.events[2][..], [NbfEvent::NameRefused { .. }]));
}

#[test]
fn a_conflict_costs_the_name_for_a_minute_and_no_session() {
    let mut lan = Lan::pair();
    let (client, server) = lan.call(1, 0, "SERVER<20>");
    let frame = NameFrame::new(
        NameCommand::NameInConflict,
        name("SERVER<20>"),
        name("X<00>"),
    );
    lan.stations[1].send_name(Mac::NETBIOS, &frame);
    lan.run(Span::from_secs(1));
    assert!(!lan.stations[0].owns(&name("SERVER<20>")));
    assert!(lan.events[0].contains(&NbfEvent::NameConflict {
        name: name("SERVER<20>"),
        by: mac(2),
    }));
    lan.stations[1]
        .send(lan.now, client, b"still".to_vec())
        .unwrap();
    lan.run(Span::from_secs(1));
    assert_eq!(lan.messages(0, server), [b"still"]);
    lan.run(Span::from_secs(65));
    assert!(lan.stations[0].owns(&name("SERVER<20>")));
}

#[test]
fn datagrams_reach_the_owners_of_their_name_and_broadcasts_everybody() {
    let mut lan = Lan::pair();
    let source = name("CLIENT<00>");
    assert!(lan.stations[1].send_datagram(source, Some(name("LAB<00>")), b"to the group"));
    assert!(lan.stations[1].send_datagram(source, Some(name("OTHER<00>")), b"to nobody"));
    assert!(lan.stations[1].send_datagram(source, None, b"to all"));
    assert!(!lan.stations[1].send_datagram(source, None, &[0; MAX_DATAGRAM + 1]));
    lan.run(Span::from_secs(1));
    let datagram = |destination, data: &[u8]| NbfEvent::Datagram {
        from: mac(2),
        source,
        destination,
        data: data.to_vec(),
    };
    let wanted = [
        datagram(Some(name("LAB<00>")), b"to the group"),
        datagram(None, b"to all"),
    ];
    assert_eq!(lan.events[0], wanted);
}

#[test]
fn a_status_lists_the_names_of_a_station() {
    let mut lan = Lan::pair();
    lan.stations[1].query_status(name("SERVER<20>")).unwrap();
    lan.run(Span::from_secs(1));
    let [NbfEvent::Status { status, .. }] = &lan.events[1][..] else {
        panic!("{:?}", lan.events[1]);
    };
    assert_eq!(status.mac, mac(1));
    assert_eq!(
        status.names,
        [(name("SERVER<20>"), false), (name("LAB<00>"), true)]
    );
    assert_eq!((status.max_piece, status.max_datagram), (1482, 1453));
}

#[test]
fn a_flood_of_queries_gets_a_limited_number_of_replies() {
    let mut lan = Lan::pair();
    let mut suppressed = |from: u8, count: u64| {
        for _ in 0..count {
            let frame = NameFrame::new(NameCommand::NameQuery, name("SERVER<20>"), name("X<00>"));
            lan.stations[0].handle_name(lan.now, mac(from), &frame);
        }
        lan.stations[0].counters().suppressed
    };
    assert_eq!(suppressed(9, 2000), 1700, "one station gets 300 at once");
    assert_eq!(suppressed(8, 100), 1700, "which leaves others theirs");
    assert_eq!(suppressed(7, 300), 1900, "and all together 500 in a second");
}
