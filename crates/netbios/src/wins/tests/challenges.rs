//! The challenge of an owner with two addresses.

use super::*;
use coax_wire::nbt::ns::RCODE_NAME;

/// A server where one machine owns TOWER<20> at hosts 1 and 2, and host 4 wants it; and the identifier of the queries.
fn challenged() -> (WinsServer, u16) {
    let mut server = server();
    let one = claim(ClaimOp::RegisterMultihomed, "TOWER<20>", 1, 0);
    give(&mut server, START, host(1), &one);
    let two = claim(ClaimOp::RegisterMultihomed, "TOWER<20>", 2, 0);
    let [_, Repr::Query(query)] = &give(&mut server, START, host(2), &two)[..] else {
        panic!("not challenged")
    };
    assert_eq!(code(&answer(&mut server, 1, query.id, Some(2))), 0);
    let thief = claim(ClaimOp::Register, "TOWER<20>", 4, 0);
    server.handle_datagram(START, host(4), &thief.emit());
    let sent = sent(&mut server);
    let [
        (_, Repr::Wack(_)),
        (first, Repr::Query(query)),
        (second, Repr::Query(_)),
    ] = &sent[..]
    else {
        panic!("{sent:?}")
    };
    let asked = [*first, *second];
    assert_eq!(asked, [host(1), host(2)].map(Destination::Addr));
    (server, query.id)
}

/// Host `n` answers a query: it has the name at its own address and at `other`, or it denies the name.
fn answer(server: &mut WinsServer, n: u8, id: u16, other: Option<u8>) -> Vec<Repr> {
    let entry = |n| AddrEntry {
        flags: NameFlags(0),
        address: *host(n).ip(),
    };
    let owners = |other| Owners {
        truncated: false,
        ttl_s: 0,
        entries: vec![entry(n), entry(other)],
    };
    let reply = QueryReply {
        id,
        recursion_desired: false,
        recursion_available: false,
        name: name("TOWER<20>").into(),
        outcome: other.map(owners).ok_or(RCODE_NAME),
    };
    give(server, START, host(n), &Repr::QueryReply(reply))
}

#[test]
fn the_second_address_keeps_the_name_while_the_first_is_silent() {
    let (mut server, id) = challenged();
    server.handle_timeout(after(1));
    assert_eq!(sent(&mut server).len(), 2, "both are asked again");
    assert_eq!(code(&answer(&mut server, 2, id, Some(1))), RCODE_ACTIVE);
    let kept = [*host(1).ip(), *host(2).ip()];
    assert_eq!(asked(&mut server, START, "TOWER<20>"), kept);
}

#[test]
fn one_address_that_denies_the_name_does_not_speak_for_the_other() {
    let (mut server, id) = challenged();
    assert_eq!(answer(&mut server, 1, id, None), []);
    assert_eq!(code(&answer(&mut server, 2, id, Some(1))), RCODE_ACTIVE);
    let (mut server, id) = challenged();
    assert_eq!(answer(&mut server, 1, id, None), []);
    assert_eq!(code(&answer(&mut server, 2, id, None)), 0);
    assert_eq!(asked(&mut server, START, "TOWER<20>"), [*host(4).ip()]);
}

#[test]
fn the_name_goes_to_the_next_when_all_addresses_are_silent() {
    let (mut server, _) = challenged();
    let mut replies = Vec::new();
    for _ in 0..10 {
        let due = server.poll_timeout().unwrap();
        server.handle_timeout(due);
        replies.extend(sent(&mut server));
        if let Some((_, Repr::ClaimReply(_))) = replies.last() {
            break;
        }
    }
    let queries = replies.iter().filter(|(_, r)| matches!(r, Repr::Query(_)));
    assert_eq!(queries.count(), 4, "two more for each address");
    assert_eq!(asked(&mut server, START, "TOWER<20>"), [*host(4).ip()]);
}

#[test]
fn an_address_that_expired_is_not_asked() {
    let mut record = WinsRecord::new(RecordKind::Unique, NameFlags(0), START);
    record.put(*host(1).ip(), Some(after(5)), START);
    record.put(*host(2).ip(), Some(after(500)), START);
    let records = [(name("TOWER<20>"), record)];
    let mut server = WinsServer::new(START, WinsConfig::default(), records);
    let thief = claim(ClaimOp::Register, "TOWER<20>", 4, 0);
    server.handle_datagram(after(10), host(4), &thief.emit());
    let queries = sent(&mut server)
        .into_iter()
        .filter(|(_, r)| matches!(r, Repr::Query(_)));
    let asked: Vec<Destination> = queries.map(|(to, _)| to).collect();
    assert_eq!(asked, [Destination::Addr(host(2))]);
}
