//! What goes wrong around the engine.

use std::{io, net::SocketAddr};

/// An address that could not be connected to, and why.
#[derive(Debug)]
pub struct Attempt {
    /// Address and port.
    pub address: SocketAddr,
    /// What the system said.
    pub error: io::Error,
}

/// Why a connection or an operation failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The name has no address.
    #[error("the address of {host} is not to be found: {reason}")]
    Unknown {
        /// The name.
        host: String,
        /// What the resolver said.
        reason: String,
    },
    /// No address took the connection.
    #[error("cannot connect to {host}: {}", list(attempts))]
    Unreachable {
        /// As it was asked for.
        host: String,
        /// Where it was tried.
        attempts: Vec<Attempt>,
    },
    /// What the engine says: the server's refusals among it.
    #[error(transparent)]
    Smb(#[from] coax_client::Error),
    /// The local file was cut while its data was on the way.
    #[error(
        "{name} became shorter while it was copied: it ends at {end}, {promised} bytes were expected"
    )]
    Shrunk {
        /// The local file.
        name: String,
        /// Where it ends now, bytes.
        end: u64,
        /// Where it should have ended at least, bytes.
        promised: u64,
    },
    /// The system refused something on this side.
    #[error("{what}: {error}")]
    System {
        /// What was tried.
        what: &'static str,
        /// What the system said.
        error: io::Error,
    },
}

impl Error {
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

/// The system's words without the number behind them.
pub fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    let words = text.split(" (os error").next().unwrap_or_default();
    let mut chars = words.chars();
    chars.next().map_or(String::new(), |first| {
        first.to_lowercase().chain(chars).collect()
    })
}
