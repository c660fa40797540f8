//! The choices that parameters offer, one type each.

/// An SMB1 protocol level, as `server max protocol` names them: each stands for the dialects up to and including it.
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

/// What a password opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Security {
    /// Users log on, then connect to shares.
    User,
    /// Each share has its own passwords; clients need not log on at all.
    Share,
}

/// When a failed log-on becomes a guest's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapToGuest {
    /// Never; only a log-on that asks for it (no name, no password) is a guest's.
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

/// Whether names are told apart by case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaseMode {
    /// No, unless a client says that it tells them apart.
    Auto,
    /// Yes.
    Sensitive,
    /// No.
    Insensitive,
}

/// The case that new names are given when the client's is not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LetterCase {
    /// lower.
    Lower,
    /// UPPER.
    Upper,
}

/// Which names get an 8.3 name besides their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MangledNames {
    /// None: names that are not 8.3 are hidden from clients that know no others.
    No,
    /// Every name that is not 8.3.
    Yes,
    /// As `Yes`; and long-name clients too see a made-up name in place of one that their system could not hold.
    Illegal,
}

/// Where the read-only attribute comes from when no DOS attributes are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapReadonly {
    /// From the owner's write permission.
    Yes,
    /// From whether the server may write the file.
    Permissions,
    /// From nowhere.
    No,
}

/// When reads and writes look at other clients' byte-range locks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StrictLocking {
    /// Never: clients are trusted to ask for a lock first.
    No,
    /// Unless the file's oplock shows that nobody else has it open.
    Auto,
    /// Always.
    Yes,
}

/// What guests may do on the shares of the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GuestAccess {
    /// No guests.
    None,
    /// Guests read.
    Ro,
    /// Guests read and write.
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
    /// SO_KEEPALIVE: let the system notice dead clients.
    KeepAlive(bool),
    /// TCP_KEEPIDLE, seconds before the first probe.
    KeepIdle(u32),
    /// TCP_KEEPINTVL, seconds between probes.
    KeepInterval(u32),
    /// TCP_KEEPCNT, probes before the connection is given up.
    KeepCount(u32),
    /// SO_SNDBUF, bytes.
    SendBuffer(u32),
    /// SO_RCVBUF, bytes.
    ReceiveBuffer(u32),
    /// SO_REUSEADDR on the listening socket.
    ReuseAddress(bool),
    /// SO_BROADCAST; without meaning for TCP, accepted because old files carry it.
    Broadcast(bool),
    /// TCP_QUICKACK.
    QuickAck(bool),
    /// TCP_USER_TIMEOUT, milliseconds.
    UserTimeout(u32),
    /// IPTOS_LOWDELAY or IPTOS_THROUGHPUT: the IP type-of-service byte.
    TypeOfService(u8),
}
