//! The packet socket of an interface.

use std::{
    io,
    num::NonZeroU32,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
};

use coax_wire::ether::Mac;
use nix::sys::socket::{bind, setsockopt};
use rustix::{
    io::Errno,
    net::{AddressFamily, Protocol, RecvFlags, SendFlags, SocketFlags, SocketType},
};
use socket2::SockRef;

use super::{
    interface::{Interface, InterfaceError},
    membership::{AddMembership, Membership},
};

/// Frames with an 802.3 length and LLC (ETH_P_802_2).
const LLC_FRAMES: u16 = 0x0004;
/// Bytes of received frames that the system keeps for us.
const RECEIVE_BUFFER: usize = 4 << 20;

/// An interface's packet socket for LLC frames.
#[derive(Debug)]
pub struct Port {
    fd: OwnedFd,
    interface: Interface,
}

/// Why a port cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The interface cannot be used.
    #[error(transparent)]
    Interface(#[from] InterfaceError),
    /// The process may not open packet sockets.
    #[error(
        "NetBEUI on {0} needs the capability CAP_NET_RAW; give it with 'setcap cap_net_raw+ep' on coax, or run coax as root"
    )]
    NotPermitted(String),
    /// The system refuses.
    #[error("cannot use the interface {name}: {error}")]
    System {
        /// The interface.
        name: String,
        /// The system's error.
        error: io::Error,
    },
}

impl Port {
    /// Opens an interface and receives frames to it and to all NetBIOS stations.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn open(interface: Interface) -> Result<Self, OpenError> {
        let name = interface.name().to_owned();
        Self::try_open(interface).map_err(|error| match error.kind() {
            io::ErrorKind::PermissionDenied => OpenError::NotPermitted(name),
            _ => OpenError::System { name, error },
        })
    }

    /// The interface.
    pub fn interface(&self) -> &Interface {
        &self.interface
    }

    fn try_open(interface: Interface) -> io::Result<Self> {
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let protocol = NonZeroU32::new(u32::from(LLC_FRAMES.to_be())).map(Protocol::from_raw);
        let fd = rustix::net::socket_with(AddressFamily::PACKET, SocketType::RAW, flags, protocol)?;
        bind(std::os::fd::AsRawFd::as_raw_fd(&fd), &interface.link)?;
        setsockopt(
            &fd,
            AddMembership,
            &Membership::of(interface.index(), Mac::NETBIOS),
        )?;
        // The system may allow less; then a burst may lose frames, which the links send again.
        let _ = SockRef::from(&fd).set_recv_buffer_size(RECEIVE_BUFFER);
        Ok(Self { fd, interface })
    }

    /// The next frame, if there is one: its length in `buffer`. An interface that is down has none.
    pub(crate) fn receive(&self, buffer: &mut [u8]) -> Option<usize> {
        loop {
            match rustix::net::recv(&self.fd, &mut *buffer, RecvFlags::DONTWAIT) {
                Ok((_, len)) => return Some(len),
                Err(Errno::INTR | Errno::NETDOWN) => {}
                Err(_) => return None,
            }
        }
    }

    /// Sends a frame; whether there was room. A frame that the interface drops is lost, as on a cable.
    pub(crate) fn send(&self, frame: &[u8]) -> bool {
        loop {
            match rustix::net::send(&self.fd, frame, SendFlags::DONTWAIT) {
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return false,
                Ok(_) | Err(_) => return true,
            }
        }
    }
}

impl AsFd for Port {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
