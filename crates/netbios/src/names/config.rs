//! What a name service is told at its start.

use alloc::vec::Vec;
use core::net::Ipv4Addr;

use coax_wire::nbt::name::{NbName, SUFFIX_MESSENGER, SUFFIX_SERVER, SUFFIX_WORKSTATION, Scope};
use coax_wire::time::Span;

/// The most names a node may own, so that a node status fits its datagram.
pub const MAX_NAMES: usize = 20;

/// The most addresses a node may have.
pub const MAX_ADDRESSES: usize = 25;

/// Whether others may own a name too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NameKind {
    /// One owner.
    Unique,
    /// Any number of members.
    Group,
}

/// A name a node is to own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnName {
    /// The name.
    pub name: NbName,
    /// Whether others may own it too.
    pub kind: NameKind,
}

/// What a [`NameService`](crate::NameService) is told. There is one service for each network the host is on.
#[derive(Clone, Debug)]
pub struct NameServiceConfig {
    /// The names to own; at most [`MAX_NAMES`].
    pub names: Vec<OwnName>,
    /// The host's addresses on this network; the first is claimed, all are told to those who ask. At most
    /// [`MAX_ADDRESSES`].
    pub addresses: Vec<Ipv4Addr>,
    /// The MAC address a node status reports; zeros, as Samba has it, if nobody needs to know.
    pub unit_id: [u8; 6],
    /// The scope; packets of other scopes are as if they had not come (RFC 1001 §9).
    pub scope: Scope,
    /// How long others may remember our names, in seconds.
    pub ttl_s: u32,
    /// The first transaction identifier; different on every host and start, best at random.
    pub first_id: u16,
    /// When to claim again a name that was refused or fell into conflict; `None`: never.
    pub retry: Option<Span>,
    /// The most replies sent within a second, so that nobody can use this node to flood another.
    pub replies_per_s: u32,
}

impl NameServiceConfig {
    /// A file server's names: the computer's `<00>` and `<20>`, with `messenger` its `<03>`, and the
    /// workgroup's `<00>` as a group. The suffixes given are passed over.
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

    /// Whether a service can be made of this.
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

/// Why a configuration makes no service. Whoever configured it erred.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// No name, or too many.
    #[error("a node owns 1 to {MAX_NAMES} names, not {0}")]
    Names(usize),
    /// No address, or too many.
    #[error("a node has 1 to {MAX_ADDRESSES} addresses, not {0}")]
    Addresses(usize),
    /// A name is given twice; a workgroup named like the computer, most likely.
    #[error("the name {0} is given twice: workgroup and computer must have different names")]
    Duplicate(NbName),
}
