//! Enumerated values of parameters.

/// An SMB1 protocol level of `server max protocol`: it means all dialects up to this one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Protocol {
    /// PC NETWORK PROGRAM 1.0 and PCLAN1.0.
    Core,
    /// MICROSOFT NETWORKS 1.03.
    CorePlus,
    /// MICROSOFT NETWORKS 3.0 and LANMAN1.0.
    Lanman1,
    /// LM1.2X002, LANMAN2.1, their DOS forms, and Windows for Workgroups 3.1a.
    Lanman2,
    /// NT LANMAN 1.0 and NT LM 0.12.
    Nt1,
}

/// What a password gives access to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Security {
    /// Users log on, then connect to shares.
    User,
    /// Each share has its own passwords; clients need not log on at all.
    Share,
}

/// When a failed log-on becomes a guest log-on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapToGuest {
    /// Never; only a log-on without name and password is a guest log-on.
    Never,
    /// When the user name is unknown.
    BadUser,
    /// When the name is unknown or the password wrong.
    BadPassword,
}

/// Which NTLM responses are accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NtlmAuth {
    /// None at all.
    Disabled,
    /// NTLMv2 alone.
    V2Only,
    /// NTLMv1 and NTLMv2.
    V1Permitted,
}

/// SMB signing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signing {
    /// Not offered.
    Disabled,
    /// Offered; used with clients that ask for it.
    Auto,
    /// Clients that do not sign are refused.
    Mandatory,
}

/// To which clients the server limits the bursts that old cards lose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pacing {
    /// To those in the local network whose SYN shows an old stack.
    Auto,
    /// To all.
    Always,
    /// To none.
    Off,
}

/// Whether file names are case-sensitive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaseMode {
    /// No, unless the client declares case-sensitive names.
    Auto,
    /// Yes.
    Sensitive,
    /// No.
    Insensitive,
}

/// The case of new names if the client's case is not preserved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LetterCase {
    /// lower.
    Lower,
    /// UPPER.
    Upper,
}

/// Which names get a generated 8.3 name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MangledNames {
    /// None: clients that need 8.3 names do not see other names.
    No,
    /// Every name that is not 8.3.
    Yes,
    /// As `Yes`; clients with long names also see a generated name where the real one is illegal for them.
    Illegal,
}

/// The source of the read-only attribute if no DOS attributes are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapReadonly {
    /// From the owner's write permission.
    Yes,
    /// From the server's write access to the file.
    Permissions,
    /// No source.
    No,
}

/// When reads and writes check other clients' byte-range locks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StrictLocking {
    /// Never.
    No,
    /// Unless the oplock shows that no other client has the file open.
    Auto,
    /// Always.
    Yes,
}

/// Access of guests to the shares of the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GuestAccess {
    /// No guests.
    None,
    /// Guests may read.
    Ro,
    /// Guests may read and write.
    Rw,
}

impl std::str::FromStr for GuestAccess {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "none" => Ok(Self::None),
            "ro" => Ok(Self::Ro),
            "rw" => Ok(Self::Rw),
            _ => Err("write none, ro or rw".into()),
        }
    }
}

/// A socket option for every client's connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SocketOption {
    /// TCP_NODELAY: send small replies at once.
    NoDelay(bool),
    /// SO_KEEPALIVE: let the system detect dead clients.
    KeepAlive(bool),
    /// TCP_KEEPIDLE, seconds before the first probe.
    KeepIdle(u32),
    /// TCP_KEEPINTVL, seconds between probes.
    KeepInterval(u32),
    /// TCP_KEEPCNT, probes before the connection is closed.
    KeepCount(u32),
    /// SO_SNDBUF, bytes.
    SendBuffer(u32),
    /// SO_RCVBUF, bytes.
    ReceiveBuffer(u32),
    /// SO_REUSEADDR on the listening socket.
    ReuseAddress(bool),
    /// SO_BROADCAST; no effect for TCP, accepted because old files contain it.
    Broadcast(bool),
    /// TCP_QUICKACK.
    QuickAck(bool),
    /// TCP_USER_TIMEOUT, milliseconds.
    UserTimeout(u32),
    /// IPTOS_LOWDELAY or IPTOS_THROUGHPUT: the IP type-of-service byte.
    TypeOfService(u8),
}
