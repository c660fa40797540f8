//! Rights, interfaces, routes and clock.

use std::{collections::BTreeMap, path::Path};

use coax_clock::{wall_s, zone_minutes_west};
use coax_netbios::Network;
use if_addrs::IfAddr;
use nix::unistd::geteuid;

use super::{
    bounded::text,
    command::{self, Ran},
};
use crate::{
    facts::{Address, Clock, Interface, Rights},
    filter::Net,
    parse::{self, Route},
};

/// CAP_NET_BIND_SERVICE (linux/capability.h).
const BIND_SERVICE: u32 = 10;
/// A table of the kernel, bytes.
const TABLE_MAX: u64 = 4 << 20;
/// Files with one word, bytes.
const WORD_MAX: u64 = 256;
/// IFF_UP and IFF_LOOPBACK (netdevice(7)).
const UP: u32 = 1;
const LOOPBACK: u32 = 8;
/// ARPHRD_ETHER (linux/if_arp.h).
const ETHERNET: &str = "1";

pub(super) fn rights() -> Rights {
    let status = text("/proc/self/status", TABLE_MAX);
    let free = text("/proc/sys/net/ipv4/ip_unprivileged_port_start", WORD_MAX);
    let first_free_port = free.trim().parse().unwrap_or(1024);
    Rights {
        user: geteuid().as_raw(),
        binds_low_ports: parse::capabilities(&status) & (1 << BIND_SERVICE) != 0
            || first_free_port <= 137,
        first_free_port,
    }
}

/// The interfaces of this machine, by name.
pub fn interfaces() -> Vec<Interface> {
    // the table of this network namespace; /sys may show another one's
    let table = text("/proc/net/dev", TABLE_MAX);
    let names = table.lines().filter_map(|line| line.split_once(':'));
    let names = names.map(|(name, _)| name.trim().to_owned());
    let mut all: BTreeMap<String, Interface> =
        names.map(|name| (name.clone(), interface(name))).collect();
    for found in if_addrs::get_if_addrs().unwrap_or_default() {
        let (loopback, running) = (found.is_loopback(), found.is_oper_up());
        let known = all.entry(found.name.clone()).or_insert_with(|| Interface {
            name: found.name,
            up: true,
            loopback,
            ..Interface::default()
        });
        known.up |= running;
        match found.addr {
            IfAddr::V4(address) => known.addresses.push(Address {
                network: Network::with_mask(address.ip, address.netmask),
                broadcast: address.broadcast,
            }),
            IfAddr::V6(address) => known.addresses_v6.push(Net {
                address: address.ip.into(),
                prefix: u8::try_from(u128::from(address.netmask).leading_ones()).unwrap_or(128),
            }),
        }
    }
    all.into_values().collect()
}

fn interface(name: String) -> Interface {
    let folder = Path::new("/sys/class/net").join(&name);
    let word = |file: &str| text(folder.join(file), WORD_MAX).trim().to_owned();
    let flags = word("flags");
    let flags = u32::from_str_radix(flags.trim_start_matches("0x"), 16).unwrap_or(0);
    let has = |file: &str| folder.join(file).exists();
    Interface {
        up: flags & UP != 0,
        carrier: match word("carrier").as_str() {
            "1" => Some(true),
            "0" => Some(false),
            _ => None,
        },
        loopback: flags & LOOPBACK != 0,
        ethernet: word("type") == ETHERNET,
        physical: has("device") && !has("master"),
        wireless: has("wireless") || has("phy80211"),
        mtu: word("mtu").parse().ok(),
        addresses: Vec::new(),
        addresses_v6: Vec::new(),
        name,
    }
}

pub(super) fn routes() -> Vec<Route> {
    parse::routes(&text("/proc/net/route", TABLE_MAX))
}

pub(super) fn clock() -> Clock {
    let zone = jiff::tz::TimeZone::system();
    Clock {
        now_s: wall_s(),
        synchronised: synchronised(),
        zone: zone.iana_name().map(ToOwned::to_owned),
        minutes_west: zone_minutes_west(),
    }
}

/// systemd asks the kernel whether a time server disciplines the clock, whichever program does it.
fn synchronised() -> Option<bool> {
    let shown = command::run("timedatectl", &["show", "-p", "NTPSynchronized", "--value"]);
    if let Ran::Done(text) = shown {
        match text.trim() {
            "yes" => return Some(true),
            "no" => return Some(false),
            _ => {}
        }
    }
    if Path::new("/run/systemd/timesync/synchronized").exists() {
        return Some(true);
    }
    None
}
