//! What is known of this machine, its network and one client, in plain data.

use std::{
    net::{IpAddr, Ipv4Addr},
    path::{Path, PathBuf},
};

use coax_netbios::Network;
use coax_serve::{holder::Held, probe::Folder};
use coax_smbconf::{diagnostic::Diagnostic, settings::Settings};

use crate::{
    access::{Account, Owned},
    filter::{Net, Ruleset},
    parse::{Mount, Neighbour, Route},
    unit::Unit,
};

/// Everything that [`findings`](crate::findings) judges.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// What this process may do.
    pub rights: Rights,
    /// smb.conf.
    pub config: Config,
    /// Who serves, or will.
    pub service: Service,
    /// The sockets at the ports of SMB and NetBIOS.
    pub ports: Ports,
    /// Other SMB servers.
    pub samba: Samba,
    /// The packet filter.
    pub firewall: Firewall,
    /// Network interfaces.
    pub interfaces: Vec<Interface>,
    /// Routes of IPv4.
    pub routes: Vec<Route>,
    /// Time.
    pub clock: Clock,
    /// Folders of shares.
    pub shares: Vec<Share>,
    /// What the network says of our names.
    pub names: Names,
    /// The client to check.
    pub client: Option<Client>,
    /// What could not be found out in time.
    pub late: Vec<&'static str>,
}

/// What this process may do.
#[derive(Clone, Debug, Default)]
pub struct Rights {
    /// Its user.
    pub user: u32,
    /// It may bind ports below 1024.
    pub binds_low_ports: bool,
    /// Ports from this one on need no right (net.ipv4.ip_unprivileged_port_start).
    pub first_free_port: u16,
}

impl Rights {
    /// Whether it is root.
    pub fn is_root(&self) -> bool {
        self.user == 0
    }
}

/// smb.conf.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// The file; `None` if there is none and defaults apply.
    pub path: Option<PathBuf>,
    /// What it sets.
    pub settings: Settings,
    /// What is wrong with it.
    pub diagnostics: Vec<Diagnostic>,
}

/// Who serves, or will.
#[derive(Clone, Debug, Default)]
pub struct Service {
    /// The packages' unit with its drop-ins, if it is installed and serves this configuration.
    pub unit: Option<Unit>,
    /// The process of a server that runs: its number and its program's name.
    pub process: Option<(u32, String)>,
    /// The account that serves.
    pub account: Option<Account>,
    /// What the server that runs says at its status socket.
    pub status: Status,
}

/// What a server's status socket says.
#[derive(Clone, Debug, Default)]
pub enum Status {
    /// Nothing listens there, or nobody asked.
    #[default]
    Silent,
    /// This user may not ask.
    Denied(PathBuf),
    /// It answers.
    Answer(Box<coax_serve::status::Status>),
}

/// Sockets at the ports of SMB and NetBIOS.
#[derive(Clone, Debug, Default)]
pub struct Ports {
    /// Listening TCP sockets.
    pub tcp: Vec<Held>,
    /// UDP sockets.
    pub udp: Vec<Held>,
}

/// Other SMB servers on this machine.
#[derive(Clone, Debug, Default)]
pub struct Samba {
    /// Processes: number and name.
    pub running: Vec<(u32, String)>,
    /// Programs that are installed.
    pub installed: Vec<&'static str>,
    /// Services that start at boot.
    pub enabled: Vec<&'static str>,
}

/// The packet filter.
#[derive(Clone, Debug, Default)]
pub struct Firewall {
    /// The rules that could be read.
    pub rules: Ruleset,
    /// How each source was read.
    pub sources: Vec<(&'static str, Reading)>,
    /// Programs that manage rules and are switched on: `ufw`, `firewalld`.
    pub managers: Vec<&'static str>,
}

impl Firewall {
    /// Adds the rules of a source.
    pub fn read(&mut self, name: &'static str, rules: Ruleset) {
        self.rules = std::mem::take(&mut self.rules).with(rules);
        self.sources.push((name, Reading::Read));
    }

    /// A source could not be read.
    pub fn not_read(&mut self, name: &'static str, why: Reading) {
        self.sources.push((name, why));
    }
}

/// How a source was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reading {
    /// Completely.
    Read,
    /// Its program is not installed.
    Missing,
    /// This user may not.
    Denied,
    /// Otherwise not, for this reason.
    Failed(String),
}

