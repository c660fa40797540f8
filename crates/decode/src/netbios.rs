//! NetBIOS over TCP/IP: session packets, name service packets, datagrams (RFC 1002).

use coax_wire::nbt::{name::ScopedName, ns, session::HEADER_LEN};

use crate::{
    context::Context,
    field::{Decoded, Value},
    smb,
    walk::{Step, Walk},
};

fn plain(walk: &mut Walk<'_, '_>, name: &'static str, len: usize) -> Step<u64> {
    let at = walk.at;
    let number = walk.big(name, len)?;
    walk.note(name, at, len, Value::Number(number));
    Ok(number)
}

/// A packet of the session service: four bytes, then an SMB message or names.
pub(crate) fn session(bytes: &[u8], context: &mut Context, out: &mut Decoded) {
    let mut walk = Walk::new(bytes, 0, out);
    // what is missing has been noted
    let _ = session_fields(&mut walk, bytes, context);
}

fn session_fields(walk: &mut Walk<'_, '_>, bytes: &[u8], context: &mut Context) -> Step {
    walk.group("NetBIOS session packet", HEADER_LEN.min(bytes.len()));
    walk.depth = 1;
    let kind = walk.big("Type", 1)?;
    let name = session_kind(kind);
    let field = walk.note("Type", 0, 1, Value::Hex(kind, 1));
    field.meaning = name.unwrap_or("").to_owned();
    field.problem = name.is_none().then(|| "no such type".to_owned());
    walk.out.title = name.unwrap_or("unknown packet").to_owned();
    let len = walk.big("Length", 3)?;
    let there = walk.left();
    let declared = usize::try_from(len).unwrap_or(usize::MAX);
    let field = walk.note("Length", 1, 3, Value::Number(len));
    if declared != there {
        field.problem = Some(format!("{there} bytes follow"));
    }
    walk.depth = 0;
    match kind {
        0 => payload(walk, bytes, context),
        0x81 => names(walk, &["CalledName", "CallingName"]),
        0x83 => session_error(walk),
        0x84 => {
            walk.bytes("RetargetAddress", 4)?;
            plain(walk, "RetargetPort", 2).map(|_| ())
        }
        _ => walk.bytes("Unused", walk.left()),
    }
}

fn payload(walk: &mut Walk<'_, '_>, bytes: &[u8], context: &mut Context) -> Step {
    let body = bytes.get(HEADER_LEN..).unwrap_or_default();
    if body.starts_with(b"\xffSMB") {
        smb::message(body, HEADER_LEN, context, walk.out);
        return Ok(());
    }
    walk.out.title = match body {
        [0xfe, b'S', b'M', b'B', ..] => "SMB2 message".to_owned(),
        [] => "empty message".to_owned(),
        _ => "raw data".to_owned(),
    };
    walk.bytes("Data", walk.left())
}

const fn session_kind(kind: u64) -> Option<&'static str> {
    Some(match kind {
        0x00 => "session message",
        0x81 => "session request",
        0x82 => "positive session response",
        0x83 => "negative session response",
        0x84 => "retarget session response",
        0x85 => "session keep-alive",
        _ => return None,
    })
}

fn session_error(walk: &mut Walk<'_, '_>) -> Step {
    let at = walk.at;
    let code = walk.big("ErrorCode", 1)?;
    walk.note("ErrorCode", at, 1, Value::Hex(code, 1)).meaning = match code {
        0x80 => "not listening on called name",
        0x81 => "not listening for calling name",
        0x82 => "called name not present",
        0x83 => "called name present, but insufficient resources",
        0x8f => "unspecified error",
        _ => "",
    }
    .to_owned();
    Ok(())
}

