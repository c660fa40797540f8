//! What goes wrong, told apart by who erred.

use crate::local::LocalError;
use alloc::{string::String, vec::Vec};
use coax_netbios::SessionError;
use coax_wire::{
    command,
    status::{Status, reply::ReplyStatus},
    time::Span,
};

/// Why an operation or a connection failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The server refused a request.
    #[error("{} was refused: {status}", name(*command))]
    Refused {
        /// Command code.
        command: u8,
        /// What the server said.
        status: ReplyStatus,
    },
    /// The server speaks none of the dialects offered.
    #[error("the server speaks none of the dialects offered: {}", offered.join(", "))]
    Dialect {
        /// What was offered.
        offered: Vec<String>,
    },
    /// What was asked cannot be done with this server, or would not be safe.
    #[error("{0}")]
    Unfit(#[from] Unfit),
    /// The server does not answer.
    #[error("no answer to {} within {} s", name(*command), after.as_millis() / 1000)]
    Silent {
        /// Command code.
        command: u8,
        /// How long was waited.
        after: Span,
    },
    /// The connection ended.
    #[error("the server closed the connection{}", during(*waiting))]
    Closed {
        /// The command that waited for an answer.
        waiting: Option<u8>,
    },
    /// The NetBIOS session failed.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// The server sent something that is not what it should be.
    #[error("the server's answer to {} makes no sense: {what}", name(*command))]
    Nonsense {
        /// Command code.
        command: u8,
        /// What.
        what: coax_wire::Error,
    },
    /// The server broke the protocol.
    #[error("the server broke the protocol: {0}")]
    Protocol(&'static str),
    /// A reply's signature is wrong: somebody altered it, or client and server disagree on the password.
    #[error("the signature of the answer to {} is wrong", name(*command))]
    Signature {
        /// Command code.
        command: u8,
    },
    /// The server took less than it was sent: its disk is full ([MS-CIFS] 2.2.4.12.2).
    #[error("the server took {taken} of {sent} bytes: its disk is full")]
    NoRoomLeft {
        /// Bytes that were sent.
        sent: u32,
        /// Bytes that were taken.
        taken: u32,
    },
    /// A file changed while it was copied.
    #[error(transparent)]
    Changed(#[from] Changed),
    /// The local side failed.
    #[error(transparent)]
    Local(#[from] LocalError),
}

/// What cannot be done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// The server wants the password in clear text, and that was not allowed.
    #[error("the server wants the password in clear text")]
    Plaintext,
    /// The dialect knows nothing better than the LAN Manager response, and that was not allowed.
    #[error(
        "{0} knows no better proof of the password than the LAN Manager response, which is easily broken"
    )]
    WeakProof(&'static str),
    /// The server insists on signatures, which a guest cannot give.
    #[error("the server insists on signed messages, and a guest cannot sign")]
    GuestCannotSign,
    /// A name has characters that cannot be sent.
    #[error("{name:?} cannot be sent: {character:?} is not in code page {page}")]
    Unmappable {
        /// The name.
        name: String,
        /// The first character that does not map.
        character: char,
        /// The code page's number.
        page: u16,
    },
    /// The dialect has no request for it.
    #[error("{0} is beyond dialect {1}")]
    Beyond(&'static str, &'static str),
    /// The server's buffer cannot hold the request.
    #[error("the request needs {needed} bytes and the server's buffer holds {room}")]
    NoRoom {
        /// Bytes needed.
        needed: usize,
        /// Bytes there are.
        room: usize,
    },
}

/// A file's length is not what it was at the beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the file changed while it was copied: it had {expected} bytes, {found} were copied")]
pub struct Changed {
    /// Bytes at the beginning.
    pub expected: u64,
    /// Bytes copied.
    pub found: u64,
}

impl Error {
    /// What the server said, if it refused something.
    pub fn status(&self) -> Option<Status> {
        match self {
            Self::Refused { status, .. } => Some(status.status()),
            Self::NoRoomLeft { .. } => Some(Status::DISK_FULL),
            _ => None,
        }
    }

    /// Whether the connection is of no use any more.
    pub fn is_fatal(&self) -> bool {
        !matches!(
            self,
            Self::Refused { .. }
                | Self::NoRoomLeft { .. }
                | Self::Unfit(_)
                | Self::Changed(_)
                | Self::Local(_)
        )
    }
}

fn name(code: u8) -> &'static str {
    command::name(code).unwrap_or("an unknown command")
}

fn during(waiting: Option<u8>) -> String {
    waiting.map_or(String::new(), |code| {
        alloc::format!(" while {} waited for its answer", name(code))
    })
}
