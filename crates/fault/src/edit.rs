//! Changes of messages.

use alloc::vec::Vec;

use coax_wire::{
    block::put_empty,
    command,
    header::{Flags, HEADER_LEN, Header, Mid, Pid, SIGNATURE_OFFSET},
    io::Writer,
};

use crate::{requests::Asked, status::Refusal};

/// The MID's offset in the header.
const MID_OFFSET: usize = HEADER_LEN - 2;

/// An error that answers a request.
pub(crate) fn refusal(asked: &Asked, refusal: Refusal) -> Vec<u8> {
    let (status, flags2) = refusal.on_the_wire(asked.header.flags2);
    // a raw write is refused with its final reply ([MS-CIFS] 2.2.4.25)
    let command = match asked.header.command {
        command::WRITE_RAW => command::WRITE_COMPLETE,
        other => other,
    };
    let header = Header {
        command,
        status,
        flags: Flags(asked.header.flags.0 | Flags::REPLY),
        flags2,
        signature: [0; 8],
        ..asked.header
    };
    let mut out = Writer::with_capacity(HEADER_LEN.saturating_add(3));
    header.emit(&mut out);
    put_empty(&mut out);
    out.into_vec()
}

/// The break of an oplock: a request of the server ([MS-CIFS] 2.2.4.32.1).
pub(crate) fn oplock_break(asked: &Asked) -> Option<Vec<u8>> {
    let header = Header {
        command: command::LOCKING_ANDX,
        tid: asked.header.tid,
        pid: Pid(0xffff),
        mid: Mid(0xffff),
        ..Header::default()
    };
    let mut out = Writer::with_capacity(64);
    header.emit(&mut out);
    out.u8(8).u8(0xff).u8(0).u16(0).u16(asked.fid?);
    // OPLOCK_RELEASE; the new level, no oplock; no timeout, unlocks or locks; no bytes
    out.u8(2).u8(0).u32(0).u16(0).u16(0).u16(0);
    Some(out.into_vec())
}

pub(crate) fn set_mid(message: &mut [u8], mid: u16) {
    if let Some(place) = message.get_mut(MID_OFFSET..HEADER_LEN) {
        place.copy_from_slice(&mid.to_le_bytes());
    }
}

pub(crate) fn corrupt_signature(message: &mut [u8]) {
    let place = message.get_mut(SIGNATURE_OFFSET..SIGNATURE_OFFSET + 8);
    place.into_iter().flatten().for_each(|byte| *byte = !*byte);
}
