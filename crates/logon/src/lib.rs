#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
//! Authentication and message signing for SMB1.
//!
//! Pure functions and small state machines: no socket, no clock, no random numbers. The caller supplies challenges,
//! client challenges and times. The server and the client share this code.
//!
//! | module | job | source |
//! |---|---|---|
//! | [`hash`] | LM and NT hashes, the NTLMv2 response key | [MS-NLMP] 3.3 |
//! | [`response`] | challenge responses, as a client computes them | [MS-NLMP] 3.3, [MS-CIFS] 3.1.5.2 |
//! | [`verify`] | a server's check of what a client sent | [MS-NLMP] 3.3, [MS-CIFS] 3.3.5.43 |
//! | [`policy`] | which kinds of proof are admitted, and what to say when one is not | – |
//! | [`accounts`] | users, from `NAME:PASSWORD` and from smbpasswd files | – |
//! | [`ntlmssp`] | NEGOTIATE, CHALLENGE, AUTHENTICATE and both ends of that exchange | [MS-NLMP] 2.2, 3.1, 3.2 |
//! | [`spnego`] | the wrapping of those tokens; [`spnego::Acceptor`] is what a server talks to | RFC 4178, [MS-SPNG] |
//! | [`signing`] | SMB1 message signatures and their sequence numbers | [MS-CIFS] 3.1.4.1, [MS-SMB] 3.3.5.1 |
//! | [`text`] | UTF-16LE, upper case, and the OEM code page a caller brings | – |
//! | [`secret`] | bytes that are not printed and are wiped when dropped | – |
//!
//! MD4, MD5, DES and RC4 are broken, but old machines support nothing else. [`policy::Policy`] decides which methods
//! are accepted.

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod accounts;
pub mod hash;
pub mod ntlmssp;
pub mod policy;
pub mod response;
pub mod secret;
pub mod signing;
pub mod spnego;
pub mod text;
pub mod verify;

mod primitives;

#[cfg(test)]
pub(crate) mod testing;
