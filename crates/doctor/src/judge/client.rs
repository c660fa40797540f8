//! One client: can it be reached, may it come in, and what does the server say of it?

use std::net::{IpAddr, Ipv4Addr};

use coax_smbconf::hosts::Refusal;

use crate::{
    facts::{Client, Facts, Listed, Node, Port, Status},
    finding::{Check, Finding, Severity},
    parse::{Neighbour, route_to},
};

pub(super) fn judge(facts: &Facts, all: &mut Vec<Finding>) {
    let Some(client) = &facts.client else { return };
    let Some(address) = client.address else {
        all.push(unresolved(client));
        return;
    };
    if let Some(how) = &client.found_by {
        all.push(found(
            client,
            Severity::Ok,
            format!("{} has the address {address} ({how})", client.asked),
        ));
    }
    if let IpAddr::V4(address) = address {
        all.extend(way(facts, client, address));
    }
    all.extend(reach(client));
    all.extend(packets(client));
    all.extend(admission(facts, client, address));
    node(facts, client, all);
    all.extend(announced(facts, client));
    served(facts, client, address, all);
}

fn found(client: &Client, severity: Severity, what: impl Into<String>) -> Finding {
    Finding::new(severity, Check::Client, what).at(client.asked.clone())
}

fn unresolved(client: &Client) -> Finding {
    let what = format!("no machine is found by the name {}", client.asked);
    found(client, Severity::Error, what)
        .why(client.failures.join("; "))
        .fix("name its address instead; a client without file sharing may answer to NAME<00> only: coax lookup 'NAME<00>'")
}

/// The route to it.
fn way(facts: &Facts, client: &Client, address: Ipv4Addr) -> Option<Finding> {
    let own =
        |i: &crate::facts::Interface| i.addresses.iter().any(|a| a.network.address == address);
    if address.is_loopback() || facts.interfaces.iter().any(own) {
        return Some(found(
            client,
            Severity::Note,
            "this is an address of this machine",
        ));
    }
    match route_to(&facts.routes, address) {
        None => Some(
            found(client, Severity::Error, format!("there is no route to {address}"))
                .why("this machine and the client are in different networks")
                .fix("give both addresses of one network, or add a router: sudo ip route add default via ROUTER"),
        ),
        Some(route) => route.gateway.map(|gateway| {
            found(client, Severity::Note, format!("{address} is behind the router {gateway}"))
                .why("broadcasts do not pass it: the client finds the server by LMHOSTS or WINS only")
                .fix("[global] wins support = yes, and this server's address as WINS server on the client")
        }),
    }
}

fn reach(client: &Client) -> Option<Finding> {
    let mut signs = Vec::new();
    if client.node.is_some() {
        signs.push("node status".to_owned());
    }
    if client.echo == Some(true) {
        signs.push("ICMP echo".to_owned());
    }
    for (port, state) in &client.ports {
        match state {
            Port::Open => signs.push(format!("TCP {port} (open)")),
            Port::Closed => signs.push(format!("TCP {port} (closed)")),
            Port::Silent | Port::Unreachable => {}
        }
    }
    if !signs.is_empty() {
        let what = format!("it answers: {}", signs.join(", "));
        return Some(found(client, Severity::Ok, what));
    }
    Some(match &client.neighbour {
        Neighbour::At(mac) => found(client, Severity::Warning, "it answers ARP and nothing else")
            .why(format!(
                "the machine ({mac}) is on; its firewall drops packets, or its TCP/IP has another mask or is not finished loading"
            ))
            .fix("on the client, PING this server; compare address and mask on both sides"),
        Neighbour::Silent => found(client, Severity::Error, "it does not answer ARP")
            .why("no machine in this network has the address now: it is off, has no link, or has another address")
            .fix("check power, cable, and the address in the client's TCP/IP settings"),
        Neighbour::Unknown => found(client, Severity::Error, "it does not answer")
            .why("neither a node status, an echo nor a TCP port was answered")
            .fix("check power, cable, addresses and routers between"),
    })
}

fn packets(client: &Client) -> Option<Finding> {
    (client.echo == Some(true) && client.full_echo == Some(false)).then(|| {
        found(
            client,
            Severity::Warning,
            "small packets arrive, packets of 1500 bytes do not",
        )
        .why("the client or a network between has a smaller MTU: log-ons work and copies hang")
        .fix("set the same MTU on both sides; for a test: sudo ip link set eth0 mtu 576")
    })
}

/// `hosts allow`, `hosts deny` and the rule about public addresses.
fn admission(facts: &Facts, client: &Client, address: IpAddr) -> Vec<Finding> {
    let settings = &facts.config.settings;
    let cure = |refusal, section: &str| match refusal {
        Refusal::Denied => format!("[{section}] hosts deny = (without {address})"),
        Refusal::NotAllowed | Refusal::PublicAddress => {
            format!("[{section}] hosts allow = … {address}")
        }
    };
    if let Err(refusal) = settings.global.hosts.check_server(address) {
        let refused = found(
            client,
            Severity::Error,
            format!("the server refuses {address}"),
        );
        return vec![
            refused
                .why(refusal.to_string())
                .fix(cure(refusal, "global")),
        ];
    }
    let mut all = Vec::new();
    for share in &settings.shares {
        if let Err(refusal) = share.hosts.check(address) {
            let what = format!("the share {} refuses {address}", share.name);
            let refused = found(client, Severity::Warning, what);
            all.push(
                refused
                    .why(refusal.to_string())
                    .fix(cure(refusal, &share.name)),
            );
        }
    }
    if all.is_empty() {
        all.push(found(
            client,
            Severity::Ok,
            format!("the server admits {address}"),
        ));
    }
    all
}

