//! What to type at the other end, and what to try after a failure.

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use coax_speed::{End, Role};

use coax_smbconf::load::local_addresses;
use coax_transfer::speed::{Measured, SpeedError, Way};

/// The message while a receiver or sender waits for a peer.
pub fn waiting(role: Role, at: SocketAddr) -> String {
    let (here, port) = (reachable(at.ip()), at.port());
    let (theirs, netcat) = match role {
        Role::Send => ("-receive", format!("nc {here} {port} > /dev/null")),
        Role::Receive => (
            "-send",
            format!("head -c 4M /dev/zero | nc -N {here} {port}"),
        ),
    };
    format!(
        "listening at {at}; at the other end type one of\n  mTCP    SPDTEST {theirs} -target {here} {port}\n  netcat  {netcat}\n  coax    coax speed {} --target {here}:{port}",
        theirs.trim_start_matches('-')
    )
}

/// The message when `coax speed serve` listens.
pub fn serving(source: SocketAddr, discard: SocketAddr) -> String {
    let (host, receive_at) = (reachable(source.ip()), source.port());
    let (there, send_to) = (reachable(discard.ip()), discard.port());
    format!(
        "clients receive from {source} and send to {discard}; on the old machine type\n  \
         SPDTEST -receive -target {host} {receive_at}\n  SPDTEST -send -target {there} {send_to}\n"
    )
}

/// What to try if the connection fails.
pub fn no_connection(role: Role, way: &Way, error: &SpeedError) -> String {
    match (way, error.kind().kind()) {
        (Way::Target(target, _), ErrorKind::ConnectionRefused) => {
            let port = target.rsplit_once(':').map_or("2000", |(_, port)| port);
            let (theirs, netcat) = match role {
                Role::Send => ("-receive", format!("nc -l {port} > /dev/null")),
                Role::Receive => ("-send", format!("head -c 4M /dev/zero | nc -N -l {port}")),
            };
            format!(
                "That machine is there, but nobody listens at port {port}. Start the other end first, there type one of\n  \
                 mTCP    SPDTEST {theirs} -listen {port}\n  netcat  {netcat}\n  coax    coax speed {} --listen {port}",
                theirs.trim_start_matches('-')
            )
        }
        (Way::Target(..), ErrorKind::TimedOut) => {
            "Nothing answers: is the machine on, its packet driver loaded, the address right, no firewall between? \
             Try to ping it."
                .into()
        }
        (Way::Target(..), ErrorKind::AddrInUse) => "Our own port is taken: name another one with --srcport.".into(),
        _ => no_service(error),
    }
}

/// What to try if listening fails.
pub fn no_service(error: &SpeedError) -> String {
    match error.kind().kind() {
        ErrorKind::AddrInUse => {
            "Another program listens there, perhaps an earlier coax or netcat: end it, or name another port.".into()
        }
        ErrorKind::PermissionDenied => "Ports below 1024 are root's: name a higher one.".into(),
        ErrorKind::AddrNotAvailable => {
            "This machine does not have that address: use one of its addresses, or the port alone for all of them.".into()
        }
        _ => "Check the name or address, and that the network is up.".into(),
    }
}

/// Why a transfer failed, in a few words.
pub fn why(measured: &Measured) -> String {
    let report = &measured.report;
    match (report.end, &measured.error) {
        (Some(End::Reset), _) => "the other end broke the connection".into(),
        (Some(End::Short), _) => format!(
            "the other end closed before {} bytes",
            report.wanted.unwrap_or_default()
        ),
        (Some(End::Empty), _) => "the other end closed without a byte".into(),
        (Some(End::Silent), _) => "the other end went silent".into(),
        (Some(End::Interrupted), _) => "it was interrupted".into(),
        (_, Some(error)) => error.clone(),
        _ => "the transfer failed".into(),
    }
}

/// The same with what to try.
pub fn unfinished(measured: &Measured) -> String {
    let hint = match (measured.report.end, measured.report.role) {
        (Some(End::Reset), _) => {
            "its program ended, or the machine restarted; the figures are of what it took or sent until then"
        }
        (Some(End::Short | End::Empty), _) => {
            "was it told to send? (SPDTEST -send; netcat with something to read)"
        }
        (Some(End::Silent), Role::Receive) => {
            "is the machine still there? A sender must close when it has sent all: netcat does so with -N or -q 0; or say \
             here how much will come, with --mb"
        }
        (Some(End::Silent), Role::Send) => {
            "is the machine still there, its cable in, and was it told to receive? (SPDTEST -receive)"
        }
        _ => "the figures are of what was moved until then",
    };
    format!("{}: {hint}", why(measured))
}

/// An address under which others can reach this machine.
fn reachable(address: IpAddr) -> IpAddr {
    if !address.is_unspecified() {
        return address;
    }
    let mut lan = local_addresses().into_iter().map(|(_, ip)| ip);
    lan.find(|ip| ip.is_ipv4() && !ip.is_loopback())
        .unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST))
}
