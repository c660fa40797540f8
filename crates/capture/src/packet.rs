//! A captured packet and the link it was captured on.

use coax_wire::time::Time;

/// The link types that the dissector knows (tcpdump.org/linktypes.html).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LinkType {
    /// 0: BSD loopback, an address family in the capturing host's byte order; 108: in network byte order.
    Null,
    /// 1.
    Ethernet,
    /// 6: IEEE 802.5.
    TokenRing,
    /// 9, 50: PPP, with or without its HDLC header.
    Ppp,
    /// 10.
    Fddi,
    /// 12, 14, 101, 228, 229: a bare IP packet.
    Ip,
    /// 113: Linux cooked mode.
    LinuxSll,
    /// 276: Linux cooked mode, version 2.
    LinuxSll2,
    /// Any other.
    Other(u16),
}

impl From<u16> for LinkType {
    fn from(number: u16) -> Self {
        match number {
            0 | 108 => Self::Null,
            1 => Self::Ethernet,
            6 => Self::TokenRing,
            9 | 50 => Self::Ppp,
            10 => Self::Fddi,
            12 | 14 | 101 | 228 | 229 => Self::Ip,
            113 => Self::LinuxSll,
            276 => Self::LinuxSll2,
            other => Self::Other(other),
        }
    }
}

/// One captured packet.
#[derive(Clone, Copy, Debug)]
pub struct Packet<'a> {
    /// Its number in the file, from 1, as Wireshark counts.
    pub number: u64,
    /// Capture time. A packet without a time has that of the packet before it.
    pub at: Time,
    /// The link it was captured on.
    pub link: LinkType,
    /// The captured bytes.
    pub bytes: &'a [u8],
    /// Length on the wire, bytes.
    pub wire_len: u32,
}
