#![doc = include_str!("../README.md")]
#![deny(missing_docs)]

mod andx;
mod capture;
mod context;
mod data;
mod field;
mod item;
mod layout;
mod lists;
mod moment;
mod nbf;
mod netbios;
mod parts;
mod recent;
mod remote;
mod rpc;
mod seen;
mod smb;
mod stream;
mod transaction;
mod typed;
mod walk;

#[cfg(test)]
mod tests;

pub use capture::{Message, messages};
pub use context::Context;
pub use field::{Decoded, Field, Identifier, Value};
pub use layout::Direction;
pub use seen::{Seen, seen};
pub use typed::{Kind, MAX_DIGITS, bytes_of_digits};

/// Decodes an SMB message, from its header's first byte. `context` knows the requests of its connection.
pub fn smb_message(bytes: &[u8], context: &mut Context) -> Decoded {
    let mut out = Decoded::default();
    smb::message(bytes, 0, context, &mut out);
    out
}

/// Decodes a packet of the session service, from its four-byte header (RFC 1002 §4.3).
pub fn session_packet(bytes: &[u8], context: &mut Context) -> Decoded {
    let mut out = Decoded::default();
    netbios::session(bytes, context, &mut out);
    out
}

/// Decodes a packet of the name service (UDP port 137).
pub fn name_packet(bytes: &[u8]) -> Decoded {
    let mut out = Decoded::default();
    netbios::name_service(bytes, &mut out);
    out
}

/// Decodes a datagram (UDP port 138), with the SMB message in it.
pub fn datagram(bytes: &[u8]) -> Decoded {
    let mut out = Decoded::default();
    netbios::datagram(bytes, &mut Context::default(), &mut out);
    out
}

/// Decodes a NetBEUI frame, from the length of its header. The message of a session is decoded if this frame has all of it.
pub fn netbeui_frame(bytes: &[u8], context: &mut Context) -> Decoded {
    let mut out = Decoded::default();
    if let Some(piece) = nbf::frame(bytes, context, &mut out) {
        let body = bytes.get(piece.at..).unwrap_or_default();
        nbf::session_message(body, piece.at, context, &mut out);
    }
    out
}
