//! The NetBIOS name service on UDP port 137, with one node for each network from which clients can reach this server,
//! and the WINS server.

mod browsing;
mod datagrams;
mod exchange;
mod kind;
mod shown;
mod sockets;
mod wins;

pub(super) use browsing::{
    SharedList, config as browser_config, in_words, is_browsers, master_in_words, station_lists,
};
pub(super) use shown::role;
pub(super) use sockets::Bound;

use std::{
    net::{Ipv4Addr, SocketAddr, SocketAddrV4},
    sync::Arc,
};

use coax_netbios::{
    BrowserEvent, Destination, Event, LogonEvent, NameService, NameServiceConfig, Network, OwnName,
    Transmit, logon_names,
};
use coax_wire::{
    nbt::{
        dgm,
        name::{NbName, SUFFIX_MESSENGER, SUFFIX_SERVER, SUFFIX_WORKSTATION},
        ns,
    },
    time::Time,
};
use tokio::{net::UdpSocket, sync::mpsc, time::sleep};

use super::{host::Host, messages, report::Reporter};
use browsing::Browsing;
use datagrams::Datagrams;
use exchange::{Done, Exchanges, Found};
use kind::{DATAGRAM, node_type, scope, wins_servers};
use wins::WinsHost;

/// The name service of this machine.
#[derive(Debug)]
pub(super) struct Names {
    /// The sockets at the configured address and at that network's broadcast address; the first one sends.
    sockets: Vec<UdpSocket>,
    /// The same for datagrams; empty without browsing.
    datagrams: Vec<UdpSocket>,
    nodes: Vec<Node>,
    wins: Option<WinsHost>,
    exchanges: Exchanges,
    /// The server's type without its role as a browser.
    base_type: u32,
}

/// This server's node on one network.
#[derive(Debug)]
struct Node {
    service: NameService,
    datagrams: Option<Datagrams>,
    network: Network,
}

impl Names {
    /// Registers the server's names on the networks of `bound`. Must be called within the runtime.
    ///
    /// # Errors
    /// A name is not a valid NetBIOS name, or the system refuses a socket.
    pub(super) fn start(host: &Host, bound: Bound) -> Result<Self, String> {
        let addresses: Vec<Ipv4Addr> = bound.networks.iter().map(|n| n.address).collect();
        let nodes = bound.networks.iter();
        let browses = !bound.datagrams.is_empty();
        let nodes = nodes.map(|network| node(host, *network, &addresses, browses));
        let sockets = bound.sockets.into_iter().map(UdpSocket::from_std);
        let datagrams = bound.datagrams.into_iter().map(UdpSocket::from_std);
        Ok(Self {
            base_type: coax_server::server_type(&host.server()),
            datagrams: datagrams
                .collect::<Result<_, _>>()
                .map_err(|error| error.to_string())?,
            nodes: nodes.collect::<Result<_, _>>()?,
            exchanges: Exchanges::new(),
            sockets: sockets
                .collect::<Result<_, _>>()
                .map_err(|error| error.to_string())?,
            wins: bound
                .wins
                .map(|stored| WinsHost::start(host, stored))
                .transpose()?,
        })
    }

    /// Where it listens.
    pub(super) fn address(&self) -> Option<SocketAddr> {
        self.sockets.first()?.local_addr().ok()
    }

    /// Answers queries until the server stops, then releases the names. It holds `alive` until then.
    pub(super) async fn run(mut self, host: Arc<Host>, alive: mpsc::Sender<()>) {
        let mut buffers = vec![[0; DATAGRAM]; 4];
        let mut stopping = false;
        loop {
            self.send(&host).await;
            self.show(&host);
            if stopping && self.nodes.iter().all(|node| node.service.is_released()) {
                break;
            }
            let due = self.due().map(|due| host.clock.until(due));
            let [first, second, third, fourth] = buffers.as_mut_slice() else {
                break;
            };
            tokio::select! {
                received = receive(self.sockets.first(), first) => self.handle(&host, received, first),
                received = receive(self.sockets.get(1), second) => self.handle(&host, received, second),
                received = receive(self.datagrams.first(), third) => self.handle_packet(&host, received, third),
                received = receive(self.datagrams.get(1), fourth) => self.handle_packet(&host, received, fourth),
                Some(done) = self.exchanges.next() => self.handle_exchange(&host, done),
                () = sleep(due.unwrap_or_default()), if due.is_some() => self.handle_timeout(&host),
                () = host.drained(), if !stopping => {
                    if host.is_handed_over() {
                        // The names go on existing.
                        break;
                    }
                    stopping = true;
                    self.shutdown(&host);
                }
            }
        }
        if let Some(wins) = self.wins {
            wins.stop();
        }
        drop(alive);
    }

