//! Reads what `nft -j list ruleset` prints (libnftables-json(5)).

use serde_json::Value;

use super::{Base, Chain, On, Rule, Ruleset, Test, Verdict, range_of};

/// The tables of a dump; `None` if it is none.
pub fn nft(text: &str) -> Option<Ruleset> {
    let dump: Value = serde_json::from_str(text).ok()?;
    let objects = dump.get("nftables")?.as_array()?;
    let of = |kind: &'static str| objects.iter().filter_map(move |object| object.get(kind));
    let sets: Vec<&Value> = of("set").collect();
    let mut chains: Vec<Chain> = of("chain").filter_map(chain).collect();
    for rule in of("rule") {
        let (Some(table), Some(name)) = (table(rule), word(rule, "chain")) else {
            continue;
        };
        let mut known = chains.iter_mut();
        if let Some(chain) = known.find(|chain| chain.table == table && chain.name == name) {
            chain
                .rules
                .extend(Reader { sets: &sets, table }.rules(rule));
        }
    }
    Some(Ruleset { chains })
}

fn word<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    object.get(key)?.as_str()
}

fn table(object: &Value) -> Option<String> {
    let (family, name) = (word(object, "family")?, word(object, "table")?);
    let for_ipv4 = matches!(family, "ip" | "inet" | "netdev");
    for_ipv4.then(|| format!("{family} {name}"))
}

/// Whether a table of the dump has flags.
pub fn has_flags(text: &str) -> bool {
    let dump: Option<Value> = serde_json::from_str(text).ok();
    let objects = dump
        .as_ref()
        .and_then(|dump| dump.get("nftables")?.as_array());
    let mut tables = objects.into_iter().flatten().filter_map(|o| o.get("table"));
    tables.any(|table| table.get("flags").is_some())
}

/// The tables that `nft list ruleset` says are dormant: the kernel skips their rules. As JSON, nft 1.0.6 prints a table's name
/// in place of its flags.
pub fn dormant(text: &str) -> Vec<String> {
    let (mut all, mut table) = (Vec::new(), "");
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("table ") {
            table = name.trim_end_matches([' ', '{']);
        } else if let Some(flags) = line.strip_prefix("\tflags ")
            && flags.split([',', ' ', ';']).any(|flag| flag == "dormant")
        {
            all.push(table.to_owned());
        }
    }
    all
}

fn chain(object: &Value) -> Option<Chain> {
    // rules of NAT see the first packet of a connection only, and no reply
    let leaves = match (word(object, "hook"), word(object, "type")) {
        (Some("input" | "prerouting" | "ingress"), Some("filter" | "nat")) => Some(false),
        (Some("output" | "postrouting" | "egress"), Some("filter" | "route")) => Some(true),
        _ => None,
    };
    Some(Chain {
        table: table(object)?,
        name: word(object, "name")?.to_owned(),
        base: leaves.map(|leaves| Base {
            drops: word(object, "policy") == Some("drop"),
            leaves,
            nat: word(object, "type") == Some("nat"),
        }),
        rules: Vec::new(),
    })
}

struct Reader<'a> {
    sets: &'a [&'a Value],
    table: String,
}

