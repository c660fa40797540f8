//! Errors of the client outside the engine.

use std::{io, net::SocketAddr};

/// A failed connection attempt.
#[derive(Debug)]
pub struct Attempt {
    /// Address and port.
    pub address: SocketAddr,
    /// The system's error.
    pub error: io::Error,
}

/// Why a connection or an operation failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The name cannot be resolved.
    #[error("cannot resolve {host}: {reason}")]
    Unknown {
        /// The name.
        host: String,
        /// The resolver's error.
        reason: String,
    },
    /// No address accepted the connection.
    #[error("cannot connect to {host}: {}", list(attempts))]
    Unreachable {
        /// The name as given.
        host: String,
        /// The attempts.
        attempts: Vec<Attempt>,
    },
    /// The interface of a location without TCP/IP cannot be used.
    #[error(transparent)]
    Interface(#[from] coax_ethernet::OpenError),
    /// The engine's error, including errors that the server returned.
    #[error(transparent)]
    Smb(#[from] coax_client::Error),
    /// The local file was truncated while it was copied.
    #[error(
        "{name} became shorter while it was copied: it ends at {end}, {promised} bytes were expected"
    )]
    Shrunk {
        /// The local file.
        name: String,
        /// Its present length, bytes.
        end: u64,
        /// The minimum length that the copy needs, bytes.
        promised: u64,
    },
    /// A file could not be replaced, and its old version could not get its name back.
    #[error("{error}; the file that had the new name is now {at}")]
    Aside {
        /// Path of the old version in the share.
        at: String,
        /// The error of the replacement.
        error: Box<Error>,
    },
    /// A system call failed.
    #[error("{what}: {error}")]
    System {
        /// The operation.
        what: &'static str,
        /// The system's error.
        error: io::Error,
    },
}

impl Error {
    pub(crate) fn aside(at: String, error: Self) -> Self {
        let error = Box::new(error);
        Self::Aside { at, error }
    }

    /// The engine's error, if it is one.
    pub fn smb(&self) -> Option<&coax_client::Error> {
        match self {
            Self::Smb(error) => Some(error),
            _ => None,
        }
    }
}

fn list(attempts: &[Attempt]) -> String {
    let one = |attempt: &Attempt| format!("{} ({})", attempt.address, plain(&attempt.error));
    attempts.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// The system's error message without the number.
pub fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    let words = text.split(" (os error").next().unwrap_or_default();
    let mut chars = words.chars();
    chars.next().map_or(String::new(), |first| {
        first.to_lowercase().chain(chars).collect()
    })
}
