#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::expect_used,
    clippy::panic
)]

mod conflicts;
mod faults;
mod wins;

use super::*;
use alloc::vec;
use alloc::vec::Vec;
use coax_wire::nbt::name::NbName;
use coax_wire::nbt::name::Scope;
use coax_wire::nbt::ns::{
    AddrEntry, Claim, ClaimReply, Flags, MAX_DATAGRAM_LEN, NameFlags, Owners, Packet, Query,
    QueryKind, QueryReply, RCODE_ACTIVE, RCODE_CONFLICT,
};
use coax_wire::nbt::ns::{ClaimOp, Repr};
use coax_wire::time::{Span, Time};
use conflicts::{answer_check, conflict};
use core::net::{Ipv4Addr, SocketAddrV4};
use proptest::prelude::*;

const START: Time = Time(1_700_000_000_000_000_000);
const CLIENT: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, 99), 1025);

fn name(text: &str) -> NbName {
    text.parse().unwrap()
}

fn address(host: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, 0, host)
}

fn after(ms: u64) -> Time {
    START + Span::from_millis(ms)
}

fn config(computer: &str, host: u8) -> NameServiceConfig {
    let mut config =
        NameServiceConfig::file_server(name(computer), name("WORKGROUP"), false, address(host));
    config.first_id = u16::from(host) << 8;
    config
}

fn service(computer: &str, host: u8) -> NameService {
    NameService::new(START, config(computer, host)).unwrap()
}

/// A service with registered names and empty queues.
fn settled(computer: &str, host: u8) -> NameService {
    let mut service = service(computer, host);
    while let Some(due) = service.poll_timeout() {
        service.handle_timeout(due);
    }
    drain(&mut service);
    service
}

fn drain(service: &mut NameService) -> (Vec<Transmit>, Vec<Event>) {
    (
        core::iter::from_fn(|| service.poll_transmit()).collect(),
        core::iter::from_fn(|| service.poll_event()).collect(),
    )
}

/// The single reply to a client's packet.
fn ask(service: &mut NameService, packet: &Repr) -> Option<Vec<u8>> {
    service.handle_datagram(after(10_000), CLIENT, &packet.emit());
    let mut transmits = drain(service).0;
    assert!(transmits.len() <= 1);
    let transmit = transmits.pop()?;
    assert_eq!(transmit.to, Destination::Addr(CLIENT));
    Some(transmit.bytes)
}

fn query(text: &str, broadcast: bool, kind: QueryKind) -> Repr {
    let name = if text == "*" { NbName::ANY } else { name(text) };
    Repr::Query(Query {
        id: 7,
        broadcast,
        recursion_desired: kind == QueryKind::Addresses,
        kind,
        name: name.into(),
    })
}

fn claim(text: &str, host: u8, flags: u16) -> Repr {
    Repr::Claim(Claim {
        id: 9,
        op: ClaimOp::Register,
        broadcast: true,
        recursion_desired: true,
        name: name(text).into(),
        ttl_s: 300_000,
        entries: vec![AddrEntry {
            flags: NameFlags(flags),
            address: address(host),
        }],
    })
}

/// Services on one network in virtual time, each with its own start time.
struct Network {
    now: Time,
    nodes: Vec<(u8, NameService)>,
    events: Vec<(u8, Event)>,
    broadcasts: Vec<(u64, u16)>,
}

impl Network {
    fn new() -> Self {
        Self {
            now: START,
            nodes: Vec::new(),
            events: Vec::new(),
            broadcasts: Vec::new(),
        }
    }

    fn join(&mut self, computer: &str, host: u8) {
        let service = NameService::new(self.now, config(computer, host)).unwrap();
        self.nodes.push((host, service));
        self.deliver();
    }

    fn node(&mut self, host: u8) -> &mut NameService {
        let node = self.nodes.iter_mut().find(|(number, _)| *number == host);
        &mut node.unwrap().1
    }

    /// Delivers datagrams, broadcasts also to their sender, until the queues are empty.
    fn deliver(&mut self) {
        for _ in 0..1000 {
            let sent: Vec<(u8, Transmit)> = (self.nodes.iter_mut())
                .flat_map(|(host, node)| {
                    core::iter::from_fn(|| node.poll_transmit()).map(|transmit| (*host, transmit))
                })
                .collect();
            if sent.is_empty() {
                return self.collect_events();
            }
            for (from, transmit) in sent {
                self.carry(from, &transmit);
            }
        }
        panic!("the nodes send without end");
    }

