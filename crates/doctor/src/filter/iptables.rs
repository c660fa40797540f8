//! Reads what `iptables-save` prints.

use super::{Base, Chain, On, Rule, Ruleset, Test, Verdict, range_of};

/// Targets after which the next rule decides (iptables-extensions(8)).
const NOT_FINAL: [&str; 17] = [
    "AUDIT",
    "CHECKSUM",
    "CLASSIFY",
    "CONNMARK",
    "CONNSECMARK",
    "CT",
    "DSCP",
    "HMARK",
    "LOG",
    "MARK",
    "NFLOG",
    "NOTRACK",
    "RATEEST",
    "SET",
    "TCPMSS",
    "TOS",
    "TTL",
];

/// The tables of a dump. Lines that make no sense are left out.
pub fn iptables(text: &str) -> Ruleset {
    let mut rules = Ruleset::default();
    let mut table = String::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix('*') {
            table = format!("ip {name}");
        } else if let Some(declared) = line.strip_prefix(':') {
            let mut words = declared.split_whitespace();
            let name = words.next().unwrap_or_default();
            let policy = words.next().unwrap_or("-");
            rules.chains.push(Chain {
                table: table.clone(),
                name: name.to_owned(),
                base: leaves(&table, name).map(|leaves| Base {
                    drops: policy == "DROP",
                    leaves,
                    nat: table == "ip nat",
                }),
                rules: Vec::new(),
            });
        } else if let Some((chain, rule)) = rule(line) {
            let mut chains = rules.chains.iter_mut();
            if let Some(chain) = chains.find(|c| c.table == table && c.name == chain) {
                chain.rules.push(rule);
            }
        }
    }
    rules
}

/// Whether packets leave this machine through a chain; `None` if they neither enter nor leave there. Rules of NAT see the first
/// packet of a connection only, and no reply.
fn leaves(table: &str, chain: &str) -> Option<bool> {
    match (table, chain) {
        ("ip raw" | "ip mangle" | "ip nat", "PREROUTING") => Some(false),
        ("ip mangle" | "ip filter" | "ip security" | "ip nat", "INPUT") => Some(false),
        ("ip raw" | "ip mangle" | "ip filter" | "ip security", "OUTPUT") => Some(true),
        ("ip mangle", "POSTROUTING") => Some(true),
        _ => None,
    }
}

/// `-A CHAIN …`: the chain and the rule.
fn rule(line: &str) -> Option<(String, Rule)> {
    let words = words(line.strip_prefix("-A ")?);
    let mut words = words.into_iter().peekable();
    let chain = words.next()?;
    let mut rule = Rule {
        text: line.to_owned(),
        ..Rule::default()
    };
    let mut negated = false;
    while let Some(word) = words.next() {
        if word == "!" {
            negated = true;
            continue;
        }
        let mut value = String::new();
        while let Some(next) = words.next_if(|next| next != "!" && !next.starts_with('-')) {
            if !value.is_empty() {
                value.push(' ');
            }
            value.push_str(&next);
        }
        match word.as_str() {
            "-j" => rule.verdict = target(&value),
            "-g" => rule.verdict = Verdict::Goto(value),
            _ => {
                if let Some(on) = test(&word, &value) {
                    rule.tests.push(Test { on, negated });
                }
            }
        }
        negated = false;
    }
    Some((chain, rule))
}

fn target(name: &str) -> Verdict {
    match name {
        "ACCEPT" | "MASQUERADE" | "SNAT" => Verdict::Accept,
        "DNAT" | "NETMAP" | "REDIRECT" => Verdict::Redirect,
        "DROP" | "REJECT" => Verdict::Drop,
        "RETURN" => Verdict::Return,
        "QUEUE" | "NFQUEUE" | "TPROXY" => Verdict::Unknown,
        name if NOT_FINAL.contains(&name) => Verdict::Continue,
        name => Verdict::Jump(name.to_owned()),
    }
}

/// A condition; `None` if the option is none, or belongs to the target.
fn test(option: &str, value: &str) -> Option<On> {
    let list = || value.split(',').map(|part| part.trim().to_owned());
    Some(match option {
        "-p" => On::Protocol(list().collect()),
        "--dport" | "--dports" => On::Port(list().filter_map(|part| ports(&part)).collect()),
        "--sport" | "--sports" => On::SourcePort(list().filter_map(|part| ports(&part)).collect()),
        "--ports" => On::EitherPort(list().filter_map(|part| ports(&part)).collect()),
        "--ctstate" | "--state" => On::State(list().collect()),
        "-i" => On::Interface(vec![value.to_owned()]),
        "-o" => On::OutInterface(vec![value.to_owned()]),
        "-d" => On::Destination(list().filter_map(|part| range_of(&part)).collect()),
        "-s" => On::Source(list().filter_map(|part| range_of(&part)).collect()),
        "--src-range" => {
            let (first, last) = value.split_once('-')?;
            On::Source(vec![(first.parse().ok()?, last.parse().ok()?)])
        }
        "--dst-type" if list().any(|kind| kind == "LOCAL") => On::ToLocal,
        "--dst-type" => On::Never,
        // names of modules; `limit` and others then have options that are unknown
        "-m" | "--comment" | "--limit-burst" | "--mask" | "--rsource" | "--name" => return None,
        // options of targets
        "--reject-with" | "--log-prefix" | "--log-level" | "--nflog-prefix" | "--nflog-group"
        | "--set-xmark" | "--set-mark" | "--to-ports" | "--to-destination" | "--to-source"
        | "--to" | "--random" | "--random-fully" | "--persistent" => {
            return None;
        }
        _ => On::Unknown,
    })
}

/// `139` or `137:139`.
fn ports(text: &str) -> Option<(u16, u16)> {
    match text.split_once(':') {
        Some((first, last)) => Some((first.parse().ok()?, last.parse().ok()?)),
        None => text.parse().ok().map(|port| (port, port)),
    }
}

/// Words, with `"…"` as one; a backslash takes the next character as it is.
fn words(line: &str) -> Vec<String> {
    let (mut all, mut word, mut quoted, mut any) = (Vec::new(), String::new(), false, false);
    let mut characters = line.chars();
    while let Some(c) = characters.next() {
        match c {
            '"' => (quoted, any) = (!quoted, true),
            '\\' => word.extend(characters.next()),
            c if c.is_whitespace() && !quoted => {
                if any || !word.is_empty() {
                    all.push(std::mem::take(&mut word));
                }
                any = false;
            }
            c => word.push(c),
        }
    }
    if any || !word.is_empty() {
        all.push(word);
    }
    all
}
