//! Rules of the packet filter, and the command that opens a port.

use super::*;
use crate::{
    filter::{Net, ip6tables, iptables, nft},
    finding::Check,
};

#[test]
fn the_packet_filter() {
    const DROP: &str =
        "*filter\n:INPUT ACCEPT [0:0]\n-A INPUT -p tcp -m tcp --dport 139 -j DROP\nCOMMIT\n";
    table(&[
        (
            |f| f.firewall.rules = iptables(DROP),
            Severity::Error,
            &[
                "drops TCP 139 on eth0",
                "--dport 139 -j DROP",
                "iptables -I INPUT -s 192.168.1.0/24 -p tcp",
            ],
        ),
        (
            |f| {
                f.firewall.rules = iptables(DROP);
                f.firewall.managers = vec!["ufw"];
            },
            Severity::Error,
            &["ufw allow from 192.168.1.0/24 to any port 139 proto tcp"],
        ),
        (
            |f| f.firewall.rules = iptables(&DROP.replace("tcp", "udp").replace("139", "137:138")),
            Severity::Warning,
            &["drops UDP 137, 138 on eth0", "by its name"],
        ),
        (
            |f| f.firewall.rules = iptables(&DROP.replace("-m tcp", "-m recent --rcheck")),
            Severity::Note,
            &["may drop TCP 139", "a rule was not understood: -A INPUT"],
        ),
        (
            |f| {
                f.firewall.sources =
                    vec![("nftables", Reading::Denied), ("iptables", Reading::Denied)]
            },
            Severity::Note,
            &[
                "nftables and iptables were not read",
                "CAP_NET_ADMIN",
                "sudo",
            ],
        ),
        (
            |f| {
                f.firewall.sources = vec![
                    ("nftables", Reading::Missing),
                    ("iptables", Reading::Missing),
                ]
            },
            Severity::Note,
            &["neither nft nor iptables-save", "apt install nftables"],
        ),
        (
            |f| {
                f.firewall.rules =
                    iptables("*filter\n:INPUT DROP [0:0]\n-A INPUT -s 192.168.1.9/32 -j ACCEPT\n");
                f.client = Some(client("192.168.1.9"));
            },
            Severity::Ok,
            &["the packet filter lets clients in"],
        ),
    ]);
}

/// Facts with one chain of nftables.
fn filtered(family: &str, table: &str, chain: &str, hook: &str, policy: &str) -> Facts {
    let mut facts = good();
    let dump = format!(
        r#"{{"nftables": [{{"chain": {{"family": "{family}", "table": "{table}", "name": "{chain}", "type": "filter", "hook": "{hook}", "policy": "{policy}"}}}}]}}"#
    );
    facts.firewall.rules = nft(&dump).unwrap();
    facts
}

fn fixes(facts: &Facts) -> Vec<String> {
    let all = findings(facts).into_iter();
    let bad = all.filter(|f| f.check == Check::Firewall && f.severity <= Severity::Warning);
    bad.filter_map(|f| f.fix).collect()
}

#[test]
fn the_fix_is_in_terms_of_who_made_the_rule() {
    const FROM: &str = "192.168.1.0/24";
    for (family, table, chain, hook, fix) in [
        (
            "ip",
            "filter",
            "INPUT",
            "input",
            format!(
                "sudo iptables -I INPUT -s {FROM} -p tcp -m multiport --dports 139,445 -j ACCEPT"
            ),
        ),
        (
            "ip",
            "filter",
            "OUTPUT",
            "output",
            format!(
                "sudo iptables -I OUTPUT -d {FROM} -p tcp -m multiport --sports 139,445 -j ACCEPT"
            ),
        ),
        (
            "ip",
            "raw",
            "PREROUTING",
            "prerouting",
            format!(
                "sudo iptables -t raw -I PREROUTING -s {FROM} -p tcp -m multiport --dports 139,445 -j ACCEPT"
            ),
        ),
        (
            "ip",
            "filter",
            "input",
            "input",
            format!(
                "sudo nft insert rule ip filter input ip saddr {FROM} tcp dport '{{ 139, 445 }}' accept"
            ),
        ),
        (
            "ip",
            "myfw",
            "in",
            "input",
            format!(
                "sudo nft insert rule ip myfw in ip saddr {FROM} tcp dport '{{ 139, 445 }}' accept"
            ),
        ),
        (
            "ip",
            "a",
            "p",
            "prerouting",
            format!(
                "sudo nft insert rule ip a p ip saddr {FROM} tcp dport '{{ 139, 445 }}' accept"
            ),
        ),
        (
            "inet",
            "f",
            "o",
            "output",
            format!(
                "sudo nft insert rule inet f o ip daddr {FROM} tcp sport '{{ 139, 445 }}' accept"
            ),
        ),
    ] {
        let facts = filtered(family, table, chain, hook, "drop");
        assert_eq!(fixes(&facts).first(), Some(&fix));
    }
    // ufw and firewalld change their own rules only
    for (manager, tables) in [
        ("ufw", ["filter", "mine"]),
        ("firewalld", ["firewalld", "mine"]),
    ] {
        for (table, words) in tables
            .into_iter()
            .zip([manager.trim_end_matches('d'), "nft"])
        {
            let mut facts = filtered("ip", table, "INPUT", "input", "drop");
            facts.firewall.managers = vec![manager];
            let all = fixes(&facts);
            let command = format!("sudo {words}");
            assert!(all.iter().all(|fix| fix.starts_with(&command)), "{all:?}");
        }
    }
    let mut facts = good();
    facts.firewall.rules = iptables("*filter\n:INPUT DROP [0:0]\n");
    for chain in &mut facts.firewall.rules.chains {
        chain.table = "ip legacy filter".into();
    }
    assert!(
        fixes(&facts)
            .iter()
            .all(|fix| fix.starts_with("sudo iptables-legacy -I INPUT"))
    );
}

