//! Interfaces, their addresses and networks.

use super::*;

#[test]
fn interfaces() {
    table(&[
        (
            |f| {
                f.interfaces.clear();
                f.names = Names::default();
            },
            Severity::Error,
            &["no IPv4 address", "ip addr add"],
        ),
        (
            |f| f.interfaces[0].carrier = Some(false),
            Severity::Warning,
            &["eth0 has an address and no link"],
        ),
        (
            |f| f.interfaces[0].mtu = Some(9000),
            Severity::Warning,
            &["MTU of 9000", "mtu 1500"],
        ),
        (
            |f| f.interfaces[0].mtu = Some(1400),
            Severity::Note,
            &["MTU of 1400"],
        ),
        (
            |f| f.interfaces[0].mtu = Some(400),
            Severity::Warning,
            &["MTU of 400", "576 bytes"],
        ),
        (
            |f| f.interfaces[0].wireless = true,
            Severity::Note,
            &["eth0 is a radio"],
        ),
        (
            |f| {
                f.interfaces.push(Interface {
                    addresses: Vec::new(),
                    ..interface("eth1", "10.0.0.1")
                })
            },
            Severity::Note,
            &["eth1 is up and has no IPv4 address"],
        ),
    ]);
}

#[test]
fn networks_of_interfaces() {
    table(&[
        (
            |f| f.interfaces[0].addresses[0].broadcast = Some(ip("192.168.255.255")),
            Severity::Warning,
            &[
                "is 192.168.255.255, not 192.168.1.255",
                "broadcast 192.168.1.255 dev eth0",
            ],
        ),
        (
            |f| renumber(f, lan("10.0.0.1", 32)),
            Severity::Note,
            &["without a broadcast address"],
        ),
        (
            |f| renumber(f, lan("169.254.3.4", 16)),
            Severity::Warning,
            &["link-local"],
        ),
        (
            |f| f.interfaces.push(interface("eth1", "8.8.8.8")),
            Severity::Warning,
            &["8.8.8.8 is a public address", "bind interfaces only"],
        ),
        (
            |f| f.interfaces.push(interface("wlan0", "192.168.1.6")),
            Severity::Warning,
            &[
                "eth0 and wlan0 are in the same network",
                "ip link set wlan0 down",
            ],
        ),
    ]);
}
