//! Rules that drop what clients send, or what the server sends to them.

use std::net::IpAddr;

use coax_netbios::Network;

use super::listed::listed;
use crate::{
    facts::{Facts, Firewall, Interface, Reading},
    filter::{Fate, Packet, Place, fate},
    finding::{Check, Finding, Severity},
};

/// What a rule does to packets.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Harm {
    Drops,
    MayDrop,
    Redirects,
}

/// Ports that one rule harms.
struct Loss {
    place: Place,
    harm: Harm,
    /// The server sends the packets.
    reply: bool,
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
    for (interface, server, client) in networks(facts) {
        for (protocol, port) in wanted(facts) {
            for reply in [false, true] {
                let packet = Packet {
                    protocol,
                    port,
                    interface: &interface.name,
                    client,
                    server,
                    reply,
                };
                let Some(loss) = loss(facts, &packet) else {
                    continue;
                };
                match losses.iter_mut().find(|known| known.is_like(&loss)) {
                    Some(known) => known.add(port, &interface.name),
                    None => losses.push(loss),
                }
            }
        }
    }
    losses
}

fn loss(facts: &Facts, packet: &Packet<'_>) -> Option<Loss> {
    let (place, harm) = match fate(&facts.firewall.rules, packet) {
        Fate::Arrives => return None,
        Fate::Dropped(place) => (place, Harm::Drops),
        Fate::Perhaps(place) => (place, Harm::MayDrop),
        Fate::Redirected(place) => (place, Harm::Redirects),
    };
    Some(Loss {
        place,
        harm,
        reply: packet.reply,
        protocol: if packet.protocol == "tcp" {
            "tcp"
        } else {
            "udp"
        },
        ports: vec![packet.port],
        interfaces: vec![packet.interface.to_owned()],
        network: packet.client,
    })
}

impl Loss {
    fn is_like(&self, other: &Self) -> bool {
        let key = |loss: &Self| (loss.harm, loss.reply, loss.protocol);
        self.place == other.place && key(self) == key(other)
    }

    fn add(&mut self, port: u16, interface: &str) {
        if !self.ports.contains(&port) {
            self.ports.push(port);
        }
        if !self.interfaces.iter().any(|known| known == interface) {
            self.interfaces.push(interface.to_owned());
        }
    }
}

/// This machine's addresses, and where clients come from: its networks, or the address of the one client.
fn networks(facts: &Facts) -> Vec<(&Interface, Network, Network)> {
    let interfaces = facts.interfaces.iter().filter(|i| i.up && !i.loopback);
    let all = interfaces.flat_map(|interface| {
        let networks = interface.addresses.iter();
        networks.map(move |address| (interface, address.network, address.network))
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
    all.filter(|(interface, ..)| on(interface))
        .filter(|(interface, ..)| {
            let is_new = !seen.contains(&interface.name.as_str());
            seen.push(&interface.name);
            is_new
        })
        .map(|(interface, server, _)| (interface, server, host))
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
    let severity = match (loss.harm, loss.protocol) {
        (Harm::Drops, "tcp") => Severity::Error,
        (Harm::Drops, _) => Severity::Warning,
        (Harm::MayDrop | Harm::Redirects, _) => Severity::Note,
    };
    let why = match (loss.harm, loss.protocol) {
        (Harm::MayDrop, _) => "coax cannot tell whether the rule applies",
        (Harm::Redirects, _) => "clients reach another port or machine; doctor does not check it",
        (_, "tcp") => "clients get no connection",
        _ => "clients do not find this server by its name and see it in no list",
    };
    let Place {
        table, chain, rule, ..
    } = &loss.place;
    let fix = match loss.harm {
        Harm::Redirects => "delete the rule, if it does not lead to coax".to_owned(),
        Harm::Drops | Harm::MayDrop => cure(&facts.firewall, loss),
    };
    Finding::new(severity, Check::Firewall, happens(facts, loss))
        .at(format!("table {table}, chain {chain}: {rule}"))
        .why(why)
        .fix(fix)
}

fn happens(facts: &Facts, loss: &Loss) -> String {
    let verb = match loss.harm {
        Harm::Drops => "drops",
        Harm::MayDrop => "may drop",
        Harm::Redirects => "redirects",
    };
    let ports = listed(&loss.ports);
    let protocol = loss.protocol.to_uppercase();
    let asked = match &facts.client {
        Some(client) if loss.network.prefix == 32 => client.asked.as_str(),
        _ => "",
    };
    let packets = match (loss.reply, asked) {
        (false, "") => format!("{protocol} {ports}"),
        (false, asked) => format!("{protocol} {ports} from {asked}"),
        (true, "") => format!("what the server sends from {protocol} {ports}"),
        (true, asked) => format!("what the server sends from {protocol} {ports} to {asked}"),
    };
    let on = listed(&loss.interfaces);
    format!("the packet filter {verb} {packets} on {on}")
}

/// The command that lets them in, in the terms of the program that manages the rules.
fn cure(firewall: &Firewall, loss: &Loss) -> String {
    let network = coax_netbios::Network::broadcast(loss.network);
    let net = format!("{}/{}", first(loss.network, network), loss.network.prefix);
    let ports: Vec<String> = loss.ports.iter().map(u16::to_string).collect();
    let (protocol, list) = (loss.protocol, ports.join(","));
    let Place { table, chain, .. } = &loss.place;
    let by_iptables = iptables(firewall, &loss.place);
    // managers do not change the rules of others
    if by_iptables.is_some() && firewall.managers.contains(&"ufw") {
        return match loss.reply {
            false => format!("sudo ufw allow from {net} to any port {list} proto {protocol}"),
            true => format!("sudo ufw allow out proto {protocol} from any port {list} to {net}"),
        };
    }
    let is_firewalld = by_iptables.is_some() || table.ends_with(" firewalld");
    if is_firewalld && !loss.reply && firewall.managers.contains(&"firewalld") {
        return "sudo firewall-cmd --permanent --add-service=samba && sudo firewall-cmd --reload"
            .into();
    }
    let (client, server) = match (loss.reply, by_iptables.is_some()) {
        (false, true) => ("-s", "--dports"),
        (true, true) => ("-d", "--sports"),
        (false, false) => ("saddr", "dport"),
        (true, false) => ("daddr", "sport"),
    };
    if let Some(command) = by_iptables {
        return format!(
            "sudo {command} {client} {net} -p {protocol} -m multiport {server} {list} -j ACCEPT"
        );
    }
    let set = ports.join(", ");
    format!(
        "sudo nft insert rule {table} {chain} ip {client} {net} {protocol} {server} '{{ {set} }}' accept"
    )
}

/// The command that puts a rule first in a chain that iptables manages. Tables of nft may have the same names, not the same chains.
fn iptables(firewall: &Firewall, place: &Place) -> Option<String> {
    let table = place.table.strip_prefix("ip ")?;
    let (program, table) = match table.strip_prefix("legacy ") {
        Some(table) => ("iptables-legacy", table),
        None if firewall.sources.contains(&("iptables", Reading::Read)) => ("iptables", table),
        None => return None,
    };
    let base = place.base.as_str();
    match (table, base) {
        ("filter", "INPUT" | "OUTPUT") => Some(format!("{program} -I {base}")),
        ("raw" | "mangle" | "security", "PREROUTING" | "INPUT" | "OUTPUT" | "POSTROUTING") => {
            Some(format!("{program} -t {table} -I {base}"))
        }
        _ => None,
    }
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
