//! An error in a security blob.

use crate::ntlmssp::NtlmsspError;
use thiserror::Error;

/// How many mechanisms a list may have.
pub(super) const MECHANISMS_MAX: usize = 32;

/// An error in a security blob.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SpnegoError {
    /// Malformed DER: an element exceeds the enclosing one, or has an unexpected type.
    #[error("malformed DER in the {0}")]
    Der(&'static str),
    /// Neither NTLMSSP nor SPNEGO.
    #[error("the security blob is neither NTLMSSP nor SPNEGO")]
    UnknownToken,
    /// Too many mechanisms.
    #[error("the client lists more than {} mechanisms", MECHANISMS_MAX)]
    TooManyMechanisms,
    /// The client does not speak NTLMSSP (Kerberos only, for instance).
    #[error("the client does not offer NTLMSSP, the only supported mechanism")]
    NoCommonMechanism,
    /// A NegTokenResp lacks the expected NTLMSSP token.
    #[error("the security blob holds no NTLMSSP token")]
    NoToken,
    /// A NegTokenInit in the middle of an exchange.
    #[error("this token is not expected in this state")]
    OutOfTurn,
    /// The list of mechanisms was altered in transit.
    #[error("the list of mechanisms does not match its signature")]
    MicMismatch,
    /// An error in the enclosed NTLMSSP token.
    #[error(transparent)]
    Ntlmssp(#[from] NtlmsspError),
}
