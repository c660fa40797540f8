#![doc = include_str!("../README.md")]
#![deny(missing_docs)]

mod andx;
mod capture;
mod context;
mod data;
mod field;
mod frame;
mod group;
mod harmless;
mod ipx;
mod item;
mod layout;
mod lists;
mod message;
mod moment;
mod nbf;
mod netbios;
mod parts;
mod piece;
mod recent;
mod remote;
mod rpc;
mod seen;
mod session;
mod smb;
mod station;
mod stream;
mod transaction;
mod typed;
mod walk;

#[cfg(test)]
mod frame_tests;
#[cfg(test)]
mod tests;

pub use capture::{Missing, messages};
pub use context::Context;
pub use field::{Decoded, Field, Identifier, Value};
pub use harmless::{harmless_json, is_harmful};
pub use layout::Direction;
pub use message::Message;
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

/// Decodes a NetBEUI frame, from the length of its header. The message of a session is decoded if this frame begins it.
pub fn netbeui_frame(bytes: &[u8], context: &mut Context) -> Decoded {
    with_piece(bytes, context, nbf::frame)
}

/// Decodes an Ethernet frame with NetBEUI or IPX, from its destination address.
pub fn ethernet_frame(bytes: &[u8], context: &mut Context) -> Decoded {
    with_piece(bytes, context, frame::ethernet)
}

/// Decodes an LLC frame with NetBEUI or IPX, from its destination service access point.
pub fn llc_frame(bytes: &[u8], context: &mut Context) -> Decoded {
    with_piece(bytes, context, frame::llc)
}

/// Decodes an IPX packet, from its checksum.
pub fn ipx_packet(bytes: &[u8], context: &mut Context) -> Decoded {
    with_piece(bytes, context, ipx::packet)
}

/// Whether fields of this group belong to a frame rather than to a message.
pub fn is_frame(group: &str) -> bool {
    group == "NetBEUI frame" || layout::Tables::get().is_frame(group)
}

fn with_piece(
    bytes: &[u8],
    context: &mut Context,
    decode: impl FnOnce(&mut walk::Walk<'_, '_>, &mut Context) -> walk::Step<Option<piece::Piece>>,
) -> Decoded {
    let mut out = Decoded::default();
    let piece = decode(&mut walk::Walk::new(bytes, 0, &mut out), context);
    // what is missing has been noted
    if let Ok(Some(piece)) = piece {
        session::message(piece.of(bytes), piece.at, context, &mut out);
    }
    out
}
