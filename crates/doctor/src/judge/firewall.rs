//! Rules that drop what clients send, or what the server sends to them.

use std::net::IpAddr;

use super::listed::listed;
use crate::{
    facts::{Facts, Firewall, Interface, Reading},
    filter::{Fate, Net, Packet, Place, fate},
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
    /// Of one family of addresses.
    networks: Vec<Net>,
    /// A rule that coax does not understand, because of which the packets only may be dropped.
    not_understood: Option<String>,
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
        for (protocol, port) in wanted(facts, server.address.is_ipv6()) {
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
                    Some(known) => known.add(port, &interface.name, client),
                    None => losses.push(loss),
                }
            }
        }
    }
    losses
}

fn loss(facts: &Facts, packet: &Packet<'_>) -> Option<Loss> {
    let (place, harm, not_understood) = match fate(&facts.firewall.rules, packet) {
        Fate::Arrives => return None,
        Fate::Dropped(place) => (place, Harm::Drops, None),
        Fate::Perhaps {
            place,
            not_understood,
        } => (place, Harm::MayDrop, not_understood),
        Fate::Redirected(place) => (place, Harm::Redirects, None),
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
        networks: vec![packet.client],
        not_understood,
    })
}

impl Loss {
    fn is_like(&self, other: &Self) -> bool {
        let key = |loss: &Self| (loss.harm, loss.reply, loss.protocol, loss.is_ipv6());
        self.place == other.place
            && key(self) == key(other)
            && self.not_understood == other.not_understood
    }

    fn is_ipv6(&self) -> bool {
        self.networks
            .iter()
            .any(|network| network.address.is_ipv6())
    }

    fn add(&mut self, port: u16, interface: &str, network: Net) {
        let is_same = |known: &Net| known.to_string() == network.to_string();
        if !self.networks.iter().any(is_same) {
            self.networks.push(network);
        }
        if !self.ports.contains(&port) {
            self.ports.push(port);
        }
        if !self.interfaces.iter().any(|known| known == interface) {
            self.interfaces.push(interface.to_owned());
        }
    }
}

/// This machine's addresses, and where clients come from: its networks, or the address of the one client.
fn networks(facts: &Facts) -> Vec<(&Interface, Net, Net)> {
    let interfaces = facts.interfaces.iter().filter(|i| i.up && !i.loopback);
    let all = interfaces.flat_map(|interface| {
        let old = interface.addresses.iter().map(|a| Net::from(a.network));
        let new = interface.addresses_v6.iter().copied();
        let served = new.filter(|net| serves(facts, net.address));
        old.chain(served).map(move |net| (interface, net, net))
    });
    let Some(client) = facts.client.as_ref().and_then(|client| client.address) else {
        return all.collect();
    };
    let route = match client {
        IpAddr::V4(client) => crate::parse::route_to(&facts.routes, client),
        IpAddr::V6(_) => None,
    };
    let on = |interface: &Interface| route.is_none_or(|route| route.interface == interface.name);
    let mut seen: Vec<&str> = Vec::new();
    all.filter(|(interface, server, _)| {
        on(interface) && server.address.is_ipv4() == client.is_ipv4()
    })
    .filter(|(interface, ..)| {
        let is_new = !seen.contains(&interface.name.as_str());
        seen.push(&interface.name);
        is_new
    })
    .map(|(interface, server, _)| (interface, server, Net::host(client)))
    .collect()
}

/// Whether the server listens at this address.
fn serves(facts: &Facts, address: IpAddr) -> bool {
    let listen = &facts.config.settings.listen;
    let mut tcp = listen
        .nbt
        .iter()
        .chain(&listen.direct)
        .map(|l| l.address.ip());
    tcp.any(|at| at == address || at.is_unspecified() && at.is_ipv6() && address.is_ipv6())
}

/// Whether IPv6 clients can reach the server.
fn serves_ipv6(facts: &Facts) -> bool {
    let listen = &facts.config.settings.listen;
    let mut tcp = listen.nbt.iter().chain(&listen.direct);
    tcp.any(|listener| listener.address.is_ipv6())
}

