//! The browser service of one network, and the list that clients are given.

use std::{
    collections::BTreeMap,
    net::SocketAddrV4,
    sync::{Mutex, MutexGuard, PoisonError},
};

use coax_netbios::{
    Browser, BrowserConfig, BrowserEvent, Criterion, ElectionReason, Fetched, Heard, Incoming,
    ListedServer, ListedWorkgroup, LmAnnounce, MSBROWSE, Network, Outgoing, Role,
};
use coax_server::config::{Neighbour, NeighbourLists, Neighbours};
use coax_wire::{
    codepage::CodePage,
    nbt::name::NbName,
    time::{Span, Time},
};

use super::{
    super::{host::Host, random},
    exchange,
};
use coax_smbconf::settings::AutoSetting;

/// The version that the server announces, as Windows NT 4.0 with service packs and Samba do.
const VERSION: (u8, u8) = (4, 9);

/// The shortest `coax:browse sync interval`.
const MIN_SYNC_INTERVAL_S: u32 = 5;

/// The browser of one network.
#[derive(Debug)]
pub(super) struct Browsing {
    browser: Browser<SocketAddrV4>,
    network: Network,
    workgroup: NbName,
    master: Option<NbName>,
}

impl Browsing {
    /// Starts to announce the server on `network`.
    pub(super) fn start(
        host: &Host,
        network: Network,
        (computer, workgroup): (NbName, NbName),
    ) -> Self {
        let config = config(host, (computer, workgroup));
        Self {
            browser: Browser::new(host.clock.now(), config),
            network,
            workgroup,
            master: None,
        }
    }

    /// A datagram arrived from a station of this network.
    pub(super) fn handle_datagram(&mut self, now: Time, incoming: &Incoming<SocketAddrV4>) {
        self.browser.handle_datagram(now, incoming);
    }

    /// A datagram arrived from a station of another network.
    pub(super) fn handle_remote_datagram(&mut self, now: Time, incoming: &Incoming<SocketAddrV4>) {
        self.browser.handle_remote_datagram(now, incoming);
    }

    /// Where and for which workgroup an exchange takes place.
    pub(super) fn exchange(&self, host: &Host) -> exchange::Names {
        exchange::names(host, self.network, self.workgroup)
    }

    /// A browser whose lists are to be fetched.
    pub(super) fn browser(&self, name: NbName, whole: bool) -> Option<exchange::Browser> {
        let address = *self.browser.address_of(name)?.ip();
        let browser = exchange::Browser {
            name,
            address,
            whole,
        };
        // Our own address, a group's, or none: nothing to connect to.
        let usable = address != self.network.address
            && address != self.network.broadcast()
            && !address.is_multicast()
            && !address.is_broadcast()
            && !address.is_unspecified();
        usable.then_some(browser)
    }

    /// The domain master browser was found, or not.
    pub(super) fn handle_domain_master(
        &mut self,
        now: Time,
        found: Option<(NbName, SocketAddrV4)>,
    ) {
        self.browser.handle_domain_master(now, found);
    }

    /// A browser's lists were fetched, or not.
    pub(super) fn handle_lists(&mut self, now: Time, from: NbName, lists: Option<Fetched>) {
        self.browser.handle_lists(now, from, lists);
    }

    pub(super) fn handle_timeout(&mut self, now: Time) {
        self.browser.handle_timeout(now);
    }

    pub(super) fn due(&self) -> Option<Time> {
        self.browser.poll_timeout()
    }

    pub(super) fn shutdown(&mut self, now: Time) {
        self.browser.shutdown(now);
    }

    /// The name service registered or lost one of the browser's names.
    pub(super) fn handle_name(&mut self, now: Time, name: &NbName, registered: bool) {
        self.browser.handle_name(now, name, registered);
    }

    /// A datagram to send, until there is none.
    pub(super) fn poll_outgoing(&mut self) -> Option<Outgoing<SocketAddrV4>> {
        self.browser.poll_outgoing()
    }

    /// Names to register or release. Everything else becomes a line of the log.
    pub(super) fn poll_event(&mut self, host: &Host) -> Option<BrowserEvent> {
        while let Some(event) = self.browser.poll_event() {
            match event {
                BrowserEvent::Role { role, reason } => {
                    let text = in_words(
                        &self.network.address.to_string(),
                        self.workgroup,
                        role,
                        &reason,
                    );
                    host.reporter.notice(text);
                }
                BrowserEvent::Master(master) => {
                    if self.master != Some(master) {
                        let at = self.network.address.to_string();
                        let text = master_in_words(&at, self.workgroup, master);
                        host.reporter.notice(text);
                    }
                    self.master = Some(master);
                }
                BrowserEvent::DomainMaster(master) => {
                    let (at, group) = (self.network.address, text(self.workgroup));
                    host.reporter.notice(match master {
                        Some(master) => format!(
                            "{at}: {} is the domain master browser of {group}; coax exchanges lists with it",
                            text(master)
                        ),
                        None => format!(
                            "{at}: no domain master browser of {group} answers: WINS knows no {group}<1b>"
                        ),
                    });
                }
                event => return Some(event),
            }
        }
        None
    }

