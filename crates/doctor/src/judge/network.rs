//! Interfaces and routes.

use std::net::IpAddr;

use coax_smbconf::hosts::is_public;

use crate::{
    facts::{Address, Facts, Interface},
    finding::{Check, Finding, Severity},
};

/// The largest packet of Ethernet, bytes (IEEE 802.3).
const ETHERNET_MTU: u32 = 1500;
/// Every station accepts a packet of this size, bytes (RFC 791 section 3.1); DOS stacks never send one in parts.
const SMALLEST_MTU: u32 = 576;

pub(super) fn judge(facts: &Facts, all: &mut Vec<Finding>) {
    let before = all.len();
    let usable = facts.interfaces.iter().filter(|i| !i.loopback);
    let usable: Vec<&Interface> = usable.filter(|i| i.up && !i.addresses.is_empty()).collect();
    for interface in &usable {
        link(interface, all);
        for address in &interface.addresses {
            all.extend(network(facts, interface, address));
        }
    }
    for interface in facts
        .interfaces
        .iter()
        .filter(|i| i.physical && i.addresses.is_empty())
    {
        all.extend(without_address(interface));
    }
    if usable.is_empty() {
        all.push(
            Finding::new(Severity::Error, Check::Interfaces, "this machine has no IPv4 address in a network")
                .why("old clients know IPv4 only")
                .fix("sudo ip link set eth0 up && sudo ip addr add 192.168.1.5/24 broadcast + dev eth0; without TCP/IP: docs/netbeui.md"),
        );
    } else if all
        .iter()
        .skip(before)
        .all(|f| f.severity > Severity::Warning)
    {
        all.push(Finding::new(
            Severity::Ok,
            Check::Interfaces,
            in_words(&usable),
        ));
    }
    all.extend(twins(&usable));
}

fn in_words(usable: &[&Interface]) -> String {
    let one = |interface: &&Interface| {
        let addresses = interface.addresses.iter();
        let addresses: Vec<String> = addresses
            .map(|a| format!("{}/{}", a.network.address, a.network.prefix))
            .collect();
        let mtu = interface.mtu.map(|mtu| format!(", MTU {mtu}"));
        let mtu = mtu.unwrap_or_default();
        format!("{} has {}{mtu}", interface.name, addresses.join(" and "))
    };
    let all: Vec<String> = usable.iter().map(one).collect();
    all.join("; ")
}

fn link(interface: &Interface, all: &mut Vec<Finding>) {
    let name = &interface.name;
    let found = |severity, what: String| Finding::new(severity, Check::Interfaces, what).at(name);
    if interface.carrier == Some(false) {
        all.push(
            found(Severity::Warning, format!("{name} has an address and no link"))
                .why("nothing is sent or received")
                .fix("check cable, switch and, for very old cards, a switch port at 10 Mbit/s half duplex"),
        );
    }
    if interface.wireless {
        all.push(
            found(Severity::Note, format!("{name} is a radio"))
                .why("some access points drop broadcasts between radios, which names and lists need, and latency varies")
                .fix("connect server and old machines by cable, or give clients an LMHOSTS line"),
        );
    }
    let Some(mtu) = interface.mtu else { return };
    if mtu > ETHERNET_MTU && interface.ethernet {
        all.push(
            found(Severity::Warning, format!("{name} has an MTU of {mtu}"))
                .why("old network cards and switches drop frames above 1518 bytes; TCP agrees on its segments, UDP does not")
                .fix(format!("sudo ip link set {name} mtu 1500")),
        );
    } else if mtu < SMALLEST_MTU {
        all.push(
            found(Severity::Warning, format!("{name} has an MTU of {mtu}"))
                .why("datagrams of NetBIOS have up to 576 bytes (RFC 1002 section 4.2) and are cut")
                .fix(format!("sudo ip link set {name} mtu 1500")),
        );
    } else if mtu < ETHERNET_MTU && interface.ethernet {
        all.push(
            found(Severity::Note, format!("{name} has an MTU of {mtu}"))
                .why("clients that assume 1500 send packets that must be cut, or that get lost behind a tunnel")
                .fix(format!("sudo ip link set {name} mtu 1500, if the network is Ethernet")),
        );
    }
}

