//! Sockets that another process has opened for this one: the service manager, or the server that this one replaces.

use std::net::{SocketAddr, TcpListener, UdpSocket};

use coax_netbios::Transport;
use coax_smbconf::settings::Listener;
use listenfd::ListenFd;

/// The environment variable with the names of the service manager's sockets.
const NAMES: &str = "LISTEN_FDNAMES";

/// Sockets that are open already.
#[derive(Debug, Default)]
pub(super) struct Handed {
    /// Listeners and the protocol that they are for.
    pub(super) doors: Vec<(Transport, TcpListener)>,
    /// Sockets of the name service.
    pub(super) names: Vec<UdpSocket>,
    /// Sockets for NetBIOS datagrams.
    pub(super) datagrams: Vec<UdpSocket>,
    /// The service manager decides where to listen, not the configuration.
    pub(super) replaces: bool,
}

impl Handed {
    /// The service manager's sockets (socket activation), if there are any. `FileDescriptorName=nbt` or `direct` in the
    /// socket unit gives the protocol; without it, ports that end in 39 are for NetBIOS sessions, as in `smb ports`.
    ///
    /// # Errors
    /// A socket is not a TCP listener, or has an unknown name.
    pub(super) fn from_service_manager() -> Result<Self, String> {
        let mut handed = Self::default();
        let mut sockets = ListenFd::from_env();
        let names = std::env::var(NAMES).unwrap_or_default();
        let mut names = names.split(':');
        for index in 0..sockets.len() {
            let name = names.next().unwrap_or_default();
            let wrong = |why: String| {
                format!(
                    "socket {index} of the service manager ({name:?}): {why}; give it ListenStream="
                )
            };
            let listener = sockets.take_tcp_listener(index);
            let listener = listener.map_err(|error| wrong(error.to_string()))?;
            let listener = listener.ok_or_else(|| wrong("it is missing".into()))?;
            let address = listener
                .local_addr()
                .map_err(|error| wrong(error.to_string()))?;
            handed.doors.push((transport(name, address)?, listener));
        }
        handed.replaces = !handed.doors.is_empty();
        Ok(handed)
    }

    /// Takes the listener for `wanted` out, if it was handed over.
    pub(super) fn take(&mut self, wanted: Listener, transport: Transport) -> Option<TcpListener> {
        let serves = |address: SocketAddr| {
            let port = wanted.address.port();
            let ports = [Some(port), wanted.fallback_port];
            let same_port = port == 0 || ports.contains(&Some(address.port()));
            address.ip() == wanted.address.ip() && same_port
        };
        let found = self.doors.iter().position(|(kind, listener)| {
            *kind == transport && listener.local_addr().is_ok_and(serves)
        })?;
        Some(self.doors.remove(found).1)
    }
}

fn transport(name: &str, address: SocketAddr) -> Result<Transport, String> {
    match name {
        "nbt" => Ok(Transport::Nbt139),
        "direct" => Ok(Transport::Direct445),
        // systemd's own name is that of the unit.
        name if name.is_empty() || name == "unknown" || name.ends_with(".socket") => {
            match address.port() % 100 {
                39 => Ok(Transport::Nbt139),
                _ => Ok(Transport::Direct445),
            }
        }
        name => Err(format!(
            "the service manager's socket at {address} has the name {name:?}; write FileDescriptorName=nbt or FileDescriptorName=direct"
        )),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_name_of_a_socket_decides_its_protocol_and_otherwise_its_port() {
        let at = |port: u16| SocketAddr::from(([127, 0, 0, 1], port));
        for (name, port, expected) in [
            ("nbt", 445, Transport::Nbt139),
            ("direct", 139, Transport::Direct445),
            ("coax.socket", 1139, Transport::Nbt139),
            ("", 4450, Transport::Direct445),
        ] {
            assert_eq!(transport(name, at(port)).unwrap(), expected, "{name}");
        }
        let error = transport("http", at(80)).unwrap_err();
        assert!(error.contains("FileDescriptorName=nbt"), "{error}");
    }

    #[test]
    fn a_listener_is_taken_once_for_its_address_and_protocol() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let mut handed = Handed {
            doors: vec![(Transport::Direct445, listener)],
            ..Handed::default()
        };
        let wanted = Listener::exactly(address);
        assert!(handed.take(wanted, Transport::Nbt139).is_none());
        let other = Listener::exactly("127.0.0.2:0".parse().unwrap());
        assert!(handed.take(other, Transport::Direct445).is_none());
        assert!(handed.take(wanted, Transport::Direct445).is_some());
        assert!(handed.take(wanted, Transport::Direct445).is_none());
    }
}