fn node(facts: &Facts, client: &Client, all: &mut Vec<Finding>) {
    let global = &facts.config.settings.global;
    let Some(node) = &client.node else {
        all.push(
            found(client, Severity::Note, "it does not tell its NetBIOS names")
                .why("NetBIOS over TCP/IP is off, the machine speaks NetBEUI or IPX only, or UDP 137 is dropped")
                .fix("on Windows: TCP/IP properties, WINS, enable NetBIOS over TCP/IP"),
        );
        return;
    };
    let names: Vec<String> = node
        .names
        .iter()
        .map(|n| format!("{}<{:02x}>", n.name, n.suffix))
        .collect();
    all.push(found(
        client,
        Severity::Ok,
        format!(
            "its names are {} (MAC address {})",
            names.join(", "),
            node.mac
        ),
    ));
    for name in node.names.iter().filter(|name| name.conflict) {
        all.push(
            found(
                client,
                Severity::Warning,
                format!("its name {} is in conflict", name.name),
            )
            .why("another machine has the name; the client does not use it until it restarts")
            .fix("rename one of the two machines"),
        );
    }
    let ours = |name: &&crate::facts::NodeName| {
        !name.group && name.name.eq_ignore_ascii_case(&global.netbios_name)
    };
    if node.names.iter().any(|name| ours(&name)) && !is_this_machine(facts, client) {
        all.push(
            found(
                client,
                Severity::Error,
                format!("it has the server's name {}", global.netbios_name),
            )
            .why("two machines cannot have one name")
            .fix("[global] netbios name = ANOTHER-NAME"),
        );
    }
    all.extend(workgroup(client, node, &global.workgroup));
}

fn is_this_machine(facts: &Facts, client: &Client) -> bool {
    let mut own = facts.interfaces.iter().flat_map(|i| &i.addresses);
    own.any(|own| client.address == Some(IpAddr::V4(own.network.address)))
}

fn workgroup(client: &Client, node: &Node, ours: &str) -> Option<Finding> {
    let mut groups = node
        .names
        .iter()
        .filter(|name| name.group && name.suffix == 0);
    let theirs = groups.next()?;
    (!theirs.name.eq_ignore_ascii_case(ours)).then(|| {
        found(client, Severity::Note, format!("its workgroup is {}, the server's is {ours}", theirs.name))
            .why("its Network Neighborhood shows the server under another workgroup, NET VIEW does not show it")
            .fix(format!("[global] workgroup = {}", theirs.name))
    })
}

fn announced(facts: &Facts, client: &Client) -> Option<Finding> {
    let group = &facts.config.settings.global.workgroup;
    Some(match &client.listed {
        Listed::Unasked => return None,
        Listed::NoMaster => found(client, Severity::Note, format!("no master browser of {group} has a list"))
            .why("nobody collects announcements now")
            .fix("start coax serve; it becomes the master browser within 10 s"),
        Listed::Refused(why) => {
            let what = format!("the master browser of {group} gives no list");
            found(client, Severity::Note, what).why(why.as_str())
        }
        Listed::Yes(comment) if comment.is_empty() => {
            found(client, Severity::Ok, format!("the list of {group} has it"))
        }
        Listed::Yes(comment) => found(client, Severity::Ok, format!("the list of {group} has it: {comment}")),
        Listed::No => found(client, Severity::Note, format!("the list of {group} does not have it"))
            .why("a machine announces itself only if it shares something, and in the first 12 minutes not always")
            .fix("nothing, if it is a client only; else start file sharing on it"),
    })
}

/// What the server that runs says.
fn served(facts: &Facts, client: &Client, address: IpAddr, all: &mut Vec<Finding>) {
    let Status::Answer(status) = &facts.service.status else {
        return;
    };
    let ip = |text: &str| {
        text.rsplit_once(':')
            .and_then(|(ip, _)| ip.trim_matches(['[', ']']).parse().ok())
    };
    let mut seen = false;
    for line in status
        .clients
        .iter()
        .filter(|c| ip(&c.address) == Some(address))
    {
        seen = true;
        let mut parts = vec![match line.system.is_empty() {
            true => "an unrecognised system".to_owned(),
            false => line.system.clone(),
        }];
        parts.extend(
            line.dialect
                .iter()
                .map(|dialect| format!("dialect {dialect}")),
        );
        parts.extend(line.user.iter().map(|user| format!("user {user}")));
        let what = format!(
            "it is connected as client {}: {}",
            line.client,
            parts.join(", ")
        );
        all.push(found(client, Severity::Ok, what));
        for refused in &line.refused {
            all.push(refusal(client, refused));
        }
    }
    if !seen {
        let what = "the server that runs has no connection from it";
        all.push(found(client, Severity::Note, what).fix(
            "connect on the client, then run this again; 'journalctl -u coax' has earlier refusals",
        ));
    }
}

/// `what: why ('setting' would allow it)`, as the server records it.
fn refusal(client: &Client, text: &str) -> Finding {
    let (what, setting) = match text
        .strip_suffix("' would allow it)")
        .and_then(|rest| rest.rsplit_once(" ('"))
    {
        Some((what, setting)) => (what, Some(setting.to_owned())),
        None => (text, None),
    };
    let (what, why) = match what.split_once(": ") {
        Some((what, why)) => (what, Some(why.to_owned())),
        None => (what, None),
    };
    Finding {
        why,
        fix: setting,
        ..found(
            client,
            Severity::Warning,
            format!("the server refused {what}"),
        )
    }
}
