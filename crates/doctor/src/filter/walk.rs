//! Walks a packet through the rules.

use super::{Chain, Fate, On, Packet, Place, Rule, Ruleset, Test, Verdict, ends};

/// Jumps within jumps. The kernel permits 16 (NFT_JUMP_STACK_SIZE).
const DEPTH_MAX: usize = 16;
/// Rules that are looked at for one packet, against jumps that multiply.
const STEPS_MAX: usize = 200_000;
/// Ports that clients choose (RFC 6056, section 3.2).
const CLIENT_PORTS: (u16, u16) = (1024, 65535);

/// What the rules do with a packet.
pub fn fate(rules: &Ruleset, packet: &Packet<'_>) -> Fate {
    let mut walk = Walk {
        rules,
        packet,
        base: "",
        steps: 0,
        accepted_perhaps: false,
        dropped_perhaps: None,
        redirected: None,
    };
    for chain in &rules.chains {
        let Some(base) = chain.base.filter(|base| base.leaves == packet.reply) else {
            continue;
        };
        walk.base = &chain.name;
        walk.accepted_perhaps = false;
        let dropped = match walk.chain(chain, true, 0) {
            Flow::Dropped(place) => Some(place),
            Flow::GoesOn if base.drops => Some(walk.place(chain, "policy drop")),
            Flow::Accepted | Flow::GoesOn => None,
        };
        match dropped {
            Some(place) if walk.accepted_perhaps || base.nat => {
                walk.dropped_perhaps.get_or_insert(place);
            }
            Some(place) => return Fate::Dropped(place),
            None => {}
        }
    }
    match (walk.dropped_perhaps, walk.redirected) {
        (Some(place), _) => Fate::Perhaps(place),
        (None, Some(place)) => Fate::Redirected(place),
        (None, None) => Fate::Arrives,
    }
}

/// How a chain was left.
enum Flow {
    /// Its end was reached, or a return.
    GoesOn,
    Accepted,
    Dropped(Place),
}

/// Whether a rule matches.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Match {
    No,
    Perhaps,
    Yes,
}

struct Walk<'a> {
    rules: &'a Ruleset,
    packet: &'a Packet<'a>,
    /// The chain where the packet entered.
    base: &'a str,
    steps: usize,
    accepted_perhaps: bool,
    dropped_perhaps: Option<Place>,
    redirected: Option<Place>,
}

impl Walk<'_> {
    /// Walks through a chain; `certain`: the packet really gets there.
    fn chain(&mut self, chain: &Chain, certain: bool, depth: usize) -> Flow {
        for rule in &chain.rules {
            self.steps = self.steps.saturating_add(1);
            if self.steps > STEPS_MAX {
                return Flow::GoesOn;
            }
            let certain = match matches(rule, self.packet) {
                Match::No => continue,
                Match::Perhaps => false,
                Match::Yes => certain,
            };
            match &rule.verdict {
                Verdict::Continue => {}
                Verdict::Accept if certain => return Flow::Accepted,
                Verdict::Accept => self.accepted_perhaps = true,
                Verdict::Drop if certain => return Flow::Dropped(self.place(chain, &rule.text)),
                Verdict::Drop | Verdict::Unknown => self.doubt(chain, rule),
                Verdict::Redirect if certain => return self.redirect(chain, rule),
                Verdict::Redirect => drop(self.redirect(chain, rule)),
                Verdict::Return if certain => return Flow::GoesOn,
                Verdict::Return => {
                    // the rest of the chain may or may not be reached
                    let rest = self.rest(chain, rule, depth);
                    return self.perhaps(rest);
                }
                Verdict::Jump(to) | Verdict::Goto(to) => {
                    let goes = matches!(rule.verdict, Verdict::Goto(_));
                    match (self.jump(chain, to, certain, depth), certain) {
                        (Flow::GoesOn, true) if !goes => {}
                        (flow, true) => return flow,
                        (flow, false) => drop(self.perhaps(flow)),
                    }
                }
            }
        }
        Flow::GoesOn
    }

    fn jump(&mut self, from: &Chain, to: &str, certain: bool, depth: usize) -> Flow {
        let mut chains = self.rules.chains.iter();
        let target = chains.find(|chain| chain.name == to && chain.table == from.table);
        match target.filter(|_| depth < DEPTH_MAX) {
            Some(target) => self.chain(target, certain, depth.saturating_add(1)),
            None => Flow::GoesOn,
        }
    }

    /// What the rules behind `rule` do.
    fn rest(&mut self, chain: &Chain, rule: &Rule, depth: usize) -> Flow {
        let mut rules = chain.rules.iter();
        rules.find(|other| std::ptr::eq(*other, rule));
        let rest = Chain {
            rules: rules.cloned().collect(),
            base: None,
            ..chain.clone()
        };
        match depth < DEPTH_MAX {
            true => self.chain(&rest, true, depth.saturating_add(1)),
            false => Flow::GoesOn,
        }
    }

    /// Takes an end that may not have been reached for what it is.
    fn perhaps(&mut self, flow: Flow) -> Flow {
        match flow {
            Flow::Accepted => self.accepted_perhaps = true,
            Flow::Dropped(place) => {
                self.dropped_perhaps.get_or_insert(place);
            }
            Flow::GoesOn => {}
        }
        Flow::GoesOn
    }

    fn doubt(&mut self, chain: &Chain, rule: &Rule) {
        let place = self.place(chain, &rule.text);
        self.dropped_perhaps.get_or_insert(place);
    }

    fn redirect(&mut self, chain: &Chain, rule: &Rule) -> Flow {
        let place = self.place(chain, &rule.text);
        self.redirected.get_or_insert(place);
        Flow::Accepted
    }

    fn place(&self, chain: &Chain, rule: &str) -> Place {
        Place {
            table: chain.table.clone(),
            chain: chain.name.clone(),
            base: self.base.to_owned(),
            rule: rule.to_owned(),
        }
    }
}

