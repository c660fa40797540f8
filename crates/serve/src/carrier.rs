//! What carries a client's sessions.

use coax_netbios::Transport;
use coax_server::Carriage;

/// The transport of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Carrier {
    /// TCP.
    Tcp(Transport),
    /// NetBIOS frames on Ethernet. A local socket carries each session as port 139 does.
    Netbeui,
    /// NetBIOS over IPX, by local sockets, too; the longest message.
    Nbipx(usize),
    /// SMB directly over IPX, by local sockets, too; the longest message.
    DirectIpx(usize),
}

impl Carrier {
    /// How messages are framed on the client's socket.
    pub(super) fn transport(self) -> Transport {
        match self {
            Self::Tcp(transport) => transport,
            Self::Netbeui | Self::Nbipx(_) | Self::DirectIpx(_) => Transport::Nbt139,
        }
    }

    /// Its name in reports.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Tcp(Transport::Nbt139) => "nbt",
            Self::Tcp(Transport::Direct445) => "direct",
            Self::Netbeui => "netbeui",
            Self::Nbipx(_) => "nbipx",
            Self::DirectIpx(_) => "ipx",
        }
    }

    /// What the SMB server has to know of it.
    pub(super) fn carriage(self) -> Carriage {
        match self {
            Self::Tcp(_) | Self::Netbeui => Carriage::Stream,
            Self::Nbipx(max) => Carriage::Messages(max),
            Self::DirectIpx(max) => Carriage::Packets(max),
        }
    }
}
