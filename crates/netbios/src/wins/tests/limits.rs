//! A full table, and one station that wants all of it.

use super::super::server::{MAX_CHALLENGES, MAX_PER_CLAIMANT, MAX_PER_STATION};
use super::*;
use coax_wire::nbt::ns::{RCODE_REFUSED, RCODE_SERVER};

#[test]
fn a_full_table_forgets_tombstones_and_released_names_before_it_refuses() {
    let mut server = limited(3);
    for (n, text) in [(1, "A<20>"), (2, "B<20>"), (3, "C<20>")] {
        assert_eq!(register(&mut server, after(0), n, text), 0);
    }
    assert_eq!(register(&mut server, after(0), 4, "D<20>"), RCODE_SERVER);
    // B becomes a tombstone after four days, A is released later, and C is refreshed.
    for (day, n, released) in [(1, 2, "B<20>"), (4, 2, "B<20>"), (6, 1, "A<20>")] {
        let now = after(day * 86_400);
        for (n, text) in [(1, "A<20>"), (3, "C<20>")] {
            give(
                &mut server,
                now,
                host(n),
                &claim(ClaimOp::Refresh, text, n, 0),
            );
        }
        let release = claim(ClaimOp::Release, released, n, 0);
        assert_eq!(code(&give(&mut server, now, host(n), &release)), 0);
        server.handle_timeout(now);
    }
    let now = after(6 * 86_400);
    let names = |server: &WinsServer| -> Vec<NbName> { server.records().map(|r| *r.0).collect() };
    assert_eq!(register(&mut server, now, 4, "D<20>"), 0);
    assert_eq!(
        names(&server),
        [name("A<20>"), name("C<20>"), name("D<20>")]
    );
    assert_eq!(register(&mut server, now, 5, "E<20>"), 0);
    assert_eq!(
        names(&server),
        [name("C<20>"), name("D<20>"), name("E<20>")]
    );
    assert_eq!(register(&mut server, now, 6, "F<20>"), RCODE_SERVER);
}

#[test]
fn one_station_cannot_fill_the_table() {
    let mut server = limited(4000);
    let granted = |server: &mut WinsServer, s: u64| {
        // The addresses that it claims are not its own.
        let names = (0..1500u32).filter(|n| {
            let claim = claim(
                ClaimOp::Register,
                &alloc::format!("N{n}<20>"),
                *n as u8 | 1,
                0,
            );
            code(&give(server, after(s + u64::from(*n)), host(1), &claim)) == 0
        });
        names.count()
    };
    assert_eq!(granted(&mut server, 0), MAX_PER_STATION);
    assert_eq!(register(&mut server, after(1500), 2, "HONEST<20>"), 0);
    assert_eq!(
        register(&mut server, after(1500), 1, "MORE<20>"),
        RCODE_REFUSED
    );
    // It goes on with the names that it has, and gets others for those that it gives up.
    let again = claim(ClaimOp::Register, "N0<20>", 1, 0);
    assert_eq!(code(&give(&mut server, after(1500), host(1), &again)), 0);
    let release = claim(ClaimOp::Release, "N0<20>", 1, 0);
    assert_eq!(code(&give(&mut server, after(1500), host(1), &release)), 0);
    assert_eq!(register(&mut server, after(1500), 1, "MORE<20>"), 0);
    assert_eq!(
        register(&mut server, after(1500), 1, "N0<20>"),
        RCODE_REFUSED
    );
}

/// How many of these names, which others have, a claimant is not refused at once.
fn wanted(server: &mut WinsServer, claimant: u8, names: core::ops::Range<usize>) -> usize {
    let is_asked = |n: &usize| {
        let wants = claim(ClaimOp::Register, &alloc::format!("N{n}<20>"), claimant, 0);
        let replies = give(server, after(1), host(claimant), &wants);
        !matches!(&replies[..], [Repr::ClaimReply(reply)] if reply.rcode == RCODE_SERVER)
    };
    names.filter(is_asked).count()
}

/// A server with 1,000 names of a machine that is silent.
fn with_owners() -> WinsServer {
    let records = (0..1000).map(|n| {
        let mut record = WinsRecord::new(RecordKind::Unique, NameFlags(0), START);
        record.put(Ipv4Addr::new(10, 1, 0, 1), Some(after(5000)), START);
        (name(&alloc::format!("N{n}<20>")), record)
    });
    WinsServer::new(START, WinsConfig::default(), records)
}

