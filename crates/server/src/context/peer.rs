//! What is known of the client at the other end.

use alloc::string::String;
use coax_wire::dialect::Dialect;

/// Who is at the other end, as far as the transport knows.
#[derive(Clone, Debug, Default)]
pub struct Peer {
    /// Address, in words.
    pub address: String,
    /// NetBIOS name it gave as its own.
    pub calling: Option<String>,
    /// NetBIOS name it called us by.
    pub called: Option<String>,
    /// The driver's number for it; 0 if it has none.
    pub number: u64,
}

impl Peer {
    /// Who it is, in words: for other clients' reports.
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

    /// The address without its port: what a client's connections have in common.
    pub fn host(&self) -> &str {
        match self.address.rsplit_once(':') {
            Some((host, _)) => host,
            None => &self.address,
        }
    }
}

/// What the client said of itself in negotiate and set-up, and what follows from it.
#[derive(Clone, Debug, Default)]
pub struct Client {
    /// Dialect agreed.
    pub dialect: Option<&'static Dialect>,
    /// Largest message it takes, bytes; 0 until it says so.
    pub max_buffer: u16,
    /// Its capabilities ([`coax_wire::smb::negotiate::cap`]).
    pub capabilities: u32,
    /// Extended security was agreed.
    pub extended_security: bool,
    /// The header's flag for caseless paths means what it says (`Call::is_case_exact`).
    pub flags_case: bool,
}
