//! The rules of the packet filter.

use super::{
    bounded::text,
    command::{self, Ran},
    process,
};
use crate::{
    facts::{Firewall, Reading},
    filter::{Ruleset, dormant, has_flags, iptables, nft},
};

/// ufw's settings, bytes.
const SETTINGS_MAX: u64 = 64 << 10;

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
    match command::run("iptables-save", &[]) {
        Ran::Done(text) => firewall.read("iptables", iptables(&text)),
        ran => firewall.not_read("iptables", reading(ran)),
    }
    // the older kernel interface, if iptables itself is for the newer one
    if command::find("iptables-legacy-save").is_some()
        && !text("/proc/net/ip_tables_names", SETTINGS_MAX).is_empty()
    {
        match command::run("iptables-legacy-save", &[]) {
            Ran::Done(text) => {
                let named = iptables(&text).chains.into_iter().map(|mut chain| {
                    chain.table = chain.table.replacen("ip ", "ip legacy ", 1);
                    chain
                });
                firewall.rules.chains.extend(named);
            }
            ran => firewall.not_read("iptables-legacy", reading(ran)),
        }
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
