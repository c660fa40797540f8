//! Rules that drop what clients send.

use std::net::IpAddr;

use coax_netbios::Network;

use super::listed::listed;
use crate::{
    facts::{Facts, Firewall, Interface, Reading},
    filter::{Fate, Packet, Place, fate},
    finding::{Check, Finding, Severity},
};

/// Ports that one rule drops.
struct Loss {
    place: Place,
    certain: bool,
    protocol: &'static str,
    ports: Vec<u16>,
    interfaces: Vec<String>,
    network: Network,
}

pub(super) fn judge(facts: &Facts, all: &mut Vec<Finding>) {
    let unread = unread(facts);
    let losses = losses(facts);
    let is_clean = losses.is_empty() && unread.is_empty();
    all.extend(losses.iter().map(|loss| dropped(facts, loss)));
    all.extend(unread);
    if is_clean {
        let what = match facts
            .firewall
            .rules
            .chains
            .iter()
            .any(|chain| chain.base.is_some())
        {
            true => "the packet filter lets clients in",
            false => "no rule filters packets that arrive",
        };
        all.push(Finding::new(Severity::Ok, Check::Firewall, what));
    }
}

fn losses(facts: &Facts) -> Vec<Loss> {
    let mut losses: Vec<Loss> = Vec::new();
    for (interface, network) in networks(facts) {
        for (protocol, port) in wanted(facts) {
            let packet = Packet {
                protocol,
                port,
                interface: &interface.name,
                source: network,
            };
            let (place, certain) = match fate(&facts.firewall.rules, &packet) {
                Fate::Arrives => continue,
                Fate::Dropped(place) => (place, true),
                Fate::Perhaps(place) => (place, false),
            };
            let mut same = losses.iter_mut();
            let same = same.find(|loss| {
                loss.place == place && loss.certain == certain && loss.protocol == protocol
            });
            match same {
                Some(loss) => {
                    loss.add(port, &interface.name);
                }
                None => losses.push(Loss {
                    place,
                    certain,
                    protocol,
                    ports: vec![port],
                    interfaces: vec![interface.name.clone()],
                    network,
                }),
            }
        }
    }
    losses
}

impl Loss {
    fn add(&mut self, port: u16, interface: &str) {
        if !self.ports.contains(&port) {
            self.ports.push(port);
        }
        if !self.interfaces.iter().any(|known| known == interface) {
            self.interfaces.push(interface.to_owned());
        }
    }
}

/// Where clients come from: the networks of this machine, or the address of the one client.
fn networks(facts: &Facts) -> Vec<(&Interface, Network)> {
    let interfaces = facts.interfaces.iter().filter(|i| i.up && !i.loopback);
    let all = interfaces.flat_map(|interface| {
        let networks = interface.addresses.iter();
        networks.map(move |address| (interface, address.network))
    });
    let client = facts.client.as_ref().and_then(|client| client.address);
    let Some(IpAddr::V4(client)) = client else {
        return all.collect();
    };
    let host = Network {
        address: client,
        prefix: 32,
    };
    let route = crate::parse::route_to(&facts.routes, client);
    let on = |interface: &Interface| route.is_none_or(|route| route.interface == interface.name);
    let mut seen: Vec<&str> = Vec::new();
    all.filter(|(interface, _)| on(interface))
        .filter(|(interface, _)| {
            let is_new = !seen.contains(&interface.name.as_str());
            seen.push(&interface.name);
            is_new
        })
        .map(|(interface, _)| (interface, host))
        .collect()
}

