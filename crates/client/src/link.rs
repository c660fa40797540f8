//! The negotiated parameters of a connection.

use crate::error::Unfit;
use alloc::{string::String, vec::Vec};
use coax_logon::text::utf16le;
use coax_wire::{
    block::WireStr,
    codepage::{CodePage, utf16},
    dialect::{Dialect, Generation},
    header::{Tid, Uid},
    smb::negotiate::cap,
    time::ZoneMinutesWest,
};

/// The negotiated parameters, and the server's description of itself.
#[derive(Clone, Debug)]
pub struct Link {
    /// The dialect.
    pub dialect: &'static Dialect,
    /// Security mode bits ([`coax_wire::smb::negotiate::security`]).
    pub security: u8,
    /// Maximum message size of the server, bytes.
    pub max_buffer: u32,
    /// Maximum number of outstanding requests.
    pub max_mpx: u16,
    /// READ_RAW is available.
    pub raw_read: bool,
    /// WRITE_RAW is available.
    pub raw_write: bool,
    /// Largest raw transfer, bytes.
    pub max_raw: u32,
    /// The server's capabilities ([`cap`]); 0 before NT.
    pub capabilities: u32,
    /// The server's session key of the negotiation.
    pub session_key: u32,
    /// The server's time zone; this machine's if the dialect does not transmit it.
    pub zone: ZoneMinutesWest,
    /// Strings are UTF-16LE.
    pub unicode: bool,
    /// Statuses are NTSTATUS.
    pub nt_status: bool,
    /// SPNEGO is used.
    pub extended_security: bool,
    /// Messages are signed.
    pub signed: bool,
    /// The session is a guest session.
    pub guest: bool,
    /// The code page of names without Unicode.
    pub code_page: CodePage,
    /// The server's domain, as it reports it.
    pub domain: String,
    /// The server's operating system, as it reports it.
    pub native_os: String,
    /// The server's LAN manager, as it reports it.
    pub native_lan_man: String,
    /// The kind of share, as the server reports it.
    pub service: String,
    /// The logged-on user.
    pub uid: Uid,
    /// The connected share.
    pub tid: Tid,
}

/// An encoded string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Text {
    raw: Vec<u8>,
    unicode: bool,
}

impl Text {
    pub fn as_wire(&self) -> WireStr<'_> {
        WireStr {
            raw: &self.raw,
            unicode: self.unicode,
        }
    }
}

impl Link {
    /// A link of this dialect before the negotiation of other parameters.
    pub(crate) fn new(dialect: &'static Dialect, code_page: CodePage) -> Self {
        Self {
            dialect,
            security: 0,
            max_buffer: 0,
            max_mpx: 1,
            raw_read: false,
            raw_write: false,
            max_raw: 0,
            capabilities: 0,
            session_key: 0,
            zone: ZoneMinutesWest(0),
            unicode: false,
            nt_status: false,
            extended_security: false,
            signed: false,
            guest: false,
            code_page,
            domain: String::new(),
            native_os: String::new(),
            native_lan_man: String::new(),
            service: String::new(),
            uid: Uid(0),
            tid: Tid(0),
        }
    }

    /// Whether the server has all of these capabilities.
    pub fn has(&self, bits: u32) -> bool {
        self.capabilities & bits == bits
    }

    /// The protocol's generation.
    pub fn generation(&self) -> Generation {
        self.dialect.generation
    }

    /// Whether the NT commands exist.
    pub fn nt_smbs(&self) -> bool {
        self.dialect.is_nt() && self.has(cap::NT_SMBS)
    }

    /// Whether TRANS2 exists.
    pub fn trans2(&self) -> bool {
        self.generation() >= Generation::Lanman2
    }

    /// A path in the form for this server: backslashes, a leading one, and the negotiated encoding.
    pub(crate) fn path(&self, path: &str) -> Result<Text, Unfit> {
        let mut text = String::with_capacity(path.len().saturating_add(1));
        for part in path.split(['/', '\\']).filter(|part| !part.is_empty()) {
            text.push('\\');
            text.push_str(part);
        }
        if text.is_empty() {
            text.push('\\');
        }
        self.text(&text)
    }

    /// A string in the negotiated encoding.
    pub(crate) fn text(&self, text: &str) -> Result<Text, Unfit> {
        if self.unicode {
            return Ok(Text {
                raw: utf16le(text),
                unicode: true,
            });
        }
        oem(self.code_page, text)
    }

    /// Decodes a received string.
    pub(crate) fn decode(&self, text: WireStr<'_>) -> String {
        decode(self.code_page, text)
    }
}

/// A string in a code page.
pub(crate) fn oem(page: CodePage, text: &str) -> Result<Text, Unfit> {
    let raw = page.encode(text).map_err(|error| Unfit::Unmappable {
        name: text.into(),
        character: error.character,
        page: error.page,
    })?;
    Ok(Text {
        raw,
        unicode: false,
    })
}

/// Decodes a received string.
pub(crate) fn decode(page: CodePage, text: WireStr<'_>) -> String {
    if text.unicode {
        utf16::decode(text.raw)
    } else {
        page.decode(text.raw).into_owned()
    }
}
