//! The server, the share and the credentials of a connection.

use alloc::string::String;
use coax_logon::secret::{Secret, SecretBytes};
use coax_netbios::Transport;
use coax_wire::{codepage::CodePage, nbt::name::ScopedName, time::ZoneMinutesWest};

/// User and password.
#[derive(Clone, Debug)]
pub struct Credentials {
    /// User name; empty for anonymous.
    pub user: String,
    /// Domain or workgroup; may be empty.
    pub domain: String,
    /// Password in UTF-8; empty for guests. Wiped on drop, never printed.
    pub password: SecretBytes,
    /// Allow weak methods: a plaintext password or an LM response.
    pub allow_weak: bool,
}

/// One share of one server.
#[derive(Clone, Debug)]
pub struct Target {
    /// The server's name in `\\SERVER\SHARE`.
    pub server: String,
    /// The share.
    pub share: String,
    /// The requested kind of share: `A:`, `LPT1:`, `IPC`, or `?????` for any.
    pub service: &'static str,
    /// User and password.
    pub credentials: Credentials,
    /// The transport of the connection.
    pub transport: Transport,
    /// The server's NetBIOS name, for a session on port 139.
    pub called: ScopedName,
    /// The calling name.
    pub calling: ScopedName,
    /// The code page of file names without Unicode.
    pub code_page: CodePage,
    /// Offer this dialect alone.
    pub dialect: Option<&'static str>,
    /// Request signing even if the server does not require it.
    pub sign: bool,
    /// Random bytes for client challenge and session key.
    pub entropy: Secret<24>,
    /// This machine's time zone. It stands for the server's where the dialect does not transmit it: Core clients and
    /// servers exchange local times and take one zone for granted.
    pub zone: ZoneMinutesWest,
    /// The present time for the log-on, 100 ns since 1601.
    pub filetime: u64,
}
