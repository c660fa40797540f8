//! Reads what `iptables-save` prints.

use super::{Base, Chain, Net, On, Range, Rule, Ruleset, Test, Turn, Verdict, flags};

/// The priority of the table `raw` (NF_IP_PRI_RAW).
const RAW: i64 = -300;

/// Targets after which the next rule decides (iptables-extensions(8)).
const NOT_FINAL: [&str; 24] = [
    "ACCOUNT",
    "AUDIT",
    "CHECKSUM",
    "CLASSIFY",
    "CONNMARK",
    "CONNSECMARK",
    "CT",
    "DSCP",
    "ECN",
    "HL",
    "HMARK",
    "IDLETIMER",
    "LOG",
    "MARK",
    "NFLOG",
    "RATEEST",
    "SECMARK",
    "SET",
    "TCPMSS",
    "TCPOPTSTRIP",
    "TEE",
    "TOS",
    "TRACE",
    "TTL",
];

/// Matches that test something without any option.
const BARE_MATCHES: [&str; 3] = ["eui64", "rpfilter", "socket"];

/// The tables of a dump of `iptables-save`. Lines that make no sense are left out.
pub fn iptables(text: &str) -> Ruleset {
    tables("ip", text)
}

/// The tables of a dump of `ip6tables-save`.
pub fn ip6tables(text: &str) -> Ruleset {
    tables("ip6", text)
}

fn tables(family: &str, text: &str) -> Ruleset {
    let mut rules = Ruleset::default();
    let mut table = String::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix('*') {
            table = format!("{family} {name}");
        } else if let Some(declared) = line.strip_prefix(':') {
            let mut words = declared.split_whitespace();
            let name = words.next().unwrap_or_default();
            let policy = words.next().unwrap_or("-");
            rules.chains.push(Chain {
                table: table.clone(),
                name: name.to_owned(),
                base: base(&table, name, policy),
                ..Chain::default()
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

/// How packets enter a chain; `None` if they neither arrive nor leave there. Rules of NAT see the first packet of a connection
/// only, and no reply.
fn base(table: &str, chain: &str, policy: &str) -> Option<Base> {
    let (_, table) = table.split_once(' ')?;
    let leaves = match (table, chain) {
        ("raw" | "mangle" | "nat", "PREROUTING") => false,
        ("mangle" | "filter" | "security" | "nat", "INPUT") => false,
        ("raw" | "mangle" | "filter" | "security", "OUTPUT") => true,
        ("mangle", "POSTROUTING") => true,
        _ => return None,
    };
    Some(Base {
        drops: policy == "DROP",
        leaves,
        nat: table == "nat",
        turn: match table {
            "raw" => Turn::BeforeTracking(RAW),
            _ => Turn::AfterTracking,
        },
    })
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
            "--notrack" => rule.verdict = Verdict::Untrack,
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
        "NOTRACK" => Verdict::Untrack,
        "QUEUE" | "NFQUEUE" | "TPROXY" => Verdict::Unknown,
        name if NOT_FINAL.contains(&name) => Verdict::Continue,
        name => Verdict::Jump(name.to_owned()),
    }
}

/// A condition; `None` if the option is none, or belongs to the target.
fn test(option: &str, value: &str) -> Option<On> {
    let known = match option {
        "--syn" => tcp_flags("FIN,SYN,RST,ACK SYN"),
        "--tcp-flags" => tcp_flags(value),
        "--dport" | "--dports" => all(value, ports).map(On::Port),
        "--sport" | "--sports" => all(value, ports).map(On::SourcePort),
        "--ports" => all(value, ports).map(On::EitherPort),
        "-d" => all(value, range).map(On::Destination),
        "-s" => all(value, range).map(On::Source),
        "--src-range" => between(value).map(|range| On::Source(vec![range])),
        "--dst-range" => between(value).map(|range| On::Destination(vec![range])),
        "-m" if BARE_MATCHES.contains(&value) => None,
        // names of modules; `limit` and others then have options that are unknown
        "-m" | "--comment" | "--limit-burst" | "--mask" | "--rsource" | "--name" => return None,
        // options of targets
        "--reject-with" | "--log-prefix" | "--log-level" | "--nflog-prefix" | "--nflog-group"
        | "--set-xmark" | "--set-mark" | "--to-ports" | "--to-destination" | "--to-source"
        | "--to" | "--random" | "--random-fully" | "--persistent" => return None,
        _ => words_test(option, value),
    };
    Some(known.unwrap_or(On::Unknown))
}

/// A condition whose values are words.
fn words_test(option: &str, value: &str) -> Option<On> {
    let list = || value.split(',').map(|part| part.trim().to_owned());
    Some(match option {
        "-p" => On::Protocol(list().collect()),
        "--ctstate" | "--state" => On::State(list().collect()),
        "--ctdir" => On::Direction(list().collect()),
        "--pkt-type" => On::PacketType(list().collect()),
        "-i" => On::Interface(vec![value.to_owned()]),
        "-o" => On::OutInterface(vec![value.to_owned()]),
        "--dst-type" if list().any(|kind| kind == "LOCAL") => On::ToLocal,
        "--dst-type" => On::Never,
        _ => return None,
    })
}

/// All parts of a list; `None` if one of them makes no sense.
fn all<T>(value: &str, part: impl Fn(&str) -> Option<T>) -> Option<Vec<T>> {
    value.split(',').map(|text| part(text.trim())).collect()
}

fn range(text: &str) -> Option<Range> {
    Some(Net::parse(text)?.ends())
}

fn between(value: &str) -> Option<Range> {
    let (first, last) = value.split_once('-')?;
    Some((first.parse().ok()?, last.parse().ok()?))
}

/// `MASK FLAGS`: of the flags in the mask, these are set and no others.
fn tcp_flags(value: &str) -> Option<On> {
    let bits = |list: &str| {
        let names = all(list, flags::bit)?;
        Some(names.iter().fold(0, |all, bit| all | bit))
    };
    let (mask, set) = value.split_once(' ')?;
    Some(On::Flags {
        mask: bits(mask)?,
        values: vec![bits(set)?],
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
