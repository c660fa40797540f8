//! Walks a packet through the rules.

use super::{
    Base, Chain, Fate, Packet, Place, Rule, Ruleset, Turn, Verdict,
    holds::{Match, is_not_understood, matches},
    tracking::Tracking,
};

/// Jumps within jumps. The kernel permits 16 (NFT_JUMP_STACK_SIZE).
const DEPTH_MAX: usize = 16;
/// Rules that are looked at for one packet, against jumps that multiply.
const STEPS_MAX: usize = 200_000;

/// What the rules do with a packet.
pub fn fate(rules: &Ruleset, packet: &Packet<'_>) -> Fate {
    let request = Packet {
        reply: false,
        ..packet.clone()
    };
    let request_untracked = match packet.reply {
        true => untracked(rules, &request),
        false => Match::No,
    };
    let mut walk = Walk::new(rules, packet, request_untracked);
    for (chain, base) in bases(rules, packet) {
        // The kernel translates no untracked packet.
        if base.nat && walk.tracking.untracked == Match::Yes {
            continue;
        }
        let dropped = match walk.enter(chain, base) {
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
        (Some(place), _) => Fate::Perhaps {
            place,
            not_understood: walk.not_understood,
        },
        (None, Some(place)) => Fate::Redirected(place),
        (None, None) => Fate::Arrives,
    }
}

/// Whether rules exempt a packet from connection tracking.
fn untracked(rules: &Ruleset, packet: &Packet<'_>) -> Match {
    let mut walk = Walk::new(rules, packet, Match::No);
    for (chain, base) in bases(rules, packet) {
        if base.turn != Turn::AfterTracking {
            walk.enter(chain, base);
        }
    }
    walk.tracking.untracked
}

/// The chains where a packet enters the rules. Those before connection tracking are first: they change what the others see.
fn bases<'a>(rules: &'a Ruleset, packet: &Packet<'_>) -> Vec<(&'a Chain, Base)> {
    let chains = rules.chains.iter().filter(|chain| sees(chain, packet));
    let bases = chains.filter_map(|chain| Some((chain, chain.base?)));
    let mut bases: Vec<_> = bases
        .filter(|(_, base)| base.leaves == packet.reply)
        .collect();
    bases.sort_by_key(|(_, base)| base.turn);
    bases
}

/// Whether a chain sees packets of this interface and family of addresses.
fn sees(chain: &Chain, packet: &Packet<'_>) -> bool {
    let family = chain.table.split(' ').next();
    let is_other = match family {
        Some("ip") => packet.is_ipv6(),
        Some("ip6") => !packet.is_ipv6(),
        _ => false,
    };
    let mut devices = chain.devices.iter();
    !is_other && (chain.devices.is_empty() || devices.any(|device| device == packet.interface))
}

/// How a chain was left.
enum Flow {
    /// Its end was reached, or a return.
    GoesOn,
    Accepted,
    Dropped(Place),
}

struct Walk<'a> {
    rules: &'a Ruleset,
    packet: &'a Packet<'a>,
    /// The chain where the packet entered.
    base: &'a str,
    /// When that chain sees packets.
    turn: Turn,
    tracking: Tracking,
    /// The packet may not reach the rule that is looked at.
    in_doubt: bool,
    steps: usize,
    accepted_perhaps: bool,
    dropped_perhaps: Option<Place>,
    not_understood: Option<String>,
    redirected: Option<Place>,
}

impl<'a> Walk<'a> {
    fn new(rules: &'a Ruleset, packet: &'a Packet<'a>, request_untracked: Match) -> Self {
        Self {
            rules,
            packet,
            base: "",
            turn: Turn::AfterTracking,
            tracking: Tracking {
                untracked: Match::No,
                request_untracked,
            },
            in_doubt: false,
            steps: 0,
            accepted_perhaps: false,
            dropped_perhaps: None,
            not_understood: None,
            redirected: None,
        }
    }

    /// The packet enters the rules at this chain.
    fn enter(&mut self, chain: &'a Chain, base: Base) -> Flow {
        self.base = &chain.name;
        self.turn = base.turn;
        self.accepted_perhaps = false;
        self.chain(chain, 0)
    }

    /// Walks through a chain that the packet reaches.
    fn chain(&mut self, chain: &Chain, depth: usize) -> Flow {
        let mut may_have_left = false;
        for rule in &chain.rules {
            self.steps = self.steps.saturating_add(1);
            if self.steps > STEPS_MAX {
                self.give_up(chain, rule);
                return Flow::GoesOn;
            }
            let states = self.tracking.states(self.packet, self.turn);
            let found = matches(rule, self.packet, &states);
            if found == Match::No {
                continue;
            }
            if rule.verdict != Verdict::Continue && is_not_understood(rule) {
                self.not_understood.get_or_insert(rule.text.clone());
            }
            let before = self.in_doubt;
            self.in_doubt |= found != Match::Yes || may_have_left;
            let end = self.end(chain, rule, depth);
            self.in_doubt = before;
            match (end, found) {
                (None, _) => {}
                (Some(flow), Match::Yes) if !may_have_left => return flow,
                (Some(flow), Match::Yes) => return self.perhaps(flow),
                (Some(Flow::GoesOn), _) => may_have_left = true,
                (Some(flow), _) => drop(self.perhaps(flow)),
            }
        }
        Flow::GoesOn
    }

    /// How a rule that matches leaves its chain; `None`: the next rule follows.
    fn end(&mut self, chain: &Chain, rule: &Rule, depth: usize) -> Option<Flow> {
        match &rule.verdict {
            Verdict::Continue => None,
            Verdict::Untrack => {
                let sure = !self.in_doubt && !self.accepted_perhaps;
                self.tracking.untrack(self.turn, sure);
                None
            }
            Verdict::Accept => Some(Flow::Accepted),
            Verdict::Drop => Some(Flow::Dropped(self.place(chain, &rule.text))),
            Verdict::Redirect => {
                let place = self.place(chain, &rule.text);
                self.redirected.get_or_insert(place);
                Some(Flow::Accepted)
            }
            Verdict::Return => Some(Flow::GoesOn),
            Verdict::Goto(to) => Some(self.jump(chain, rule, to, depth)),
            Verdict::Jump(to) => match self.jump(chain, rule, to, depth) {
                Flow::GoesOn => None,
                flow => Some(flow),
            },
            Verdict::Unknown => {
                self.give_up(chain, rule);
                None
            }
        }
    }

    fn jump(&mut self, from: &Chain, rule: &Rule, to: &str, depth: usize) -> Flow {
        let mut chains = self.rules.chains.iter();
        let target = chains.find(|chain| chain.name == to && chain.table == from.table);
        match target.filter(|_| depth < DEPTH_MAX) {
            Some(target) => self.chain(target, depth.saturating_add(1)),
            None => {
                self.give_up(from, rule);
                Flow::GoesOn
            }
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

    /// What happens to the packet at this rule is not known.
    fn give_up(&mut self, chain: &Chain, rule: &Rule) {
        self.accepted_perhaps = true;
        self.not_understood.get_or_insert(rule.text.clone());
        let place = self.place(chain, &rule.text);
        self.dropped_perhaps.get_or_insert(place);
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