#[test]
fn what_the_server_sends_and_what_is_redirected() {
    table(&[
        (
            |f| {
                f.firewall.rules = iptables(
                    "*filter\n:OUTPUT ACCEPT [0:0]\n-A OUTPUT -p tcp -m tcp --sport 445 -j DROP\n",
                )
            },
            Severity::Error,
            &[
                "drops what the server sends from TCP 445 on eth0",
                "clients get no connection",
                "-I OUTPUT -d 192.168.1.0/24",
            ],
        ),
        (
            |f| {
                f.firewall.rules = iptables(
                    "*filter\n:OUTPUT DROP [0:0]\n-A OUTPUT -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT\n",
                )
            },
            Severity::Warning,
            &[
                "drops what the server sends from UDP 138 on eth0",
                "in no list",
            ],
        ),
        (
            |f| {
                f.firewall.rules = iptables(
                    "*filter\n:OUTPUT ACCEPT [0:0]\n-A OUTPUT -p tcp -m owner --uid-owner 9 -j DROP\n",
                );
                f.client = Some(client("192.168.1.9"));
            },
            Severity::Note,
            &["may drop what the server sends from TCP 139, 445 to 192.168.1.9 on eth0"],
        ),
        (
            |f| {
                f.firewall.rules = iptables(
                    "*nat\n:PREROUTING ACCEPT [0:0]\n-A PREROUTING -p tcp -m tcp --dport 445 -j REDIRECT --to-ports 4450\n",
                )
            },
            Severity::Note,
            &[
                "redirects TCP 445 on eth0",
                "--to-ports 4450",
                "delete the rule",
            ],
        ),
    ]);
}

#[test]
fn rules_of_ipv6_matter_if_the_server_listens_there() {
    const DROP: &str = "*filter\n:INPUT ACCEPT [0:0]\n-A INPUT -p tcp -m tcp --dport 445 -j DROP\n";
    let mut facts = good();
    facts.firewall.rules = ip6tables(DROP);
    facts.firewall.sources = vec![("ip6tables", Reading::Denied)];
    for interface in &mut facts.interfaces {
        let nets = ["fe80::5/64", "fd00:1::5/64"];
        interface.addresses_v6 = nets.iter().filter_map(|net| Net::parse(net)).collect();
    }
    assert_eq!(fixes(&facts), Vec::<String>::new());
    let said = |facts: &Facts| format!("{:?}", findings(facts));
    assert!(!said(&facts).contains("were not read"));
    let interfaces = "interfaces = fd00:1::5\nbind interfaces only = yes\n";
    facts.config.settings = settings(interfaces);
    assert!(said(&facts).contains("the rules of ip6tables were not read"));
    facts.firewall.sources = vec![("ip6tables", Reading::Read)];
    let rule = "-p tcp -m multiport --dports 445 -j ACCEPT";
    assert_eq!(
        fixes(&facts),
        [format!("sudo ip6tables -I INPUT -s fd00:1::/64 {rule}")]
    );
    assert!(said(&facts).contains("drops TCP 445 over IPv6 on eth0"));
    // the wildcard address serves both families
    facts.config.settings = settings(&interfaces.replace("fd00:1::5", "::"));
    assert_eq!(
        fixes(&facts),
        [format!(
            "sudo ip6tables -I INPUT -s fe80::/64,fd00:1::/64 {rule}"
        )]
    );
    facts.firewall.rules = nft(
        r#"{"nftables": [{"chain": {"family": "ip6", "table": "f", "name": "i", "type": "filter", "hook": "input", "policy": "drop"}}]}"#,
    )
    .unwrap();
    assert_eq!(
        fixes(&facts),
        [
            "sudo nft insert rule ip6 f i ip6 saddr '{ fe80::/64, fd00:1::/64 }' tcp dport '{ 139, 445 }' accept"
        ]
    );
    facts.client = Some(Client {
        asked: "fd00:1::9".into(),
        address: "fd00:1::9".parse().ok(),
        ..client("192.168.1.9")
    });
    assert!(said(&facts).contains("drops TCP 139, 445 from fd00:1::9 over IPv6"));
    facts.client = Some(client("192.168.1.9"));
    assert_eq!(fixes(&facts), Vec::<String>::new());
}
