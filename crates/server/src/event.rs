//! What a connection reports of itself, for logs and for people who wonder why a client was refused.

use alloc::string::String;
use coax_wire::status::Status;

/// Something worth telling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A dialect was agreed.
    Negotiated {
        /// Strings offered, in order.
        offered: alloc::vec::Vec<String>,
        /// The one chosen; `None` if nothing known and allowed was offered.
        chosen: Option<&'static str>,
    },
    /// A client that wants to log on said what it is.
    Introduced {
        /// Operating system and LAN manager as the client names them.
        native: String,
    },
    /// Somebody logged on.
    LoggedOn {
        /// User; `None` for a guest.
        user: Option<String>,
        /// How: `guest`, `plaintext`, `LM`, `NTLMv1`, `NTLMv2` …
        how: &'static str,
        /// The user name that a guest gave: of nobody, or of somebody whose password it was not.
        tried: Option<String>,
        /// Operating system and LAN manager as the client names them.
        native: String,
    },
    /// A share was connected.
    Connected {
        /// Its name.
        share: String,
    },
    /// Something was refused that a setting could allow.
    Refused {
        /// What the client wanted.
        what: String,
        /// What it was told.
        status: Status,
        /// Why.
        why: String,
        /// The smb.conf line or option that would allow it.
        setting: Option<String>,
    },
    /// A request was refused. Errors that programs meet in passing (a file that is not there, the end of a listing) are
    /// not reported.
    RequestRefused(alloc::boxed::Box<RefusedRequest>),
    /// A print job is whole: the printer's command may run.
    Printed {
        /// The printer's share.
        share: String,
        /// The job's file, relative to the share's folder.
        path: String,
        /// What the client called it.
        name: String,
    },
    /// A file or folder was to be deleted and is still there, and no reply says so: its last open was closed by a tree
    /// disconnect, a log-off, the end of a process or a lost connection, or a failed request could not be undone.
    NotDeleted {
        /// Its share.
        share: String,
        /// Its path, relative to the share's folder.
        path: String,
        /// Why.
        status: Status,
    },
    /// A print job was closed without a reply that reports the failure, and could not be handed over.
    NotPrinted {
        /// The printer's share.
        share: String,
        /// What the client called it.
        name: String,
        /// Why.
        status: Status,
    },
    /// The connection must be closed: the client broke the protocol.
    Fatal {
        /// How.
        why: String,
    },
}

/// A refused request: who asked for what, and why it was refused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RefusedRequest {
    /// The command's name ([MS-CIFS] 2.2.2.1, without `SMB_COM_`).
    pub command: &'static str,
    /// The share, if a tree is connected.
    pub share: Option<String>,
    /// The path or name that the request is about, as the client writes it; of a request with a FID, the open file's.
    pub path: Option<String>,
    /// The request's other fields, in words.
    pub fields: String,
    /// The user; `None` for a guest.
    pub user: Option<String>,
    /// The reply's status.
    pub status: Status,
    /// Why.
    pub why: String,
    /// The smb.conf line or option that would allow it.
    pub setting: Option<String>,
}
