//! The header of a protocol data unit, and what each type has (C706 12.6).

use coax_wire::rpc::{HEADER_LEN, pfc, ptype};

use super::{
    ndr,
    pipes::Pipe,
    table::{Call, Table, uuid_text},
};
use crate::{
    data,
    field::Value,
    layout::Direction,
    walk::{Step, Walk},
};

/// The authentication of a connection that another unit began (C706 does not have it; [MS-RPCE] 2.2.2.10).
const AUTH3: u8 = 16;
/// Version 5, little-endian numbers, ASCII, IEEE numbers: all that clients of SMB1 send.
const VERSION: u8 = 5;
const LITTLE_ENDIAN: [u8; 4] = [0x10, 0, 0, 0];

/// Whether bytes begin with the header of a unit.
pub(super) fn is_one(bytes: &[u8]) -> bool {
    let Some([version, minor, kind, _, representation @ .., low, high]) = bytes.first_chunk::<10>()
    else {
        return false;
    };
    let is_known = *kind <= 19 && ![1, 4, 5, 6, 7, 8, 9, 10].contains(kind);
    let len = usize::from(u16::from_le_bytes([*low, *high]));
    *version == VERSION
        && *minor <= 1
        && is_known
        && *representation == LITTLE_ENDIAN
        && len >= HEADER_LEN
        && bytes.len() >= HEADER_LEN
}

/// What a header says.
struct Header {
    kind: u8,
    flags: u8,
    call: u32,
}

/// Decodes a unit from its first byte.
pub(super) fn fields(walk: &mut Walk<'_, '_>, direction: Direction, pipe: &mut Pipe) -> Step {
    let start = walk.at;
    let (header, len, auth) = header(walk)?;
    let there = walk.end.min(walk.message.len()).saturating_sub(start);
    if len > there {
        let missing = len - there;
        noted(walk, "FragLength").meaning = format!("{missing} bytes follow in other messages");
    }
    let end = start.saturating_add(len.min(there));
    let outer = core::mem::replace(&mut walk.end, end);
    // the verifier has its own header of 8 bytes before it
    let verifier = match auth {
        0 => 0,
        auth => auth.saturating_add(8),
    };
    let is_whole = len <= there;
    walk.end = match is_whole {
        true => end.saturating_sub(verifier).max(walk.at),
        false => end,
    };
    let done = body(walk, &header, direction, pipe);
    walk.end = end;
    if is_whole && verifier > 0 && done.is_ok() {
        let left = walk.left();
        walk.bytes("Unused", left.saturating_sub(verifier))?;
        data::secret(walk, "AuthVerifier", walk.left())?;
    }
    walk.end = outer;
    done
}

fn header(walk: &mut Walk<'_, '_>) -> Step<(Header, usize, usize)> {
    number(walk, "RpcVersion", 1)?;
    number(walk, "RpcVersionMinor", 1)?;
    let kind = listed(walk, "PacketType", "ptype")?;
    let flags = listed(walk, "PacketFlags", "pfcflags")?;
    walk.bytes("DataRepresentation", 4)?;
    let len = number(walk, "FragLength", 2)?;
    let auth = number(walk, "AuthLength", 2)?;
    if auth > len {
        noted(walk, "AuthLength").problem = Some(format!("more than FragLength, which is {len}"));
    }
    let call = number(walk, "CallId", 4)?;
    let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let header = Header {
        kind: kind as u8,
        flags: flags as u8,
        call: u32::try_from(call).unwrap_or(0),
    };
    Ok((header, size(len), size(auth)))
}

fn body(walk: &mut Walk<'_, '_>, header: &Header, direction: Direction, pipe: &mut Pipe) -> Step {
    match header.kind {
        ptype::BIND | ptype::ALTER_CONTEXT => bind(walk, header, pipe),
        ptype::BIND_ACK | ptype::ALTER_CONTEXT_RESP => results(walk),
        ptype::BIND_NAK => number(walk, "RejectReason", 2).map(|_| ()),
        ptype::REQUEST => request(walk, header, direction, pipe),
        ptype::RESPONSE => response(walk, header, direction, pipe),
        ptype::FAULT => fault(walk, header, pipe),
        AUTH3 => walk.bytes("Pad", walk.left().min(4)),
        _ => Ok(()),
    }
}

fn sizes(walk: &mut Walk<'_, '_>) -> Step {
    for (name, len) in [("MaxXmitFrag", 2), ("MaxRecvFrag", 2), ("AssocGroup", 4)] {
        number(walk, name, len)?;
    }
    Ok(())
}

/// Interfaces that the client wants, each with its transfer syntaxes.
fn bind(walk: &mut Walk<'_, '_>, header: &Header, pipe: &mut Pipe) -> Step {
    sizes(walk)?;
    if header.kind == ptype::BIND {
        pipe.begin();
    }
    let contexts = number(walk, "NumberOfContexts", 1)?;
    walk.bytes("Reserved", 3)?;
    for _ in 0..contexts {
        walk.group("Context", 0);
        walk.depth += 1;
        let done = context(walk, pipe);
        walk.depth -= 1;
        done?;
    }
    Ok(())
}

