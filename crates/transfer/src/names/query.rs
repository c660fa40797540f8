//! Runs the lookup engine over a UDP socket.

use std::{
    io::ErrorKind,
    net::{Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket},
    time::Duration,
};

use coax_clock::Clock;
use coax_netbios::{Destination, Lookup, LookupConfig, Network};
use coax_wire::nbt::ns::PORT;
use if_addrs::IfAddr;

/// Receive buffer size. RFC 1002 section 4.2 limits datagrams of the name service to 576 bytes.
const DATAGRAM: usize = 1500;
/// The shortest wait that a socket accepts.
const SHORTEST: Duration = Duration::from_millis(1);

/// Runs a lookup to its end. Broadcasts go to `broadcasts`, or without any to all networks of this machine.
///
/// # Errors
/// The system refuses a socket, or no datagram could be sent.
pub fn query(config: LookupConfig, broadcasts: &[Ipv4Addr]) -> std::io::Result<Lookup> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
    socket.set_broadcast(true)?;
    let broadcasts = match broadcasts {
        [] => networks().iter().map(|n| n.broadcast()).collect(),
        given => given.to_vec(),
    };
    let clock = Clock::new();
    let mut lookup = Lookup::new(clock.now(), config);
    let mut buffer = [0; DATAGRAM];
    while let Some(due) = lookup.poll_timeout() {
        send(&socket, &mut lookup, &broadcasts)?;
        socket.set_read_timeout(Some(clock.until(due).max(SHORTEST)))?;
        match socket.recv_from(&mut buffer) {
            Ok((len, SocketAddr::V4(from))) => {
                let bytes = buffer.get(..len).unwrap_or_default();
                lookup.handle_datagram(clock.now(), from, bytes);
            }
            Ok(_) => {}
            Err(error) if is_nothing(&error) => {}
            Err(error) => return Err(error),
        }
        lookup.handle_timeout(clock.now());
    }
    Ok(lookup)
}

fn send(socket: &UdpSocket, lookup: &mut Lookup, broadcasts: &[Ipv4Addr]) -> std::io::Result<()> {
    while let Some(transmit) = lookup.poll_transmit() {
        let targets: Vec<SocketAddrV4> = match transmit.to {
            Destination::Addr(to) => vec![to],
            Destination::Broadcast => broadcasts
                .iter()
                .map(|address| SocketAddrV4::new(*address, PORT))
                .collect(),
        };
        let mut refused = None;
        let mut sent = targets.is_empty();
        for to in targets {
            match socket.send_to(&transmit.bytes, to) {
                Ok(_) => sent = true,
                Err(error) => refused = Some(error),
            }
        }
        // One network that works is enough.
        if let Some(error) = refused.filter(|_| !sent) {
            return Err(error);
        }
    }
    Ok(())
}

/// A time-out, or an ICMP error about an earlier datagram.
fn is_nothing(error: &std::io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::WouldBlock
            | ErrorKind::TimedOut
            | ErrorKind::Interrupted
            | ErrorKind::ConnectionRefused
    )
}

/// The IPv4 networks of this machine that have other stations.
pub fn networks() -> Vec<Network> {
    let interfaces = if_addrs::get_if_addrs().unwrap_or_default();
    let networks = interfaces
        .iter()
        .filter_map(|interface| match &interface.addr {
            IfAddr::V4(address) if !address.ip.is_loopback() => {
                Some(Network::with_mask(address.ip, address.netmask))
            }
            _ => None,
        });
    networks.filter(|network| network.prefix < 31).collect()
}

/// A transaction identifier that others cannot guess.
pub(crate) fn random_id() -> u16 {
    let mut bytes = [0; 2];
    let filled = rustix::rand::getrandom(&mut bytes[..], rustix::rand::GetRandomFlags::empty());
    match filled {
        Ok(_) => u16::from_le_bytes(bytes),
        Err(_) => 1,
    }
}