    /// Publishes the names for `coax status`.
    fn show(&self, host: &Host) {
        let nodes = self.nodes.iter();
        let of = |node: &Node| shown::network(&node.service, node.browsing(), node.network);
        host.publish_networks("", nodes.map(of).collect());
        if let Some(wins) = &self.wins {
            host.publish_wins(wins.status());
        }
    }

    fn each(&mut self, mut action: impl FnMut(&mut NameService)) {
        self.nodes
            .iter_mut()
            .for_each(|node| action(&mut node.service));
    }

    fn due(&self) -> Option<Time> {
        let nodes = self.nodes.iter();
        let nodes = nodes.filter_map(|node| node.service.poll_timeout());
        let datagrams = self.nodes.iter();
        let datagrams = datagrams.filter_map(|node| node.datagrams.as_ref()?.due());
        nodes
            .chain(datagrams)
            .chain(self.wins.as_ref().and_then(WinsHost::due))
            .min()
    }

    fn handle_timeout(&mut self, host: &Host) {
        let now = host.clock.now();
        self.each(|service| service.handle_timeout(now));
        let datagrams = self.nodes.iter_mut();
        let datagrams = datagrams.filter_map(|node| node.datagrams.as_mut());
        for datagrams in datagrams.filter(|d| d.due().is_some_and(|due| due <= now)) {
            datagrams.handle_timeout(now);
        }
        self.publish(host);
        if let Some(wins) = &mut self.wins {
            wins.handle_timeout(now);
        }
    }

    /// Says goodbye to browsers, then releases the names.
    fn shutdown(&mut self, host: &Host) {
        let now = host.clock.now();
        for node in &mut self.nodes {
            if let Some(datagrams) = &mut node.datagrams {
                datagrams.shutdown(now);
            }
            node.service.shutdown(now);
        }
    }

    /// A packet of port 138, for the node of the sender's network. Stations of other networks that `hosts allow` admits
    /// can send messages; the first node receives them.
    fn handle_packet(
        &mut self,
        host: &Host,
        received: std::io::Result<(usize, SocketAddr)>,
        buffer: &[u8],
    ) {
        let Ok((len, SocketAddr::V4(from))) = received else {
            return;
        };
        let mut nodes = self.nodes.iter();
        let at = nodes.position(|node| node.network.contains(*from.ip()));
        let at = at.or_else(|| is_allowed(host, from).then_some(0));
        let node = at.and_then(|at| self.nodes.get_mut(at));
        let (Some(node), Some(bytes)) = (node, buffer.get(..len)) else {
            return;
        };
        if let Some(datagrams) = &mut node.datagrams {
            datagrams.handle_packet(host.clock.now(), from, bytes);
            while let Some(received) = datagrams.poll_message() {
                messages::receive_datagram(host, node.network, &received);
            }
            while let Some(event) = datagrams.poll_logon() {
                host.reporter.notice(logon_in_words(host, &event));
            }
        }
        self.publish(host);
    }

    /// Gives the lists to the SMB server.
    fn publish(&self, host: &Host) {
        let config = &host.server().config;
        if let Some(neighbours) = &config.neighbours {
            let browsing = self.nodes.iter();
            let browsing = browsing.filter_map(|node| node.browsing());
            let others = host.settings().global.netbios.browse_list;
            let lists = browsing::lists(config.code_page, self.base_type, others, browsing);
            neighbours.publish("", lists);
        }
    }

    /// Gives a datagram to the WINS server, or to the node of its sender's network. Datagrams from other networks are
    /// for the WINS server only, except replies of another WINS server.
    fn handle(
        &mut self,
        host: &Host,
        received: std::io::Result<(usize, SocketAddr)>,
        buffer: &[u8],
    ) {
        // An ICMP error about an earlier answer is ignored.
        let Ok((len, SocketAddr::V4(from))) = received else {
            return;
        };
        let Some(bytes) = buffer.get(..len) else {
            return;
        };
        let now = host.clock.now();
        let nodes = self.nodes.iter();
        let at = nodes
            .clone()
            .position(|node| node.network.contains(*from.ip()));
        if let Some(wins) = &mut self.wins
            && (at.is_some() || is_allowed(host, from))
            && wins.engine.wants(*from.ip(), bytes)
        {
            return wins.engine.handle_datagram(now, from, bytes);
        }
        let netbios = &host.settings().global.netbios;
        let is_domain_master = netbios.is_domain_master();
        let is_wins = netbios.wins_servers.contains(from.ip());
        match at {
            Some(at) => {
                if let Some(node) = self.nodes.get_mut(at) {
                    node.service.handle_datagram(now, from, bytes);
                }
            }
            None if is_domain_master && is_allowed(host, from) && !is_wins => {
                if let Some(node) = self.nodes.first_mut() {
                    node.service.handle_remote_datagram(now, from, bytes);
                }
            }
            // A reply of a WINS server may be for any node, which knows by its identifier.
            None => self.each(|service| service.handle_datagram(now, from, bytes)),
        }
    }

