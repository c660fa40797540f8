//! Why a message was not sent.

use std::{io, net::IpAddr};

use coax_client::Error as SmbError;
use coax_netbios::SessionError;
use coax_wire::{
    nbt::{name::NbName, session::Refusal},
    status::Status,
};

use crate::client::{Attempt, plain};

/// Why a message was not sent.
#[derive(Debug, thiserror::Error)]
pub enum MessageFailure {
    /// It is no NetBIOS name.
    #[error("'{name}' is not a NetBIOS name: {why}")]
    BadName {
        /// The name.
        name: String,
        /// The reason.
        why: String,
    },
    /// Nobody has the name.
    #[error("no machine, user or workgroup {name} is found: {}", failures.join("; "))]
    NotFound {
        /// The name.
        name: String,
        /// What each method said.
        failures: Vec<String>,
    },
    /// The machine receives no messages.
    #[error("{} does not receive messages: it has no name with the suffix 03", place(name, *address))]
    NoMessenger {
        /// Its name.
        name: NbName,
        /// Its address.
        address: Option<IpAddr>,
    },
    /// A workgroup cannot be called in a session.
    #[error(
        "{} is a workgroup, and a session reaches one machine only",
        text(name)
    )]
    GroupSession {
        /// The workgroup.
        name: NbName,
    },
    /// Datagrams need an IPv4 address.
    #[error("{} has no IPv4 address, which datagrams need", text(name))]
    NoIpv4 {
        /// The name.
        name: NbName,
    },
    /// No address could be reached.
    #[error("cannot connect to {}", attempts.iter().map(described).collect::<Vec<_>>().join("; "))]
    Unreachable {
        /// What was tried.
        attempts: Vec<Attempt>,
    },
    /// The recipient refused, or the session failed.
    #[error("{}: {error}", text(name))]
    Smb {
        /// The recipient.
        name: NbName,
        /// The error.
        error: SmbError,
    },
    /// The system refused.
    #[error("{what}: {}", plain(error))]
    System {
        /// What failed.
        what: &'static str,
        /// The error.
        error: io::Error,
    },
}

impl MessageFailure {
    /// What to try.
    pub fn help(&self) -> &'static str {
        match self {
            Self::BadName { .. } => "write 1 to 15 characters",
            Self::NotFound { .. } => {
                "name a WINS server with --wins, add the name to an LMHOSTS file (--lmhosts), or write the address"
            }
            Self::NoMessenger { .. } => {
                "start WinPopup (Windows 9x, WfW) or the Messenger service (NT) there, or try --method mailslot"
            }
            Self::GroupSession { .. } => "leave --method out, or write --method mailslot",
            Self::NoIpv4 { .. } => "write the IPv4 address",
            Self::Unreachable { .. } => {
                "the machine is off, or a firewall drops TCP 139; --method mailslot needs UDP 138 only"
            }
            Self::Smb { error, .. } => smb_help(error),
            Self::System { .. } => "look at the network interfaces of this machine",
        }
    }
}

fn smb_help(error: &SmbError) -> &'static str {
    match error.status() {
        // smbd 4.17 refuses with the second one.
        Some(Status::MESSAGES_OFF | Status::REQUEST_NOT_ACCEPTED) => {
            "messages are off there: 'message command' (Samba), 'coax:messages' (coax) or the Messenger service (NT)"
        }
        Some(Status::SERVER_PAUSED) => "the machine got too many messages from here; wait a minute",
        _ => match error {
            SmbError::Session(SessionError::PeerRefused(
                Refusal::CalledNameNotPresent | Refusal::NotListeningOnCalledName,
            )) => {
                "no messenger listens there: start WinPopup or the Messenger service, or try --method mailslot"
            }
            _ => "try --method mailslot, which needs no session",
        },
    }
}

fn text(name: &NbName) -> String {
    String::from_utf8_lossy(name.characters()).into_owned()
}

fn place(name: &NbName, address: Option<IpAddr>) -> String {
    match address {
        Some(address) => format!("{} ({address})", text(name)),
        None => text(name),
    }
}

fn described(attempt: &Attempt) -> String {
    format!("{}: {}", attempt.address, plain(&attempt.error))
}