/// A network interface.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interface {
    /// Its name.
    pub name: String,
    /// It is switched on.
    pub up: bool,
    /// It has a link: a cable, an access point. `None`: it does not say.
    pub carrier: Option<bool>,
    /// It is a loopback interface.
    pub loopback: bool,
    /// Its packets are frames of Ethernet.
    pub ethernet: bool,
    /// A device stands behind it, which is not part of a bridge.
    pub physical: bool,
    /// It is a radio.
    pub wireless: bool,
    /// The largest packet, bytes.
    pub mtu: Option<u32>,
    /// IPv4 addresses.
    pub addresses: Vec<Address>,
    /// IPv6 addresses and their networks.
    pub addresses_v6: Vec<Net>,
}

/// An IPv4 address of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// The address and its network.
    pub network: Network,
    /// The broadcast address that is configured.
    pub broadcast: Option<Ipv4Addr>,
}

/// Time.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    /// Seconds since 1970.
    pub now_s: u64,
    /// Whether the kernel's clock follows a time server; `None`: not known.
    pub synchronised: Option<bool>,
    /// The time zone's name.
    pub zone: Option<String>,
    /// Minutes west of UTC.
    pub minutes_west: i16,
}

/// The folder of a share.
#[derive(Clone, Debug)]
pub struct Share {
    /// The share's place in the settings.
    pub name: String,
    /// The folder.
    pub path: PathBuf,
    /// What its file system can do, or why it cannot be looked at.
    pub folder: Result<Folder, String>,
    /// The file system.
    pub mount: Option<Mount>,
    /// The folder, and all folders above it from the root on.
    pub way: Vec<(PathBuf, Owned)>,
}

impl Share {
    /// Whether this process, as its user, was stopped by permissions on the way.
    pub fn is_hidden(&self) -> bool {
        self.way.last().is_none_or(|(last, _)| *last != self.path)
    }

    /// Whether the folder lies beneath `folder`, or is it.
    pub fn is_beneath(&self, folder: &Path) -> bool {
        self.path.starts_with(folder)
    }
}

/// What the network says of our names.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// Nobody was asked, for this reason.
    pub unasked: Option<String>,
    /// Owners of the server's name, as unique names.
    pub server: Vec<Ipv4Addr>,
    /// Owners of the workgroup's name as a unique name.
    pub workgroup: Vec<Ipv4Addr>,
    /// Machines that answer for the workgroup as a group.
    pub members: Vec<Ipv4Addr>,
    /// Local master browsers of the workgroup.
    pub masters: Vec<Ipv4Addr>,
}

/// What is known of one client.
#[derive(Clone, Debug, Default)]
pub struct Client {
    /// As it was named.
    pub asked: String,
    /// Its address.
    pub address: Option<IpAddr>,
    /// How the address was found.
    pub found_by: Option<String>,
    /// Why a name was not found.
    pub failures: Vec<String>,
    /// Its names, if it tells them.
    pub node: Option<Node>,
    /// Its line in the table of neighbours.
    pub neighbour: Neighbour,
    /// Whether it answers an echo request; `None`: this process may not send one.
    pub echo: Option<bool>,
    /// Whether it answers one that fills an Ethernet frame and must not be fragmented.
    pub full_echo: Option<bool>,
    /// Its ports.
    pub ports: Vec<(u16, Port)>,
    /// What the master browser's list says.
    pub listed: Listed,
}

/// The names of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// Each name.
    pub names: Vec<NodeName>,
    /// The MAC address, as it says.
    pub mac: String,
}

/// A name of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeName {
    /// Its characters.
    pub name: String,
    /// Its suffix.
    pub suffix: u8,
    /// It belongs to a group.
    pub group: bool,
    /// The node gave it up, because another machine has it.
    pub conflict: bool,
}

/// What a connection attempt showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Port {
    /// A server accepts.
    Open,
    /// The machine is there, and no server.
    Closed,
    /// Nothing came back.
    Silent,
    /// The network says that there is no way.
    Unreachable,
}

/// What a master browser's list says of a client.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Listed {
    /// No list could be had, for this reason.
    #[default]
    Unasked,
    /// No master browser answers.
    NoMaster,
    /// The master refused.
    Refused(String),
    /// It is in the list of the workgroup, with this comment.
    Yes(String),
    /// It is not in the list.
    No,
}