fn busy(server: &mut WinsServer) -> Vec<Ipv4Addr> {
    let events = core::iter::from_fn(|| server.poll_event());
    let busy = events.filter(|event| event.change == WinsChange::Busy);
    busy.flat_map(|event| event.addresses).collect()
}

#[test]
fn one_claimant_cannot_take_all_challenges() {
    let mut server = with_owners();
    assert_eq!(wanted(&mut server, 7, 0..300), MAX_PER_CLAIMANT);
    assert_eq!(wanted(&mut server, 8, 500..501), 1, "another is served");
    let refused = 300 - MAX_PER_CLAIMANT;
    assert_eq!(server.refused_challenges(), refused as u64);
    assert!(busy(&mut server).contains(host(7).ip()));
    // Its challenges end, and it goes on.
    for s in [1, 2, 3, 4] {
        server.handle_timeout(after(s));
    }
    sent(&mut server);
    assert_eq!(wanted(&mut server, 7, 400..500), MAX_PER_CLAIMANT);
}

#[test]
fn claimants_share_the_challenges_when_all_are_taken() {
    let mut server = with_owners();
    let full = MAX_CHALLENGES / MAX_PER_CLAIMANT;
    for n in 0..full {
        let names = n * 100..n * 100 + MAX_PER_CLAIMANT;
        assert_eq!(wanted(&mut server, n as u8 + 1, names), MAX_PER_CLAIMANT);
    }
    assert_eq!(server.challenges.len(), MAX_CHALLENGES);
    assert_eq!(server.refused_challenges(), 0);
    // A newcomer takes from those with the most, until it has as many as they.
    let newcomer = |c: &&super::super::pending::Challenge| c.claimant == host(20);
    wanted(&mut server, 20, 800..900);
    let own = server.challenges.iter().filter(newcomer).count();
    assert_eq!(own, MAX_CHALLENGES / (full + 1));
    assert_eq!(server.challenges.len(), MAX_CHALLENGES);
    let ended = busy(&mut server);
    assert!(ended.contains(host(1).ip()) && ended.contains(host(full as u8).ip()));
    // Each of the others is served too.
    assert_eq!(wanted(&mut server, 21, 900..901), 1);
}

/// Whether a claim of a name that another has is not refused at once.
fn is_challenged(server: &mut WinsServer, from: Ipv4Addr, n: usize) -> bool {
    let wants = claim(ClaimOp::Register, &alloc::format!("N{n}<20>"), 1, 0);
    let replies = give(server, after(1), SocketAddrV4::new(from, 137), &wants);
    !matches!(&replies[..], [Repr::ClaimReply(reply)] if reply.rcode == RCODE_SERVER)
}

#[test]
fn forged_addresses_of_one_network_do_not_keep_out_other_networks() {
    // One /24 in its whole length, many of one /16, and many of one /8.
    let floods: [fn(usize) -> Ipv4Addr; 3] = [
        |n| Ipv4Addr::new(172, 20, 5, n as u8),
        |n| Ipv4Addr::new(172, 20, n as u8, 7),
        |n| Ipv4Addr::new(172, n as u8, 9, 7),
    ];
    for forged in floods {
        let mut server = with_owners();
        for n in 0..600 {
            is_challenged(&mut server, forged(n), n);
        }
        assert_eq!(server.challenges.len(), MAX_CHALLENGES);
        let station = Ipv4Addr::new(192, 168, 1, 5);
        for n in 700..700 + MAX_PER_CLAIMANT {
            assert!(is_challenged(&mut server, station, n), "{n}");
        }
        // The flood goes on, and the station's challenges stay.
        for n in 800..1000 {
            is_challenged(&mut server, forged(n), n);
        }
        let own = |c: &&super::super::pending::Challenge| *c.claimant.ip() == station;
        assert_eq!(
            server.challenges.iter().filter(own).count(),
            MAX_PER_CLAIMANT
        );
        assert_eq!(server.challenges.len(), MAX_CHALLENGES);
    }
}

fn limited(max_records: usize) -> WinsServer {
    let config = WinsConfig {
        max_records,
        ..WinsConfig::default()
    };
    WinsServer::new(START, config, [])
}

/// The result code of a station's registration of a unique name.
fn register(server: &mut WinsServer, now: Time, n: u8, text: &str) -> u8 {
    code(&give(
        server,
        now,
        host(n),
        &claim(ClaimOp::Register, text, n, 0),
    ))
}
