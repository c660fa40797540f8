//! Names that two machines claim: conflicts, real and forged, and refusals.

use super::*;

pub(super) fn conflict(text: &str) -> Repr {
    Repr::ClaimReply(ClaimReply {
        id: 0x4242,
        op: ClaimOp::Register,
        recursion_desired: true,
        recursion_available: true,
        rcode: RCODE_CONFLICT,
        name: name(text).into(),
        ttl_s: 0,
        entries: vec![AddrEntry {
            flags: NameFlags(0),
            address: Ipv4Addr::UNSPECIFIED,
        }],
    })
}

/// Lets `host` answer the broadcast query that is waiting.
pub(super) fn answer_check(service: &mut NameService, host: u8, flags: u16) {
    let check = drain(service).0.pop().unwrap();
    assert_eq!(check.to, Destination::Broadcast);
    let Ok(Repr::Query(query)) = Repr::parse(&check.bytes) else {
        panic!("no query: {:x?}", check.bytes)
    };
    let reply = QueryReply {
        id: query.id,
        recursion_desired: true,
        recursion_available: false,
        name: query.name,
        outcome: Ok(Owners {
            truncated: false,
            ttl_s: 0,
            entries: vec![AddrEntry {
                flags: NameFlags(flags),
                address: address(host),
            }],
        }),
    };
    let from = SocketAddrV4::new(address(host), 137);
    service.handle_datagram(after(10_010), from, &Repr::QueryReply(reply).emit());
}

#[test]
fn a_name_in_conflict_is_reported_silent_and_later_claimed_again() {
    let mut service = settled("TOWER", 1);
    service.handle_datagram(after(10_000), CLIENT, &conflict("TOWER<20>").emit());
    answer_check(&mut service, 50, 0);
    let (name, by) = (name("TOWER<20>"), address(50));
    assert_eq!(service.poll_event(), Some(Event::Conflict { name, by }));
    assert!(!service.owns(&name));
    let asked = query("TOWER<20>", true, QueryKind::Addresses);
    assert_eq!(ask(&mut service, &asked), None);
    assert_eq!(service.poll_timeout(), Some(after(70_010)));
    service.handle_timeout(after(70_010));
    let (transmits, _) = drain(&mut service);
    let packet = Packet::new(&transmits[0].bytes).unwrap();
    assert_eq!(packet.flags(), Flags(0x2910));
    assert_eq!(packet.id(), 0x104, "a new transaction");
}

#[test]
fn a_forged_conflict_costs_three_queries_and_no_name() {
    let mut service = settled("TOWER", 1);
    let tower = name("TOWER<20>");
    let mut queries = 0;
    for ms in (10_000..14_000).step_by(10) {
        service.handle_timeout(after(ms));
        service.handle_datagram(after(ms), CLIENT, &conflict("TOWER<20>").emit());
        queries += drain(&mut service).0.len();
        assert!(service.owns(&tower));
    }
    assert_eq!(queries, 3);
    let mut service = settled("TOWER", 1);
    service.handle_datagram(after(10_000), CLIENT, &conflict("TOWER<20>").emit());
    // Our own answer to our own question is no other owner.
    answer_check(&mut service, 1, 0);
    while let Some(due) = service.poll_timeout() {
        service.handle_timeout(due);
    }
    let by = *CLIENT.ip();
    let events = drain(&mut service).1;
    assert_eq!(events, [Event::FalseConflict { name: tower, by }]);
    assert!(service.owns(&tower));
}

#[test]
fn a_refusal_counts_only_with_our_transaction() {
    let mut service = service("TOWER", 1);
    let Repr::ClaimReply(mut reply) = conflict("TOWER<20>") else {
        panic!()
    };
    reply.rcode = RCODE_ACTIVE;
    service.handle_datagram(START, CLIENT, &Repr::ClaimReply(reply.clone()).emit());
    assert_eq!(service.poll_event(), None);
    reply.id = 0x0101;
    service.handle_datagram(START, CLIENT, &Repr::ClaimReply(reply).emit());
    assert!(matches!(service.poll_event(), Some(Event::Refused { .. })));
}