    fn carry(&mut self, from: u8, transmit: &Transmit) {
        let source = SocketAddrV4::new(address(from), 137);
        if transmit.to == Destination::Broadcast {
            let flags = Packet::new(&transmit.bytes).unwrap().flags();
            self.broadcasts
                .push(((self.now - START).as_millis(), flags.0));
        }
        for (host, node) in &mut self.nodes {
            let here = SocketAddrV4::new(address(*host), 137);
            if matches!(transmit.to, Destination::Broadcast)
                || transmit.to == Destination::Addr(here)
            {
                node.handle_datagram(self.now, source, &transmit.bytes);
            }
        }
    }

    fn collect_events(&mut self) {
        for (host, node) in &mut self.nodes {
            let events = core::iter::from_fn(|| node.poll_event());
            self.events.extend(events.map(|event| (*host, event)));
        }
    }

    fn run_until(&mut self, end: Time) {
        let next =
            |nodes: &[(u8, NameService)]| nodes.iter().filter_map(|(_, n)| n.poll_timeout()).min();
        while let Some(due) = next(&self.nodes).filter(|due| *due <= end) {
            self.now = due;
            for (_, node) in &mut self.nodes {
                node.handle_timeout(due);
            }
            self.deliver();
        }
        self.now = end;
    }
}

#[test]
fn a_name_is_claimed_three_times_in_750_ms_and_then_announced() {
    let mut network = Network::new();
    network.join("TOWER", 1);
    network.run_until(after(5000));
    let expected = [(0, 0x2910), (250, 0x2910), (500, 0x2910), (750, 0x2810)];
    for (chunk, (ms, flags)) in network.broadcasts.chunks(3).zip(expected) {
        assert_eq!(chunk, [(ms, flags); 3]);
    }
    assert_eq!(network.broadcasts.len(), 12);
    for text in ["TOWER<00>", "TOWER<20>", "WORKGROUP<00>"] {
        assert!(network.node(1).owns(&name(text)));
        assert!(network.events.contains(&(1, Event::Registered(name(text)))));
    }
}

#[test]
fn the_first_claim_has_the_bytes_of_rfc_1002_section_4_2_2() {
    let (transmits, _) = drain(&mut service("TOWER", 1));
    let expected = b"\x01\x00\x29\x10\x00\x01\x00\x00\x00\x00\x00\x01\
        \x20FEEPFHEFFCCACACACACACACACACACAAA\x00\x00\x20\x00\x01\
        \xc0\x0c\x00\x20\x00\x01\x00\x04\x93\xe0\x00\x06\x00\x00\x0a\x00\x00\x01";
    assert_eq!(transmits[0].bytes, expected);
    assert_eq!(transmits[0].to, Destination::Broadcast);
    assert_eq!(transmits.len(), 3);
}

#[test]
fn the_owner_defends_its_name_against_a_latecomer() {
    let mut network = Network::new();
    network.join("TOWER", 9);
    network.run_until(after(2000));
    network.join("TOWER", 1);
    network.run_until(after(4000));
    let tower = name("TOWER<20>");
    assert!(network.node(9).owns(&tower));
    assert!(!network.node(1).owns(&tower));
    assert!(
        network.node(1).owns(&name("WORKGROUP")),
        "group names must be shared"
    );
    let claimant = address(1);
    let defended = Event::Defended {
        name: tower,
        claimant,
    };
    let refused = Event::Refused {
        name: tower,
        by: address(9),
    };
    assert!(network.events.contains(&(9, defended)));
    assert!(network.events.contains(&(1, refused)));
}

#[test]
fn of_two_that_claim_together_exactly_one_wins_whenever_they_start() {
    for lag in (0..=1000).step_by(50) {
        for (first, second) in [(1, 9), (9, 1)] {
            let mut network = Network::new();
            network.join("TOWER", first);
            network.run_until(after(lag));
            network.join("TOWER", second);
            network.run_until(after(lag + 2000));
            for text in ["TOWER<00>", "TOWER<20>"] {
                let owners = [1, 9].map(|host| network.node(host).owns(&name(text)));
                assert_eq!(
                    owners.iter().filter(|owns| **owns).count(),
                    1,
                    "{lag} {owners:?}"
                );
            }
        }
    }
}

#[test]
fn a_refused_name_is_claimed_again_and_won_when_its_owner_has_left() {
    let mut network = Network::new();
    network.join("TOWER", 9);
    network.run_until(after(2000));
    network.join("TOWER", 1);
    network.run_until(after(3000));
    let now = network.now;
    network.node(9).shutdown(now);
    network.run_until(after(5000));
    assert!(network.node(9).is_released());
    assert!(!network.node(1).owns(&name("TOWER<20>")));
    network.run_until(after(65_000));
    assert!(network.node(1).owns(&name("TOWER<20>")));
}

