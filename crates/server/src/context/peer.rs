//! The client's identity and properties.

use alloc::string::String;
use coax_wire::dialect::Dialect;

/// The peer's identity as far as the transport knows it.
#[derive(Clone, Debug, Default)]
pub struct Peer {
    /// Address as text.
    pub address: String,
    /// NetBIOS name it gave as its own.
    pub calling: Option<String>,
    /// NetBIOS name by which it called this server.
    pub called: Option<String>,
    /// The driver's connection number; 0 if it has none.
    pub number: u64,
    /// What carries its messages.
    pub carriage: Carriage,
}

/// What carries a client's messages, as far as the protocol depends on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Carriage {
    /// A stream: messages as long as NetBIOS sessions have them.
    #[default]
    Stream,
    /// Messages up to this number of bytes.
    Messages(usize),
    /// Packets up to this number of bytes, without a session. There are no signatures and no raw mode
    /// ([MS-CIFS] 2.1.2.1, 2.2.3.1).
    Packets(usize),
}

impl Carriage {
    /// The longest message, if it is shorter than a stream's.
    pub const fn max_message(self) -> Option<usize> {
        match self {
            Self::Stream => None,
            Self::Messages(max) | Self::Packets(max) => Some(max),
        }
    }

    /// Whether messages can be signed. On packets the signature's place has other fields.
    pub const fn can_sign(self) -> bool {
        !matches!(self, Self::Packets(_))
    }

    /// A size of ours, within what fits.
    pub(crate) fn limit(self, size: u16) -> u16 {
        let max = self.max_message().unwrap_or(usize::MAX);
        u16::try_from(max).unwrap_or(u16::MAX).min(size)
    }
}

impl Peer {
    /// The peer's identity as text, for other clients' reports.
    pub fn label(&self) -> String {
        let name = self
            .calling
            .as_deref()
            .map(|name| alloc::format!(" \"{name}\""));
        let name = name.unwrap_or_default();
        match self.number {
            0 => alloc::format!("{}{name}", self.address),
            number => alloc::format!("client {number} at {}{name}", self.address),
        }
    }

    /// The address without its port, which all connections of a client share.
    pub fn host(&self) -> &str {
        match self.address.rsplit_once(':') {
            Some((host, _)) => host,
            None => &self.address,
        }
    }
}

/// The client's properties from negotiate and set-up.
#[derive(Clone, Debug, Default)]
pub struct Client {
    /// Dialect agreed.
    pub dialect: Option<&'static Dialect>,
    /// Largest message that it accepts, bytes; 0 until it sends this.
    pub max_buffer: u16,
    /// Its capabilities ([`coax_wire::smb::negotiate::cap`]).
    pub capabilities: u32,
    /// Extended security was agreed.
    pub extended_security: bool,
    /// The header's caseless flag is reliable (`Call::is_case_exact`).
    pub flags_case: bool,
}
