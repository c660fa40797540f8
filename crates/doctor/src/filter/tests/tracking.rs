//! Packets that rules exempt from connection tracking.

use super::*;

const NOTRACK: &str = r#"{"notrack": null}"#;
const KNOWN: &str = r#"["established", "related", "new"]"#;
const UNTRACKED: &str = r#""untracked""#;

/// A chain with this rule at `hook` and this priority, and a chain at `then` that drops packets of other states.
fn rules(hook: &str, priority: i64, rule: &str, then: &str, states: &str) -> Ruleset {
    let accept = format!(
        r#"{{"match": {{"op": "in", "left": {{"ct": {{"key": "state"}}}}, "right": {states}}}}}, {{"accept": null}}"#
    );
    // The kernel's order counts, not that of the dump.
    let chains = [
        ("last", then, 0, "drop", accept.as_str()),
        ("first", hook, priority, "accept", rule),
    ];
    let objects = chains.map(|(name, hook, priority, policy, expr)| {
        format!(
            r#"{{"chain": {{"family": "ip", "table": "t", "name": "{name}", "type": "filter", "hook": "{hook}", "prio": {priority}, "policy": "{policy}"}}}},
            {{"rule": {{"family": "ip", "table": "t", "chain": "{name}", "expr": [{expr}]}}}}"#
        )
    });
    nft(&format!(r#"{{"nftables": [{}]}}"#, objects.join(","))).unwrap()
}

#[test]
fn a_packet_that_notrack_exempts_is_untracked_and_neither_new_nor_established() {
    for (priority, known, untracked) in [
        (-300, "policy drop", ""),
        (-201, "policy drop", ""),
        (-200, "? policy drop", "? policy drop"),
        (-199, "", "policy drop"),
    ] {
        for (states, expected) in [(KNOWN, known), (UNTRACKED, untracked)] {
            let arrives = rules("prerouting", priority, NOTRACK, "input", states);
            assert_eq!(dropped_by(&arrives, "tcp", 139), expected, "{priority}");
            let leaves = rules("output", priority, NOTRACK, "postrouting", states);
            assert_eq!(becomes(&leaves, &reply("tcp", 139)), expected, "{priority}");
        }
    }
}

#[test]
fn a_rule_exempts_only_the_packets_that_it_matches_and_perhaps_those_that_it_may_match() {
    let port = |port: u16| {
        format!(
            r#"{{"match": {{"op": "==", "left": {{"payload": {{"protocol": "tcp", "field": "dport"}}}}, "right": {port}}}}}, {NOTRACK}"#
        )
    };
    let of = |rule: &str| {
        let rules = rules("prerouting", -300, rule, "input", KNOWN);
        dropped_by(&rules, "tcp", 139)
    };
    assert_eq!(of(&port(139)), "policy drop");
    assert_eq!(of(&port(445)), "");
    assert_eq!(
        of(&format!(r#"{{"limit": {{}}}}, {NOTRACK}"#)),
        "? policy drop"
    );
    assert_eq!(
        of(&format!(r#"{NOTRACK}, {{"accept": null}}"#)),
        "policy drop"
    );
}

#[test]
fn a_reply_to_an_untracked_request_belongs_to_no_connection() {
    let leaves = |states| rules("prerouting", -300, NOTRACK, "output", states);
    let established = leaves(r#""established""#);
    for (protocol, port) in [("tcp", 139), ("udp", 137)] {
        let packet = reply(protocol, port);
        assert_eq!(becomes(&established, &packet), "policy drop", "{protocol}");
    }
    let packet = reply("tcp", 139);
    assert_eq!(becomes(&leaves(r#""invalid""#), &packet), "");
    assert_eq!(becomes(&leaves(r#""new""#), &reply("udp", 137)), "");
}

#[test]
fn rules_of_nat_do_not_see_untracked_packets() {
    let redirect = "*nat\n:PREROUTING ACCEPT [0:0]\n-A PREROUTING -p tcp -m tcp --dport 139 -j REDIRECT --to-ports 9\n";
    let raw = "*raw\n:PREROUTING ACCEPT [0:0]\n-A PREROUTING -j CT --notrack\n";
    assert!(dropped_by(&iptables(redirect), "tcp", 139).starts_with("> "));
    let both = format!("{redirect}{raw}");
    assert_eq!(dropped_by(&iptables(&both), "tcp", 139), "");
}

#[test]
fn iptables_exempts_packets_with_either_target() {
    for target in ["CT --notrack", "NOTRACK"] {
        let dump = |state: &str| {
            iptables(&format!(
                "*filter\n:INPUT DROP [0:0]\n-A INPUT -m conntrack --ctstate {state} -j ACCEPT\nCOMMIT\n\
                 *raw\n:PREROUTING ACCEPT [0:0]\n-A PREROUTING -p tcp -j {target}\nCOMMIT\n"
            ))
        };
        let known = dump("NEW,RELATED,ESTABLISHED");
        assert_eq!(dropped_by(&known, "tcp", 139), "policy drop", "{target}");
        assert_eq!(dropped_by(&known, "udp", 137), "", "{target}");
        assert_eq!(dropped_by(&dump("UNTRACKED"), "tcp", 139), "", "{target}");
    }
}