#[test]
fn shutdown_releases_every_name_three_times() {
    let mut service = settled("TOWER", 1);
    service.shutdown(after(5000));
    let mut releases = drain(&mut service).0;
    let asked = query("TOWER<20>", true, QueryKind::Addresses);
    assert_eq!(
        ask(&mut service, &asked),
        None,
        "the name must no longer be owned"
    );
    assert!(!service.owns(&name("TOWER<20>")));
    while let Some(due) = service.poll_timeout() {
        service.handle_timeout(due);
        releases.extend(core::iter::from_fn(|| service.poll_transmit()));
    }
    for release in &releases {
        assert_eq!(Packet::new(&release.bytes).unwrap().flags(), Flags(0x3010));
    }
    assert_eq!(releases.len(), 9);
    assert!(service.is_released());
    assert_eq!(
        service.poll_event(),
        Some(Event::Released(name("TOWER<00>")))
    );
}

#[test]
fn a_query_for_our_name_is_answered_with_our_addresses() {
    let mut config = config("TOWER", 1);
    config.addresses.push(address(2));
    let mut service = NameService::new(START, config).unwrap();
    service.handle_timeout(after(250));
    service.handle_timeout(after(500));
    let asked = query("TOWER<20>", true, QueryKind::Addresses);
    drain(&mut service);
    assert_eq!(
        ask(&mut service, &asked),
        None,
        "the name must not be owned yet"
    );
    service.handle_timeout(after(750));
    drain(&mut service);
    let expected = b"\x00\x07\x85\x00\x00\x00\x00\x01\x00\x00\x00\x00\
        \x20FEEPFHEFFCCACACACACACACACACACACA\x00\x00\x20\x00\x01\x00\x04\x93\xe0\
        \x00\x0c\x00\x00\x0a\x00\x00\x01\x00\x00\x0a\x00\x00\x02";
    assert_eq!(ask(&mut service, &asked).unwrap(), expected);
}

#[test]
fn a_group_answers_as_a_group_and_the_wildcard_as_a_node() {
    let mut service = settled("TOWER", 1);
    for (asked, group) in [("WORKGROUP<00>", true), ("*", false)] {
        let bytes = ask(&mut service, &query(asked, true, QueryKind::Addresses)).unwrap();
        let Ok(Repr::QueryReply(reply)) = Repr::parse(&bytes) else {
            panic!("{bytes:x?}")
        };
        let owner = reply.outcome.unwrap().entries[0];
        assert_eq!((owner.flags.is_group(), owner.address), (group, address(1)));
    }
}

#[test]
fn an_unknown_name_gets_a_no_when_asked_directly_and_silence_when_broadcast() {
    let mut service = settled("TOWER", 1);
    let broadcast = query("TOWEL<20>", true, QueryKind::Addresses);
    assert_eq!(ask(&mut service, &broadcast), None);
    let unicast = query("TOWEL<20>", false, QueryKind::Addresses);
    let bytes = ask(&mut service, &unicast).unwrap();
    assert_eq!(Packet::new(&bytes).unwrap().flags(), Flags(0x8583));
    let status = query("TOWEL<20>", false, QueryKind::NodeStatus);
    assert_eq!(ask(&mut service, &status), None);
}

#[test]
fn a_node_status_lists_every_name_and_its_fate() {
    let mut service = settled("TOWER", 1);
    service.handle_datagram(after(10_000), CLIENT, &conflict("TOWER<20>").emit());
    answer_check(&mut service, 50, 0);
    drain(&mut service);
    for asked in ["*", "TOWER<00>"] {
        let bytes = ask(&mut service, &query(asked, false, QueryKind::NodeStatus)).unwrap();
        assert!(bytes.len() <= MAX_DATAGRAM_LEN);
        let Ok(Repr::NodeStatus(status)) = Repr::parse(&bytes) else {
            panic!("{bytes:x?}")
        };
        let listed: Vec<_> = status.names.iter().map(|n| (n.name, n.flags.0)).collect();
        let expected = [
            (name("TOWER<00>"), 0x0400),
            (name("TOWER<20>"), 0x0c00),
            (name("WORKGROUP<00>"), 0x8400),
        ];
        assert_eq!(listed, expected);
    }
}

#[test]
fn the_largest_name_table_still_fits_a_datagram() {
    let mut config = config("TOWER", 1);
    let own = |suffix| OwnName::unique(name("TOWER").with_suffix(suffix));
    config.names = (0..20).map(own).collect();
    config.scope = Scope::new(
        &"label."
            .repeat(30)
            .trim_end_matches('.')
            .to_ascii_uppercase(),
    )
    .unwrap();
    let scope = config.scope.clone();
    let mut service = NameService::new(START, config).unwrap();
    while let Some(due) = service.poll_timeout() {
        service.handle_timeout(due);
    }
    drain(&mut service);
    let Repr::Query(mut asked) = query("*", false, QueryKind::NodeStatus) else {
        panic!()
    };
    asked.name.scope = scope;
    let bytes = ask(&mut service, &Repr::Query(asked)).unwrap();
    assert!((500..=MAX_DATAGRAM_LEN).contains(&bytes.len()));
}

