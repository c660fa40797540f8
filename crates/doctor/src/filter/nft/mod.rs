//! Reads what `nft -j list ruleset` prints (libnftables-json(5)).

use std::cmp::Ordering;

use serde_json::Value;

mod json;
mod matches;
mod shown;

use super::{Base, Chain, Rule, Ruleset, Test, Turn, Verdict};
use json::{table, word};
use matches::{Sets, needs, unknown};
use shown::{key, match_text, shown, verdict_text};

/// The priority at which the kernel looks up the connection of a packet (NF_IP_PRI_CONNTRACK).
const TRACKING: i64 = -200;

/// The tables of a dump; `None` if it is none.
pub fn nft(text: &str) -> Option<Ruleset> {
    let dump: Value = serde_json::from_str(text).ok()?;
    let objects = dump.get("nftables")?.as_array()?;
    let of = |kind: &'static str| objects.iter().filter_map(move |object| object.get(kind));
    let sets: Vec<&Value> = of("set").chain(of("map")).collect();
    let mut chains: Vec<Chain> = of("chain").filter_map(chain).collect();
    for rule in of("rule") {
        let (Some(table), Some(name)) = (table(rule), word(rule, "chain")) else {
            continue;
        };
        let mut known = chains.iter_mut();
        if let Some(chain) = known.find(|chain| chain.table == table && chain.name == name) {
            let sets = Sets {
                all: &sets,
                table: &table,
            };
            chain.rules.extend(rules(&sets, rule));
        }
    }
    Some(Ruleset { chains })
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
            turn: turn(object),
        }),
        devices: devices(object),
        rules: Vec::new(),
    })
}

fn turn(chain: &Value) -> Turn {
    let priority = chain.get("prio").and_then(Value::as_i64);
    match (word(chain, "hook"), priority) {
        (Some("ingress"), _) => Turn::BeforeTracking(i64::MIN),
        (Some("prerouting" | "output"), Some(priority)) => match priority.cmp(&TRACKING) {
            Ordering::Less => Turn::BeforeTracking(priority),
            Ordering::Equal => Turn::WithTracking,
            Ordering::Greater => Turn::AfterTracking,
        },
        _ => Turn::AfterTracking,
    }
}

/// The interfaces of a chain of `ingress` or `egress`: one or a list.
fn devices(object: &Value) -> Vec<String> {
    let list = match object.get("dev") {
        Some(Value::Array(list)) => list.iter().collect(),
        other => Vec::from_iter(other),
    };
    let names = list.into_iter().filter_map(Value::as_str);
    names.map(ToOwned::to_owned).collect()
}

/// A rule of the dump; a verdict map is one rule for each of its entries.
fn rules(sets: &Sets<'_>, object: &Value) -> Vec<Rule> {
    let mut tests = Vec::new();
    let mut rules = Vec::new();
    let mut words = Vec::new();
    let expressions = object.get("expr").and_then(Value::as_array);
    for expression in expressions.into_iter().flatten() {
        let Some((kind, value)) = expression.as_object().and_then(|all| all.iter().next()) else {
            continue;
        };
        match kind.as_str() {
            "match" => {
                words.push(match_text(value));
                tests.extend(sets.tests(value));
            }
            "vmap" => rules.extend(map(sets, value, &tests, &words)),
            // they stop nothing
            "counter" | "log" | "comment" | "mangle" | "meter" | "set" | "map" | "ct helper"
            | "ct timeout" | "ct expectation" | "secmark" | "flow" | "dup" | "last" => {}
            "notrack" => rules.push(rule(&tests, &words, kind, Verdict::Untrack)),
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

/// The rules of a verdict map, which may be a named one. Its entry `*` is for what no other entry has.
fn map(sets: &Sets<'_>, value: &Value, tests: &[Test], words: &[String]) -> Vec<Rule> {
    let name = value.get("key").map(key).unwrap_or_default();
    let vague = |text: &str| rule(tests, words, text, Verdict::Unknown);
    let (Some(left), Some(pairs)) = (
        value.get("key"),
        value.get("data").and_then(|d| sets.elements(d)),
    ) else {
        return vec![vague(&format!("{name} vmap"))];
    };
    let pairs: Vec<Option<(Value, &Value)>> = pairs.iter().map(|pair| entry(pair)).collect();
    let is_rest = |value: &Value| value == "*";
    let named = pairs.iter().flatten().map(|(value, _)| value.clone());
    let named: Vec<Value> = named.filter(|value| !is_rest(value)).collect();
    let of = |pair: &Option<(Value, &Value)>| {
        let action = pair
            .as_ref()
            .and_then(|(_, action)| action.as_object()?.iter().next());
        let (Some((right, _)), Some((kind, value))) = (pair, action) else {
            return vague(&format!("{name} vmap"));
        };
        let on = match is_rest(right) {
            true => sets.on(left, "==", &named),
            false => sets.on(left, "==", std::slice::from_ref(right)),
        };
        let own = Test {
            on,
            negated: is_rest(right),
        };
        let tests = tests.iter().cloned().chain(needs(left)).chain([own]);
        let text = format!("{name} {}: {}", shown(right), verdict_text(kind, value));
        rule(
            &tests.collect::<Vec<_>>(),
            words,
            &text,
            verdict(kind, value),
        )
    };
    pairs.iter().map(of).collect()
}

/// Value and verdict of an entry.
fn entry(pair: &Value) -> Option<(Value, &Value)> {
    match pair.as_array()?.as_slice() {
        [value, action] => Some((matches::bare(value).clone(), action)),
        _ => None,
    }
}

fn rule(tests: &[Test], words: &[String], action: &str, verdict: Verdict) -> Rule {
    let words = words.iter().map(String::as_str).chain([action]);
    Rule {
        text: words.collect::<Vec<_>>().join(" "),
        tests: tests.to_vec(),
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