    /// This server's part.
    pub(super) fn role(&self) -> Role {
        self.browser.role()
    }

    /// The master browser, if it is known.
    pub(super) fn master(&self) -> Option<String> {
        self.master.map(text)
    }

    fn is_master(&self) -> bool {
        self.browser.role() == Role::Master
    }
}

/// What the settings say of browsing.
pub(in super::super) fn config(
    host: &Host,
    (computer, workgroup): (NbName, NbName),
) -> BrowserConfig {
    let config = &host.server().config;
    let netbios = &host.settings().global.netbios;
    BrowserConfig {
        computer,
        workgroup,
        comment: config.code_page.encode_lossy(&config.comment),
        version: VERSION,
        server_type: coax_server::server_type(&host.server()),
        os_level: u8::try_from(netbios.os_level).unwrap_or(u8::MAX),
        local_master: netbios.local_master,
        preferred_master: netbios.is_preferred_master(),
        domain_master: netbios.is_domain_master(),
        wins: netbios.wins_support || !netbios.wins_servers.is_empty(),
        answers_as_master: false,
        lm_announce: match netbios.lm_announce {
            AutoSetting::Yes => LmAnnounce::Yes,
            AutoSetting::No => LmAnnounce::No,
            AutoSetting::Auto => LmAnnounce::Auto,
        },
        lm_interval_s: netbios.lm_interval_s,
        sync_interval: Span::from_secs(u64::from(
            netbios.browse_sync_interval_s.max(MIN_SYNC_INTERVAL_S),
        )),
        seed: random::random().map(u64::from_le_bytes).unwrap_or(1),
    }
}

/// What happened, and why, in one line.
pub(in super::super) fn in_words(
    at: &str,
    workgroup: NbName,
    role: Role,
    reason: &ElectionReason,
) -> String {
    let group = text(workgroup);
    let now = match role {
        Role::Master => format!("coax is the master browser of {group}"),
        Role::Backup => format!("coax is a backup browser of {group}"),
        Role::Potential | Role::Server => format!("coax is not the master browser of {group}"),
    };
    match reason {
        ElectionReason::Won => format!("{at}: {now}: it won the election"),
        ElectionReason::Lost { to, by } => {
            let name = text(*to);
            format!("{at}: {now}: {name} won the election by {}", criterion(*by))
        }
        ElectionReason::NoMaster => {
            format!("{at}: no master browser of {group} answers; coax calls an election")
        }
        ElectionReason::Preferred => {
            format!("{at}: coax calls an election in {group}: 'preferred master = yes'")
        }
        ElectionReason::NameRefused => {
            format!("{at}: {now}: another machine has the name {group}<1d>")
        }
        ElectionReason::OtherMaster(other) => format!(
            "{at}: {} is a master browser of {group}, too; coax calls an election",
            text(*other)
        ),
        ElectionReason::Called(by) => {
            format!(
                "{at}: {} called an election in {group}; coax takes part",
                text(*by)
            )
        }
        ElectionReason::Chosen => format!("{at}: {now}: the master browser chose it"),
    }
}

/// Another machine is the master browser.
pub(in super::super) fn master_in_words(at: &str, workgroup: NbName, master: NbName) -> String {
    let (master, group) = (text(master), text(workgroup));
    format!("{at}: {master} is the master browser of {group}")
}

fn criterion(by: Criterion) -> &'static str {
    match by {
        Criterion::Version => "the version of its protocol",
        Criterion::OsLevel => "its higher 'os level'",
        Criterion::Role => "its role (preferred or running master)",
        Criterion::Uptime => "its longer uptime",
        Criterion::Name => "its name, the lower one",
    }
}

fn text(name: NbName) -> String {
    String::from_utf8_lossy(name.characters()).into_owned()
}

/// The union of the lists of all networks, which the SMB server gives to clients.
#[derive(Debug, Default)]
pub(in super::super) struct SharedList(Mutex<Networks>);

/// The lists of each network, and their union.
#[derive(Debug, Default)]
struct Networks {
    each: BTreeMap<String, NeighbourLists>,
    all: NeighbourLists,
}

