//! SPNEGO: the wrapping of NTLMSSP tokens (RFC 4178, [MS-SPNG]).
//!
//! [`Acceptor`] is what a server hands security blobs to; it takes wrapped and bare NTLMSSP alike. Below it are the
//! tokens themselves, which a client needs too.

mod acceptor;
mod der;
mod error;
mod token;

pub use acceptor::{Accepted, Acceptor};
pub use error::SpnegoError;
pub use token::{NegState, NegTokenInit, NegTokenResp, Oid, Token, mech_types_der, negotiate_blob};

#[cfg(test)]
mod tests;
