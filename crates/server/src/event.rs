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
    /// Somebody logged on.
    LoggedOn {
        /// User; `None` for a guest.
        user: Option<String>,
        /// How: `guest`, `plaintext`, `LM`, `NTLMv1`, `NTLMv2` …
        how: &'static str,
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
    /// A print job is whole: the printer's command may run.
    Printed {
        /// The printer's share.
        share: String,
        /// The job's file, relative to the share's folder.
        path: String,
        /// What the client called it.
        name: String,
    },
    /// The connection must be closed: the client broke the protocol.
    Fatal {
        /// How.
        why: String,
    },
}
