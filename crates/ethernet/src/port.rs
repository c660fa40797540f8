//! The packet sockets of an interface.

use std::{
    io,
    num::NonZeroU32,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
};

use coax_wire::{ether::Mac, ipx::FrameType};
use nix::sys::socket::{bind, setsockopt};
use rustix::{
    io::Errno,
    net::{AddressFamily, Protocol as Number, RecvFlags, SendFlags, SocketFlags, SocketType},
};
use socket2::SockRef;

use super::{
    interface::{Interface, InterfaceError},
    membership::{AddMembership, Membership},
};

/// Frames with an 802.3 length and LLC (ETH_P_802_2), SNAP among them.
const LLC_FRAMES: u16 = 0x0004;
/// Frames with an 802.3 length and IPX without LLC (ETH_P_802_3).
const RAW_FRAMES: u16 = 0x0001;
/// Ethernet II frames with IPX (ETH_P_IPX).
const IPX_FRAMES: u16 = 0x8137;
/// Bytes of received frames that the system keeps for us.
const RECEIVE_BUFFER: usize = 4 << 20;

/// What a port is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// NetBIOS frames over LLC.
    Netbeui,
    /// IPX in frames of this type, or of every type.
    Ipx(Option<FrameType>),
}

impl Protocol {
    /// Its name in messages.
    const fn name(self) -> &'static str {
        match self {
            Self::Netbeui => "NetBEUI",
            Self::Ipx(_) => "IPX",
        }
    }

    /// The frames that it needs, as the system sorts them.
    const fn frames(self) -> &'static [u16] {
        match self {
            Self::Netbeui | Self::Ipx(Some(FrameType::Ieee802_2 | FrameType::Snap)) => {
                &[LLC_FRAMES]
            }
            Self::Ipx(Some(FrameType::Raw802_3)) => &[RAW_FRAMES],
            Self::Ipx(Some(FrameType::EthernetII)) => &[IPX_FRAMES],
            Self::Ipx(None) => &[LLC_FRAMES, RAW_FRAMES, IPX_FRAMES],
        }
    }
}

/// An interface's packet sockets, one for each kind of frame.
#[derive(Debug)]
pub struct Port {
    fds: Vec<OwnedFd>,
    interface: Interface,
    protocol: Protocol,
}

/// Why a port cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The interface cannot be used.
    #[error(transparent)]
    Interface(#[from] InterfaceError),
    /// The process may not open packet sockets.
    #[error(
        "{protocol} on {name} needs the capability CAP_NET_RAW; give it with 'setcap cap_net_raw+ep' on coax, or run coax as root"
    )]
    NotPermitted {
        /// The interface.
        name: String,
        /// What it was for.
        protocol: &'static str,
    },
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
    /// Opens an interface and receives a protocol's frames to it, and to all stations of that protocol.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn open(interface: Interface, protocol: Protocol) -> Result<Self, OpenError> {
        let name = interface.name().to_owned();
        Self::try_open(interface, protocol).map_err(|error| match error.kind() {
            io::ErrorKind::PermissionDenied => OpenError::NotPermitted {
                name,
                protocol: protocol.name(),
            },
            _ => OpenError::System { name, error },
        })
    }

    /// The interface.
    pub fn interface(&self) -> &Interface {
        &self.interface
    }

    /// What it is for.
    pub fn protocol(&self) -> Protocol {
        self.protocol
    }

    fn try_open(interface: Interface, protocol: Protocol) -> io::Result<Self> {
        let mut fds = Vec::new();
        for frames in protocol.frames() {
            fds.push(open_socket(&interface, *frames)?);
        }
        if let (Protocol::Netbeui, Some(fd)) = (protocol, fds.first()) {
            let group = Membership::of(interface.index(), Mac::NETBIOS);
            setsockopt(fd, AddMembership, &group)?;
        }
        Ok(Self {
            fds,
            interface,
            protocol,
        })
    }

    /// The sockets, for waiting.
    pub(crate) fn sockets(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.fds.iter().map(AsFd::as_fd)
    }

    /// The next frame, if there is one: its length in `buffer`. An interface that is down has none.
    pub(crate) fn receive(&self, buffer: &mut [u8]) -> Option<usize> {
        self.fds.iter().find_map(|fd| receive(fd, &mut *buffer))
    }

    /// Sends a frame; whether there was room. A frame that the interface drops is lost, as on a cable.
    pub(crate) fn send(&self, frame: &[u8]) -> bool {
        let Some(fd) = self.fds.first() else {
            return true;
        };
        loop {
            match rustix::net::send(fd, frame, SendFlags::DONTWAIT) {
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return false,
                Ok(_) | Err(_) => return true,
            }
        }
    }
}

fn open_socket(interface: &Interface, frames: u16) -> io::Result<OwnedFd> {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let protocol = NonZeroU32::new(u32::from(frames.to_be())).map(Number::from_raw);
    let fd = rustix::net::socket_with(AddressFamily::PACKET, SocketType::RAW, flags, protocol)?;
    bind(std::os::fd::AsRawFd::as_raw_fd(&fd), &interface.link)?;
    // The system may allow less; then a burst may lose frames, which the protocols send again.
    let _ = SockRef::from(&fd).set_recv_buffer_size(RECEIVE_BUFFER);
    Ok(fd)
}

fn receive(fd: &OwnedFd, buffer: &mut [u8]) -> Option<usize> {
    loop {
        match rustix::net::recv(fd, &mut *buffer, RecvFlags::DONTWAIT) {
            Ok((_, len)) => return Some(len),
            Err(Errno::INTR | Errno::NETDOWN) => {}
            Err(_) => return None,
        }
    }
}
