#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::expect_used,
    clippy::panic
)]

mod challenges;
mod limits;

use super::request::MAX_MEMBERS;
use super::*;
use crate::names::Destination;
use alloc::vec;
use alloc::vec::Vec;
use coax_wire::nbt::name::NbName;
use coax_wire::nbt::ns::{
    AddrEntry, ClaimOp, NameFlags, Owners, Query, QueryKind, QueryReply, RCODE_NAME, Repr,
};
use coax_wire::nbt::ns::{Claim, RCODE_ACTIVE, Wack};
use coax_wire::time::{Span, Time};
use core::net::{Ipv4Addr, SocketAddrV4};
use proptest::prelude::*;

const START: Time = Time(1_700_000_000_000_000_000);

fn name(text: &str) -> NbName {
    text.parse().unwrap()
}

fn host(n: u8) -> SocketAddrV4 {
    SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, n), 137)
}

fn after(s: u64) -> Time {
    START + Span::from_secs(s)
}

fn server() -> WinsServer {
    WinsServer::new(START, WinsConfig::default(), [])
}

fn claim(op: ClaimOp, text: &str, n: u8, flags: u16) -> Repr {
    Repr::Claim(Claim {
        id: 9,
        op,
        broadcast: false,
        recursion_desired: true,
        name: name(text).into(),
        ttl_s: 300_000,
        entries: vec![AddrEntry {
            flags: NameFlags(flags),
            address: *host(n).ip(),
        }],
    })
}

fn sent(server: &mut WinsServer) -> Vec<(Destination, Repr)> {
    core::iter::from_fn(|| server.poll_transmit())
        .map(|t| (t.to, Repr::parse(&t.bytes).unwrap()))
        .collect()
}

fn give(server: &mut WinsServer, now: Time, from: SocketAddrV4, packet: &Repr) -> Vec<Repr> {
    let bytes = packet.emit();
    assert!(server.wants(*from.ip(), &bytes));
    server.handle_datagram(now, from, &bytes);
    sent(server).into_iter().map(|(_, repr)| repr).collect()
}

/// The result code of the one reply.
fn code(replies: &[Repr]) -> u8 {
    match replies {
        [Repr::ClaimReply(reply)] => reply.rcode,
        other => panic!("{other:?}"),
    }
}

fn query(text: &str) -> Repr {
    Repr::Query(Query {
        id: 5,
        broadcast: false,
        recursion_desired: true,
        kind: QueryKind::Addresses,
        name: name(text).into(),
    })
}