fn without_address(interface: &Interface) -> Option<Finding> {
    let name = &interface.name;
    let what = match (interface.up, interface.carrier) {
        (_, Some(false)) => return None,
        (true, _) => format!("{name} is up and has no IPv4 address"),
        (false, _) => format!("{name} is off"),
    };
    let fix = match interface.up {
        true => {
            format!("sudo ip addr add 192.168.1.5/24 broadcast + dev {name}, if clients are there")
        }
        false => format!("sudo ip link set {name} up, if clients are there"),
    };
    Some(
        Finding::new(Severity::Note, Check::Interfaces, what)
            .at(name)
            .fix(fix),
    )
}

fn network(facts: &Facts, interface: &Interface, address: &Address) -> Vec<Finding> {
    let network = address.network;
    let place = format!("{} {}/{}", interface.name, network.address, network.prefix);
    let found = |severity, what: String| Finding::new(severity, Check::Interfaces, what).at(&place);
    let mut all = Vec::new();
    let expected = network.broadcast();
    match address.broadcast {
        _ if network.prefix > 30 => all.push(
            found(
                Severity::Note,
                format!(
                    "{} is in a network without a broadcast address",
                    network.address
                ),
            )
            .why("clients there cannot find the server by a broadcast")
            .fix("give clients an LMHOSTS line, or [global] wins support = yes"),
        ),
        Some(broadcast) if broadcast != expected && !broadcast.is_unspecified() => all.push(
            found(
                Severity::Warning,
                format!(
                    "the broadcast address of {} is {broadcast}, not {expected}",
                    network.address
                ),
            )
            .why("stations with another mask or broadcast address ignore each other's name queries")
            .fix(format!(
                "sudo ip addr del {0}/{1} dev {2} && sudo ip addr add {0}/{1} broadcast {expected} dev {2}",
                network.address, network.prefix, interface.name
            )),
        ),
        _ => {}
    }
    if network.address.is_link_local() {
        all.push(
            found(
                Severity::Warning,
                format!("{} is a link-local address", network.address),
            )
            .why("no DHCP server answered; clients with other addresses cannot reach it")
            .fix("give this machine an address of the clients' network"),
        );
    } else if is_public(IpAddr::V4(network.address)) {
        all.extend(public(facts, interface, address).map(|f| f.at(&place)));
    }
    all
}

fn public(facts: &Facts, interface: &Interface, address: &Address) -> Option<Finding> {
    let ip = IpAddr::V4(address.network.address);
    let listen = &facts.config.settings.listen;
    let mut doors = listen.nbt.iter().chain(&listen.direct);
    let exposed = doors.any(|door| door.address.ip().is_unspecified() || door.address.ip() == ip);
    exposed.then(|| {
        Finding::new(Severity::Warning, Check::Interfaces, format!("{ip} is a public address"))
            .why("coax refuses clients with public addresses, but its ports are open to the Internet")
            .fix(format!(
                "[global] interfaces = (the names or networks of the others, not {}) and bind interfaces only = yes",
                interface.name
            ))
    })
}

/// Two interfaces in one network: answers leave through one of them, whichever the question came through.
fn twins(usable: &[&Interface]) -> Vec<Finding> {
    let mut all = Vec::new();
    for (at, one) in usable.iter().enumerate() {
        for other in usable.iter().skip(at.saturating_add(1)) {
            let shared = one.addresses.iter().find_map(|a| {
                let mut others = other.addresses.iter();
                others.find(|b| {
                    a.network.contains(b.network.address) || b.network.contains(a.network.address)
                })
            });
            let Some(shared) = shared else { continue };
            let what = format!("{} and {} are in the same network", one.name, other.name);
            all.push(
                Finding::new(Severity::Warning, Check::Routes, what)
                    .at(format!("{} {}/{}", other.name, shared.network.address, shared.network.prefix))
                    .why("Linux answers through one of them only, and clients see two addresses for one name")
                    .fix(format!(
                        "switch one off: sudo ip link set {} down; or [global] interfaces = {} and bind interfaces only = yes",
                        other.name, one.name
                    )),
            );
        }
    }
    all
}
