//! Conditions of nftables rules.

use serde_json::Value;

use super::{
    super::{Net, On, Range, Test, flags},
    json::{table, text, word},
};

/// The sets and maps of a dump, and the table of the rule that names them.
pub(super) struct Sets<'a> {
    pub(super) all: &'a [&'a Value],
    pub(super) table: &'a str,
}

pub(super) fn unknown() -> Test {
    Test {
        on: On::Unknown,
        negated: false,
    }
}

impl Sets<'_> {
    /// The tests of a match: what the header needs, and the comparison.
    pub(super) fn tests(&self, value: &Value) -> Vec<Test> {
        let sides = value.get("left").zip(value.get("right"));
        let (Some((left, right)), Some(op)) = (sides, word(value, "op")) else {
            return vec![unknown()];
        };
        let on = match (op, self.elements(right)) {
            ("==" | "!=" | "in" | "!", Some(values)) => {
                let values: Vec<Value> = values.iter().map(|value| bare(value).clone()).collect();
                self.on(left, op, &values)
            }
            ("<" | "<=" | ">" | ">=", _) => compared(left, op, right).unwrap_or(On::Unknown),
            _ => On::Unknown,
        };
        let negated = matches!(op, "!=" | "!");
        let mut tests = needs(left);
        tests.push(Test { on, negated });
        tests
    }

    /// The elements of the right side: one, a list, an anonymous set or map, or a named one. `None`: it is not in the dump.
    pub(super) fn elements(&self, right: &Value) -> Option<Vec<Value>> {
        if let Some(name) = right.as_str().and_then(|text| text.strip_prefix('@')) {
            let is_it = |set: &&&Value| {
                table(set).as_deref() == Some(self.table) && word(set, "name") == Some(name)
            };
            let set = self.all.iter().find(is_it)?;
            let elements = set.get("elem").and_then(Value::as_array);
            return Some(elements.cloned().unwrap_or_default());
        }
        let list = right.as_array().or_else(|| right.get("set")?.as_array());
        Some(list.cloned().unwrap_or_else(|| vec![right.clone()]))
    }

    /// What is looked at, and that it is one of `values`.
    pub(super) fn on(&self, left: &Value, op: &str, values: &[Value]) -> On {
        let Some(keys) = left.get("concat").and_then(Value::as_array) else {
            return one(left, op, values).unwrap_or(On::Unknown);
        };
        let parts = |value: &Value| match value.get("concat").and_then(Value::as_array) {
            Some(parts) if parts.len() == keys.len() => {
                let pairs = keys.iter().zip(parts);
                pairs.map(|(key, part)| self.part(key, part)).collect()
            }
            _ => vec![unknown()],
        };
        On::AnyOf(values.iter().map(parts).collect())
    }

    fn part(&self, key: &Value, value: &Value) -> Test {
        let on = one(key, "==", std::slice::from_ref(value));
        Test {
            on: on.unwrap_or(On::Unknown),
            negated: false,
        }
    }
}

/// What must be true of a packet that has these headers, even if the comparison is negated.
pub(super) fn needs(left: &Value) -> Vec<Test> {
    let parts = left.get("concat").or_else(|| left.get("&"));
    if let Some(parts) = parts.and_then(Value::as_array) {
        return parts.iter().flat_map(needs).collect();
    }
    let header = left.get("payload").and_then(|p| word(p, "protocol"));
    let on = match header {
        Some(family @ ("ip" | "ip6")) => On::Family(vec![family.into()]),
        None | Some("th" | "ether" | "vlan") => match left.get("tcp option") {
            Some(_) => On::Protocol(vec!["tcp".into()]),
            None => return Vec::new(),
        },
        Some(protocol) => On::Protocol(vec![protocol.into()]),
    };
    vec![Test { on, negated: false }]
}

