//! Requests as they are sent here.

use coax_decode::{Context, Decoded, Identifier, Value};
use coax_wire::header::{Flags2, HEADER_LEN, SIGNATURE_OFFSET};

use crate::{
    fields::{bytes, has},
    logon::{Identity, Negotiated},
    mapping::Mapping,
};

/// Flags2's offset in the header.
const FLAGS2: usize = 10;

/// Rewrites a recorded request for the server here.
///
/// # Errors
/// Why it cannot be sent.
pub(crate) fn rewrite(
    recorded: &[u8],
    decoded: &Decoded,
    mapping: &Mapping,
    (identity, negotiated): (&Identity, &Negotiated),
) -> Result<Vec<u8>, String> {
    let mut message = recorded.to_vec();
    clear_security(&mut message);
    let is_setup = has(decoded, "SESSION_SETUP_ANDX");
    ids(&mut message, decoded, (mapping, is_setup))?;
    keys(&mut message, (recorded, decoded), mapping);
    let names = ["SESSION_SETUP_ANDX", "TREE_CONNECT_ANDX", "TREE_CONNECT"];
    if names.iter().any(|name| has(decoded, name)) {
        let rebuilt = identity.rebuild(&message, negotiated);
        return rebuilt.ok_or_else(|| "its log-on or tree connect cannot be read".to_owned());
    }
    Ok(message)
}

/// Signatures and extended security are not replayed: both need secrets that the capture lacks.
fn clear_security(message: &mut [u8]) {
    let mask = Flags2::EXTENDED_SECURITY | Flags2::SIGNED | Flags2::SIGNATURE_REQUIRED;
    if let Some(place) = message.get_mut(FLAGS2..FLAGS2 + 2) {
        let flags = place
            .iter()
            .rev()
            .fold(0, |flags, byte| flags << 8 | u16::from(*byte));
        place.copy_from_slice(&(flags & !mask).to_le_bytes());
    }
    if let Some(place) = message.get_mut(SIGNATURE_OFFSET..SIGNATURE_OFFSET + 8) {
        place.fill(0);
    }
}

fn ids(
    message: &mut [u8],
    decoded: &Decoded,
    (mapping, is_setup): (&Mapping, bool),
) -> Result<(), String> {
    for field in &decoded.fields {
        let (kind, recorded) = match field.value {
            Value::Id(kind, id) => (kind, id),
            Value::Hex(fid, 4) if field.name == "RootDirectoryFID" && fid != 0 => {
                (Identifier::Fid, fid as u16)
            }
            _ => continue,
        };
        let in_header = field.at < HEADER_LEN;
        let here = match mapping.id(kind, recorded) {
            Some(here) => here,
            // the client has none yet, or means all
            None if matches!(recorded, 0 | 0xffff) => recorded,
            None if is_setup && in_header => 0,
            None => return Err(unknown(kind, recorded)),
        };
        if let Some(place) = message.get_mut(field.at..field.at.saturating_add(2)) {
            place.copy_from_slice(&here.to_le_bytes());
        }
    }
    Ok(())
}

fn unknown(kind: Identifier, id: u16) -> String {
    let name = match kind {
        Identifier::Fid => "FID",
        Identifier::Tid => "TID",
        Identifier::Uid => "UID",
        Identifier::Sid => "SID",
    };
    format!("the reply that gave {name} {id:#06x} is not in the capture, or was an error here")
}

fn keys(message: &mut [u8], (recorded, decoded): (&[u8], &Decoded), mapping: &Mapping) {
    for field in decoded
        .fields
        .iter()
        .filter(|field| field.name == "ResumeKey")
    {
        let key = bytes(recorded, field);
        let place = message.get_mut(field.at..field.at.saturating_add(field.len));
        if let (Some(here), Some(place)) = (mapping.key(key), place)
            && here.len() == place.len()
        {
            place.copy_from_slice(here);
        }
    }
}

/// Decodes a request in the context of its connection.
pub(crate) fn decode(message: &[u8], context: &mut Context) -> Decoded {
    coax_decode::smb_message(message, context)
}
