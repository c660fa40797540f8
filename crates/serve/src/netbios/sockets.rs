//! The sockets of the name service, and the networks that it serves.

use std::{
    io::ErrorKind,
    net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV4},
};

use coax_netbios::Network;
use coax_wire::nbt::dgm;
use if_addrs::{IfAddr, Ifv4Addr};
use socket2::{Domain, Protocol, Socket, Type};

use super::super::{handed::Handed, holder};
use super::wins::Stored;
use coax_smbconf::{diagnostic::Diagnostic, settings::Settings};

/// The sockets of the name service, bound, and the networks it serves.
#[derive(Debug)]
pub(in super::super) struct Bound {
    pub(super) sockets: Vec<std::net::UdpSocket>,
    /// The same for datagrams, if browsing is possible.
    pub(super) datagrams: Vec<std::net::UdpSocket>,
    pub(super) networks: Vec<Network>,
    /// The records of the WINS server.
    pub(super) wins: Option<Stored>,
}

impl Bound {
    /// Binds the sockets that the settings ask for; `None` if the name service is off.
    ///
    /// # Errors
    /// The reason the name service is unavailable. The server starts nevertheless: clients that know its address can
    /// connect.
    pub(in super::super) fn open(
        settings: &Settings,
        handed: &mut Handed,
        warnings: &mut Vec<Diagnostic>,
    ) -> Result<Option<Self>, String> {
        let Some(wanted) = settings.listen.names else {
            return Ok(None);
        };
        let mut bound = Self::try_open(settings, wanted.address, handed).map_err(|why| {
            format!(
                "coax cannot answer name queries on UDP {}: {why}; clients need an LMHOSTS entry to find this server",
                wanted.address
            )
        })?;
        // Browsing is of use only with the names that others look for on port 137.
        bound.datagrams = std::mem::take(&mut handed.datagrams);
        if bound.is_at_the_usual_port() && bound.datagrams.is_empty() {
            bound.datagrams = datagrams(wanted.address, &bound.networks).unwrap_or_else(|why| {
                let text = format!("coax does not appear in the Network Neighborhood: {why}");
                warnings.push(Diagnostic::warning(text).help("free UDP port 138"));
                Vec::new()
            });
        }
        if settings.global.netbios.wins_support {
            bound.wins = Some(Stored::load(&settings.global.netbios, warnings));
        }
        Ok(Some(bound))
    }

    /// Whether it is at the standard port that clients query.
    pub(in super::super) fn is_at_the_usual_port(&self) -> bool {
        let first = self.sockets.first().and_then(|s| s.local_addr().ok());
        first.is_some_and(|address| address.port() == 137)
    }

    /// All sockets: of names, and of datagrams.
    pub(in super::super) fn sockets(&self) -> (&[std::net::UdpSocket], &[std::net::UdpSocket]) {
        (&self.sockets, &self.datagrams)
    }

    fn try_open(
        settings: &Settings,
        wanted: SocketAddr,
        handed: &mut Handed,
    ) -> Result<Self, String> {
        let IpAddr::V4(address) = wanted.ip() else {
            return Err("the NetBIOS name service knows IPv4 only".into());
        };
        let networks = networks(settings, address);
        if networks.is_empty() {
            return Err("no network here has an IPv4 address that clients could reach".into());
        }
        let handed = std::mem::take(&mut handed.names);
        let sockets = match handed.is_empty() {
            false => handed,
            true => sockets(address, wanted.port(), &networks)
                .map_err(|(at, error)| in_words(at, &error))?,
        };
        Ok(Self {
            sockets,
            datagrams: Vec::new(),
            networks,
            wins: None,
        })
    }
}

fn datagrams(names: SocketAddr, networks: &[Network]) -> Result<Vec<std::net::UdpSocket>, String> {
    let IpAddr::V4(address) = names.ip() else {
        return Ok(Vec::new());
    };
    sockets(address, dgm::PORT, networks).map_err(|(at, error)| in_words(at, &error))
}

fn network(interface: &Ifv4Addr) -> Network {
    Network::with_mask(interface.ip, interface.netmask)
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
    chosen.map(network).collect()
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