    /// The domain master browser was found, or lists were fetched.
    fn handle_exchange(&mut self, host: &Host, done: Done) {
        let now = host.clock.now();
        let node = self.nodes.get_mut(done.node);
        let Some(browsing) = node.and_then(Node::browsing_mut) else {
            return;
        };
        match done.found {
            Found::DomainMaster(found) => browsing.handle_domain_master(now, found),
            Found::Lists(from, lists) => {
                if let Some(text) = self.exchanges.in_words(from, &lists) {
                    host.reporter.notice(text);
                }
                browsing.handle_lists(now, from, lists.ok());
            }
        }
        self.publish(host);
    }

    async fn send(&mut self, host: &Arc<Host>) {
        let Some(socket) = self.sockets.first() else {
            return;
        };
        let port = socket
            .local_addr()
            .map_or(ns::PORT, |address| address.port());
        if let Some(wins) = &mut self.wins {
            while let Some(transmit) = wins.engine.poll_transmit() {
                send_to(socket, &transmit, Ipv4Addr::BROADCAST, port).await;
            }
            wins.report(host);
        }
        let datagrams = self.datagrams.first();
        for (at, node) in self.nodes.iter_mut().enumerate() {
            node.join_browser(host, at, &self.exchanges);
            while let (Some(socket), Some(transmit)) = (
                datagrams,
                node.datagrams.as_mut().and_then(Datagrams::poll_transmit),
            ) {
                send_to(socket, &transmit, node.network.broadcast(), dgm::PORT).await;
            }
            while let Some(transmit) = node.service.poll_transmit() {
                send_to(socket, &transmit, node.network.broadcast(), port).await;
            }
        }
    }
}

impl Node {
    fn browsing(&self) -> Option<&Browsing> {
        self.datagrams.as_ref()?.browsing.as_ref()
    }

    fn browsing_mut(&mut self) -> Option<&mut Browsing> {
        self.datagrams.as_mut()?.browsing.as_mut()
    }

    /// Carries names between browser and name service, until neither has news.
    fn join_browser(&mut self, host: &Arc<Host>, at: usize, exchanges: &Exchanges) {
        let now = host.clock.now();
        loop {
            let mut idle = true;
            while let Some(event) = self.service.poll_event() {
                idle = false;
                if let Some(browsing) = self.browsing_mut() {
                    match event {
                        Event::Registered(name) => browsing.handle_name(now, &name, true),
                        Event::Refused { name, .. } | Event::Conflict { name, .. } => {
                            browsing.handle_name(now, &name, false);
                        }
                        _ => {}
                    }
                }
                tell(&host.reporter, self.network, event);
            }
            while let Some(event) = self.browsing_mut().and_then(|b| b.poll_event(host)) {
                idle = false;
                match event {
                    BrowserEvent::Register(own) => {
                        if let Err(error) = self.service.add(now, &own) {
                            let at = self.network.address;
                            host.reporter.notice(format!("{at}: no browsing: {error}"));
                        }
                    }
                    BrowserEvent::Release(name) => self.service.remove(now, &name),
                    event => self.exchange(host, at, exchanges, event),
                }
            }
            if idle {
                return;
            }
        }
    }

    /// Begins what the browser wants of another network's browser.
    fn exchange(
        &mut self,
        host: &Arc<Host>,
        at: usize,
        exchanges: &Exchanges,
        event: BrowserEvent,
    ) {
        let Some(browsing) = self.browsing_mut() else {
            return;
        };
        let names = browsing.exchange(host);
        match event {
            BrowserEvent::FindDomainMaster => exchanges.find(host, at, names),
            BrowserEvent::Fetch { from, whole } => match browsing.browser(from, whole) {
                Some(browser) => exchanges.fetch(host, at, names, browser),
                None => browsing.handle_lists(host.clock.now(), from, None),
            },
            _ => {}
        }
    }
}

async fn send_to(socket: &UdpSocket, transmit: &Transmit, broadcast: Ipv4Addr, port: u16) {
    let to = match transmit.to {
        Destination::Broadcast => SocketAddrV4::new(broadcast, port),
        Destination::Addr(to) => to,
    };
    // The name service repeats important datagrams; a network that is down now may be up then.
    let _ = socket.send_to(&transmit.bytes, to).await;
}

/// Whether `hosts allow` admits a station of another network.
fn is_allowed(host: &Host, from: SocketAddrV4) -> bool {
    let hosts = &host.settings().global.hosts;
    hosts.check_server((*from.ip()).into()).is_ok()
}

async fn receive(
    socket: Option<&UdpSocket>,
    buffer: &mut [u8],
) -> std::io::Result<(usize, SocketAddr)> {
    match socket {
        Some(socket) => socket.recv_from(buffer).await,
        None => std::future::pending().await,
    }
}

