//! Flags, states, verdict maps and IPv6, as nft 1.0.6 and iptables 1.8.9 print them.

use super::*;

pub(super) fn over_ipv6(port: u16) -> Packet<'static> {
    let lan = Net::parse("fd00:1::5/64").unwrap();
    Packet {
        client: lan,
        server: lan,
        ..packet("tcp", port)
    }
}

/// The rule that is not understood.
fn not_understood(rules: &Ruleset, packet: &Packet<'_>) -> Option<String> {
    match fate(rules, packet) {
        Fate::Perhaps { not_understood, .. } => not_understood,
        _ => None,
    }
}

const FLAGS: &str = r#"{"payload": {"protocol": "tcp", "field": "flags"}}"#;

/// A rule with one match.
fn rule(op: &str, left: &str, right: &str, verdict: &str) -> String {
    format!(
        r#"{{"match": {{"op": "{op}", "left": {left}, "right": {right}}}}}, {{"{verdict}": null}}"#
    )
}

#[test]
fn tcp_flags_are_those_of_a_new_connection_and_of_its_answer() {
    let masked = |mask: &str| format!(r#"{{"&": [{FLAGS}, {mask}]}}"#);
    let of_four = masked(r#"["fin", "syn", "rst", "ack"]"#);
    let newer = masked(r#"{"|": [{"|": ["fin", "syn"]}, {"|": ["rst", "ack"]}]}"#);
    // `request`: the rule takes the first packet; `answer`: the first answer
    for (op, left, right, request, answer) in [
        ("in", FLAGS, r#""syn""#, true, true),
        ("!", FLAGS, r#""syn""#, false, false),
        ("in", FLAGS, r#"["ack", "rst"]"#, false, true),
        ("==", FLAGS, r#""syn""#, true, false),
        ("!=", FLAGS, r#""syn""#, false, true),
        ("==", FLAGS, r#"{"|": ["syn", "ack"]}"#, false, true),
        (
            "==",
            FLAGS,
            r#"{"set": [{"|": ["syn", "ack"]}, "syn"]}"#,
            true,
            true,
        ),
        ("==", &of_four, r#""syn""#, true, false),
        ("!=", &of_four, r#""syn""#, false, true),
        ("==", &newer, r#""syn""#, true, false),
        ("==", &masked(r#""fin""#), "0", true, true),
    ] {
        let rules = dump("accept", &rule(op, left, right, "drop"));
        assert_eq!(
            !dropped_by(&rules, "tcp", 139).is_empty(),
            request,
            "{op} {right}"
        );
        assert_eq!(dropped_by(&rules, "udp", 137), "", "{op} {right}");
        let rules = chain(
            "filter",
            "output",
            "accept",
            &[&rule(op, left, right, "drop")],
        );
        assert_eq!(
            !becomes(&rules, &reply("tcp", 139)).is_empty(),
            answer,
            "{op} {right}"
        );
    }
    let odd = rule("==", &masked(r#""xyz""#), r#""syn""#, "drop");
    let odd = dump("accept", &odd);
    assert!(dropped_by(&odd, "tcp", 139).starts_with("? tcp flags & xyz"));
    assert!(not_understood(&odd, &packet("tcp", 139)).is_some());
}

#[test]
fn options_of_iptables_for_flags_states_and_kinds_of_packets() {
    for (option, tcp, udp) in [
        ("-p tcp -m tcp --tcp-flags FIN,SYN,RST,ACK SYN", true, false),
        (
            "-p tcp -m tcp ! --tcp-flags FIN,SYN,RST,ACK SYN",
            false,
            false,
        ),
        ("-p tcp -m tcp --syn", true, false),
        (
            "-p tcp -m tcp --tcp-flags FIN,SYN,RST,PSH,ACK,URG NONE",
            false,
            false,
        ),
        ("-p tcp -m tcp --tcp-flags ALL SYN", true, false),
        (
            "-m conntrack --ctstate NEW,UNTRACKED --ctdir ORIGINAL",
            true,
            true,
        ),
        ("-m conntrack --ctstate NEW --ctdir REPLY", false, false),
        ("-m state --state NEW", true, true),
        ("-m pkttype --pkt-type unicast", true, false),
    ] {
        let rules = iptables(&format!(
            "*filter\n:INPUT ACCEPT\n-A INPUT {option} -j DROP\n"
        ));
        let is_dropped = |protocol| dropped_by(&rules, protocol, 137).starts_with("-A");
        assert_eq!(
            (is_dropped("tcp"), is_dropped("udp")),
            (tcp, udp),
            "{option}"
        );
    }
    for option in [
        "-p tcp -m tcp --tcp-flags SYN,XYZ SYN",
        "-p tcp -m tcp --dport smb",
        "-m iprange --src-range 10.0.0.1",
        "-s nowhere",
        "-m socket",
    ] {
        let line = format!("-A INPUT {option} -j DROP");
        let rules = iptables(&format!("*filter\n:INPUT ACCEPT\n{line}\n"));
        assert_eq!(dropped_by(&rules, "tcp", 139), format!("? {line}"));
        assert_eq!(not_understood(&rules, &packet("tcp", 139)), Some(line));
    }
}

#[test]
fn a_doubt_about_clients_is_none_about_the_rule() {
    let text = "*filter\n:INPUT ACCEPT\n-A INPUT -s 192.168.1.9/32 -j DROP\n";
    assert!(dropped_by(&iptables(text), "tcp", 139).starts_with("? "));
    assert_eq!(not_understood(&iptables(text), &packet("tcp", 139)), None);
    // a queue's program may let the packet in
    let queue = "*filter\n:INPUT DROP\n-A INPUT -j NFQUEUE --queue-num 5\n";
    assert!(dropped_by(&iptables(queue), "tcp", 139).starts_with("? "));
    let strange = "*filter\n:INPUT ACCEPT\n-A INPUT -j TARPIT\n";
    assert_eq!(
        dropped_by(&iptables(strange), "tcp", 139),
        "? -A INPUT -j TARPIT"
    );
}

#[test]
fn what_follows_a_return_in_a_chain_that_may_be_entered_does_not_count() {
    let text = "*filter\n:INPUT ACCEPT\n:a - [0:0]\n-A INPUT -s 192.168.1.9/32 -j a\n-A a -j RETURN\n-A a -j DROP\n";
    assert_eq!(dropped_by(&iptables(text), "tcp", 139), "");
    let doubtful = text.replace("-A a -j RETURN", "-A a -m x --x -j RETURN");
    assert_eq!(
        dropped_by(&iptables(&doubtful), "tcp", 139),
        "? -A a -j DROP"
    );
    let accepted = text.replace("-A a -j RETURN", "-A a -m x --x -j RETURN\n-A a -j ACCEPT");
    assert_eq!(dropped_by(&iptables(&accepted), "tcp", 139), "");
}

/// A table with named maps and sets, a chain `smb` that drops, and these rules.
fn with_maps(rules: &[String]) -> Ruleset {
    const MAPS: &str = r#"{"map": {"family": "inet", "name": "ports", "table": "f", "type": "inet_service", "map": "verdict", "elem": [[139, {"drop": null}], [445, {"jump": {"target": "smb"}}]]}},
        {"map": {"family": "inet", "name": "ifs", "table": "f", "type": "ifname", "map": "verdict", "flags": ["interval"], "elem": [["eth0", {"drop": null}], ["wl*", {"accept": null}]]}},
        {"map": {"family": "inet", "name": "from", "table": "f", "type": "ipv4_addr", "map": "verdict", "flags": ["interval"], "elem": [[{"range": ["10.0.0.1", "10.0.0.9"]}, {"accept": null}], [{"prefix": {"addr": "192.168.0.0", "len": 16}}, {"drop": null}]]}},
        {"map": {"family": "inet", "name": "both", "table": "f", "type": ["inet_service", "ipv4_addr"], "map": "verdict", "elem": [[{"concat": [139, {"prefix": {"addr": "192.168.0.0", "len": 16}}]}, {"drop": null}]]}},
        {"map": {"family": "inet", "name": "counted", "table": "f", "type": "inet_service", "map": "verdict", "elem": [[{"elem": {"val": 139, "counter": {"packets": 0, "bytes": 0}}}, {"drop": null}]]}},
        {"map": {"family": "inet", "name": "empty", "table": "f", "type": "inet_service", "map": "verdict"}},
        {"set": {"family": "inet", "name": "pairs", "table": "f", "type": ["ipv4_addr", "inet_service"], "elem": [{"concat": [{"prefix": {"addr": "192.168.0.0", "len": 16}}, 139]}]}},
        {"set": {"family": "inet", "name": "timed", "table": "f", "type": "inet_service", "elem": [{"elem": {"val": 139, "timeout": 600}}]}},
        {"chain": {"family": "inet", "table": "f", "name": "smb"}},
        {"chain": {"family": "inet", "table": "f", "name": "in", "type": "filter", "hook": "input", "policy": "accept"}},
        {"rule": {"family": "inet", "table": "f", "chain": "smb", "expr": [{"drop": null}]}}"#;
    let rules = rules.iter().map(|expr| {
        format!(
            r#", {{"rule": {{"family": "inet", "table": "f", "chain": "in", "expr": [{expr}]}}}}"#
        )
    });
    let rules: String = rules.collect();
    nft(&format!(r#"{{"nftables": [{MAPS}{rules}]}}"#)).unwrap()
}

fn vmap(key: &str, data: &str) -> String {
    format!(r#"{{"vmap": {{"key": {key}, "data": {data}}}}}"#)
}

const PORT: &str = r#"{"payload": {"protocol": "tcp", "field": "dport"}}"#;
const FROM: &str = r#"{"payload": {"protocol": "ip", "field": "saddr"}}"#;
const BY: &str = r#"{"meta": {"key": "iifname"}}"#;
const STATE: &str = r#"{"ct": {"key": "state"}}"#;

#[test]
fn verdict_maps_by_name_and_in_place() {
    let concat = |parts: [&str; 2]| format!(r#"{{"concat": [{}]}}"#, parts.join(","));
    let both = concat([PORT, FROM]);
    for (map, on_139, on_445) in [
        (vmap(PORT, r#""@ports""#), "tcp dport 139: drop", "drop"),
        (
            vmap(BY, r#""@ifs""#),
            "meta iifname eth0: drop",
            "meta iifname eth0: drop",
        ),
        (
            vmap(FROM, r#""@from""#),
            "ip saddr 192.168.0.0/16: drop",
            "ip saddr 192.168.0.0/16: drop",
        ),
        (
            vmap(&both, r#""@both""#),
            "tcp dport . ip saddr 139 . 192.168.0.0/16: drop",
            "",
        ),
        (vmap(PORT, r#""@counted""#), "tcp dport 139: drop", ""),
        (vmap(PORT, r#""@empty""#), "", ""),
        (
            vmap(
                PORT,
                r#"{"set": [[139, {"accept": null}], ["*", {"drop": null}]]}"#,
            ),
            "",
            "tcp dport *: drop",
        ),
        (
            vmap(
                STATE,
                r#"{"set": [["established", {"accept": null}], ["new", {"drop": null}]]}"#,
            ),
            "ct state new: drop",
            "ct state new: drop",
        ),
        (
            vmap(
                BY,
                r#"{"set": [["lo", {"accept": null}], ["wl*", {"drop": null}]]}"#,
            ),
            "",
            "",
        ),
        (
            rule("==", &concat([FROM, PORT]), r#""@pairs""#, "drop"),
            "ip saddr . tcp dport @pairs drop",
            "",
        ),
        (
            rule("==", PORT, r#""@timed""#, "drop"),
            "tcp dport @timed drop",
            "",
        ),
    ] {
        let rules = with_maps(std::slice::from_ref(&map));
        assert_eq!(dropped_by(&rules, "tcp", 139), on_139, "{map}");
        assert_eq!(dropped_by(&rules, "tcp", 445), on_445, "{map}");
    }
}

#[test]
fn maps_that_are_absent_or_malformed_are_not_understood() {
    for unclear in [
        vmap(PORT, r#""@absent""#),
        rule("==", PORT, r#""@absent""#, "drop"),
        vmap(PORT, r#"{"set": [[139]]}"#),
        vmap(
            r#"{"meta": {"key": "mark"}}"#,
            r#"{"set": [[1, {"drop": null}]]}"#,
        ),
        r#"{"jump": {"target": "absent"}}"#.into(),
    ] {
        let rules = with_maps(std::slice::from_ref(&unclear));
        assert!(
            dropped_by(&rules, "tcp", 139).starts_with("? "),
            "{unclear}"
        );
        assert!(
            not_understood(&rules, &packet("tcp", 139)).is_some(),
            "{unclear}"
        );
    }
}

#[test]
fn states_ports_and_kinds_of_packets() {
    for (left, op, right, tcp, udp) in [
        (STATE, "in", r#""new""#, true, true),
        (STATE, "!=", r#""established""#, true, true),
        (STATE, "!", r#""new""#, false, false),
        (STATE, "==", r#"{"set": ["new", "untracked"]}"#, true, true),
        (PORT, "<", "1024", true, false),
        (PORT, ">=", "1024", false, false),
        // not even a negated port is one of UDP
        (PORT, "!=", "22", true, false),
        (
            r#"{"meta": {"key": "pkttype"}}"#,
            "==",
            r#""host""#,
            true,
            false,
        ),
        (
            r#"{"payload": {"protocol": "icmp", "field": "type"}}"#,
            "!=",
            r#""echo-request""#,
            false,
            false,
        ),
        (
            r#"{"fib": {"result": "oif", "flags": ["saddr", "iif"]}}"#,
            "==",
            "false",
            false,
            false,
        ),
    ] {
        let rules = dump("accept", &rule(op, left, right, "drop"));
        let dropped = |protocol| {
            let by = dropped_by(&rules, protocol, 137);
            !by.is_empty() && !by.starts_with('?')
        };
        assert_eq!(
            (dropped("tcp"), dropped("udp")),
            (tcp, udp),
            "{left} {op} {right}"
        );
    }
}

#[test]
fn rules_of_each_family_are_for_its_packets() {
    let (four, six) = (packet("tcp", 445), over_ipv6(445));
    let payload = |protocol: &str, field: &str| {
        format!(r#"{{"payload": {{"protocol": "{protocol}", "field": "{field}"}}}}"#)
    };
    let family = r#"{"meta": {"key": "nfproto"}}"#;
    for (rule, on_four, on_six) in [
        (rule("==", family, r#""ipv6""#, "drop"), false, true),
        (rule("==", family, r#""ipv4""#, "drop"), true, false),
        (
            rule(
                "==",
                &payload("ip6", "saddr"),
                r#"{"prefix": {"addr": "fd00::", "len": 8}}"#,
                "drop",
            ),
            false,
            true,
        ),
        (
            rule(
                "!=",
                &payload("ip6", "saddr"),
                r#"{"prefix": {"addr": "fe80::", "len": 10}}"#,
                "drop",
            ),
            false,
            true,
        ),
        (
            rule("!=", &payload("ip", "saddr"), r#""10.0.0.1""#, "drop"),
            true,
            false,
        ),
        (
            rule("==", &payload("ip6", "daddr"), r#""fd00:1::5""#, "drop"),
            false,
            true,
        ),
        (
            rule("==", &payload("ip6", "nexthdr"), r#""tcp""#, "drop"),
            false,
            true,
        ),
        (rule("==", PORT, "445", "drop"), true, true),
        (
            vmap(
                &payload("ip6", "saddr"),
                r#"{"set": [[{"range": ["fd00:1::", "fd00:1::ffff:ffff:ffff:ffff"]}, {"drop": null}]]}"#,
            ),
            false,
            true,
        ),
    ] {
        let rules = dump("accept", &rule);
        assert_eq!(!becomes(&rules, &four).is_empty(), on_four, "{rule}");
        assert_eq!(!becomes(&rules, &six).is_empty(), on_six, "{rule}");
    }
}

#[test]
fn chains_and_programs_of_one_family_do_not_see_the_other() {
    let (four, six) = (packet("tcp", 445), over_ipv6(445));
    let closed = r#"{"nftables": [{"chain": {"family": "ip6", "table": "f", "name": "i", "type": "filter", "hook": "input", "policy": "drop"}}]}"#;
    let closed = nft(closed).unwrap();
    assert_eq!(
        (becomes(&closed, &four), becomes(&closed, &six)),
        (String::new(), "policy drop".into())
    );
    let text =
        "*filter\n:INPUT ACCEPT [0:0]\n-A INPUT -s fd00::/8 -p tcp -m tcp --dport 445 -j DROP\n";
    assert!(becomes(&ip6tables(text), &six).starts_with("-A INPUT"));
    assert_eq!(becomes(&ip6tables(text), &four), "");
    assert_eq!(
        becomes(&iptables(&text.replace("fd00::/8", "0.0.0.0/0")), &six),
        ""
    );
}

#[test]
fn a_chain_of_one_interface_sees_only_its_packets() {
    let of = |device: &str| {
        let text = format!(
            r#"{{"nftables": [{{"chain": {{"family": "netdev", "table": "f", "name": "i", "dev": {device}, "type": "filter", "hook": "ingress", "policy": "drop"}}}}]}}"#
        );
        dropped_by(&nft(&text).unwrap(), "tcp", 139)
    };
    assert_eq!(of(r#""eth1""#), "");
    assert_eq!(of(r#""eth0""#), "policy drop");
    assert_eq!(of(r#"["eth1", "eth0"]"#), "policy drop");
}