fn wanted(facts: &Facts) -> Vec<(&'static str, u16)> {
    let listen = &facts.config.settings.listen;
    let tcp = listen.nbt.iter().chain(&listen.direct);
    let mut all: Vec<(&'static str, u16)> = tcp.map(|l| ("tcp", l.address.port())).collect();
    if listen.names.is_some() {
        all.extend([("udp", 137), ("udp", 138)]);
    }
    all.sort_unstable();
    all.dedup();
    all
}

fn dropped(facts: &Facts, loss: &Loss) -> Finding {
    let severity = match (loss.certain, loss.protocol) {
        (true, "tcp") => Severity::Error,
        (true, _) => Severity::Warning,
        (false, _) => Severity::Note,
    };
    let verb = if loss.certain { "drops" } else { "may drop" };
    let ports = listed(&loss.ports);
    let protocol = loss.protocol.to_uppercase();
    let from = match &facts.client {
        Some(client) if loss.network.prefix == 32 => format!(" from {}", client.asked),
        _ => String::new(),
    };
    let on = listed(&loss.interfaces);
    let what = format!("the packet filter {verb} {protocol} {ports}{from} on {on}");
    let why = match (loss.certain, loss.protocol) {
        (false, _) => "the rule tests something that coax does not know",
        (_, "tcp") => "clients get no connection",
        _ => "clients do not find this server by its name and see it in no list",
    };
    let Place { table, chain, rule } = &loss.place;
    Finding::new(severity, Check::Firewall, what)
        .at(format!("table {table}, chain {chain}: {rule}"))
        .why(why)
        .fix(cure(&facts.firewall, loss))
}

/// The command that lets them in, in the terms of the program that manages the rules.
fn cure(firewall: &Firewall, loss: &Loss) -> String {
    let network = coax_netbios::Network::broadcast(loss.network);
    let net = format!("{}/{}", first(loss.network, network), loss.network.prefix);
    let ports: Vec<String> = loss.ports.iter().map(u16::to_string).collect();
    let (protocol, list) = (loss.protocol, ports.join(","));
    if firewall.managers.contains(&"ufw") {
        return format!("sudo ufw allow from {net} to any port {list} proto {protocol}");
    }
    if firewall.managers.contains(&"firewalld") {
        return "sudo firewall-cmd --permanent --add-service=samba && sudo firewall-cmd --reload"
            .into();
    }
    let Place { table, chain, .. } = &loss.place;
    if table.starts_with("ip ") && firewall.sources.contains(&("iptables", Reading::Read)) {
        return format!(
            "sudo iptables -I INPUT -s {net} -p {protocol} -m multiport --dports {list} -j ACCEPT"
        );
    }
    let set = ports.join(", ");
    format!(
        "sudo nft insert rule {table} {chain} ip saddr {net} {protocol} dport '{{ {set} }}' accept"
    )
}

fn first(network: Network, last: std::net::Ipv4Addr) -> std::net::Ipv4Addr {
    let hosts = u32::MAX.checked_shr(u32::from(network.prefix)).unwrap_or(0);
    std::net::Ipv4Addr::from(u32::from(last) & !hosts)
}

/// What could not be read, and with which right.
fn unread(facts: &Facts) -> Vec<Finding> {
    let firewall = &facts.firewall;
    let mut all = Vec::new();
    let denied: Vec<&str> = firewall
        .sources
        .iter()
        .filter(|(_, reading)| *reading == Reading::Denied)
        .map(|(name, _)| *name)
        .collect();
    let note = |what: String| Finding::new(Severity::Note, Check::Firewall, what);
    if !denied.is_empty() {
        let mut what = format!("the rules of {} were not read", denied.join(" and "));
        if !firewall.managers.is_empty() {
            what.push_str(&format!("; {} is on", firewall.managers.join(" and ")));
        }
        all.push(
            note(what)
                .why("that needs CAP_NET_ADMIN; a rule may drop what clients send")
                .fix("run coax doctor with sudo"),
        );
    }
    for (name, reading) in &firewall.sources {
        if let Reading::Failed(why) = reading {
            all.push(note(format!("the rules of {name} were not read: {why}")));
        }
    }
    let missing = |name| firewall.sources.contains(&(name, Reading::Missing));
    if missing("nftables") && missing("iptables") {
        all.push(
            note(
                "the packet filter was not read: neither nft nor iptables-save is installed".into(),
            )
            .fix("sudo apt install nftables, then run coax doctor with sudo"),
        );
    }
    all
}