fn asked(server: &mut WinsServer, now: Time, text: &str) -> Vec<Ipv4Addr> {
    match give(server, now, host(99), &query(text)).as_slice() {
        [Repr::QueryReply(reply)] => match &reply.outcome {
            Ok(owners) => owners.entries.iter().map(|e| e.address).collect(),
            Err(RCODE_NAME) => Vec::new(),
            Err(other) => panic!("{other}"),
        },
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_registration_is_granted_with_the_bytes_of_windows() {
    let mut server = server();
    let request = claim(ClaimOp::Register, "TOWER<20>", 1, 0x6000).emit();
    server.handle_datagram(START, host(1), &request);
    let reply = server.poll_transmit().unwrap();
    let expected = b"\x00\x09\xad\x80\x00\x00\x00\x01\x00\x00\x00\x00\
        \x20FEEPFHEFFCCACACACACACACACACACACA\x00\x00\x20\x00\x01\
        \x00\x04\x93\xe0\x00\x06\x60\x00\x0a\x00\x00\x01";
    assert_eq!(reply.bytes, expected);
    assert_eq!(asked(&mut server, START, "TOWER<20>"), [*host(1).ip()]);
    assert!(asked(&mut server, START, "TOWER<00>").is_empty());
    assert!(server.take_changed());
    assert!(!server.take_changed());
}

/// A server where host 1 owns TOWER<20> and host 2 wants it, and the query that the server sends to host 1.
fn challenged() -> (WinsServer, Query) {
    let mut server = server();
    let claim_of = |host| claim(ClaimOp::Register, "TOWER<20>", host, 0);
    give(&mut server, START, host(1), &claim_of(1));
    let challenge = challenge(&give(&mut server, START, host(2), &claim_of(2)));
    (server, challenge)
}

/// The replies to a claim of a name that another host owns: wait, and a query to that host.
fn challenge(replies: &[Repr]) -> Query {
    let [
        Repr::Wack(Wack {
            id: 9, ttl_s: 5, ..
        }),
        Repr::Query(challenge),
    ] = replies
    else {
        panic!("{replies:?}")
    };
    assert!(!challenge.recursion_desired && !challenge.broadcast);
    challenge.clone()
}

fn answer(challenge: &Query, outcome: Result<Owners, u8>) -> Repr {
    Repr::QueryReply(QueryReply {
        id: challenge.id,
        recursion_desired: true,
        recursion_available: false,
        name: challenge.name.clone(),
        outcome,
    })
}

#[test]
fn the_old_owner_is_challenged_and_keeps_its_name_if_it_answers() {
    let (mut server, challenge) = challenged();
    let owners = Owners {
        truncated: false,
        ttl_s: 0,
        entries: vec![AddrEntry {
            flags: NameFlags(0),
            address: *host(1).ip(),
        }],
    };
    let kept = answer(&challenge, Ok(owners));
    assert!(!server.wants(*host(3).ip(), &kept.emit()), "not challenged");
    let replies = give(&mut server, START, host(1), &kept);
    assert_eq!(code(&replies), RCODE_ACTIVE);
    assert_eq!(asked(&mut server, START, "TOWER<20>"), [*host(1).ip()]);
}

#[test]
fn an_owner_that_denies_its_name_loses_it() {
    let (mut server, challenge) = challenged();
    let denied = answer(&challenge, Err(RCODE_NAME));
    assert_eq!(code(&give(&mut server, START, host(1), &denied)), 0);
    assert_eq!(asked(&mut server, START, "TOWER<20>"), [*host(2).ip()]);
}

#[test]
fn a_silent_owner_is_asked_three_times_and_loses() {
    let mut server = server();
    give(
        &mut server,
        START,
        host(1),
        &claim(ClaimOp::Register, "TOWER<20>", 1, 0),
    );
    give(
        &mut server,
        START,
        host(2),
        &claim(ClaimOp::Register, "TOWER<20>", 2, 0),
    );
    let mut queries = 1;
    loop {
        let due = server.poll_timeout().unwrap();
        server.handle_timeout(due);
        match sent(&mut server).as_slice() {
            [(to, Repr::Query(_))] => {
                assert_eq!(*to, Destination::Addr(host(1)));
                queries += 1;
            }
            [(to, Repr::ClaimReply(reply))] => {
                assert_eq!((*to, reply.rcode), (Destination::Addr(host(2)), 0));
                assert_eq!((due - START).as_millis(), 1500);
                break;
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(queries, 3);
}

#[test]
fn groups_have_members_and_a_computer_cannot_take_their_name() {
    let mut server = server();
    for n in [1, 2] {
        let group = claim(ClaimOp::Register, "LAB<1e>", n, 0x8000);
        assert_eq!(code(&give(&mut server, START, host(n), &group)), 0);
        let controllers = claim(ClaimOp::Register, "LAB<1c>", n, 0x8000);
        assert_eq!(code(&give(&mut server, START, host(n), &controllers)), 0);
    }
    assert_eq!(asked(&mut server, START, "LAB<1e>"), [Ipv4Addr::BROADCAST]);
    assert_eq!(
        asked(&mut server, START, "LAB<1c>"),
        [*host(1).ip(), *host(2).ip()]
    );
    let unique = claim(ClaimOp::Register, "LAB<1e>", 3, 0);
    assert_eq!(
        code(&give(&mut server, START, host(3), &unique)),
        RCODE_ACTIVE
    );
    for n in 3..60 {
        give(
            &mut server,
            START,
            host(n),
            &claim(ClaimOp::Register, "LAB<1c>", n, 0x8000),
        );
    }
    assert_eq!(asked(&mut server, START, "LAB<1c>").len(), MAX_MEMBERS);
}

#[test]
fn a_local_masters_name_is_granted_to_all_and_kept_for_none() {
    let mut server = server();
    for n in [1, 2] {
        let master = claim(ClaimOp::Register, "LAB<1d>", n, 0);
        assert_eq!(code(&give(&mut server, START, host(n), &master)), 0);
    }
    assert!(asked(&mut server, START, "LAB<1d>").is_empty());
    for (n, domain) in [(1, "LAB<1b>"), (2, "HOME<1b>")] {
        give(
            &mut server,
            START,
            host(n),
            &claim(ClaimOp::Register, domain, n, 0),
        );
    }
    assert_eq!(asked(&mut server, START, "*<1b>").len(), 2);
}

#[test]
fn only_the_owner_at_its_own_address_releases_a_name() {
    let mut server = server();
    give(
        &mut server,
        START,
        host(1),
        &claim(ClaimOp::Register, "TOWER<20>", 1, 0),
    );
    let release = |server: &mut WinsServer, from: u8, n: u8| {
        let release = claim(ClaimOp::Release, "TOWER<20>", n, 0);
        code(&give(server, START, host(from), &release))
    };
    assert_eq!(release(&mut server, 2, 1), RCODE_ACTIVE, "sent by another");
    assert_eq!(release(&mut server, 2, 2), RCODE_ACTIVE, "not the owner");
    assert_eq!(release(&mut server, 1, 1), 0);
    assert_eq!(release(&mut server, 1, 1), 0, "gone already");
    let changes: Vec<WinsChange> = core::iter::from_fn(|| server.poll_event())
        .map(|event| event.change)
        .collect();
    assert_eq!(changes, [WinsChange::Add, WinsChange::Delete]);
    // A released name is granted without a challenge.
    let other = claim(ClaimOp::Register, "TOWER<20>", 2, 0);
    assert_eq!(code(&give(&mut server, START, host(2), &other)), 0);
}

#[test]
fn a_record_that_is_not_refreshed_expires_and_is_removed_in_the_end() {
    let mut server = server();
    give(
        &mut server,
        START,
        host(1),
        &claim(ClaimOp::Register, "TOWER<20>", 1, 0),
    );
    let day = 86_400;
    let refresh = claim(ClaimOp::Refresh, "TOWER<20>", 1, 0);
    assert_eq!(code(&give(&mut server, after(day), host(1), &refresh)), 0);
    assert_eq!(
        asked(&mut server, after(day + 299_999), "TOWER<20>").len(),
        1
    );
    assert!(asked(&mut server, after(day + 300_000), "TOWER<20>").is_empty());
    let mut states = Vec::new();
    for hours in 0..24 * 20 {
        server.handle_timeout(after(day + hours * 3600));
        let state = server.records().next().map(|(_, record)| record.state());
        if states.last() != Some(&state) {
            states.push(state);
        }
    }
    use RecordState::{Active, Released, Tombstone};
    assert_eq!(
        states,
        [Some(Active), Some(Released), Some(Tombstone), None]
    );
}

#[test]
fn times_to_live_are_within_the_configured_limits() {
    let mut server = server();
    for (asked_s, granted) in [
        (0, 518_400),
        (60, 21_600),
        (300_000, 300_000),
        (9_999_999, 518_400),
    ] {
        let Repr::Claim(mut request) = claim(ClaimOp::Register, "TOWER<20>", 1, 0) else {
            panic!()
        };
        request.ttl_s = asked_s;
        let replies = give(&mut server, START, host(1), &Repr::Claim(request));
        let [Repr::ClaimReply(reply)] = replies.as_slice() else {
            panic!()
        };
        assert_eq!(reply.ttl_s, granted);
    }
}

#[test]
fn a_host_with_two_addresses_has_both() {
    let mut server = server();
    let one = claim(ClaimOp::RegisterMultihomed, "TOWER<20>", 1, 0);
    let two = claim(ClaimOp::RegisterMultihomed, "TOWER<20>", 2, 0);
    give(&mut server, START, host(1), &one);
    let replies = give(&mut server, START, host(2), &two);
    let [_, Repr::Query(challenge)] = replies.as_slice() else {
        panic!("{replies:?}")
    };
    let entry = |n| AddrEntry {
        flags: NameFlags(0),
        address: *host(n).ip(),
    };
    let answer = QueryReply {
        id: challenge.id,
        recursion_desired: true,
        recursion_available: false,
        name: challenge.name.clone(),
        outcome: Ok(Owners {
            truncated: false,
            ttl_s: 0,
            entries: vec![entry(1), entry(2)],
        }),
    };
    assert_eq!(
        code(&give(
            &mut server,
            START,
            host(1),
            &Repr::QueryReply(answer)
        )),
        0
    );
    assert_eq!(asked(&mut server, START, "TOWER<20>").len(), 2);
}

#[test]
fn a_database_survives_being_written_and_read() {
    let mut server = server();
    for (text, n, flags) in [
        ("TOWER<20>", 1, 0x6000),
        ("LAB<1c>", 2, 0x8000),
        ("LAB<1c>", 3, 0x8000),
        ("A\"#B<03>", 4, 0x2000),
        ("OLD<20>", 5, 0),
    ] {
        give(
            &mut server,
            START,
            host(n),
            &claim(ClaimOp::Register, text, n, flags),
        );
    }
    give(
        &mut server,
        START,
        host(5),
        &claim(ClaimOp::Release, "OLD<20>", 5, 0),
    );
    let text = server.database();
    assert!(
        text.contains("\"TOWER#20\" 1700300000 10.0.0.1 64R\n"),
        "{text}"
    );
    let (records, bad) = parse_database(&text);
    assert_eq!(bad, []);
    let mut again = WinsServer::new(after(10), WinsConfig::default(), records);
    for asked_for in ["TOWER<20>", "LAB<1c>", "A\"#B<03>", "OLD<20>"] {
        assert_eq!(
            asked(&mut again, after(10), asked_for),
            asked(&mut server, after(10), asked_for),
            "{asked_for}"
        );
    }
    assert!(asked(&mut again, after(10), "OLD<20>").is_empty());
}

#[test]
fn a_static_record_cannot_be_taken_released_or_expire() {
    let (records, bad) =
        parse_database("VERSION 1 0\n\"PRINTER#20\" 0 10.0.0.9 44R\nrubbish\n\"X#2\" 0\n");
    let lines: Vec<usize> = bad.iter().map(|bad| bad.line).collect();
    assert_eq!(lines, [3, 4]);
    let mut server = WinsServer::new(START, WinsConfig::default(), records);
    let taken = claim(ClaimOp::Register, "PRINTER<20>", 1, 0);
    assert_eq!(
        code(&give(&mut server, START, host(1), &taken)),
        RCODE_ACTIVE
    );
    let released = claim(ClaimOp::Release, "PRINTER<20>", 9, 0);
    assert_eq!(
        code(&give(&mut server, START, host(9), &released)),
        RCODE_ACTIVE
    );
    server.handle_timeout(after(86_400 * 365 * 10));
    let now = after(86_400 * 365 * 10);
    assert_eq!(asked(&mut server, now, "PRINTER<20>"), [*host(9).ip()]);
}

#[test]
fn entries_of_lmhosts_are_not_kept_in_the_database() {
    let (mut records, _) =
        parse_database("\"PRINTER#20\" 0 10.0.0.9 44R\n\"OLD#20\" 0 10.0.0.8 44R\n");
    let mut entry = WinsRecord::new(RecordKind::Unique, NameFlags(0), START);
    entry.put(*host(8).ip(), None, START);
    records.push((name("OLD<20>"), entry.marked_lmhosts()));
    let mut server = WinsServer::new(START, WinsConfig::default(), records);
    assert!(server.take_changed(), "an older version kept the entry");
    assert_eq!(asked(&mut server, START, "OLD<20>"), [*host(8).ip()]);
    let text = server.database();
    assert!(
        text.contains("PRINTER#20") && !text.contains("OLD#20"),
        "{text}"
    );
}

#[test]
fn a_thousand_names_are_kept_and_more_than_the_limit_refused() {
    let mut server = WinsServer::new(
        START,
        WinsConfig {
            max_records: 1000,
            ..WinsConfig::default()
        },
        [],
    );
    let registered = (0..1005u32).filter(|n| {
        let claim = claim(
            ClaimOp::Register,
            &alloc::format!("N{n}<20>"),
            (n % 200) as u8 + 1,
            0,
        );
        let now = after(u64::from(*n));
        let from = host((n % 200) as u8 + 1);
        code(&give(&mut server, now, from, &claim)) == 0
    });
    assert_eq!(registered.count(), 1000);
    assert_eq!(asked(&mut server, after(2000), "N999<20>").len(), 1);
}

#[test]
fn broadcasts_node_status_and_queries_without_rd_are_not_for_the_server() {
    let server = server();
    let mut packet = Query {
        id: 1,
        broadcast: true,
        recursion_desired: true,
        kind: QueryKind::Addresses,
        name: name("TOWER<20>").into(),
    };
    let wants = |packet: &Query| server.wants(*host(1).ip(), &packet.emit());
    assert!(!wants(&packet));
    packet.broadcast = false;
    assert!(wants(&packet));
    packet.recursion_desired = false;
    assert!(!wants(&packet));
    packet.recursion_desired = true;
    packet.kind = QueryKind::NodeStatus;
    assert!(!wants(&packet));
}

proptest! {
    #[test]
    fn arbitrary_claims_never_panic_and_stay_within_the_limits(
        packets in prop::collection::vec((any::<u16>(), 0u8..6, any::<u16>(), any::<u32>(), any::<Vec<u8>>()), 0..80),
    ) {
        let mut server = WinsServer::new(
            START,
            WinsConfig { max_records: 3, ..WinsConfig::default() },
            [],
        );
        for (word, n, flags, ttl_s, rest) in packets {
            let Repr::Claim(mut request) = claim(ClaimOp::Register, "TOWER<20>", n, flags) else { panic!() };
            request.ttl_s = ttl_s;
            request.name.name.0[0] = n;
            let mut bytes = Repr::Claim(request).emit();
            bytes[2..4].copy_from_slice(&word.to_be_bytes());
            server.handle_datagram(START, host(n), &bytes);
            server.handle_datagram(START, host(n), &rest);
            server.handle_timeout(after(u64::from(ttl_s % 1000)));
            prop_assert!(server.records().count() <= 3);
            prop_assert!(sent(&mut server).len() <= 8);
        }
        let (records, bad) = parse_database(&server.database());
        prop_assert_eq!(bad, vec![]);
        prop_assert!(records.len() <= 3);
    }
}
