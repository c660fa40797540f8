//! Events that a connection reports, for logs and for diagnosis of refused clients.

use alloc::string::String;
use coax_wire::status::Status;

/// An event for the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Client and server have agreed on a dialect.
    Negotiated {
        /// The dialect strings that the client offered, in order.
        offered: alloc::vec::Vec<String>,
        /// The selected dialect; `None` if the server supports and allows none of those offered.
        chosen: Option<&'static str>,
    },
    /// A client that wants to log on has identified itself.
    Introduced {
        /// The operating system and LAN manager that the client reports.
        native: String,
    },
    /// A client has logged on.
    LoggedOn {
        /// The user; `None` for a guest.
        user: Option<String>,
        /// The authentication method: `guest`, `plaintext`, `LM`, `NTLMv1`, `NTLMv2` …
        how: &'static str,
        /// The user name that a guest gave: unknown, or with a wrong password.
        tried: Option<String>,
        /// The operating system and LAN manager that the client reports.
        native: String,
    },
    /// A client has connected a share.
    Connected {
        /// The share's name.
        share: String,
    },
    /// The server has refused something that a setting could allow.
    Refused {
        /// The operation that the client wanted.
        what: String,
        /// The status in the reply.
        status: Status,
        /// The reason.
        why: String,
        /// The smb.conf line or option that would allow it.
        setting: Option<String>,
    },
    /// The server has refused a request. Errors that are normal for programs (a missing file, the end of a listing) are
    /// not reported.
    RequestRefused(alloc::boxed::Box<RefusedRequest>),
    /// A print job is complete: the printer's command may run.
    Printed {
        /// The printer's share.
        share: String,
        /// The job's file, relative to the share's folder.
        path: String,
        /// The job name that the client gave.
        name: String,
    },
    /// A message between users (WinPopup, NET SEND) arrived.
    Message {
        /// The sender's name, as the message gives it.
        from: String,
        /// The recipient's name.
        to: String,
        /// The text, with line feeds between lines.
        text: String,
    },
    /// A deletion failed, and no reply reported it. Either a tree disconnect, a log-off, the end of a process or a lost
    /// connection closed the last open, or the server could not undo a failed request.
    NotDeleted {
        /// Its share.
        share: String,
        /// Its path, relative to the share's folder.
        path: String,
        /// The reason.
        status: Status,
    },
    /// A print job failed when it was closed, and no reply reported it.
    NotPrinted {
        /// The printer's share.
        share: String,
        /// The job name that the client gave.
        name: String,
        /// The reason.
        status: Status,
    },
    /// The server ended a session, because its user has no account any more.
    SessionEnded {
        /// The user.
        user: String,
    },
    /// The server disconnected a tree, because the configuration changed.
    TreeEnded {
        /// Its share.
        share: String,
        /// The reason, in words.
        why: &'static str,
    },
    /// The server must close the connection, because the client violated the protocol.
    Fatal {
        /// The violation.
        why: String,
    },
}

/// A refused request: the client, the operation and the reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RefusedRequest {
    /// The name of the command ([MS-CIFS] 2.2.2.1, without `SMB_COM_`).
    pub command: &'static str,
    /// The share, if a tree is connected.
    pub share: Option<String>,
    /// The path or name in the request, in the client's spelling. For a request with a FID, the path of the open file.
    pub path: Option<String>,
    /// The other fields of the request, as text.
    pub fields: String,
    /// The user; `None` for a guest.
    pub user: Option<String>,
    /// The status of the reply.
    pub status: Status,
    /// The reason.
    pub why: String,
    /// The smb.conf line or option that would allow it.
    pub setting: Option<String>,
}
