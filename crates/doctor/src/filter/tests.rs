//! Rules as nft 1.0.6 and iptables 1.8.9 print them.
#![allow(clippy::unwrap_used, clippy::panic)]

mod matches;
mod tracking;

use std::net::{IpAddr, Ipv4Addr};

use super::*;

const LAN: Net = Net {
    address: IpAddr::V4(Ipv4Addr::new(192, 168, 1, 5)),
    prefix: 24,
};

fn packet(protocol: &str, port: u16) -> Packet<'_> {
    Packet {
        protocol,
        port,
        interface: "eth0",
        client: LAN,
        server: LAN,
        reply: false,
    }
}

fn reply(protocol: &str, port: u16) -> Packet<'_> {
    Packet {
        reply: true,
        ..packet(protocol, port)
    }
}

/// Rules of one chain `input` with this policy.
fn dump(policy: &str, rules: &str) -> Ruleset {
    let rules: Vec<String> = rules
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .map(|expr| {
            format!(r#"{{"rule": {{"family": "inet", "table": "filter", "chain": "input", "expr": [{expr}]}}}}"#)
        })
        .collect();
    let chain = format!(
        r#"{{"chain": {{"family": "inet", "table": "filter", "name": "input", "type": "filter", "hook": "input", "policy": "{policy}"}}}}"#
    );
    let set = r#"{"set": {"family": "inet", "name": "lan", "table": "filter", "elem": [{"prefix": {"addr": "192.168.0.0", "len": 16}}, {"range": ["10.0.0.1", "10.0.0.9"]}]}}"#;
    let all = [vec![set.to_owned(), chain], rules].concat().join(",");
    nft(&format!(r#"{{"nftables": [{all}]}}"#)).unwrap()
}

fn dropped_by(rules: &Ruleset, protocol: &str, port: u16) -> String {
    becomes(rules, &packet(protocol, port))
}

fn becomes(rules: &Ruleset, packet: &Packet<'_>) -> String {
    match fate(rules, packet) {
        Fate::Arrives => String::new(),
        Fate::Dropped(place) => place.rule,
        Fate::Perhaps { place, .. } => format!("? {}", place.rule),
        Fate::Redirected(place) => format!("> {}", place.rule),
    }
}

/// The dump of one table `ip t` with one chain of this type and hook.
fn chain(kind: &str, hook: &str, policy: &str, rules: &[&str]) -> Ruleset {
    let rules = rules.iter().map(|expr| {
        format!(r#"{{"rule": {{"family": "ip", "table": "t", "chain": "c", "expr": [{expr}]}}}}"#)
    });
    let chain = format!(
        r#"{{"chain": {{"family": "ip", "table": "t", "name": "c", "type": "{kind}", "hook": "{hook}", "policy": "{policy}"}}}}"#
    );
    let all: Vec<String> = [chain].into_iter().chain(rules).collect();
    nft(&format!(r#"{{"nftables": [{}]}}"#, all.join(","))).unwrap()
}

const STATE: &str = r#"{"vmap": {"key": {"ct": {"key": "state"}}, "data": {"set": [["invalid", {"drop": null}], ["established", {"accept": null}]]}}}
    {"match": {"op": "in", "left": {"ct": {"key": "state"}}, "right": ["established", "related"]}}, {"accept": null}
    {"match": {"op": "==", "left": {"meta": {"key": "iifname"}}, "right": "lo"}}, {"accept": null}"#;

#[test]
fn a_closed_table_drops_by_policy_and_a_rule_for_the_network_opens_it() {
    assert_eq!(dropped_by(&dump("drop", STATE), "tcp", 139), "policy drop");
    assert_eq!(dropped_by(&dump("accept", STATE), "tcp", 139), "");
    for (rule, fate) in [
        (
            r#"{"match": {"op": "==", "left": {"payload": {"protocol": "tcp", "field": "dport"}}, "right": {"set": [{"range": [137, 139]}, 445]}}}, {"accept": null}"#,
            "",
        ),
        (
            r#"{"match": {"op": "==", "left": {"payload": {"protocol": "udp", "field": "dport"}}, "right": 139}}, {"accept": null}"#,
            "policy drop",
        ),
        (
            r#"{"match": {"op": "==", "left": {"payload": {"protocol": "ip", "field": "saddr"}}, "right": "@lan"}}, {"accept": null}"#,
            "",
        ),
        (
            r#"{"match": {"op": "==", "left": {"payload": {"protocol": "ip", "field": "saddr"}}, "right": "192.168.1.77"}}, {"accept": null}"#,
            "? policy drop",
        ),
        (
            r#"{"match": {"op": "==", "left": {"payload": {"protocol": "ip", "field": "saddr"}}, "right": {"prefix": {"addr": "10.0.0.0", "len": 8}}}}, {"accept": null}"#,
            "policy drop",
        ),
        (
            r#"{"match": {"op": "==", "left": {"meta": {"key": "mark"}}, "right": 7}}, {"accept": null}"#,
            "? policy drop",
        ),
        (
            r#"{"limit": {"rate": 10}}, {"accept": null}"#,
            "? policy drop",
        ),
        (
            r#"{"match": {"op": "!=", "left": {"meta": {"key": "iif"}}, "right": "wan0"}}, {"accept": null}"#,
            "",
        ),
    ] {
        let rules = dump("drop", &format!("{STATE}\n{rule}"));
        assert_eq!(dropped_by(&rules, "tcp", 139), fate, "{rule}");
    }
}

#[test]
fn a_rule_that_drops_is_named() {
    let drop = r#"{"match": {"op": "==", "left": {"payload": {"protocol": "tcp", "field": "dport"}}, "right": 139}}, {"counter": {}}, {"reject": {"type": "tcp reset"}}"#;
    let rules = dump("accept", drop);
    assert_eq!(dropped_by(&rules, "tcp", 139), "tcp dport 139 reject");
    assert_eq!(dropped_by(&rules, "tcp", 445), "");
    assert_eq!(dropped_by(&rules, "udp", 139), "");
    let ports = r#"{"vmap": {"key": {"payload": {"protocol": "tcp", "field": "dport"}}, "data": {"set": [[22, {"accept": null}], [445, {"drop": null}]]}}}"#;
    let rules = dump("accept", ports);
    assert_eq!(dropped_by(&rules, "tcp", 445), "tcp dport 445: drop");
    assert_eq!(dropped_by(&rules, "udp", 445), "");
}

#[test]
fn an_unknown_drop_is_a_doubt_and_other_families_do_not_count() {
    let rule = r#"{"xt": {"type": "match", "name": "recent"}}, {"drop": null}
        {"match": {"op": "==", "left": {"meta": {"key": "nfproto"}}, "right": "ipv6"}}, {"drop": null}"#;
    assert_eq!(dropped_by(&dump("accept", rule), "tcp", 139), "? xt drop");
    let other = r#"{"nftables": [{"chain": {"family": "ip6", "table": "f", "name": "i", "type": "filter", "hook": "input", "policy": "drop"}}]}"#;
    assert_eq!(dropped_by(&nft(other).unwrap(), "tcp", 139), "");
    assert_eq!(nft("{}"), None);
}

const UFW: &str = r#"# Generated by iptables-save v1.8.9 (nf_tables)
*filter
:INPUT DROP [0:0]
:ufw-before-input - [0:0]
:ufw-not-local - [0:0]
:ufw-after-input - [0:0]
:ufw-skip-to-policy-input - [0:0]
:ufw-user-input - [0:0]
-A INPUT -j ufw-before-input
-A INPUT -j ufw-after-input
-A ufw-before-input -i lo -j ACCEPT
-A ufw-before-input -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT
-A ufw-before-input -m conntrack --ctstate INVALID -j DROP
-A ufw-before-input -p udp -m udp --sport 67 --dport 68 -j ACCEPT
-A ufw-before-input -j ufw-not-local
-A ufw-before-input -j ufw-user-input
-A ufw-not-local -m addrtype --dst-type LOCAL -j RETURN
-A ufw-not-local -m addrtype --dst-type BROADCAST -j RETURN
-A ufw-not-local -m limit --limit 3/min --limit-burst 10 -j LOG --log-prefix "[UFW BLOCK] "
-A ufw-not-local -j DROP
-A ufw-after-input -p udp -m udp --dport 137 -j ufw-skip-to-policy-input
-A ufw-skip-to-policy-input -j DROP
USER
COMMIT
"#;

#[test]
fn ufw_drops_by_policy_until_a_rule_of_the_user_opens_a_port() {
    let closed = iptables(&UFW.replace("USER\n", ""));
    assert_eq!(dropped_by(&closed, "tcp", 139), "policy drop");
    assert_eq!(
        dropped_by(&closed, "udp", 137),
        "-A ufw-skip-to-policy-input -j DROP"
    );
    let rule = r#"-A ufw-user-input -s 192.168.0.0/16 -p tcp -m multiport --dports 137:139,445 -m comment --comment "my -j DROP" -j ACCEPT"#;
    let open = iptables(&UFW.replace("USER", rule));
    assert_eq!(dropped_by(&open, "tcp", 139), "");
    assert_eq!(dropped_by(&open, "tcp", 445), "");
    assert_eq!(dropped_by(&open, "tcp", 80), "policy drop");
    let not = iptables(&UFW.replace("USER", "-A ufw-user-input ! -i eth+ -j ACCEPT"));
    assert_eq!(dropped_by(&not, "tcp", 139), "policy drop");
}

#[test]
fn tables_that_iptables_knows_replace_those_of_nft() {
    let nft = nft(
        r#"{"nftables": [{"chain": {"family": "ip", "table": "filter", "name": "INPUT", "type": "filter", "hook": "input", "policy": "drop"}},
        {"chain": {"family": "inet", "table": "mine", "name": "i", "type": "filter", "hook": "input", "policy": "accept"}}]}"#,
    );
    let both = nft
        .unwrap()
        .with(iptables("*filter\n:INPUT ACCEPT [0:0]\nCOMMIT\n"));
    assert_eq!(both.chains.len(), 2);
    assert_eq!(dropped_by(&both, "tcp", 139), "");
}

#[test]
fn chains_that_iptables_does_not_know_stay() {
    let nft = nft(
        r#"{"nftables": [{"chain": {"family": "ip", "table": "filter", "name": "input", "type": "filter", "hook": "input", "policy": "drop"}}]}"#,
    );
    let both = nft
        .unwrap()
        .with(iptables("*filter\n:INPUT ACCEPT [0:0]\nCOMMIT\n"));
    assert_eq!(dropped_by(&both, "tcp", 139), "policy drop");
}

#[test]
fn replies_pass_the_chains_of_packets_that_leave() {
    let rule = |left: &str, right: &str, verdict: &str| {
        format!(
            r#"{{"match": {{"op": "==", "left": {left}, "right": {right}}}}}, {{"{verdict}": null}}"#
        )
    };
    let port = r#"{"payload": {"protocol": "tcp", "field": "sport"}}"#;
    let to = r#"{"payload": {"protocol": "ip", "field": "daddr"}}"#;
    let (by, state) = (r#"{"meta": {"key": "oif"}}"#, r#"{"ct": {"key": "state"}}"#);
    let known = r#"["established", "related"]"#;
    for (policy, rule, tcp, udp) in [
        (
            "drop",
            rule(by, r#""lo""#, "accept"),
            "policy drop",
            "policy drop",
        ),
        ("drop", rule(by, r#""eth*""#, "accept"), "", ""),
        ("drop", rule(state, known, "accept"), "", "policy drop"),
        (
            "drop",
            rule(to, r#""192.168.1.9""#, "accept"),
            "? policy drop",
            "? policy drop",
        ),
        (
            "accept",
            rule(port, "445", "drop"),
            "tcp sport 445 drop",
            "",
        ),
        ("accept", rule(port, "139", "drop"), "", ""),
        ("accept", rule(to, r#""10.0.0.1""#, "drop"), "", ""),
    ] {
        for kind in ["filter", "route"] {
            let rules = chain(kind, "output", policy, &[&rule]);
            assert_eq!(becomes(&rules, &reply("tcp", 445)), tcp, "{rule}");
            assert_eq!(becomes(&rules, &reply("udp", 138)), udp, "{rule}");
            assert_eq!(dropped_by(&rules, "tcp", 445), "", "{rule}");
        }
    }
    let own = rule(to, r#""192.168.1.5""#, "drop");
    let rules = chain("filter", "input", "accept", &[&own]);
    assert_eq!(dropped_by(&rules, "tcp", 445), "ip daddr 192.168.1.5 drop");
    assert_eq!(
        dropped_by(&rules, "udp", 137),
        "? ip daddr 192.168.1.5 drop"
    );
    assert_eq!(becomes(&rules, &reply("tcp", 445)), "");
    let rules = iptables(
        "*filter\n:INPUT ACCEPT [0:0]\n:OUTPUT DROP [0:0]\n-A OUTPUT -d 192.168.0.0/16 -o eth+ -p tcp -m tcp --sport 139 -j ACCEPT\n",
    );
    assert_eq!(becomes(&rules, &reply("tcp", 139)), "");
    assert_eq!(becomes(&rules, &reply("tcp", 445)), "policy drop");
    assert_eq!(dropped_by(&rules, "tcp", 445), "");
}

#[test]
fn rules_of_nat_redirect_or_drop_first_packets() {
    const PORT: &str = r#"{"match": {"op": "==", "left": {"payload": {"protocol": "tcp", "field": "dport"}}, "right": 445}}"#;
    for (action, fate) in [
        (
            r#"{"redirect": {"port": 4450}}"#,
            "> tcp dport 445 redirect",
        ),
        (r#"{"drop": null}"#, "? tcp dport 445 drop"),
    ] {
        let rules = chain(
            "nat",
            "prerouting",
            "accept",
            &[&format!("{PORT}, {action}")],
        );
        assert_eq!(dropped_by(&rules, "tcp", 445), fate);
        assert_eq!(dropped_by(&rules, "tcp", 139), "");
        assert_eq!(becomes(&rules, &reply("tcp", 445)), "");
    }
    let docker = "*nat\n:PREROUTING ACCEPT [0:0]\n:DOCKER - [0:0]\n-A PREROUTING -m addrtype --dst-type LOCAL -j DOCKER\n\
        -A DOCKER ! -i docker0 -p tcp -m tcp --dport 139 -j DNAT --to-destination 172.17.0.2:139\n";
    assert!(dropped_by(&iptables(docker), "tcp", 139).starts_with("> -A DOCKER"));
    assert_eq!(dropped_by(&iptables(docker), "tcp", 445), "");
}

#[test]
fn tables_that_sleep_drop_nothing() {
    // as nft 1.0.6 prints them
    let json = r#"{"nftables": [{"table": {"family": "inet", "name": "f", "handle": 1, "flags": "f"}},
        {"chain": {"family": "inet", "table": "f", "name": "input", "handle": 1, "type": "filter", "hook": "input", "prio": 0, "policy": "drop"}}]}"#;
    let rules = nft(json).unwrap();
    assert!(has_flags(json));
    assert!(!has_flags(&json.replace(r#", "flags": "f""#, "")));
    assert_eq!(dropped_by(&rules, "tcp", 139), "policy drop");
    for (flags, fate) in [
        ("dormant", ""),
        ("owner,dormant", ""),
        ("owner", "policy drop"),
    ] {
        let text = format!(
            "table inet f {{\n\tflags {flags}\n\n\tchain input {{\n\t\ttype filter hook input priority filter; policy drop;\n\t}}\n}}\n"
        );
        let rules = rules.clone().without(&dormant(&text));
        assert_eq!(dropped_by(&rules, "tcp", 139), fate, "{flags}");
    }
}

#[test]
fn chains_that_jump_to_themselves_end() {
    let text = "*filter\n:INPUT ACCEPT [0:0]\n:a - [0:0]\n-A INPUT -j a\n";
    let text = format!("{text}{}", "-A a -j a\n".repeat(40));
    assert_eq!(dropped_by(&iptables(&text), "tcp", 139), "? -A a -j a");
    let doubts = "-A INPUT -m x --x -j RETURN\n".repeat(60);
    let text = format!("*filter\n:INPUT ACCEPT [0:0]\n{doubts}");
    assert_eq!(dropped_by(&iptables(&text), "tcp", 139), "");
}

#[test]
fn networks_have_two_ends() {
    let range = |text: &str| {
        let (first, last) = Net::parse(text)?.ends();
        Some(format!("{first}-{last}"))
    };
    assert_eq!(
        range("10.0.0.0/8").as_deref(),
        Some("10.0.0.0-10.255.255.255")
    );
    assert_eq!(
        range("0.0.0.0/0").as_deref(),
        Some("0.0.0.0-255.255.255.255")
    );
    assert_eq!(range("10.1.2.3").as_deref(), Some("10.1.2.3-10.1.2.3"));
    assert_eq!(
        range("10.1.2.3/255.255.255.0").as_deref(),
        Some("10.1.2.0-10.1.2.255")
    );
    assert_eq!(
        range("fe80::1/10").as_deref(),
        Some("fe80::-febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff")
    );
    assert_eq!(range("::/0").unwrap().split('-').next(), Some("::"));
    for none in ["10.1.2.3/33", "::1/129", "::1/ffff::", "x"] {
        assert_eq!(range(none), None);
    }
}

proptest::proptest! {
    #[test]
    fn any_text_is_rules_or_none(text: String, words in proptest::collection::vec("[ -~]{0,12}", 0..20)) {
        let line = format!("*filter\n:INPUT DROP\n-A INPUT {}\n{text}", words.join(" "));
        let _ = fate(&iptables(&line), &packet("tcp", 139));
        let _ = nft(&text);
        let quoted = serde_json::to_string(&words).unwrap();
        for expr in [
            format!(r#"{{"match": {{"op": "==", "left": {quoted}, "right": {quoted}}}}}"#),
            format!(r#"{{"vmap": {{"key": {quoted}, "data": {{"set": {quoted}}}}}}}"#),
            format!(r#"{{"match": {{"op": "==", "left": {{"&": [{{"payload": {{"protocol": "tcp", "field": "flags"}}}}, {quoted}]}}, "right": {quoted}}}}}, {{"drop": null}}"#),
            format!(r#"{{"vmap": {{"key": {{"concat": {quoted}}}, "data": {{"set": [[{{"concat": {quoted}}}, {{"drop": null}}], ["*", {quoted}]]}}}}}}"#),
            format!(r#"{{"match": {{"op": "in", "left": {{"ct": {{"key": "state"}}}}, "right": {quoted}}}}}, {{"drop": null}}"#),
        ] {
            let _ = fate(&dump("drop", &expr), &packet("udp", 137));
            let _ = fate(&dump("drop", &expr), &matches::over_ipv6(445));
            let _ = fate(&chain("filter", "output", "drop", &[&expr]), &reply("udp", 137));
        }
    }
}
