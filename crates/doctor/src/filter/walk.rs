//! Walks a packet through the rules.

use super::{
    Chain, Fate, Packet, Place, Rule, Ruleset, Verdict,
    holds::{Match, is_not_understood, matches},
};

/// Jumps within jumps. The kernel permits 16 (NFT_JUMP_STACK_SIZE).
const DEPTH_MAX: usize = 16;
/// Rules that are looked at for one packet, against jumps that multiply.
const STEPS_MAX: usize = 200_000;

/// What the rules do with a packet.
pub fn fate(rules: &Ruleset, packet: &Packet<'_>) -> Fate {
    let mut walk = Walk {
        rules,
        packet,
        base: "",
        steps: 0,
        accepted_perhaps: false,
        dropped_perhaps: None,
        not_understood: None,
        redirected: None,
    };
    for chain in &rules.chains {
        let Some(base) = chain.base.filter(|base| base.leaves == packet.reply) else {
            continue;
        };
        if !sees(chain, packet) {
            continue;
        }
        walk.base = &chain.name;
        walk.accepted_perhaps = false;
        let dropped = match walk.chain(chain, 0) {
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
    steps: usize,
    accepted_perhaps: bool,
    dropped_perhaps: Option<Place>,
    not_understood: Option<String>,
    redirected: Option<Place>,
}

impl Walk<'_> {
    /// Walks through a chain that the packet reaches.
    fn chain(&mut self, chain: &Chain, depth: usize) -> Flow {
        let mut may_have_left = false;
        for rule in &chain.rules {
            self.steps = self.steps.saturating_add(1);
            if self.steps > STEPS_MAX {
                self.give_up(chain, rule);
                return Flow::GoesOn;
            }
            let found = matches(rule, self.packet);
            if found == Match::No {
                continue;
            }
            if rule.verdict != Verdict::Continue && is_not_understood(rule) {
                self.not_understood.get_or_insert(rule.text.clone());
            }
            match (self.end(chain, rule, depth), found) {
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
