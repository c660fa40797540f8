//! The rules of the packet filter.

use super::{
    bounded::text,
    command::{self, Ran},
    process,
};
use crate::{
    facts::{Firewall, Reading},
    filter::{Ruleset, dormant, has_flags, ip6tables, iptables, nft},
};

/// ufw's settings, bytes.
const SETTINGS_MAX: u64 = 64 << 10;

/// A family of tables of iptables, with the programs that print its rules.
struct Source {
    name: &'static str,
    save: &'static str,
    parse: fn(&str) -> Ruleset,
    legacy: &'static str,
    legacy_save: &'static str,
    /// The kernel's list of tables of the older interface.
    legacy_tables: &'static str,
    family: &'static str,
}

const IPTABLES: Source = Source {
    name: "iptables",
    save: "iptables-save",
    parse: iptables,
    legacy: "iptables-legacy",
    legacy_save: "iptables-legacy-save",
    legacy_tables: "/proc/net/ip_tables_names",
    family: "ip",
};

const IP6TABLES: Source = Source {
    name: "ip6tables",
    save: "ip6tables-save",
    parse: ip6tables,
    legacy: "ip6tables-legacy",
    legacy_save: "ip6tables-legacy-save",
    legacy_tables: "/proc/net/ip6_tables_names",
    family: "ip6",
};

fn read(firewall: &mut Firewall, source: &Source) {
    match command::run(source.save, &[]) {
        Ran::Done(text) => firewall.read(source.name, (source.parse)(&text)),
        ran => firewall.not_read(source.name, reading(ran)),
    }
    // the older kernel interface, if iptables itself is for the newer one
    if command::find(source.legacy_save).is_none()
        || text(source.legacy_tables, SETTINGS_MAX).is_empty()
    {
        return;
    }
    match command::run(source.legacy_save, &[]) {
        Ran::Done(text) => {
            let (old, new) = (
                format!("{} ", source.family),
                format!("{} legacy ", source.family),
            );
            let chains = (source.parse)(&text).chains.into_iter();
            let named = chains.map(|mut chain| {
                chain.table = chain.table.replacen(&old, &new, 1);
                chain
            });
            firewall.rules.chains.extend(named);
        }
        ran => firewall.not_read(source.legacy, reading(ran)),
    }
}

pub(super) fn firewall() -> Firewall {
    let mut firewall = Firewall::default();
    match command::run("nft", &["-j", "list", "ruleset"]) {
        Ran::Done(text) => match nft(&text) {
            Some(rules) => firewall.read("nftables", awake(rules, &text)),
            None if text.trim().is_empty() => firewall.read("nftables", Ruleset::default()),
            None => firewall.not_read("nftables", Reading::Failed("nft printed no JSON".into())),
        },
        ran => firewall.not_read("nftables", reading(ran)),
    }
    for source in [IPTABLES, IP6TABLES] {
        read(&mut firewall, &source);
    }
    if text("/etc/ufw/ufw.conf", SETTINGS_MAX)
        .lines()
        .any(|line| line.trim() == "ENABLED=yes")
    {
        firewall.managers.push("ufw");
    }
    if !process::named(|name| name == "firewalld").is_empty() {
        firewall.managers.push("firewalld");
    }
    firewall
}

/// The rules without those of dormant tables.
fn awake(rules: Ruleset, json: &str) -> Ruleset {
    if !has_flags(json) {
        return rules;
    }
    match command::run("nft", &["list", "ruleset"]) {
        Ran::Done(text) => rules.without(&dormant(&text)),
        _ => rules,
    }
}

fn reading(ran: Ran) -> Reading {
    match ran {
        Ran::Missing => Reading::Missing,
        Ran::Done(_) => Reading::Read,
        Ran::Failed(why) if why.contains("ermi") || why.contains("must be root") => Reading::Denied,
        Ran::Failed(why) => Reading::Failed(why),
    }
}
