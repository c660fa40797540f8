//! Reads the kernel's statistics of one connection through Linux's socket diagnostics.

use std::{
    net::{SocketAddr, TcpStream},
    os::fd::OwnedFd,
    time::Duration,
};

use coax_speed::{DIAG_REQUEST_BYTES, DiagError, Socket, diag_request};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType,
    netlink::{self, SocketAddrNetlink},
    recv, sendto, socket_with, sockopt,
};

/// Timeout of a query. The kernel normally answers at once.
const QUERY_TIMEOUT: Duration = Duration::from_millis(200);

/// A netlink socket for queries about one connection.
#[derive(Debug)]
pub struct Kernel {
    socket: OwnedFd,
    request: [u8; DIAG_REQUEST_BYTES],
}

impl Kernel {
    /// `None` if the system has no socket diagnostics, or does not report this connection. Some containers forbid it.
    pub fn about(stream: &TcpStream) -> Option<Self> {
        let (local, peer) = (stream.local_addr().ok()?, stream.peer_addr().ok()?);
        let kernel = Self::open(local, peer).ok()?;
        kernel
            .ask()
            .ok()
            .filter(|socket| socket.figures.is_some())?;
        Some(kernel)
    }

    /// Reads the connection's present state.
    ///
    /// # Errors
    /// The connection is closed, or the kernel does not answer.
    pub fn ask(&self) -> Result<Socket, DiagError> {
        let refused = |error: rustix::io::Errno| DiagError::Refused(error.raw_os_error());
        let to_kernel = SocketAddrNetlink::new(0, 0);
        sendto(&self.socket, &self.request, SendFlags::empty(), &to_kernel).map_err(refused)?;
        let mut reply = [0; 2048];
        let (length, _) =
            recv(&self.socket, &mut reply[..], RecvFlags::empty()).map_err(refused)?;
        Socket::from_diag_reply(reply.get(..length).unwrap_or_default())
    }

    fn open(local: SocketAddr, peer: SocketAddr) -> rustix::io::Result<Self> {
        let socket = socket_with(
            AddressFamily::NETLINK,
            SocketType::DGRAM,
            SocketFlags::CLOEXEC,
            Some(netlink::SOCK_DIAG),
        )?;
        sockopt::set_socket_timeout(&socket, sockopt::Timeout::Recv, Some(QUERY_TIMEOUT))?;
        Ok(Self {
            socket,
            request: diag_request(local, peer),
        })
    }
}
