//! Walks a packet through the rules.

use super::{Chain, Fate, On, Packet, Place, Rule, Ruleset, Test, Verdict, ends};

/// Jumps within jumps. The kernel permits 16 (NFT_JUMP_STACK_SIZE).
const DEPTH_MAX: usize = 16;
/// Rules that are looked at for one packet, against jumps that multiply.
const STEPS_MAX: usize = 200_000;

/// What the rules do with a packet.
pub fn fate(rules: &Ruleset, packet: &Packet<'_>) -> Fate {
    let mut walk = Walk {
        rules,
        packet,
        steps: 0,
        accepted_perhaps: false,
        dropped_perhaps: None,
    };
    for chain in &rules.chains {
        let Some(base) = chain.base else { continue };
        walk.accepted_perhaps = false;
        let dropped = match walk.chain(chain, true, 0) {
            Flow::Dropped(place) => Some(place),
            Flow::GoesOn if base.drops => Some(place(chain, "policy drop")),
            Flow::Accepted | Flow::GoesOn => None,
        };
        match dropped {
            Some(place) if walk.accepted_perhaps => {
                walk.dropped_perhaps.get_or_insert(place);
            }
            Some(place) => return Fate::Dropped(place),
            None => {}
        }
    }
    match walk.dropped_perhaps {
        Some(place) => Fate::Perhaps(place),
        None => Fate::Arrives,
    }
}

fn place(chain: &Chain, rule: &str) -> Place {
    Place {
        table: chain.table.clone(),
        chain: chain.name.clone(),
        rule: rule.to_owned(),
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
    steps: usize,
    accepted_perhaps: bool,
    dropped_perhaps: Option<Place>,
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
                Verdict::Drop if certain => return Flow::Dropped(place(chain, &rule.text)),
                Verdict::Drop | Verdict::Unknown => self.doubt(chain, rule),
                Verdict::Return if certain => return Flow::GoesOn,
                Verdict::Return => {
                    // the rest of the chain may or may not be reached
                    let rest = self.rest(chain, rule, depth);
                    return self.perhaps(rest);
                }
                Verdict::Jump(to) | Verdict::Goto(to) => {
                    let flow = self.jump(chain, to, certain, depth);
                    match flow {
                        Flow::GoesOn if certain && matches!(rule.verdict, Verdict::Goto(_)) => {
                            return Flow::GoesOn;
                        }
                        Flow::GoesOn => {}
                        ended if certain => return ended,
                        ended => {
                            self.perhaps(ended);
                        }
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
        self.dropped_perhaps
            .get_or_insert_with(|| place(chain, &rule.text));
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
        On::Port(ranges) => {
            let has = |(first, last): &(u16, u16)| (*first..=*last).contains(&packet.port);
            sure(ranges.iter().any(has))
        }
        On::State(states) => {
            let new = |state: &String| state.eq_ignore_ascii_case("new");
            sure(states.iter().any(new))
        }
        On::Interface(names) => sure(
            names
                .iter()
                .any(|name| is_interface(name, packet.interface)),
        ),
        On::Source(ranges) => of_source(ranges, packet),
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

fn of_source(ranges: &[(std::net::Ipv4Addr, std::net::Ipv4Addr)], packet: &Packet<'_>) -> Match {
    let (first, last) = ends(packet.source);
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

fn is_interface(name: &str, interface: &str) -> bool {
    let prefix = name.strip_suffix(['+', '*']);
    prefix.map_or(name == interface, |prefix| interface.starts_with(prefix))
}