fn one(left: &Value, op: &str, values: &[Value]) -> Option<On> {
    if let Some((plain, mask)) = flags_of(left) {
        return tcp_flags(plain, mask, op, values);
    }
    let key = key(left)?;
    if op == "!" && key != "ct state" {
        return None;
    }
    Some(match key.as_str() {
        "meta l4proto" | "ip protocol" | "ip6 nexthdr" => On::Protocol(all(values, text)?),
        "th dport" | "tcp dport" | "udp dport" => On::Port(all(values, ports)?),
        "th sport" | "tcp sport" | "udp sport" => On::SourcePort(all(values, ports)?),
        "ct state" => On::State(all(values, text)?),
        "ct direction" => On::Direction(all(values, text)?),
        "meta pkttype" => On::PacketType(all(values, text)?),
        "meta iifname" | "meta iif" => On::Interface(all(values, text)?),
        "meta oifname" | "meta oif" => On::OutInterface(all(values, text)?),
        "ip saddr" | "ip6 saddr" => On::Source(all(values, addresses)?),
        "ip daddr" | "ip6 daddr" => On::Destination(all(values, addresses)?),
        "meta nfproto" | "meta protocol" | "ether type" => On::Family(all(values, text)?),
        "fib daddr type" if values.iter().any(|value| value == "local") => On::ToLocal,
        "fib daddr type" => On::Never,
        // clients are in a network of the interface, so the way back to them exists
        "fib saddr oif" if values == [Value::Bool(false)] => On::Never,
        "fib saddr oif" if values == [Value::Bool(true)] => On::Always,
        _ => return None,
    })
}

/// All values; `None` if one of them makes no sense.
fn all<T>(values: &[Value], read: impl Fn(&Value) -> Option<T>) -> Option<Vec<T>> {
    values.iter().map(read).collect()
}

/// Whether these are TCP flags: all of them, or those of a mask.
fn flags_of(left: &Value) -> Option<(bool, u8)> {
    if key(left).as_deref() == Some("tcp flags") {
        return Some((true, u8::MAX));
    }
    match left.get("&")?.as_array()?.as_slice() {
        [flags, mask] if key(flags).as_deref() == Some("tcp flags") => Some((false, bits(mask)?)),
        _ => None,
    }
}

/// `tcp flags syn` and `tcp flags ! syn` look for one of the flags; other operators compare all of the mask.
fn tcp_flags(plain: bool, mask: u8, op: &str, values: &[Value]) -> Option<On> {
    let values = all(values, bits)?;
    match op {
        "in" | "!" if plain => Some(On::AnyFlag(values.iter().fold(0, |all, bit| all | bit))),
        "==" | "!=" => Some(On::Flags { mask, values }),
        _ => None,
    }
}

/// A flag, a number, or several flags.
fn bits(value: &Value) -> Option<u8> {
    match value {
        Value::String(name) => flags::bit(name),
        Value::Number(number) => u8::try_from(number.as_u64()?).ok(),
        Value::Array(list) => {
            let list = all(list, bits)?;
            Some(list.iter().fold(0, |all, bit| all | bit))
        }
        other => bits(other.get("|").filter(|list| list.is_array())?),
    }
}

/// `tcp dport < 1024` and the like.
fn compared(left: &Value, op: &str, right: &Value) -> Option<On> {
    let (port, _) = ports(right)?;
    let range = match op {
        "<" => (0, port.checked_sub(1)?),
        "<=" => (0, port),
        ">" => (port.checked_add(1)?, u16::MAX),
        _ => (port, u16::MAX),
    };
    match key(left)?.as_str() {
        "th dport" | "tcp dport" | "udp dport" => Some(On::Port(vec![range])),
        "th sport" | "tcp sport" | "udp sport" => Some(On::SourcePort(vec![range])),
        _ => None,
    }
}

/// An element without its counter, timeout or comment.
pub(super) fn bare(value: &Value) -> &Value {
    let inner = value.get("elem").and_then(|element| element.get("val"));
    inner.unwrap_or(value)
}

/// What is compared, as nft writes it: `tcp dport`.
pub(super) fn key(left: &Value) -> Option<String> {
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

fn addresses(value: &Value) -> Option<Range> {
    if let Some(prefix) = value.get("prefix") {
        let len = prefix.get("len")?.as_u64()?;
        return Some(Net::parse(&format!("{}/{len}", word(prefix, "addr")?))?.ends());
    }
    if let Some([first, last]) = value
        .get("range")
        .and_then(Value::as_array)
        .map(Vec::as_slice)
    {
        return Some((first.as_str()?.parse().ok()?, last.as_str()?.parse().ok()?));
    }
    Some(Net::parse(value.as_str()?)?.ends())
}
