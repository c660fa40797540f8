//! Whether a rule matches a packet.

use super::{On, Packet, Range, Rule, Test, Verdict, flags};

/// Ports that clients choose (RFC 6056, section 3.2).
const CLIENT_PORTS: (u16, u16) = (1024, 65535);

/// Whether a rule matches.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Match {
    No,
    Perhaps,
    Yes,
}

/// Whether coax does not understand a test or the verdict of a rule.
pub(super) fn is_not_understood(rule: &Rule) -> bool {
    rule.verdict == Verdict::Unknown || has_unknown(&rule.tests)
}

fn has_unknown(tests: &[Test]) -> bool {
    tests.iter().any(|test| match &test.on {
        On::Unknown => true,
        On::AnyOf(lists) => lists.iter().any(|tests| has_unknown(tests)),
        _ => false,
    })
}

/// Whether a rule matches a packet, for which connection tracking has one of these states.
pub(super) fn matches(rule: &Rule, packet: &Packet<'_>, states: &[&str]) -> Match {
    all_hold(&rule.tests, packet, states)
}

fn all_hold(tests: &[Test], packet: &Packet<'_>, states: &[&str]) -> Match {
    let tests = tests.iter().map(|test| holds(test, packet, states));
    tests.min().unwrap_or(Match::Yes)
}

fn holds(test: &Test, packet: &Packet<'_>, states: &[&str]) -> Match {
    let sure = |is: bool| if is { Match::Yes } else { Match::No };
    let found = match &test.on {
        On::Protocol(names) => sure(names.iter().any(|name| is_protocol(name, packet.protocol))),
        On::Port(ranges) => of_ports(ranges, packet, packet.reply),
        On::SourcePort(ranges) => of_ports(ranges, packet, !packet.reply),
        On::EitherPort(ranges) => {
            of_ports(ranges, packet, true).max(of_ports(ranges, packet, false))
        }
        On::Flags { mask, values } => sure(values.contains(&(flags_of(packet) & mask))),
        On::AnyFlag(mask) => sure(flags_of(packet) & mask != 0),
        On::State(names) => of_states(names, states),
        On::Direction(names) => match states {
            ["new"] => sure(is_any(names, "original")),
            ["established"] => sure(is_any(names, "reply")),
            // Without a connection nftables and iptables differ, and iptables depends on the other options.
            _ => Match::Perhaps,
        },
        On::PacketType(kinds) => of_kinds(kinds, packet),
        On::Interface(names) => sure(!packet.reply && is_one_of(names, packet.interface)),
        On::OutInterface(names) => sure(packet.reply && is_one_of(names, packet.interface)),
        On::Source(ranges) if packet.reply => of_server(ranges, packet),
        On::Source(ranges) => of_clients(ranges, packet),
        On::Destination(ranges) if packet.reply => of_clients(ranges, packet),
        On::Destination(ranges) => of_server(ranges, packet),
        On::ToLocal => sure(!packet.reply),
        On::Family(names) => sure(match packet.is_ipv6() {
            false => is_any(names, "ip") || is_any(names, "ipv4"),
            true => is_any(names, "ip6") || is_any(names, "ipv6"),
        }),
        On::AnyOf(lists) => {
            let lists = lists.iter().map(|tests| all_hold(tests, packet, states));
            lists.max().unwrap_or(Match::No)
        }
        On::Always => sure(true),
        On::Never => sure(false),
        On::Unknown => Match::Perhaps,
    };
    match (test.negated, found) {
        (true, Match::Yes) => Match::No,
        (true, Match::No) => Match::Yes,
        (_, found) => found,
    }
}

fn is_any(names: &[String], name: &str) -> bool {
    names.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// The TCP flags.
fn flags_of(packet: &Packet<'_>) -> u8 {
    match packet.reply {
        false => flags::SYN,
        true => flags::SYN | flags::ACK,
    }
}

/// How packets that arrive were addressed: over UDP also to the broadcast address. What the kernel says of packets that
/// leave depends on their way.
fn of_kinds(kinds: &[String], packet: &Packet<'_>) -> Match {
    let own = is_any(kinds, "unicast") || is_any(kinds, "host");
    let both = packet.protocol == "udp";
    match (own, is_any(kinds, "broadcast")) {
        _ if packet.reply => Match::Perhaps,
        (true, broadcast) if broadcast || !both => Match::Yes,
        (false, broadcast) if !broadcast || !both => Match::No,
        _ => Match::Perhaps,
    }
}

fn of_states(names: &[String], possible: &[&str]) -> Match {
    let is_wanted = |state: &&str| is_any(names, state);
    match (
        possible.iter().all(is_wanted),
        possible.iter().any(is_wanted),
    ) {
        (true, _) => Match::Yes,
        (false, true) => Match::Perhaps,
        (false, false) => Match::No,
    }
}

/// Compares the server's port, or the ports that clients may have.
fn of_ports(ranges: &[(u16, u16)], packet: &Packet<'_>, clients: bool) -> Match {
    let own = (packet.port, packet.port);
    let possible = match (clients, packet.protocol) {
        (false, _) => &[own][..],
        (true, "udp") => &[own, CLIENT_PORTS],
        (true, _) => &[CLIENT_PORTS],
    };
    let has = |wanted: &(u16, u16)| ranges.iter().any(|(a, b)| *a <= wanted.0 && wanted.1 <= *b);
    let meets = |wanted: &(u16, u16)| ranges.iter().any(|(a, b)| *a <= wanted.1 && wanted.0 <= *b);
    match (possible.iter().all(has), possible.iter().any(meets)) {
        (true, _) => Match::Yes,
        (false, true) => Match::Perhaps,
        (false, false) => Match::No,
    }
}

/// Compares the server's address. What clients send over UDP may go to the broadcast address too.
fn of_server(ranges: &[Range], packet: &Packet<'_>) -> Match {
    let has = |address| ranges.iter().any(|(a, b)| *a <= address && address <= *b);
    let own = has(packet.server.address);
    let both = packet.protocol == "udp" && !packet.reply;
    match (own, !both || has(packet.server.ends().1) == own) {
        (true, true) => Match::Yes,
        (false, true) => Match::No,
        (_, false) => Match::Perhaps,
    }
}

fn of_clients(ranges: &[Range], packet: &Packet<'_>) -> Match {
    let (first, last) = packet.client.ends();
    let has_all = ranges
        .iter()
        .any(|(from, to)| *from <= first && last <= *to);
    let has_some = ranges
        .iter()
        .any(|(from, to)| *from <= last && first <= *to);
    match (has_all, has_some) {
        (true, _) => Match::Yes,
        (false, true) => Match::Perhaps,
        (false, false) => Match::No,
    }
}

fn is_protocol(name: &str, protocol: &str) -> bool {
    let number = if protocol == "tcp" { "6" } else { "17" };
    name.eq_ignore_ascii_case(protocol) || name == number || name == "all"
}

fn is_one_of(names: &[String], interface: &str) -> bool {
    names.iter().any(|name| is_interface(name, interface))
}

fn is_interface(name: &str, interface: &str) -> bool {
    let prefix = name.strip_suffix(['+', '*']);
    prefix.map_or(name == interface, |prefix| interface.starts_with(prefix))
}
