//! The list of servers and workgroups that a browser keeps: what it hears on its network, and what it fetched from the
//! browsers of other networks.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use coax_wire::browser::{Announcement, server_type};
use coax_wire::nbt::name::NbName;
use coax_wire::time::{Span, Time};

/// Announcements that may be missed before a server is forgotten ([MS-BRWS] 3.3.2).
const MISSED: u64 = 3;
/// The shortest period that counts, so that a false announcement of 0 ms does not vanish at once.
const MIN_PERIOD_MS: u64 = 60_000;
/// The longest period that counts: twice the 12 minutes of all implementations.
const MAX_PERIOD_MS: u64 = 24 * 60_000;
/// The most servers of the workgroup on this network, and the most on others.
const MAX_SERVERS: usize = 2000;
/// The most workgroups on this network, and the most on others.
const MAX_WORKGROUPS: usize = 500;
/// How long a domain master browser is not believed that a server exists which left this network: it fetches this
/// network's list after the announcement that follows at once, or in its next turn.
const DEPARTED: Span = Span::from_secs(6 * 60);

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

/// The lists of a browser of another network.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fetched {
    /// The servers of the workgroup.
    pub servers: Vec<ListedServer>,
    /// The workgroups.
    pub workgroups: Vec<ListedWorkgroup>,
}

/// What a browser knows. Names are sorted and compared in upper case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BrowseList {
    servers: BTreeMap<Vec<u8>, (ListedServer, Time)>,
    workgroups: BTreeMap<Vec<u8>, (ListedWorkgroup, Time)>,
    /// The lists of other browsers, by their names.
    fetched: BTreeMap<NbName, (Fetched, Time)>,
    /// Servers that left this network.
    departed: BTreeMap<Vec<u8>, Time>,
    /// What this network's list contains has changed.
    changed: bool,
    /// Counts the changes of all lists.
    revision: u64,
}

impl BrowseList {
    /// An empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// The servers of the workgroup that are heard on this network, sorted by name.
    pub fn servers(&self) -> impl Iterator<Item = &ListedServer> {
        self.servers.values().map(|(server, _)| server)
    }

    /// The other workgroups that are heard on this network, sorted by name.
    pub fn workgroups(&self) -> impl Iterator<Item = &ListedWorkgroup> {
        self.workgroups.values().map(|(workgroup, _)| workgroup)
    }

    /// Servers that only browsers of other networks list; two of them may list the same one.
    pub fn remote_servers(&self) -> impl Iterator<Item = &ListedServer> {
        let all = self.fetched.values().flat_map(|(lists, _)| &lists.servers);
        all.filter(|server| !self.servers.contains_key(&server.name))
    }

    /// Workgroups that only browsers of other networks list; two of them may list the same one.
    pub fn remote_workgroups(&self) -> impl Iterator<Item = &ListedWorkgroup> {
        let all = self.fetched.values();
        let all = all.flat_map(|(lists, _)| &lists.workgroups);
        all.filter(|workgroup| !self.workgroups.contains_key(&workgroup.name))
    }

    /// A number that differs from that of an earlier call if the list does.
    pub(super) fn revision(&self) -> u64 {
        self.revision
    }

    fn note_change(&mut self) {
        self.changed = true;
        self.revision = self.revision.wrapping_add(1);
    }

    /// A server announced itself; type 0 says that it leaves.
    pub(super) fn put_server(&mut self, now: Time, heard: &Announcement) {
        let key = heard.name.to_ascii_uppercase();
        if heard.server_type == 0 || key.is_empty() {
            if self.servers.remove(&key).is_some() {
                self.note_departure(now, key);
            }
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
        self.departed.remove(&key);
        let new = (server, expires(now, heard.period_ms));
        let known = self.servers.get(&key).map(|(known, _)| known);
        if known != Some(&new.0) {
            self.note_change();
        }
        self.servers.insert(key, new);
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
        let known = self.workgroups.get(&key).map(|(known, _)| known);
        if known != Some(&workgroup) {
            self.note_change();
        }
        let expires = expires(now, heard.period_ms);
        self.workgroups.insert(key, (workgroup, expires));
    }

    /// Replaces what the browser `from` listed, until `expires`. The list of a domain master is `whole`: it may still
    /// contain servers that have left this network.
    pub(super) fn put_fetched(
        &mut self,
        from: NbName,
        mut lists: Fetched,
        whole: bool,
        expires: Time,
    ) {
        self.fetched.remove(&from);
        for server in &mut lists.servers {
            server.name.make_ascii_uppercase();
        }
        for workgroup in &mut lists.workgroups {
            workgroup.name.make_ascii_uppercase();
            workgroup.master.make_ascii_uppercase();
        }
        let departed = &self.departed;
        lists.servers.retain(|server| {
            let left = whole && departed.contains_key(&server.name);
            !left && !server.name.is_empty()
        });
        lists.workgroups.retain(|group| !group.name.is_empty());
        let count = |of: fn(&Fetched) -> usize| {
            let all = self.fetched.values();
            all.map(|(lists, _)| of(lists)).sum::<usize>()
        };
        let servers = MAX_SERVERS.saturating_sub(count(|lists| lists.servers.len()));
        let workgroups = MAX_WORKGROUPS.saturating_sub(count(|lists| lists.workgroups.len()));
        lists.servers.truncate(servers);
        lists.workgroups.truncate(workgroups);
        self.fetched.insert(from, (lists, expires));
    }

    /// Forgets what the browser `from` listed.
    pub(super) fn forget_fetched(&mut self, from: NbName) {
        self.fetched.remove(&from);
    }

    /// Whether the list of this network changed since the last call.
    pub(super) fn take_changed(&mut self) -> bool {
        core::mem::take(&mut self.changed)
    }

    pub(super) fn due(&self) -> Option<Time> {
        let servers = self.servers.values().map(|(_, due)| *due);
        let workgroups = self.workgroups.values().map(|(_, due)| *due);
        let fetched = self.fetched.values().map(|(_, due)| *due);
        let departed = self.departed.values().copied();
        servers
            .chain(workgroups)
            .chain(fetched)
            .chain(departed)
            .min()
    }

    pub(super) fn expire(&mut self, now: Time) {
        let gone = self.servers.iter().filter(|(_, (_, due))| *due <= now);
        let gone: Vec<Vec<u8>> = gone.map(|(name, _)| name.clone()).collect();
        let before = (self.workgroups.len(), self.fetched.len());
        self.workgroups.retain(|_, (_, due)| *due > now);
        self.fetched.retain(|_, (_, due)| *due > now);
        if before != (self.workgroups.len(), self.fetched.len()) {
            self.revision = self.revision.wrapping_add(1);
        }
        self.departed.retain(|_, due| *due > now);
        for name in gone {
            self.servers.remove(&name);
            self.note_departure(now, name);
        }
    }

    fn note_departure(&mut self, now: Time, name: Vec<u8>) {
        self.note_change();
        for (lists, _) in self.fetched.values_mut() {
            lists.servers.retain(|server| server.name != name);
        }
        if self.departed.len() < MAX_SERVERS {
            self.departed.insert(name, now + DEPARTED);
        }
    }
}

fn expires(now: Time, period_ms: u32) -> Time {
    let period = u64::from(period_ms).clamp(MIN_PERIOD_MS, MAX_PERIOD_MS);
    now + Span::from_millis(period.saturating_mul(MISSED))
}
