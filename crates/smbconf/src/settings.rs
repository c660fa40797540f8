//! The configuration of a server in plain types.
//!
//! Code that uses a field needs no knowledge of smb.conf. The one exception is
//! `%` macros ([`crate::macros`]), which are known only when a client connects. [`crate::table`] is the only place that
//! maps parameters to fields.

mod audit;
mod global;
mod netbios;
mod share;
mod types;

pub use audit::{AuditEvent, AuditEvents, AuditTarget};
pub use global::GlobalSettings;
pub use netbios::{AutoSetting, IpxInterface, NetbiosSettings, NodeTypeSetting};
pub use share::{Access, Secret, ShareSettings};
pub use types::{
    CaseMode, GuestAccess, LetterCase, MangledNames, MapReadonly, MapToGuest, NtlmAuth, Pacing,
    Protocol, Security, Signing, SocketOption, StrictLocking,
};

use std::net::SocketAddr;

use coax_logon::accounts::User;

/// The complete configuration of `coax serve`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Global settings.
    pub global: GlobalSettings,
    /// The shares in the order of definition; names are unique without case.
    pub shares: Vec<ShareSettings>,
    /// `[homes]`: the template of a share for each user.
    pub homes: Option<ShareSettings>,
    /// Users from the command line, in addition to those of [`GlobalSettings::smb_passwd_file`]. Only their hashes are
    /// kept.
    pub users: Vec<User>,
    /// The addresses to listen at.
    pub listen: Listeners,
    /// Report as JSON, one object a line, instead of text.
    pub json: bool,
    /// The client whose messages are logged completely.
    pub trace: Option<ClientChoice>,
    /// Capture settings.
    pub pcap: Option<PcapSettings>,
    /// The files that the settings come from.
    pub sources: Sources,
}

/// The files of a configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    /// The file of `--config` and its includes.
    pub read: Vec<std::path::PathBuf>,
    /// Includes that exist and could not be read.
    pub denied: Vec<std::path::PathBuf>,
}

/// Settings of a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PcapSettings {
    /// The file.
    pub path: std::path::PathBuf,
    /// Maximum size, bytes.
    pub limit: u64,
}

impl PcapSettings {
    /// Default maximum size, bytes.
    pub const LIMIT: u64 = 1 << 30;
}

/// A client, as a user specifies it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientChoice {
    /// By its number in the log.
    Number(u64),
    /// By its address.
    Address(std::net::IpAddr),
    /// By its NetBIOS name, case ignored.
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

/// The addresses to listen at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listeners {
    /// TCP addresses for SMB over the NetBIOS session service (RFC 1002 section 4.3; commonly port 139).
    pub nbt: Vec<Listener>,
    /// TCP addresses for SMB directly over TCP (commonly port 445).
    pub direct: Vec<Listener>,
    /// UDP address for the NetBIOS name service (RFC 1002 section 4.2; commonly port 137). `None` with `disable
    /// netbios`, or if no session service listens on port 139.
    pub names: Option<Listener>,
    /// Ethernet interfaces for NetBIOS sessions without TCP/IP (NetBEUI).
    pub netbeui: Vec<String>,
    /// Ethernet interfaces for IPX.
    pub ipx: Vec<IpxInterface>,
}

impl Default for Listeners {
    fn default() -> Self {
        let everywhere = std::net::IpAddr::V4(std::net::Ipv4Addr::UNSPECIFIED);
        Self {
            nbt: vec![Listener::with_fallback(SocketAddr::new(everywhere, 139))],
            direct: vec![Listener::with_fallback(SocketAddr::new(everywhere, 445))],
            names: Some(Listener::exactly(SocketAddr::new(everywhere, 137))),
            netbeui: Vec::new(),
            ipx: Vec::new(),
        }
    }
}

/// One address to listen at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listener {
    /// The address and port; port 0 lets the system pick one.
    pub address: SocketAddr,
    /// The port to use if binding the first one is not permitted (1139 for 139, 1445 for 445). `None` if the user gave
    /// the address: then the error is reported.
    pub fallback_port: Option<u16>,
}

impl Listener {
    /// This address only.
    pub fn exactly(address: SocketAddr) -> Self {
        Self {
            address,
            fallback_port: None,
        }
    }

    /// This address, or the port 1000 higher if binding a privileged port is not permitted.
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
