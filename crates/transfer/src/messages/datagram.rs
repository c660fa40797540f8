//! Messages in datagrams.

use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket};

use coax_netbios::{NbtDatagrams, NbtDatagramsConfig, Network, Outgoing};
use coax_wire::nbt::name::Scope;

use super::{failure::MessageFailure, options::MessageOptions};

/// Sends a datagram to one station.
pub(super) fn send_to_station(
    outgoing: &Outgoing<SocketAddrV4>,
    to: SocketAddrV4,
    scope: &Scope,
) -> Result<(), MessageFailure> {
    let socket = socket()?;
    // The system knows which of this machine's addresses the station sees.
    let own = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).and_then(|probe| {
        probe.connect(to)?;
        probe.local_addr()
    });
    let address = match own.map_err(|error| failed("no route to the machine", error))? {
        SocketAddr::V4(own) => *own.ip(),
        SocketAddr::V6(_) => Ipv4Addr::UNSPECIFIED,
    };
    let network = Network {
        address,
        prefix: 32,
    };
    for packet in packets(&socket, network, outgoing, scope) {
        let sent = socket.send_to(&packet, to);
        sent.map_err(|error| failed("cannot send a datagram", error))?;
    }
    Ok(())
}

/// Sends a datagram to all stations of some networks. One that works is enough. The broadcast addresses that it was sent
/// to.
pub(super) fn broadcast(
    outgoing: &Outgoing<SocketAddrV4>,
    targets: &[(Network, Ipv4Addr)],
    options: &MessageOptions,
) -> Result<Vec<Ipv4Addr>, MessageFailure> {
    let socket = socket()?;
    let (mut reached, mut refused) = (Vec::new(), None);
    for (network, broadcast) in targets {
        let to = SocketAddrV4::new(*broadcast, options.datagram_port);
        let packets = packets(&socket, *network, outgoing, &options.resolver.scope);
        let mut sent = packets.iter().map(|packet| socket.send_to(packet, to));
        match sent.find_map(Result::err) {
            None => reached.push(*broadcast),
            Some(error) => refused = Some(error),
        }
    }
    match (reached.is_empty(), refused) {
        (true, Some(error)) => Err(failed("cannot send a broadcast", error)),
        (true, None) => Err(failed(
            "cannot send a broadcast",
            std::io::Error::other("this machine has no IPv4 network"),
        )),
        (false, _) => Ok(reached),
    }
}

fn packets(
    socket: &UdpSocket,
    network: Network,
    outgoing: &Outgoing<SocketAddrV4>,
    scope: &Scope,
) -> Vec<Vec<u8>> {
    let mut config = NbtDatagramsConfig::new(network);
    config.scope = scope.clone();
    config.port = socket.local_addr().map_or(0, |own| own.port());
    config.first_id = crate::names::random_id();
    let mut datagrams = NbtDatagrams::new(config);
    datagrams.send(outgoing);
    let packets = std::iter::from_fn(|| datagrams.poll_transmit());
    packets.map(|transmit| transmit.bytes).collect()
}

/// A socket at port 138, from which old machines expect datagrams; at any other port if a server has that.
fn socket() -> Result<UdpSocket, MessageFailure> {
    let usual = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, coax_wire::nbt::dgm::PORT));
    let socket = usual.or_else(|_| UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)));
    let socket = socket.map_err(|error| failed("the system gives no socket", error))?;
    let allowed = socket.set_broadcast(true);
    allowed.map_err(|error| failed("the system allows no broadcast", error))?;
    Ok(socket)
}

fn failed(what: &'static str, error: std::io::Error) -> MessageFailure {
    MessageFailure::System { what, error }
}