fn node(
    host: &Host,
    network: Network,
    addresses: &[Ipv4Addr],
    has_datagrams: bool,
) -> Result<Node, String> {
    let config = &host.server().config;
    let name = |text: &str| {
        let bytes = config.code_page.encode_lossy(&text.to_uppercase());
        NbName::new(&bytes, SUFFIX_SERVER).map_err(|error| format!("{text}: {error}"))
    };
    let (computer, workgroup) = (name(&config.name)?, name(&config.workgroup)?);
    let mut wanted = name_service(host, network, addresses, (computer, workgroup))?;
    let mut add = |own: NbName| {
        let own = OwnName::unique(own);
        if !wanted.names.contains(&own) {
            wanted.names.push(own);
        }
    };
    for alias in &config.aliases {
        let alias = name(alias)?;
        add(alias.with_suffix(SUFFIX_WORKSTATION));
        add(alias.with_suffix(SUFFIX_SERVER));
    }
    let netbios = &host.settings().global.netbios;
    let users = netbios.message_names.iter().filter(|_| netbios.messages);
    let users = users.map(|user| Ok(name(user)?.with_suffix(SUFFIX_MESSENGER)));
    let users: Vec<NbName> = users.collect::<Result<_, String>>()?;
    users.iter().for_each(|user| add(*user));
    let service = NameService::new(host.clock.now(), wanted).map_err(|error| error.to_string())?;
    let datagrams =
        has_datagrams.then(|| Datagrams::start(host, network, (computer, workgroup), &users));
    Ok(Node {
        service,
        datagrams: datagrams.transpose()?,
        network,
    })
}

/// The name service of a network with the names that every server has.
fn name_service(
    host: &Host,
    network: Network,
    addresses: &[Ipv4Addr],
    (computer, workgroup): (NbName, NbName),
) -> Result<NameServiceConfig, String> {
    let netbios = &host.settings().global.netbios;
    let messages = netbios.messages;
    let mut wanted = NameServiceConfig::file_server(computer, workgroup, messages, network.address);
    if netbios.domain_logons {
        wanted.names.extend(logon_names(workgroup));
    }
    wanted.wins = wins_servers(netbios, network);
    if !wanted.wins.is_empty() {
        // The WINS server learns all addresses, so that clients of each network find one that they reach.
        let others = addresses.iter().filter(|other| **other != network.address);
        wanted.addresses.extend(others);
    }
    wanted.node = node_type(netbios);
    wanted.network = Some(network);
    wanted.proxy = netbios.wins_proxy;
    wanted.scope = scope(netbios)?;
    wanted.first_id = super::random::random()
        .map(u16::from_le_bytes)
        .unwrap_or_default();
    Ok(wanted)
}

/// What the log-on server did, in one line.
fn logon_in_words(host: &Host, event: &LogonEvent<SocketAddrV4>) -> String {
    let domain = &host.server().config.workgroup;
    let page = host.server().config.code_page;
    match event {
        LogonEvent::Requested {
            from,
            computer,
            user,
        } => format!(
            "{}: {} looks for a log-on server of {domain} for the user {}; coax answered",
            from.ip(),
            page.decode(computer),
            page.decode(user)
        ),
        LogonEvent::NtRefused { from, computer } => format!(
            "{}: {} asks for a Windows NT domain controller of {domain}; coax serves Windows 9x only and does not answer",
            from.ip(),
            coax_wire::codepage::utf16::decode(computer)
        ),
    }
}

fn tell(reporter: &Reporter, network: Network, event: Event) {
    let at = network.address;
    reporter.notice(match event {
        // The browser has events of its own for its names.
        Event::Refused { name, .. } if browsing::is_browsers(&name) => return,
        // A user's name is where the user is logged on.
        Event::Refused { name, by } if name.suffix() == SUFFIX_MESSENGER => {
            format!("{at}: messages to {name} go to {by}, which has this name")
        }
        Event::Refused { name, by } => {
            format!("{at}: the name {name} belongs to {by}; choose another with --name")
        }
        Event::Conflict { name, by } => format!(
            "{at}: {by} uses the name {name} too; it is not answered for any more, and claimed again in a minute"
        ),
        Event::FalseConflict { name, by } => {
            let text = format!(
                "{at}: {by} reported that {name} is used twice, but no other machine answers to it; the name is kept"
            );
            return reporter.notice_repeated(text);
        }
        Event::Defended { name, claimant } => {
            let text = format!("{at}: {claimant} claimed our name {name} and was refused");
            return reporter.notice_repeated(text);
        }
        Event::WinsUnreachable => {
            format!("{at}: no WINS server answers; coax tries again every minute")
        }
        Event::Registered(_) | Event::Released(_) => return,
    });
}
