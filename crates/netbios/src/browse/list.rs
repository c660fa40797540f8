//! The list of servers and workgroups that a browser keeps.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use coax_wire::browser::{Announcement, server_type};
use coax_wire::time::{Span, Time};

/// Announcements that may be missed before a server is forgotten ([MS-BRWS] 3.3.2).
const MISSED: u64 = 3;
/// The shortest period that counts, so that a false announcement of 0 ms does not vanish at once.
const MIN_PERIOD_MS: u64 = 60_000;
/// The longest period that counts: twice the 12 minutes of all implementations.
const MAX_PERIOD_MS: u64 = 24 * 60_000;
/// The most servers of the workgroup.
const MAX_SERVERS: usize = 2000;
/// The most workgroups.
const MAX_WORKGROUPS: usize = 500;

/// A server of the workgroup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedServer {
    /// Its name.
    pub name: Vec<u8>,
    /// Version of its system.
    pub version: (u8, u8),
    /// Its type ([`server_type`]).
    pub server_type: u32,
    /// Its comment.
    pub comment: Vec<u8>,
}

/// A workgroup of the network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedWorkgroup {
    /// Its name.
    pub name: Vec<u8>,
    /// Its master browser.
    pub master: Vec<u8>,
    /// Its type ([`server_type`]).
    pub server_type: u32,
}

/// What a browser knows of its network. Names are sorted and compared in upper case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BrowseList {
    servers: BTreeMap<Vec<u8>, (ListedServer, Time)>,
    workgroups: BTreeMap<Vec<u8>, (ListedWorkgroup, Time)>,
}

impl BrowseList {
    /// An empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// The servers of the workgroup that are heard, sorted by name.
    pub fn servers(&self) -> impl Iterator<Item = &ListedServer> {
        self.servers.values().map(|(server, _)| server)
    }

    /// The other workgroups that are heard, sorted by name.
    pub fn workgroups(&self) -> impl Iterator<Item = &ListedWorkgroup> {
        self.workgroups.values().map(|(workgroup, _)| workgroup)
    }

    /// A server announced itself; type 0 says that it leaves.
    pub(super) fn put_server(&mut self, now: Time, heard: &Announcement) {
        let key = heard.name.to_ascii_uppercase();
        if heard.server_type == 0 || key.is_empty() {
            self.servers.remove(&key);
            return;
        }
        if self.servers.len() >= MAX_SERVERS && !self.servers.contains_key(&key) {
            return;
        }
        let server = ListedServer {
            name: key.clone(),
            version: heard.version,
            server_type: heard.server_type,
            comment: heard.comment.clone(),
        };
        self.servers
            .insert(key, (server, expires(now, heard.period_ms)));
    }

    /// A master browser announced its workgroup.
    pub(super) fn put_workgroup(&mut self, now: Time, heard: &Announcement) {
        let key = heard.name.to_ascii_uppercase();
        let full = self.workgroups.len() >= MAX_WORKGROUPS && !self.workgroups.contains_key(&key);
        if key.is_empty() || full {
            return;
        }
        let workgroup = ListedWorkgroup {
            name: key.clone(),
            master: heard.comment.to_ascii_uppercase(),
            server_type: heard.server_type | server_type::DOMAIN_ENUM,
        };
        let expires = expires(now, heard.period_ms);
        self.workgroups.insert(key, (workgroup, expires));
    }

    pub(super) fn due(&self) -> Option<Time> {
        let servers = self.servers.values().map(|(_, due)| *due);
        let workgroups = self.workgroups.values().map(|(_, due)| *due);
        servers.chain(workgroups).min()
    }

    pub(super) fn expire(&mut self, now: Time) {
        self.servers.retain(|_, (_, due)| *due > now);
        self.workgroups.retain(|_, (_, due)| *due > now);
    }
}

fn expires(now: Time, period_ms: u32) -> Time {
    let period = u64::from(period_ms).clamp(MIN_PERIOD_MS, MAX_PERIOD_MS);
    now + Span::from_millis(period.saturating_mul(MISSED))
}
