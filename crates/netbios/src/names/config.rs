//! The configuration of a name service.

use alloc::vec::Vec;
use core::net::Ipv4Addr;

use coax_wire::nbt::name::{NbName, SUFFIX_MESSENGER, SUFFIX_SERVER, SUFFIX_WORKSTATION, Scope};
use coax_wire::nbt::ns::NameFlags;
use coax_wire::time::Span;

use crate::limit::Rate;
use crate::network::Network;

/// Maximum number of names of a node, so that a node status fits into a datagram.
pub const MAX_NAMES: usize = 20;

/// Maximum number of addresses of a node.
pub const MAX_ADDRESSES: usize = 25;

/// The most WINS servers a node may use; Windows XP has as many.
pub const MAX_WINS_SERVERS: usize = 12;

/// Whether several nodes may own a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NameKind {
    /// One owner.
    Unique,
    /// Any number of members.
    Group,
}

/// Where a name is claimed, beside what the node's type says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Reach {
    /// By broadcast and at the WINS server.
    #[default]
    Everywhere,
    /// By broadcast only, such as a local master browser's `<1D>`: each network has its own.
    Network,
    /// At the WINS server only.
    Wins,
}

/// A name to register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnName {
    /// The name.
    pub name: NbName,
    /// Whether other nodes may own it too.
    pub kind: NameKind,
    /// Where it is claimed.
    pub reach: Reach,
}

impl OwnName {
    /// A name with one owner, claimed everywhere.
    pub const fn unique(name: NbName) -> Self {
        Self {
            name,
            kind: NameKind::Unique,
            reach: Reach::Everywhere,
        }
    }

    /// A name with any number of members, claimed everywhere.
    pub const fn group(name: NbName) -> Self {
        Self {
            name,
            kind: NameKind::Group,
            reach: Reach::Everywhere,
        }
    }

    /// The same name, claimed elsewhere.
    #[must_use]
    pub const fn with_reach(mut self, reach: Reach) -> Self {
        self.reach = reach;
        self
    }
}

/// How a node claims and finds names (RFC 1001 §10).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum NodeType {
    /// B: by broadcast.
    #[default]
    Broadcast,
    /// P: at the WINS server; it ignores broadcasts.
    PointToPoint,
    /// M: by broadcast, then also at the WINS server.
    Mixed,
    /// H: at the WINS server, and by broadcast while no WINS server answers (KB Q119493).
    Hybrid,
}

impl NodeType {
    /// ONT of the NB_FLAGS (RFC 1002 §4.2.1.3). The RFC reserves the value that Windows uses for H.
    pub const fn flags(self) -> u16 {
        match self {
            Self::Broadcast => 0,
            Self::PointToPoint => NameFlags::POINT_TO_POINT,
            Self::Mixed => NameFlags::MIXED,
            Self::Hybrid => NameFlags::POINT_TO_POINT | NameFlags::MIXED,
        }
    }

    /// Whether nodes of this type claim and answer names by broadcast.
    pub const fn uses_broadcast(self) -> bool {
        !matches!(self, Self::PointToPoint)
    }

    /// Whether nodes of this type register at a WINS server.
    pub const fn uses_wins(self) -> bool {
        !matches!(self, Self::Broadcast)
    }
}

/// The configuration of a [`NameService`](crate::NameService). Each network of the host has its own service.
#[derive(Clone, Debug)]
pub struct NameServiceConfig {
    /// How names are claimed and found.
    pub node: NodeType,
    /// The names to register; at most [`MAX_NAMES`].
    pub names: Vec<OwnName>,
    /// The host's addresses; the first is the one on this network and is claimed, all are told to those who ask. At
    /// most [`MAX_ADDRESSES`].
    pub addresses: Vec<Ipv4Addr>,
    /// The network. Packets from elsewhere are ignored, except replies of the WINS servers. `None`: all are heard.
    pub network: Option<Network>,
    /// The WINS servers, the primary one first; at most [`MAX_WINS_SERVERS`].
    pub wins: Vec<Ipv4Addr>,
    /// The wait after no WINS server answered.
    pub wins_retry: Span,
    /// Answer broadcast queries for names that only the WINS server knows (RFC 1001 §15.1.4, a WINS proxy).
    pub proxy: bool,
    /// The MAC address for node status replies; zeros, as in Samba, if it does not matter.
    pub unit_id: [u8; 6],
    /// The scope; packets of other scopes are ignored (RFC 1001 §9).
    pub scope: Scope,
    /// Time for which other nodes may cache our names, seconds.
    pub ttl_s: u32,
    /// The first transaction identifier. It should be random.
    pub first_id: u16,
    /// Delay before a refused or conflicting name is claimed again; `None`: never.
    pub retry: Option<Span>,
    /// Maximum number of replies per second, which prevents use of this node as an amplifier.
    pub replies_per_s: u32,
    /// The most replies sent to one address.
    pub replies_per_station: Rate,
}

impl NameServiceConfig {
    /// The names of a file server: the computer's `<00>` and `<20>`, `<03>` if `messenger` is set, and the workgroup's
    /// `<00>` as a group. Ignores the suffixes of the arguments.
    pub fn file_server(
        computer: NbName,
        workgroup: NbName,
        messenger: bool,
        address: Ipv4Addr,
    ) -> Self {
        let unique = |suffix| OwnName::unique(computer.with_suffix(suffix));
        let mut names = Vec::from([unique(SUFFIX_WORKSTATION), unique(SUFFIX_SERVER)]);
        if messenger {
            names.push(unique(SUFFIX_MESSENGER));
        }
        names.push(OwnName::group(workgroup.with_suffix(SUFFIX_WORKSTATION)));
        Self {
            node: NodeType::Broadcast,
            names,
            addresses: Vec::from([address]),
            network: None,
            wins: Vec::new(),
            wins_retry: Span::from_secs(60),
            proxy: false,
            unit_id: [0; 6],
            scope: Scope::EMPTY,
            ttl_s: 300_000,
            first_id: 0,
            retry: Some(Span::from_secs(60)),
            replies_per_s: 1000,
            replies_per_station: Rate {
                per_s: 200,
                burst: 400,
            },
        }
    }

    /// Checks the configuration.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        if self.names.is_empty() || self.names.len() > MAX_NAMES {
            return Err(ConfigError::Names(self.names.len()));
        }
        if self.addresses.is_empty() || self.addresses.len() > MAX_ADDRESSES {
            return Err(ConfigError::Addresses(self.addresses.len()));
        }
        if self.wins.len() > MAX_WINS_SERVERS {
            return Err(ConfigError::WinsServers(self.wins.len()));
        }
        let mut rest = self.names.as_slice();
        while let Some((first, others)) = rest.split_first() {
            if others.iter().any(|other| other.name == first.name) {
                return Err(ConfigError::Duplicate(first.name));
            }
            rest = others;
        }
        Ok(())
    }
}

/// Why a configuration is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// No name, or too many.
    #[error("a node owns 1 to {MAX_NAMES} names, not {0}")]
    Names(usize),
    /// No address, or too many.
    #[error("a node has 1 to {MAX_ADDRESSES} addresses, not {0}")]
    Addresses(usize),
    /// Too many WINS servers.
    #[error("a node uses at most {MAX_WINS_SERVERS} WINS servers, not {0}")]
    WinsServers(usize),
    /// A duplicate name, for example a workgroup named like the computer.
    #[error("the name {0} is given twice: workgroup and computer must have different names")]
    Duplicate(NbName),
}