fn names(walk: &mut Walk<'_, '_>, which: &[&'static str]) -> Step {
    for name in which {
        encoded(walk, name)?;
    }
    Ok(())
}

/// A name in first-level encoding, with its scope, or a pointer to one.
fn encoded(walk: &mut Walk<'_, '_>, name: &'static str) -> Step {
    let at = walk.at;
    let Ok((decoded, end)) = ScopedName::decode(walk.message, at) else {
        let left = walk.left();
        let field = walk.note(name, at, left, Value::Bytes);
        field.problem = Some("no NetBIOS name in first-level encoding".to_owned());
        return Err(crate::walk::Ended);
    };
    let text = decoded.map_or_else(String::new, |name| name.to_string());
    walk.at = end.min(walk.message.len());
    walk.note(name, at, end.saturating_sub(at), Value::Text(text));
    Ok(())
}

/// A packet of the name service (UDP port 137).
pub(crate) fn name_service(bytes: &[u8], out: &mut Decoded) {
    let mut walk = Walk::new(bytes, 0, out);
    // what is missing has been noted
    let _ = name_fields(&mut walk);
}

fn name_fields(walk: &mut Walk<'_, '_>) -> Step {
    walk.group("NetBIOS name service packet", walk.left());
    walk.depth = 1;
    let id = walk.big("NAME_TRN_ID", 2)?;
    walk.note("NAME_TRN_ID", 0, 2, Value::Hex(id, 2));
    let flags = walk.big("Flags", 2)?;
    walk.note("Flags", 2, 2, Value::Hex(flags, 2)).meaning = name_flags(flags);
    walk.out.title = format!("name {}", name_flags(flags));
    let mut counts = [0; 4];
    for (count, name) in counts
        .iter_mut()
        .zip(["QDCOUNT", "ANCOUNT", "NSCOUNT", "ARCOUNT"])
    {
        *count = plain(walk, name, 2)?;
    }
    let [questions, records @ ..] = counts;
    for _ in 0..questions {
        encoded(walk, "QUESTION_NAME")?;
        record_type(walk)?;
    }
    for _ in 0..records.iter().sum() {
        record(walk)?;
    }
    walk.bytes("Unused", walk.left())
}

fn record(walk: &mut Walk<'_, '_>) -> Step {
    encoded(walk, "RR_NAME")?;
    let kind = record_type(walk)?;
    plain(walk, "TTL", 4)?;
    let len = plain(walk, "RDLENGTH", 2)?;
    let len = usize::try_from(len).unwrap_or(usize::MAX);
    if len > walk.left() {
        return walk.bytes("RDATA", len);
    }
    let whole = walk.end;
    walk.end = walk.at + len;
    // what is missing has been noted, and the next record begins after the data all the same
    let _ = match u16::try_from(kind) {
        Ok(ns::TYPE_NB) => addresses(walk),
        Ok(ns::TYPE_NBSTAT) => node_names(walk),
        _ => Ok(()),
    };
    let done = walk.bytes("RDATA", walk.left());
    walk.end = whole;
    done
}

/// Flags and address of each owner of a name (RFC 1002 §4.2.2).
fn addresses(walk: &mut Walk<'_, '_>) -> Step {
    while walk.left() >= ns::AddrEntry::LEN {
        name_owner_flags(walk, "NB_FLAGS")?;
        address(walk, "NB_ADDRESS")?;
    }
    Ok(())
}

/// The names of a machine (RFC 1002 §4.2.18).
fn node_names(walk: &mut Walk<'_, '_>) -> Step {
    let count = plain(walk, "NUM_NAMES", 1)?;
    for _ in 0..count {
        let at = walk.at;
        let raw = walk.take("NODE_NAME", 16)?;
        let text = crate::data::netbios_name(raw);
        walk.note("NODE_NAME", at, 16, Value::Text(text));
        name_owner_flags(walk, "NAME_FLAGS")?;
    }
    Ok(())
}

fn name_owner_flags(walk: &mut Walk<'_, '_>, name: &'static str) -> Step {
    let at = walk.at;
    let flags = walk.big(name, 2)?;
    let kind = if flags & 0x8000 == 0 {
        "unique"
    } else {
        "group"
    };
    let node = ["B node", "P node", "M node", "H node"];
    let node = node.get((flags >> 13 & 3) as usize).unwrap_or(&"");
    walk.note(name, at, 2, Value::Hex(flags, 2)).meaning = format!("{kind}, {node}");
    Ok(())
}

/// An IPv4 address.
fn address(walk: &mut Walk<'_, '_>, name: &'static str) -> Step {
    let at = walk.at;
    let raw = walk.take(name, 4)?;
    let text = raw.iter().map(u8::to_string).collect::<Vec<_>>().join(".");
    walk.note(name, at, 4, Value::Text(text));
    Ok(())
}

fn record_type(walk: &mut Walk<'_, '_>) -> Step<u64> {
    let at = walk.at;
    let kind = walk.big("TYPE", 2)?;
    let name = match kind {
        0x20 => "NB",
        0x21 => "NBSTAT",
        0x0a => "NULL",
        _ => "",
    };
    walk.note("TYPE", at, 2, Value::Hex(kind, 2)).meaning = name.to_owned();
    let at = walk.at;
    let class = walk.big("CLASS", 2)?;
    walk.note("CLASS", at, 2, Value::Hex(class, 2));
    Ok(kind)
}

/// Operation, direction and flags (RFC 1002 §4.2.1.1).
fn name_flags(flags: u64) -> String {
    let operation = match flags >> 11 & 15 {
        0 => "query",
        5 => "registration",
        6 => "release",
        7 => "wait for acknowledgment",
        8 | 9 => "refresh",
        15 => "multi-homed registration",
        _ => "unknown operation",
    };
    let mut words = operation.to_owned();
    words.push_str(if flags & 0x8000 == 0 {
        " request"
    } else {
        " response"
    });
    for (bit, word) in [
        (0x400, "authoritative"),
        (0x200, "truncated"),
        (0x100, "recursion desired"),
        (0x80, "recursion available"),
        (0x10, "broadcast"),
    ] {
        if flags & bit != 0 {
            words.push_str(", ");
            words.push_str(word);
        }
    }
    match flags & 15 {
        0 => {}
        code => words.push_str(&format!(", error {code}")),
    }
    words
}

/// A datagram (UDP port 138).
pub(crate) fn datagram(bytes: &[u8], context: &mut Context, out: &mut Decoded) {
    let mut walk = Walk::new(bytes, 0, out);
    // what is missing has been noted
    let _ = datagram_fields(&mut walk, bytes, context);
}

fn datagram_fields(walk: &mut Walk<'_, '_>, bytes: &[u8], context: &mut Context) -> Step {
    walk.group("NetBIOS datagram", walk.left());
    walk.depth = 1;
    let kind = walk.big("MSG_TYPE", 1)?;
    let name = match kind {
        0x10 => "direct unique datagram",
        0x11 => "direct group datagram",
        0x12 => "broadcast datagram",
        0x13 => "datagram error",
        0x14 => "datagram query request",
        0x15 => "positive datagram query response",
        0x16 => "negative datagram query response",
        _ => "unknown datagram",
    };
    walk.out.title = name.to_owned();
    walk.note("MSG_TYPE", 0, 1, Value::Hex(kind, 1)).meaning = name.to_owned();
    let flags = walk.big("FLAGS", 1)?;
    walk.note("FLAGS", 1, 1, Value::Hex(flags, 1));
    let id = walk.big("DGM_ID", 2)?;
    walk.note("DGM_ID", 2, 2, Value::Hex(id, 2));
    address(walk, "SOURCE_IP")?;
    plain(walk, "SOURCE_PORT", 2)?;
    if !(0x10..=0x12).contains(&kind) {
        return walk.bytes("Data", walk.left());
    }
    plain(walk, "DGM_LENGTH", 2)?;
    plain(walk, "PACKET_OFFSET", 2)?;
    names(walk, &["SOURCE_NAME", "DESTINATION_NAME"])?;
    let at = walk.at;
    let body = bytes.get(at..).unwrap_or_default();
    if !body.starts_with(b"\xffSMB") {
        return walk.bytes("USER_DATA", walk.left());
    }
    let outer = core::mem::take(&mut walk.out.title);
    smb::message(body, at, context, walk.out);
    walk.out.title = format!("{outer}: {}", walk.out.title);
    Ok(())
}
