//! Servers: what each offers.

use alloc::string::String;

use coax_wire::dialect::Generation;
use serde::Deserialize;

use crate::{
    component::Described,
    files::{self, Files},
};

/// A server's parameters. What a file leaves out is the default of coax's own server (`coax_server::config::Config`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ServerParams {
    /// Largest message it takes, bytes.
    pub max_buffer: Option<u16>,
    /// Requests outstanding at once.
    pub max_mpx: Option<u16>,
    /// READ_RAW is offered.
    pub read_raw: Option<bool>,
    /// WRITE_RAW is offered.
    pub write_raw: Option<bool>,
    /// Reads and writes above the buffer are offered to NT clients.
    pub large_readwrite: Option<bool>,
    /// UTF-16LE is offered.
    pub unicode: Option<bool>,
    /// NTSTATUS is offered.
    pub nt_status: Option<bool>,
    /// SPNEGO is offered.
    pub extended_security: Option<bool>,
    /// Newest dialect that is agreed to.
    pub dialect: Option<Newest>,
    /// It limits the windows of old clients (coax's `pacing = auto`). The servers of the published copies had no such rule.
    pub pacing: bool,
    /// The file in `data/netbios` that the lab usually runs it on; coax's own if none is stated.
    pub netbios: Option<String>,
    /// Its native OS string.
    pub native_os: Option<String>,
    /// Its native LAN manager string.
    pub native_lan_man: Option<String>,
}

/// The newest dialect a server agrees to, by smb.conf's names (`server max protocol`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Newest {
    /// PC NETWORK PROGRAM 1.0.
    Core,
    /// MICROSOFT NETWORKS 1.03.
    Coreplus,
    /// LANMAN1.0.
    Lanman1,
    /// LM1.2X002 and LANMAN2.1.
    Lanman2,
    /// NT LM 0.12.
    Nt1,
}

impl Newest {
    /// What the codecs call it.
    pub const fn generation(self) -> Generation {
        match self {
            Self::Core => Generation::Core,
            Self::Coreplus => Generation::CorePlus,
            Self::Lanman1 => Generation::Lanman1,
            Self::Lanman2 => Generation::Lanman21,
            Self::Nt1 => Generation::Nt,
        }
    }
}

impl Described for ServerParams {
    const KIND: &'static str = "server";
    const BUILT_IN: Files = files::SERVERS;

    fn check(&self) -> Result<(), (&'static str, String)> {
        let is_possible = |bytes| (1024..=65_535).contains(&bytes);
        if !self.max_buffer.is_none_or(is_possible) {
            return Err((
                "max_buffer",
                "not possible; allowed is 1024 to 65535 bytes".into(),
            ));
        }
        if self.max_mpx == Some(0) {
            return Err(("max_mpx", "not possible; allowed is at least 1".into()));
        }
        Ok(())
    }
}
