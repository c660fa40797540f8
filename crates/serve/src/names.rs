//! The NetBIOS name service on UDP port 137, with one node for each network from which clients can reach this server.

use std::{
    io::ErrorKind,
    net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV4},
    sync::Arc,
};

use coax_netbios::{Destination, Event, NameService, NameServiceConfig};
use coax_wire::{
    nbt::name::{NbName, SUFFIX_SERVER},
    time::Time,
};
use if_addrs::{IfAddr, Ifv4Addr};
use socket2::{Domain, Protocol, Socket, Type};
use tokio::{net::UdpSocket, sync::mpsc, time::sleep};

use super::{holder, host::Host, report::Reporter};
use coax_smbconf::settings::Settings;

/// Receive buffer size. RFC 1002 section 4.2 limits datagrams of the name service to 576 bytes.
const DATAGRAM: usize = 1500;

/// The name service of this machine.
#[derive(Debug)]
pub(super) struct Names {
    /// The sockets at the configured address and at that network's broadcast address; the first one sends.
    sockets: Vec<UdpSocket>,
    nodes: Vec<Node>,
}

/// This server's node on one network.
#[derive(Debug)]
struct Node {
    service: NameService,
    network: Network,
}

/// One of this machine's networks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Network {
    address: Ipv4Addr,
    mask: u32,
}

impl Network {
    fn contains(self, address: Ipv4Addr) -> bool {
        u32::from(address) & self.mask == u32::from(self.address) & self.mask
    }

    fn broadcast(self) -> Ipv4Addr {
        Ipv4Addr::from(u32::from(self.address) | !self.mask)
    }
}

impl From<&Ifv4Addr> for Network {
    fn from(interface: &Ifv4Addr) -> Self {
        Self {
            address: interface.ip,
            mask: u32::from(interface.netmask),
        }
    }
}

/// The sockets of the name service, bound, and the networks it serves.
#[derive(Debug)]
pub(super) struct Bound {
    sockets: Vec<std::net::UdpSocket>,
    networks: Vec<Network>,
}

impl Bound {
    /// Binds the sockets that the settings ask for; `None` if the name service is off.
    ///
    /// # Errors
    /// The reason the name service is unavailable. The server starts nevertheless: clients that know its address can
    /// connect.
    pub(super) fn open(settings: &Settings) -> Result<Option<Self>, String> {
        let Some(wanted) = settings.listen.names else {
            return Ok(None);
        };
        Self::try_open(settings, wanted.address).map(Some).map_err(|why| {
            format!(
                "coax cannot answer name queries on UDP {}: {why}; clients need an LMHOSTS entry to find this server",
                wanted.address
            )
        })
    }

    /// Whether it uses the standard port that clients query.
    pub(super) fn is_at_the_usual_port(&self) -> bool {
        let first = self.sockets.first().and_then(|s| s.local_addr().ok());
        first.is_some_and(|address| address.port() == 137)
    }

    fn try_open(settings: &Settings, wanted: SocketAddr) -> Result<Self, String> {
        let IpAddr::V4(address) = wanted.ip() else {
            return Err("the NetBIOS name service knows IPv4 only".into());
        };
        let networks = networks(settings, address);
        if networks.is_empty() {
            return Err("no network here has an IPv4 address that clients could reach".into());
        }
        let sockets = sockets(address, wanted.port(), &networks)
            .map_err(|(at, error)| in_words(at, &error))?;
        Ok(Self { sockets, networks })
    }
}

impl Names {
    /// Registers the server's names on the networks of `bound`. Must be called within the runtime.
    ///
    /// # Errors
    /// A name is not a valid NetBIOS name, or the system refuses a socket.
    pub(super) fn start(host: &Host, bound: Bound) -> Result<Self, String> {
        let nodes = bound.networks.into_iter();
        let sockets = bound.sockets.into_iter().map(UdpSocket::from_std);
        Ok(Self {
            nodes: nodes
                .map(|network| node(host, network))
                .collect::<Result<_, _>>()?,
            sockets: sockets
                .collect::<Result<_, _>>()
                .map_err(|error| error.to_string())?,
        })
    }

    /// Where it listens.
    pub(super) fn address(&self) -> Option<SocketAddr> {
        self.sockets.first()?.local_addr().ok()
    }

    /// Answers queries until the server stops, then releases the names. It holds `alive` until then.
    pub(super) async fn run(mut self, host: Arc<Host>, alive: mpsc::Sender<()>) {
        let mut buffers = vec![[0; DATAGRAM]; 2];
        let mut stopping = false;
        loop {
            self.send(&host.reporter).await;
            if stopping && self.nodes.iter().all(|node| node.service.is_released()) {
                break;
            }
            let due = self.due().map(|due| host.clock.until(due));
            let [first, second] = buffers.as_mut_slice() else {
                break;
            };
            tokio::select! {
                received = receive(self.sockets.first(), first) => self.handle(&host, received, first),
                received = receive(self.sockets.get(1), second) => self.handle(&host, received, second),
                () = sleep(due.unwrap_or_default()), if due.is_some() => {
                    self.each(|service| service.handle_timeout(host.clock.now()));
                }
                () = host.stopped(), if !stopping => {
                    stopping = true;
                    self.each(|service| service.shutdown(host.clock.now()));
                }
            }
        }
        drop(alive);
    }

    fn each(&mut self, mut action: impl FnMut(&mut NameService)) {
        self.nodes
            .iter_mut()
            .for_each(|node| action(&mut node.service));
    }

    fn due(&self) -> Option<Time> {
        self.nodes
            .iter()
            .filter_map(|node| node.service.poll_timeout())
            .min()
    }

