//! SMB directly over IPX ([MS-CIFS] 2.1.2.1): a message is a packet. The server gives a connection a number (CID); the
//! client numbers its requests, repeats what is not answered, and the server repeats its last reply.

mod caller;
mod header;
mod served;
mod transaction;

pub(crate) use caller::Caller;
pub(crate) use header::{Fields, NameTrailer, refusal};
pub(crate) use served::{Served, ServedConfig};

use alloc::vec::Vec;

use super::close::SessionClose;

/// What happened to a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DirectEvent {
    /// A message for the program, its connectionless fields zero.
    Message(Vec<u8>),
    /// It is over.
    Closed(SessionClose),
}

/// Bytes of the header of an SMB message.
const HEADER_LEN: usize = coax_wire::header::HEADER_LEN;
