//! Errors, distinguished by the side that caused them.

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
#[non_exhaustive]
pub enum Error {
    /// The server returned an error.
    #[error("{} was refused: {status}", name(*command))]
    Refused {
        /// Command code.
        command: u8,
        /// The error.
        status: ReplyStatus,
    },
    /// The server supports none of the offered dialects.
    #[error("the server supports none of the offered dialects: {}", offered.join(", "))]
    Dialect {
        /// The offered dialects.
        offered: Vec<String>,
    },
    /// The request is impossible with this server, or not safe.
    #[error("{0}")]
    Unfit(#[from] Unfit),
    /// The server did not reply in time.
    #[error("no answer to {} within {} s", name(*command), after.as_millis() / 1000)]
    Silent {
        /// Command code.
        command: u8,
        /// The timeout.
        after: Span,
    },
    /// The connection ended.
    #[error("the server closed the connection{}", during(*waiting))]
    Closed {
        /// The command that was outstanding.
        waiting: Option<u8>,
    },
    /// The NetBIOS session failed.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// The server sent a reply that cannot be decoded.
    #[error("cannot decode the server's reply to {}: {what}", name(*command))]
    Nonsense {
        /// Command code.
        command: u8,
        /// The error of the decoder.
        what: coax_wire::Error,
    },
    /// The server violated the protocol.
    #[error("the server broke the protocol: {0}")]
    Protocol(&'static str),
    /// A reply has a wrong signature: it was modified, or client and server use different passwords.
    #[error("the signature of the answer to {} is wrong", name(*command))]
    Signature {
        /// Command code.
        command: u8,
    },
    /// The server wrote fewer bytes than it received: its disk is full ([MS-CIFS] 2.2.4.12.2).
    #[error("the server took {taken} of {sent} bytes: its disk is full")]
    NoRoomLeft {
        /// Bytes sent.
        sent: u32,
        /// Bytes written.
        taken: u32,
    },
    /// The file changed during the copy.
    #[error(transparent)]
    Changed(#[from] Changed),
    /// A local operation failed.
    #[error(transparent)]
    Local(#[from] LocalError),
}

/// Why a request is impossible.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// The server requires a plaintext password, and the options do not allow it.
    #[error("the server requires a plaintext password")]
    Plaintext,
    /// The dialect supports nothing stronger than the LAN Manager response, and the options do not allow it.
    #[error("{0} supports nothing stronger than the LAN Manager response, which is easy to break")]
    WeakProof(&'static str),
    /// The server requires signing, which a guest session does not support.
    #[error("the server insists on signed messages, and a guest cannot sign")]
    GuestCannotSign,
    /// A name contains characters that cannot be encoded.
    #[error("{name:?} cannot be sent: {character:?} is not in code page {page}")]
    Unmappable {
        /// The name.
        name: String,
        /// The first character without an encoding.
        character: char,
        /// The code page's number.
        page: u16,
    },
    /// The dialect has no such request.
    #[error("{0} is beyond dialect {1}")]
    Beyond(&'static str, &'static str),
    /// The file is too large for the size and offset fields of the profile's requests.
    #[error(
        "the file has 4 GiB or more, and this client's requests in dialect {0} have only 32 bits for its size"
    )]
    TooLarge(&'static str),
    /// The request is larger than the server's buffer.
    #[error("the request needs {needed} bytes and the server's buffer holds {room}")]
    NoRoom {
        /// Bytes needed.
        needed: usize,
        /// Bytes available.
        room: usize,
    },
}

/// The length of a file changed during the copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the file changed while it was copied: it had {expected} bytes, {found} were copied")]
pub struct Changed {
    /// Bytes at the start of the copy.
    pub expected: u64,
    /// Bytes copied.
    pub found: u64,
}

impl Error {
    /// The error that the server returned, if any.
    pub fn status(&self) -> Option<Status> {
        match self {
            Self::Refused { status, .. } => Some(status.status()),
            Self::NoRoomLeft { .. } => Some(Status::DISK_FULL),
            _ => None,
        }
    }

    /// Whether the connection is unusable after this error.
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
