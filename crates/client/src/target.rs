//! What to connect to, and as whom.

use alloc::string::String;
use coax_logon::secret::{Secret, SecretBytes};
use coax_netbios::Transport;
use coax_wire::{codepage::CodePage, nbt::name::ScopedName};

/// User and password.
#[derive(Clone, Debug)]
pub struct Credentials {
    /// User name; empty: anonymous.
    pub user: String,
    /// Domain or workgroup; may be empty.
    pub domain: String,
    /// Password in UTF-8; empty for guests. Wiped when dropped, never printed.
    pub password: SecretBytes,
    /// Proofs that give the password away, in clear text or as an LM response, may be sent.
    pub allow_weak: bool,
}

/// One share of one server.
#[derive(Clone, Debug)]
pub struct Target {
    /// The server's name in `\\SERVER\SHARE`.
    pub server: String,
    /// The share.
    pub share: String,
    /// Kind of share asked for: `A:`, `LPT1:`, `IPC`, or `?????` for whatever it is.
    pub service: &'static str,
    /// User and password.
    pub credentials: Credentials,
    /// Which transport carries the session, decided by the driver when it connected.
    pub transport: Transport,
    /// The server's NetBIOS name, for a session on port 139.
    pub called: ScopedName,
    /// Our own.
    pub calling: ScopedName,
    /// The code page of names without Unicode.
    pub code_page: CodePage,
    /// Offer this dialect alone.
    pub dialect: Option<&'static str>,
    /// Ask for signatures even where the server does not insist.
    pub sign: bool,
    /// Random bytes: client challenge and session key come of them.
    pub entropy: Secret<24>,
    /// 100 ns since 1601, for the log-on.
    pub filetime: u64,
}