/// The server's ports. A socket at `::` takes both families of addresses (ipv6(7)).
fn wanted(facts: &Facts, is_ipv6: bool) -> Vec<(&'static str, u16)> {
    let listen = &facts.config.settings.listen;
    let tcp = listen.nbt.iter().chain(&listen.direct).map(|l| l.address);
    let tcp = tcp.filter(|at| at.is_ipv6() == is_ipv6 || at.is_ipv6() && at.ip().is_unspecified());
    let mut all: Vec<(&'static str, u16)> = tcp.map(|at| ("tcp", at.port())).collect();
    if listen.names.is_some() && !is_ipv6 {
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
    let why = match (loss.harm, loss.protocol, &loss.not_understood) {
        (Harm::MayDrop, _, Some(rule)) => format!("a rule was not understood: {rule}"),
        (Harm::MayDrop, ..) => "the rule applies to some packets or clients only".into(),
        (Harm::Redirects, ..) => {
            "clients reach another port or machine; doctor does not check it".into()
        }
        (_, "tcp", _) => "clients get no connection".into(),
        _ => "clients do not find this server by its name and see it in no list".into(),
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
    let over = if loss.is_ipv6() { " over IPv6" } else { "" };
    let protocol = loss.protocol.to_uppercase();
    let asked = match &facts.client {
        Some(client) if loss.networks.iter().all(|net| net.is_host()) => client.asked.as_str(),
        _ => "",
    };
    let packets = match (loss.reply, asked) {
        (false, "") => format!("{protocol} {ports}"),
        (false, asked) => format!("{protocol} {ports} from {asked}"),
        (true, "") => format!("what the server sends from {protocol} {ports}"),
        (true, asked) => format!("what the server sends from {protocol} {ports} to {asked}"),
    };
    let on = listed(&loss.interfaces);
    format!("the packet filter {verb} {packets}{over} on {on}")
}

/// The command that lets them in, in the terms of the program that manages the rules.
fn cure(firewall: &Firewall, loss: &Loss) -> String {
    let nets: Vec<String> = loss.networks.iter().map(Net::to_string).collect();
    let ports: Vec<String> = loss.ports.iter().map(u16::to_string).collect();
    let (protocol, list) = (loss.protocol, ports.join(","));
    let Place { table, chain, .. } = &loss.place;
    let by_iptables = iptables(firewall, &loss.place);
    // managers do not change the rules of others
    if by_iptables.is_some() && firewall.managers.contains(&"ufw") {
        let command = |net: &String| match loss.reply {
            false => format!("sudo ufw allow from {net} to any port {list} proto {protocol}"),
            true => format!("sudo ufw allow out proto {protocol} from any port {list} to {net}"),
        };
        return nets.iter().map(command).collect::<Vec<_>>().join(" && ");
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
        let net = nets.join(",");
        return format!(
            "sudo {command} {client} {net} -p {protocol} -m multiport {server} {list} -j ACCEPT"
        );
    }
    let set = ports.join(", ");
    let net = match &nets[..] {
        [net] => net.clone(),
        several => format!("'{{ {} }}'", several.join(", ")),
    };
    let family = if loss.is_ipv6() { "ip6" } else { "ip" };
    format!(
        "sudo nft insert rule {table} {chain} {family} {client} {net} {protocol} {server} '{{ {set} }}' accept"
    )
}

/// The command that puts a rule first in a chain that iptables manages. Tables of nft may have the same names, not the same chains.
fn iptables(firewall: &Firewall, place: &Place) -> Option<String> {
    let (family, table) = place.table.split_once(' ')?;
    let name = match family {
        "ip" => "iptables",
        "ip6" => "ip6tables",
        _ => return None,
    };
    let (program, table) = match table.strip_prefix("legacy ") {
        Some(table) => (format!("{name}-legacy"), table),
        None if firewall.sources.contains(&(name, Reading::Read)) => (name.to_owned(), table),
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

/// What could not be read, and with which right.
fn unread(facts: &Facts) -> Vec<Finding> {
    let firewall = &facts.firewall;
    let mut all = Vec::new();
    let counts = |name: &str| !name.starts_with("ip6") || serves_ipv6(facts);
    let sources = || firewall.sources.iter().filter(|(name, _)| counts(name));
    let denied: Vec<&str> = sources()
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
    for (name, reading) in sources() {
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