#[test]
fn only_a_claim_that_excludes_us_is_refused() {
    let mut service = settled("TOWER", 1);
    let refused = [
        ("TOWER<20>", 0),
        ("TOWER<20>", 0x8000),
        ("WORKGROUP<00>", 0),
    ];
    for (text, flags) in refused {
        let bytes = ask(&mut service, &claim(text, 50, flags)).unwrap();
        assert_eq!(
            Packet::new(&bytes).unwrap().flags(),
            Flags(0xad86),
            "{text}"
        );
        assert_eq!(Packet::new(&bytes).unwrap().id(), 9);
    }
    assert_eq!(ask(&mut service, &claim("WORKGROUP<00>", 50, 0x8000)), None);
    assert_eq!(ask(&mut service, &claim("OTHER<20>", 50, 0)), None);
    assert_eq!(
        ask(&mut service, &claim("TOWER<20>", 1, 0)),
        None,
        "expected our own address"
    );
}

#[test]
fn another_scope_is_another_world() {
    let mut service = settled("TOWER", 1);
    let Repr::Query(mut asked) = query("TOWER<20>", true, QueryKind::Addresses) else {
        panic!()
    };
    asked.name.scope = Scope::new("lab").unwrap();
    assert_eq!(ask(&mut service, &Repr::Query(asked)), None);
    assert_eq!(service.counters().foreign_scope, 1);
}

#[test]
fn replies_within_a_second_are_bounded_and_malformed_datagrams_counted() {
    let mut config = config("TOWER", 1);
    config.replies_per_s = 10;
    let mut service = NameService::new(START, config).unwrap();
    for ms in [250, 500, 750] {
        service.handle_timeout(after(ms));
    }
    drain(&mut service);
    let asked = query("*", false, QueryKind::NodeStatus).emit();
    for _ in 0..100 {
        service.handle_datagram(after(2000), CLIENT, &asked);
    }
    assert_eq!(drain(&mut service).0.len(), 10);
    service.handle_datagram(after(3000), CLIENT, &asked);
    assert_eq!(drain(&mut service).0.len(), 1);
    service.handle_datagram(after(3000), CLIENT, &asked[..20]);
    let counters = service.counters();
    assert_eq!((counters.malformed, counters.dropped), (1, 90));
}

#[test]
fn no_reply_is_sent_to_an_address_that_is_not_a_host() {
    let mut service = settled("TOWER", 1);
    let asked = query("*", false, QueryKind::NodeStatus).emit();
    for from in [
        "255.255.255.255:137",
        "224.0.0.1:137",
        "0.0.0.0:137",
        "10.0.0.3:0",
    ] {
        service.handle_datagram(after(2000), from.parse().unwrap(), &asked);
        assert_eq!(service.poll_transmit(), None, "{from}");
    }
}

#[test]
fn a_configuration_that_cannot_work_is_refused() {
    let build = |change: fn(&mut NameServiceConfig)| {
        let mut config = config("TOWER", 1);
        change(&mut config);
        NameService::new(START, config).map(|_| ()).unwrap_err()
    };
    assert_eq!(build(|c| c.names.clear()), ConfigError::Names(0));
    assert_eq!(build(|c| c.addresses.clear()), ConfigError::Addresses(0));
    let twice = ConfigError::Duplicate(name("TOWER<00>"));
    assert_eq!(build(|c| c.names[2].name = c.names[0].name), twice);
}

proptest! {
    #[test]
    fn arbitrary_datagrams_never_panic_nor_flood(
        datagrams in prop::collection::vec((any::<Vec<u8>>(), any::<u16>()), 0..50),
    ) {
        let mut service = settled("TOWER", 1);
        for (bytes, flags) in datagrams {
            // A valid header and name, so that the parser does not reject the bytes at once.
            let mut packet = query("TOWER<20>", true, QueryKind::Addresses).emit();
            packet[2..4].copy_from_slice(&flags.to_be_bytes());
            packet.truncate(46);
            packet.extend(&bytes);
            service.handle_datagram(after(2000), CLIENT, &bytes);
            service.handle_datagram(after(2000), CLIENT, &packet);
            prop_assert!(drain(&mut service).0.len() <= 2);
        }
    }
}