    /// Assigns a datagram to the network of its sender; the first network receives datagrams from other networks.
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
        let at = self
            .nodes
            .iter()
            .position(|node| node.network.contains(*from.ip()))
            .unwrap_or(0);
        if let (Some(node), Some(bytes)) = (self.nodes.get_mut(at), buffer.get(..len)) {
            node.service.handle_datagram(host.clock.now(), from, bytes);
        }
    }

    async fn send(&mut self, reporter: &Reporter) {
        let Some(socket) = self.sockets.first() else {
            return;
        };
        let port = socket.local_addr().map_or(137, |address| address.port());
        for node in &mut self.nodes {
            while let Some(transmit) = node.service.poll_transmit() {
                let to = match transmit.to {
                    Destination::Broadcast => SocketAddrV4::new(node.network.broadcast(), port),
                    Destination::Addr(to) => to,
                };
                // The name service repeats important datagrams; a network that is down now may be up then.
                let _ = socket.send_to(&transmit.bytes, to).await;
            }
            while let Some(event) = node.service.poll_event() {
                tell(reporter, event);
            }
        }
    }
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

fn node(host: &Host, network: Network) -> Result<Node, String> {
    let config = &host.server.config;
    let name = |text: &str| {
        let bytes = config.code_page.encode_lossy(&text.to_uppercase());
        NbName::new(&bytes, SUFFIX_SERVER).map_err(|error| format!("{text}: {error}"))
    };
    let mut wanted = NameServiceConfig::file_server(
        name(&config.name)?,
        name(&config.workgroup)?,
        false,
        network.address,
    );
    for alias in &config.aliases {
        let alias = name(alias)?;
        let own = coax_netbios::OwnName {
            name: alias,
            kind: coax_netbios::NameKind::Unique,
        };
        if !wanted.names.contains(&own) {
            wanted.names.push(own);
        }
    }
    wanted.first_id = super::random::random()
        .map(u16::from_le_bytes)
        .unwrap_or_default();
    let service = NameService::new(host.clock.now(), wanted).map_err(|error| error.to_string())?;
    Ok(Node { service, network })
}

/// The networks of the addresses that listen for NetBIOS sessions.
fn networks(settings: &Settings, wanted: Ipv4Addr) -> Vec<Network> {
    let listens = |address: Ipv4Addr| {
        let mut at = settings
            .listen
            .nbt
            .iter()
            .map(|listener| listener.address.ip());
        at.any(|ip| ip.is_unspecified() || ip == IpAddr::V4(address))
    };
    let interfaces = if_addrs::get_if_addrs().unwrap_or_default();
    let addresses = interfaces
        .iter()
        .filter_map(|interface| match &interface.addr {
            IfAddr::V4(address) => Some(address),
            IfAddr::V6(_) => None,
        });
    let chosen = addresses.filter(|address| {
        if wanted.is_unspecified() {
            !address.ip.is_loopback() && listens(address.ip)
        } else {
            address.ip == wanted
        }
    });
    chosen.map(Network::from).collect()
}

/// One socket for all addresses, or one at `wanted` and one at its broadcast address: the system delivers broadcasts
/// only to the latter.
fn sockets(
    wanted: Ipv4Addr,
    port: u16,
    networks: &[Network],
) -> Result<Vec<std::net::UdpSocket>, (SocketAddrV4, std::io::Error)> {
    let first = bind(SocketAddrV4::new(wanted, port))?;
    let mut sockets = vec![first];
    if !wanted.is_unspecified() {
        let port = sockets
            .first()
            .and_then(|s| s.local_addr().ok())
            .map_or(port, |a| a.port());
        let broadcast = networks
            .first()
            .map(|network| network.broadcast())
            .filter(|b| *b != wanted);
        if let Some(address) = broadcast {
            sockets.push(bind(SocketAddrV4::new(address, port))?);
        }
    }
    Ok(sockets)
}

fn bind(address: SocketAddrV4) -> Result<std::net::UdpSocket, (SocketAddrV4, std::io::Error)> {
    let open = || {
        let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
        socket.set_broadcast(true)?;
        socket.set_nonblocking(true)?;
        socket.bind(&SocketAddr::V4(address).into())?;
        Ok(socket.into())
    };
    open().map_err(|error| (address, error))
}

fn in_words(address: SocketAddrV4, error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::PermissionDenied => {
            "ports below 1024 need a permission that coax does not have".into()
        }
        ErrorKind::AddrInUse => {
            let holder = holder::of(address.into(), holder::Kind::Udp);
            let holder = holder.unwrap_or_else(|| "another program".into());
            format!("{holder} holds this port")
        }
        _ => error.to_string(),
    }
}

fn tell(reporter: &Reporter, event: Event) {
    match event {
        Event::Refused { name, by } => {
            reporter.notice(format!(
                "the name {name} belongs to {by}; choose another with --name"
            ));
        }
        Event::Conflict { name, by } => {
            reporter.notice(format!(
                "{by} says that the name {name} is used twice; it is not answered for any more"
            ));
        }
        Event::Defended { name, claimant } => {
            reporter.notice(format!(
                "{claimant} claimed our name {name} and was refused"
            ));
        }
        Event::Registered(_) | Event::Released(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_knows_its_members_and_its_broadcast_address() {
        let network = Network {
            address: Ipv4Addr::new(192, 168, 1, 5),
            mask: 0xffff_ff00,
        };
        assert_eq!(network.broadcast(), Ipv4Addr::new(192, 168, 1, 255));
        assert!(network.contains(Ipv4Addr::new(192, 168, 1, 77)));
        assert!(!network.contains(Ipv4Addr::new(192, 168, 2, 77)));
    }
}