impl Networks {
    fn unite(&mut self) {
        let mut all = NeighbourLists::default();
        let (mut servers, mut workgroups) = (BTreeMap::new(), BTreeMap::new());
        for lists in self.each.values() {
            all.own_type |= lists.own_type;
            all.master = all.master.or_else(|| lists.master.clone());
            (lists.servers.iter().cloned()).for_each(|entry| add(&mut servers, entry));
            (lists.workgroups.iter().cloned()).for_each(|entry| add(&mut workgroups, entry));
        }
        all.servers = servers.into_values().collect();
        all.workgroups = workgroups.into_values().collect();
        self.all = all;
    }
}

/// What the browsers of all networks know now.
pub(super) fn lists<'a>(
    page: CodePage,
    base_type: u32,
    with_others: bool,
    browsers: impl Iterator<Item = &'a Browsing>,
) -> NeighbourLists {
    let mut lists = NeighbourLists::default();
    let (mut servers_of_all, mut workgroups_of_all) = (BTreeMap::new(), BTreeMap::new());
    for browsing in browsers {
        lists.own_type |= browsing.browser.own_entry().server_type & !base_type;
        let list = browsing.browser.list();
        let servers = list.servers().map(|server| (server, true));
        let servers = servers.chain(list.remote_servers().map(|server| (server, false)));
        for (server, local) in servers.filter(|_| with_others) {
            add(&mut servers_of_all, server_entry(page, server, local));
        }
        let workgroups = list.workgroups().map(|group| (group, true));
        let workgroups = workgroups.chain(list.remote_workgroups().map(|group| (group, false)));
        for (workgroup, local) in workgroups.filter(|_| with_others) {
            add(
                &mut workgroups_of_all,
                workgroup_entry(page, workgroup, local),
            );
        }
        let master = browsing.master.filter(|_| !browsing.is_master());
        lists.master = lists.master.or(master.map(text));
    }
    lists.servers = servers_of_all.into_values().collect();
    lists.workgroups = workgroups_of_all.into_values().collect();
    lists
}

/// What the browser of a station without TCP/IP knows.
pub(in super::super) fn station_lists(
    page: CodePage,
    base_type: u32,
    with_others: bool,
    heard: &Heard,
) -> NeighbourLists {
    let servers = heard.lists.servers.iter().filter(|_| with_others);
    let workgroups = heard.lists.workgroups.iter().filter(|_| with_others);
    NeighbourLists {
        servers: servers
            .map(|server| server_entry(page, server, true))
            .collect(),
        workgroups: workgroups
            .map(|group| workgroup_entry(page, group, true))
            .collect(),
        master: heard.master.map(text),
        own_type: heard.own_type & !base_type,
    }
}

fn server_entry(page: CodePage, server: &ListedServer, local: bool) -> Neighbour {
    Neighbour {
        name: page.decode(&server.name).into_owned(),
        version: server.version,
        server_type: server.server_type,
        comment: page.decode(&server.comment).into_owned(),
        local,
    }
}

fn workgroup_entry(page: CodePage, workgroup: &ListedWorkgroup, local: bool) -> Neighbour {
    Neighbour {
        name: page.decode(&workgroup.name).into_owned(),
        version: VERSION,
        server_type: workgroup.server_type,
        comment: page.decode(&workgroup.master).into_owned(),
        local,
    }
}

/// Adds an entry that no other network had. What this server hears itself is better than what others list.
fn add(entries: &mut BTreeMap<String, Neighbour>, entry: Neighbour) {
    match entries.get(&entry.name) {
        Some(known) if known.local || !entry.local => {}
        _ => {
            entries.insert(entry.name.clone(), entry);
        }
    }
}

impl SharedList {
    fn inside(&self) -> MutexGuard<'_, Networks> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Neighbours for SharedList {
    fn servers(&self) -> Vec<Neighbour> {
        self.inside().all.servers.clone()
    }

    fn workgroups(&self) -> Vec<Neighbour> {
        self.inside().all.workgroups.clone()
    }

    fn master(&self) -> Option<String> {
        self.inside().all.master.clone()
    }

    fn own_type(&self) -> u32 {
        self.inside().all.own_type
    }

    fn publish(&self, network: &str, lists: NeighbourLists) {
        let mut inside = self.inside();
        inside.each.insert(network.to_owned(), lists);
        inside.unite();
    }
}

/// Whether a name is one that the browser asks for.
pub(in super::super) fn is_browsers(name: &NbName) -> bool {
    matches!(name.suffix(), 0x1b | 0x1d | 0x1e) || *name == MSBROWSE
}
