//! What carries a client's sessions.

use coax_netbios::Transport;

/// The transport of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Carrier {
    /// TCP.
    Tcp(Transport),
    /// NetBIOS frames on Ethernet. A local socket carries each session as port 139 does.
    Netbeui,
}

impl Carrier {
    /// How messages are framed on the client's socket.
    pub(super) fn transport(self) -> Transport {
        match self {
            Self::Tcp(transport) => transport,
            Self::Netbeui => Transport::Nbt139,
        }
    }

    /// Its name in reports.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Tcp(Transport::Nbt139) => "nbt",
            Self::Tcp(Transport::Direct445) => "direct",
            Self::Netbeui => "netbeui",
        }
    }
}