impl Reader<'_> {
    /// A rule of the dump; a verdict map is one rule for each of its entries.
    fn rules(&self, object: &Value) -> Vec<Rule> {
        let mut tests = Vec::new();
        let mut rules = Vec::new();
        let mut words = Vec::new();
        let expressions = object.get("expr").and_then(Value::as_array);
        for expression in expressions.into_iter().flatten() {
            let Some((kind, value)) = expression.as_object().and_then(|all| all.iter().next())
            else {
                continue;
            };
            match kind.as_str() {
                "match" => {
                    words.push(match_text(value));
                    tests.push(self.test(value));
                }
                "vmap" => rules.extend(self.map(value, &tests, &words)),
                // they stop nothing
                "counter" | "log" | "comment" | "mangle" | "notrack" | "meter" | "set" => {}
                "xt" if word(value, "type") == Some("target") => {
                    rules.push(rule(&tests, &words, "xt target", Verdict::Unknown));
                }
                "xt" if word(value, "name") == Some("comment") => {}
                "limit" | "quota" | "ct count" | "xt" => {
                    words.push(kind.clone());
                    tests.push(unknown());
                }
                _ => {
                    let verdict = verdict(kind, value);
                    rules.push(rule(&tests, &words, &verdict_text(kind, value), verdict));
                }
            }
        }
        rules
    }

    fn test(&self, value: &Value) -> Test {
        let negated = word(value, "op") == Some("!=");
        let comparable = matches!(word(value, "op"), Some("==" | "!=" | "in"));
        let (left, right) = (value.get("left"), value.get("right"));
        match (left, right, comparable) {
            (Some(left), Some(right), true) => Test {
                on: self.on(left, right),
                negated,
            },
            _ => unknown(),
        }
    }

    fn on(&self, left: &Value, right: &Value) -> On {
        let values = self.values(right);
        let texts = || values.iter().filter_map(text).collect();
        let known = match key(left).as_deref() {
            Some("meta l4proto" | "ip protocol") => On::Protocol(texts()),
            // the protocol that a header belongs to is part of the test
            Some("th dport" | "tcp dport" | "udp dport") => {
                On::Port(values.iter().filter_map(ports).collect())
            }
            Some("th sport" | "tcp sport" | "udp sport") => {
                On::SourcePort(values.iter().filter_map(ports).collect())
            }
            Some("ct state") => On::State(texts()),
            Some("meta iifname" | "meta iif") => On::Interface(texts()),
            Some("meta oifname" | "meta oif") => On::OutInterface(texts()),
            Some("ip saddr") => On::Source(values.iter().filter_map(addresses).collect()),
            Some("ip daddr") => On::Destination(values.iter().filter_map(addresses).collect()),
            Some("fib daddr type") => match values.iter().any(|value| value == "local") {
                true => On::ToLocal,
                false => On::Never,
            },
            Some("meta nfproto") if values.iter().all(|value| value == "ipv6") => On::Never,
            Some("meta nfproto") => On::Always,
            Some(other) if other.starts_with("ip6 ") || other.starts_with("icmp") => On::Never,
            _ => return On::Unknown,
        };
        let complete = match &known {
            On::Protocol(all) | On::State(all) => all.len() == values.len(),
            On::Interface(all) | On::OutInterface(all) => all.len() == values.len(),
            On::Port(all) | On::SourcePort(all) => all.len() == values.len(),
            On::Source(all) | On::Destination(all) => all.len() == values.len(),
            _ => true,
        };
        if complete { known } else { On::Unknown }
    }

    /// The values of the right side: one, a list, an anonymous set, or a named one.
    fn values(&self, right: &Value) -> Vec<Value> {
        if let Some(name) = right.as_str().and_then(|text| text.strip_prefix('@')) {
            let mut sets = self.sets.iter();
            let named = |set: &&&Value| {
                table(set).as_deref() == Some(&self.table) && word(set, "name") == Some(name)
            };
            let elements = sets.find(named).and_then(|set| set.get("elem"));
            return elements
                .and_then(Value::as_array)
                .cloned()
                .unwrap_or_default();
        }
        let list = right.as_array().or_else(|| right.get("set")?.as_array());
        match list {
            Some(list) => list.clone(),
            None => vec![right.clone()],
        }
    }

    fn map(&self, value: &Value, tests: &[Test], words: &[String]) -> Vec<Rule> {
        let key = value.get("key");
        let data = value.get("data").and_then(|data| data.get("set"));
        let (Some(left), Some(pairs)) = (key, data.and_then(Value::as_array)) else {
            return vec![rule(tests, words, "vmap", Verdict::Unknown)];
        };
        let pairs = pairs
            .iter()
            .filter_map(|pair| match pair.as_array()?.as_slice() {
                [value, action] => Some((value, action.as_object()?.iter().next()?)),
                _ => None,
            });
        let entry = |(right, (kind, value)): (&Value, (&String, &Value))| {
            let on = self.on(left, right);
            let own = Test { on, negated: false };
            let tests: Vec<Test> = tests.iter().cloned().chain([own]).collect();
            let name = self::key(left).unwrap_or_default();
            let text = format!("{name} {}: {}", shown(right), verdict_text(kind, value));
            rule(&tests, words, &text, verdict(kind, value))
        };
        pairs.map(entry).collect()
    }
}

fn unknown() -> Test {
    Test {
        on: On::Unknown,
        negated: false,
    }
}

