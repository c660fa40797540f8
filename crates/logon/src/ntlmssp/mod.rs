//! NTLMSSP: the three messages, both ends of the exchange, and the signatures afterwards ([MS-NLMP]).

mod av;
mod client;
mod flags;
mod message;
mod server;
mod session;

pub use av::{AvId, AvPairs, push_av_pair, push_av_text};
pub use client::{Credentials, NtlmsspClient};
pub use flags::NegotiateFlags;
pub use message::{Authenticate, ChallengeMessage, Message, Negotiate, SIGNATURE};
pub use server::{AuthenticateRequest, NtlmString, NtlmsspServer, ServerNames, Step};
pub use session::{Role, Session};

use thiserror::Error;

/// An error in a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum NtlmsspError {
    /// The token does not start with `NTLMSSP` and a zero byte.
    #[error("the token does not begin with NTLMSSP")]
    NoSignature,
    /// The token ends within its fixed part.
    #[error("the token ends within its fixed part")]
    Truncated,
    /// A field lies beyond the token's end.
    #[error("the {0} field points beyond the end of the token")]
    OutOfBounds(&'static str),
    /// A field has an invalid length.
    #[error("the {0} field has an impossible length")]
    BadLength(&'static str),
    /// A message type other than 1, 2 or 3.
    #[error("message type {0} does not exist")]
    UnknownType(u32),
    /// An unexpected message.
    #[error("a message of type {0} is not due now")]
    OutOfTurn(u32),
    /// The MIC over all three messages is wrong: a message was altered.
    #[error("the three messages do not match their MIC")]
    MicMismatch,
    /// A value to encode exceeds its length field.
    #[error("the {0} field is too long to be sent")]
    TooLong(&'static str),
}

#[cfg(test)]
mod tests;
