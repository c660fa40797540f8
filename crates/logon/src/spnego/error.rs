//! What is wrong with a security blob.

use crate::ntlmssp::NtlmsspError;
use thiserror::Error;

/// How many mechanisms a list may have.
pub(super) const MECHANISMS_MAX: usize = 32;

/// What is wrong with a security blob.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SpnegoError {
    /// The DER does not hold together: an element is longer than what is around it, or of another type than is due.
    #[error("malformed DER in the {0}")]
    Der(&'static str),
    /// Neither NTLMSSP nor SPNEGO.
    #[error("the security blob is neither NTLMSSP nor SPNEGO")]
    UnknownToken,
    /// More mechanisms than anybody has.
    #[error("the client lists more than {} mechanisms", MECHANISMS_MAX)]
    TooManyMechanisms,
    /// The client does not speak NTLMSSP (Kerberos only, for instance).
    #[error("the client offers no mechanism that is known here; only NTLMSSP is")]
    NoCommonMechanism,
    /// A NegTokenResp without NTLMSSP token where one is due.
    #[error("the security blob holds no NTLMSSP token")]
    NoToken,
    /// A NegTokenInit in the middle of an exchange.
    #[error("this token is not due now")]
    OutOfTurn,
    /// The list of mechanisms was altered on its way.
    #[error("the list of mechanisms does not match its signature")]
    MicMismatch,
    /// Something about the NTLMSSP token inside.
    #[error(transparent)]
    Ntlmssp(#[from] NtlmsspError),
}
