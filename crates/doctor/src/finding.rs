//! What was found, and what to do about it.

use std::fmt;

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Clients cannot use the server.
    Error,
    /// Some clients cannot, or something is at risk.
    Warning,
    /// Worth knowing.
    Note,
    /// Checked, and good.
    Ok,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
            Self::Ok => "ok",
        })
    }
}

/// The subject of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// The ports of SMB and NetBIOS, and who has them.
    Ports,
    /// Another SMB server on this machine.
    Samba,
    /// Rules that drop packets.
    Firewall,
    /// Network interfaces and addresses.
    Interfaces,
    /// Routes.
    Routes,
    /// Time and time zone.
    Clock,
    /// smb.conf.
    Config,
    /// The service of the packages.
    Service,
    /// Folders and file systems.
    Shares,
    /// NetBIOS names in the network.
    Names,
    /// One client.
    Client,
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ports => "ports",
            Self::Samba => "samba",
            Self::Firewall => "firewall",
            Self::Interfaces => "interfaces",
            Self::Routes => "routes",
            Self::Clock => "clock",
            Self::Config => "config",
            Self::Service => "service",
            Self::Shares => "shares",
            Self::Names => "names",
            Self::Client => "client",
        })
    }
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How much it matters.
    pub severity: Severity,
    /// What was checked.
    pub check: Check,
    /// What was found.
    pub what: String,
    /// Where: an address, an interface, a file, a rule.
    pub place: Option<String>,
    /// Why it matters.
    pub why: Option<String>,
    /// A command, or a line of smb.conf.
    pub fix: Option<String>,
}

impl Finding {
    /// A finding without place, reason and fix.
    pub fn new(severity: Severity, check: Check, what: impl Into<String>) -> Self {
        Self {
            severity,
            check,
            what: what.into(),
            place: None,
            why: None,
            fix: None,
        }
    }

    /// Sets the place.
    #[must_use]
    pub fn at(self, place: impl Into<String>) -> Self {
        Self {
            place: Some(place.into()),
            ..self
        }
    }

    /// Sets the reason.
    #[must_use]
    pub fn why(self, why: impl Into<String>) -> Self {
        Self {
            why: Some(why.into()),
            ..self
        }
    }

    /// Sets the fix.
    #[must_use]
    pub fn fix(self, fix: impl Into<String>) -> Self {
        Self {
            fix: Some(fix.into()),
            ..self
        }
    }
}
