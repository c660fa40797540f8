//! What a server is told to do, in plain types: the end of configuration and the beginning of the driver.
//!
//! Nothing here is text to be looked at again: whoever reads a field needs no knowledge of smb.conf. The one exception is
//! `%` macros ([`crate::macros`]), which are known only when a client connects. Which parameter fills which field
//! is said in [`crate::table`], and there alone.

mod global;
mod share;
mod types;

pub use global::GlobalSettings;
pub use share::{Access, Secret, ShareSettings};
pub use types::{
    CaseMode, GuestAccess, LetterCase, MangledNames, MapReadonly, MapToGuest, NtlmAuth, Protocol,
    Security, Signing, SocketOption, StrictLocking,
};

use std::net::SocketAddr;

use coax_logon::accounts::User;

/// Everything `coax serve` needs to know.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// What holds for the server as a whole.
    pub global: GlobalSettings,
    /// The shares, in the order they were defined; names are unique without regard to case.
    pub shares: Vec<ShareSettings>,
    /// Users given on the command line; those of [`GlobalSettings::smb_passwd_file`] come on top. Their passwords are not kept.
    pub users: Vec<User>,
    /// Where to listen.
    pub listen: Listeners,
    /// Report as JSON, one object a line, instead of text.
    pub json: bool,
    /// The client whose requests are logged with all their bytes.
    pub trace: Option<ClientChoice>,
    /// Where to write a capture.
    pub pcap: Option<PcapSettings>,
}

/// A capture to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PcapSettings {
    /// The file.
    pub path: std::path::PathBuf,
    /// The size at which capturing ends, bytes.
    pub limit: u64,
}

impl PcapSettings {
    /// Where no limit is given, bytes.
    pub const LIMIT: u64 = 1 << 30;
}

/// One client, as a person names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientChoice {
    /// By its number in the log.
    Number(u64),
    /// By its address.
    Address(std::net::IpAddr),
    /// By its NetBIOS name, whatever its case.
    Name(String),
}

impl std::str::FromStr for ClientChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.is_empty() {
            return Err("name a client: its address, its NetBIOS name or its number".into());
        }
        if let Ok(number) = text.parse() {
            return Ok(Self::Number(number));
        }
        match text.parse() {
            Ok(address) => Ok(Self::Address(address)),
            Err(_) => Ok(Self::Name(text.into())),
        }
    }
}

/// Where to listen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listeners {
    /// TCP addresses for SMB over the NetBIOS session service (RFC 1002 section 4.3; commonly port 139).
    pub nbt: Vec<Listener>,
    /// TCP addresses for SMB directly over TCP (commonly port 445).
    pub direct: Vec<Listener>,
    /// UDP address for the NetBIOS name service (RFC 1002 section 4.2; commonly port 137); `None` with `disable netbios`,
    /// and where no session service is to be found at port 139.
    pub names: Option<Listener>,
}

impl Default for Listeners {
    fn default() -> Self {
        let everywhere = std::net::IpAddr::V4(std::net::Ipv4Addr::UNSPECIFIED);
        Self {
            nbt: vec![Listener::with_fallback(SocketAddr::new(everywhere, 139))],
            direct: vec![Listener::with_fallback(SocketAddr::new(everywhere, 445))],
            names: Some(Listener::exactly(SocketAddr::new(everywhere, 137))),
        }
    }
}

/// One address to listen at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listener {
    /// The address and port; port 0 lets the system pick one.
    pub address: SocketAddr,
    /// The port to take when we may not bind that one (1139 for 139, 1445 for 445); `None` when the address was asked
    /// for by name and failing is right.
    pub fallback_port: Option<u16>,
}

impl Listener {
    /// Exactly there, or not at all.
    pub fn exactly(address: SocketAddr) -> Self {
        Self {
            address,
            fallback_port: None,
        }
    }

    /// There, or at the port 1000 higher if a privileged port is refused.
    pub fn with_fallback(address: SocketAddr) -> Self {
        let fallback_port = if address.port() == 0 || address.port() >= 1024 {
            None
        } else {
            address.port().checked_add(1000)
        };
        Self {
            address,
            fallback_port,
        }
    }
}