fn matches(rule: &Rule, packet: &Packet<'_>) -> Match {
    let tests = rule.tests.iter().map(|test| holds(test, packet));
    tests.min().unwrap_or(Match::Yes)
}

fn holds(test: &Test, packet: &Packet<'_>) -> Match {
    let sure = |is: bool| if is { Match::Yes } else { Match::No };
    let found = match &test.on {
        On::Protocol(names) => sure(names.iter().any(|name| is_protocol(name, packet.protocol))),
        On::Port(ranges) => of_ports(ranges, packet, packet.reply),
        On::SourcePort(ranges) => of_ports(ranges, packet, !packet.reply),
        On::EitherPort(ranges) => {
            of_ports(ranges, packet, true).max(of_ports(ranges, packet, false))
        }
        On::State(states) => {
            let state = state(packet);
            sure(states.iter().any(|known| known.eq_ignore_ascii_case(state)))
        }
        On::Interface(names) => sure(!packet.reply && is_one_of(names, packet.interface)),
        On::OutInterface(names) => sure(packet.reply && is_one_of(names, packet.interface)),
        On::Source(ranges) if packet.reply => of_server(ranges, packet),
        On::Source(ranges) => of_clients(ranges, packet),
        On::Destination(ranges) if packet.reply => of_clients(ranges, packet),
        On::Destination(ranges) => of_server(ranges, packet),
        On::ToLocal => sure(!packet.reply),
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

/// What connection tracking says of a packet. Announcements at UDP 138 reply to nothing.
fn state(packet: &Packet<'_>) -> &'static str {
    match (packet.reply, packet.protocol, packet.port) {
        (false, ..) | (true, "udp", 138) => "new",
        _ => "established",
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
fn of_server(ranges: &[(std::net::Ipv4Addr, std::net::Ipv4Addr)], packet: &Packet<'_>) -> Match {
    let has = |address| ranges.iter().any(|(a, b)| *a <= address && address <= *b);
    let own = has(packet.server.address);
    let both = packet.protocol == "udp" && !packet.reply;
    match (own, !both || has(packet.server.broadcast()) == own) {
        (true, true) => Match::Yes,
        (false, true) => Match::No,
        (_, false) => Match::Perhaps,
    }
}

fn of_clients(ranges: &[(std::net::Ipv4Addr, std::net::Ipv4Addr)], packet: &Packet<'_>) -> Match {
    let (first, last) = ends(packet.client);
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