/// A rule; tests of `tcp dport` also test the protocol.
fn rule(tests: &[Test], words: &[String], action: &str, verdict: Verdict) -> Rule {
    let mut tests = tests.to_vec();
    for protocol in ["tcp", "udp"] {
        let header = format!("{protocol} ");
        if words.iter().any(|word| word.starts_with(&header)) || action.starts_with(&header) {
            tests.push(Test {
                on: On::Protocol(vec![protocol.into()]),
                negated: false,
            });
        }
    }
    let words = words.iter().map(String::as_str).chain([action]);
    Rule {
        text: words.collect::<Vec<_>>().join(" "),
        tests,
        verdict,
    }
}

fn verdict(kind: &str, value: &Value) -> Verdict {
    let target = || word(value, "target").unwrap_or_default().to_owned();
    match kind {
        "accept" | "masquerade" | "snat" => Verdict::Accept,
        "dnat" | "redirect" => Verdict::Redirect,
        "drop" | "reject" => Verdict::Drop,
        "return" => Verdict::Return,
        "continue" => Verdict::Continue,
        "jump" => Verdict::Jump(target()),
        "goto" => Verdict::Goto(target()),
        _ => Verdict::Unknown,
    }
}

fn verdict_text(kind: &str, value: &Value) -> String {
    match word(value, "target") {
        Some(target) => format!("{kind} {target}"),
        None => kind.to_owned(),
    }
}

/// What is compared, as nft writes it: `tcp dport`.
fn key(left: &Value) -> Option<String> {
    let (kind, value) = left.as_object()?.iter().next()?;
    Some(match kind.as_str() {
        "payload" => format!("{} {}", word(value, "protocol")?, word(value, "field")?),
        "meta" | "ct" => format!("{kind} {}", word(value, "key")?),
        "fib" => {
            let flags = value.get("flags");
            let flags = flags.and_then(|flags| match flags.as_array() {
                Some(list) => list.first().and_then(Value::as_str),
                None => flags.as_str(),
            });
            format!("fib {} {}", flags?, word(value, "result")?)
        }
        _ => return None,
    })
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.starts_with('@') => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn ports(value: &Value) -> Option<(u16, u16)> {
    let port = |value: &Value| u16::try_from(value.as_u64()?).ok();
    match value
        .get("range")
        .and_then(Value::as_array)
        .map(Vec::as_slice)
    {
        Some([first, last]) => Some((port(first)?, port(last)?)),
        _ => port(value).map(|port| (port, port)),
    }
}

fn addresses(value: &Value) -> Option<(std::net::Ipv4Addr, std::net::Ipv4Addr)> {
    if let Some(prefix) = value.get("prefix") {
        let len = prefix.get("len")?.as_u64()?;
        return range_of(&format!("{}/{len}", word(prefix, "addr")?));
    }
    if let Some([first, last]) = value
        .get("range")
        .and_then(Value::as_array)
        .map(Vec::as_slice)
    {
        return Some((first.as_str()?.parse().ok()?, last.as_str()?.parse().ok()?));
    }
    range_of(value.as_str()?)
}

/// A condition as nft writes it, about.
fn match_text(value: &Value) -> String {
    let name = value.get("left").and_then(key).unwrap_or("…".into());
    let not = if word(value, "op") == Some("!=") {
        "!= "
    } else {
        ""
    };
    let right = value.get("right").map(shown).unwrap_or_default();
    format!("{name} {not}{right}")
}

fn shown(value: &Value) -> String {
    let list = value.as_array().or_else(|| value.get("set")?.as_array());
    if let Some(list) = list {
        let all: Vec<String> = list.iter().map(shown).collect();
        return format!("{{ {} }}", all.join(", "));
    }
    if let Some([first, last]) = value
        .get("range")
        .and_then(Value::as_array)
        .map(Vec::as_slice)
    {
        return format!("{}-{}", shown(first), shown(last));
    }
    if let Some(prefix) = value.get("prefix") {
        let len = prefix.get("len").map(Value::to_string);
        return format!(
            "{}/{}",
            word(prefix, "addr").unwrap_or_default(),
            len.unwrap_or_default()
        );
    }
    text(value).unwrap_or_else(|| value.as_str().unwrap_or("…").to_owned())
}
