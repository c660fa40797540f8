//! SPNEGO: the wrapping of NTLMSSP tokens (RFC 4178, [MS-SPNG]).
//!
//! A server passes security blobs to [`Acceptor`], which accepts wrapped and bare NTLMSSP. The tokens below it are also
//! for clients.

mod acceptor;
mod der;
mod error;
mod token;

pub use acceptor::{Accepted, Acceptor};
pub use error::SpnegoError;
pub use token::{NegState, NegTokenInit, NegTokenResp, Oid, Token, mech_types_der, negotiate_blob};

#[cfg(test)]
mod tests;
