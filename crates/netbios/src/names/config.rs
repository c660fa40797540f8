//! The configuration of a name service.

use alloc::vec::Vec;
use core::net::Ipv4Addr;

use coax_wire::nbt::name::{NbName, SUFFIX_MESSENGER, SUFFIX_SERVER, SUFFIX_WORKSTATION, Scope};
use coax_wire::time::Span;

/// Maximum number of names of a node, so that a node status fits into a datagram.
pub const MAX_NAMES: usize = 20;

/// Maximum number of addresses of a node.
pub const MAX_ADDRESSES: usize = 25;

/// Whether several nodes may own a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NameKind {
    /// One owner.
    Unique,
    /// Any number of members.
    Group,
}

/// A name to register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnName {
    /// The name.
    pub name: NbName,
    /// Whether other nodes may own it too.
    pub kind: NameKind,
}

/// The configuration of a [`NameService`](crate::NameService). Each network of the host has its own service.
#[derive(Clone, Debug)]
pub struct NameServiceConfig {
    /// The names to register; at most [`MAX_NAMES`].
    pub names: Vec<OwnName>,
    /// The host's addresses on this network. The first one is registered; a query returns all. At most
    /// [`MAX_ADDRESSES`].
    pub addresses: Vec<Ipv4Addr>,
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
        let unique = |suffix| OwnName {
            name: computer.with_suffix(suffix),
            kind: NameKind::Unique,
        };
        let mut names = Vec::from([unique(SUFFIX_WORKSTATION), unique(SUFFIX_SERVER)]);
        if messenger {
            names.push(unique(SUFFIX_MESSENGER));
        }
        names.push(OwnName {
            name: workgroup.with_suffix(SUFFIX_WORKSTATION),
            kind: NameKind::Group,
        });
        Self {
            names,
            addresses: Vec::from([address]),
            unit_id: [0; 6],
            scope: Scope::EMPTY,
            ttl_s: 300_000,
            first_id: 0,
            retry: Some(Span::from_secs(60)),
            replies_per_s: 1000,
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
pub enum ConfigError {
    /// No name, or too many.
    #[error("a node owns 1 to {MAX_NAMES} names, not {0}")]
    Names(usize),
    /// No address, or too many.
    #[error("a node has 1 to {MAX_ADDRESSES} addresses, not {0}")]
    Addresses(usize),
    /// A duplicate name, for example a workgroup named like the computer.
    #[error("the name {0} is given twice: workgroup and computer must have different names")]
    Duplicate(NbName),
}