fn context(walk: &mut Walk<'_, '_>, pipe: &mut Pipe) -> Step {
    let id = number(walk, "ContextId", 2)?;
    let syntaxes = number(walk, "NumberOfTransferSyntaxes", 1)?;
    walk.bytes("Reserved", 1)?;
    let uuid = syntax(walk, "AbstractSyntax")?;
    let interface = Table::get().interface(uuid);
    if let (Some(interface), Ok(id)) = (interface, u16::try_from(id)) {
        pipe.bind(id, interface);
    }
    for _ in 0..syntaxes {
        syntax(walk, "TransferSyntax")?;
    }
    Ok(())
}

/// A UUID and a version.
fn syntax<'a>(walk: &mut Walk<'a, '_>, name: &'static str) -> Step<&'a [u8]> {
    let at = walk.at;
    let uuid = walk.take(name, 16)?;
    let known = Table::get().interface(uuid);
    let field = walk.note(name, at, 16, Value::Text(uuid_text(uuid)));
    field.meaning = known.map_or("", |known| known.name).to_owned();
    number(walk, "Version", 2)?;
    number(walk, "VersionMinor", 2)?;
    Ok(uuid)
}

fn results(walk: &mut Walk<'_, '_>) -> Step {
    let start = walk.at.saturating_sub(HEADER_LEN);
    sizes(walk)?;
    let len = number(walk, "SecondaryAddressLength", 2)?;
    let len = usize::try_from(len).unwrap_or(usize::MAX);
    data::counted(walk, "SecondaryAddress", len, false)?;
    let pad = (4 - (walk.at - start) % 4) % 4;
    walk.bytes("Pad", pad)?;
    let count = number(walk, "NumberOfResults", 1)?;
    walk.bytes("Reserved", 3)?;
    for _ in 0..count {
        let at = walk.at;
        let result = walk.number("Result", 2)?;
        walk.named("Result", at, (result, 2), "bindresult");
        number(walk, "Reason", 2)?;
        syntax(walk, "TransferSyntax")?;
    }
    Ok(())
}

fn request(
    walk: &mut Walk<'_, '_>,
    header: &Header,
    direction: Direction,
    pipe: &mut Pipe,
) -> Step {
    number(walk, "AllocHint", 4)?;
    let context = number(walk, "ContextId", 2)? as u16;
    let opnum = number(walk, "Opnum", 2)? as u16;
    if header.flags & pfc::OBJECT_UUID != 0 {
        walk.bytes("ObjectUuid", 16)?;
    }
    pipe.call(header.call, context, opnum);
    let Some(interface) = pipe.interface(context) else {
        noted(walk, "Opnum").meaning = "of an interface that is not known here".to_owned();
        return stub(walk);
    };
    noted(walk, "Opnum").meaning = interface.title(opnum);
    arguments(walk, header, interface.call(opnum, direction))
}

/// The arguments, if the call is known and this message has its start.
fn arguments(walk: &mut Walk<'_, '_>, header: &Header, call: Option<&Call>) -> Step {
    match call.filter(|_| header.flags & pfc::FIRST != 0) {
        Some(call) => ndr::arguments(walk, &call.arguments, header.flags & pfc::LAST != 0),
        None => stub(walk),
    }
}

fn response(
    walk: &mut Walk<'_, '_>,
    header: &Header,
    direction: Direction,
    pipe: &mut Pipe,
) -> Step {
    number(walk, "AllocHint", 4)?;
    number(walk, "ContextId", 2)?;
    number(walk, "CancelCount", 1)?;
    walk.bytes("Reserved", 1)?;
    let Some((interface, opnum)) = pipe.called(header.call) else {
        return stub(walk);
    };
    noted(walk, "CallId").meaning = interface.title(opnum);
    arguments(walk, header, interface.call(opnum, direction))
}

fn fault(walk: &mut Walk<'_, '_>, header: &Header, pipe: &Pipe) -> Step {
    number(walk, "AllocHint", 4)?;
    number(walk, "ContextId", 2)?;
    number(walk, "CancelCount", 1)?;
    walk.bytes("Reserved", 1)?;
    if let Some((interface, opnum)) = pipe.called(header.call) {
        noted(walk, "CallId").meaning = interface.title(opnum);
    }
    let at = walk.at;
    let status = walk.number("FaultStatus", 4)?;
    walk.note("FaultStatus", at, 4, Value::Hex(status, 4));
    Ok(())
}

/// Arguments without a layout.
fn stub(walk: &mut Walk<'_, '_>) -> Step {
    walk.bytes("Stub", walk.left())
}

fn number(walk: &mut Walk<'_, '_>, name: &'static str, len: usize) -> Step<u64> {
    let at = walk.at;
    let number = walk.number(name, len)?;
    walk.note(name, at, len, Value::Number(number));
    Ok(number)
}

fn listed(walk: &mut Walk<'_, '_>, name: &'static str, list: &str) -> Step<u64> {
    let at = walk.at;
    let number = walk.number(name, 1)?;
    walk.named(name, at, (number, 1), list);
    Ok(number)
}

/// The field of this name that was noted last.
fn noted<'f>(walk: &'f mut Walk<'_, '_>, name: &str) -> &'f mut crate::Field {
    let at = walk.out.fields.iter().rposition(|field| field.name == name);
    let at = at.unwrap_or_default();
    #[expect(clippy::indexing_slicing, reason = "a unit has noted fields before")]
    &mut walk.out.fields[at]
}
