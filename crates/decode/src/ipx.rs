//! IPX packets: routes, services, NetBIOS, direct hosting (docs/ipx.md; the layouts of `layouts/frames.txt`).

use coax_wire::ipx::{
    HEADER_LEN, MAX_HOPS,
    nbipx::{NAME_LEN, SessionHeader, control, stream},
    socket,
};

use crate::{
    context::Context,
    group,
    layout::Tables,
    piece::Piece,
    session, smb,
    walk::{Step, Walk},
};

/// Bytes of both names behind NEGOTIATE.
const NAMES_LEN: usize = 32;

/// Decodes a packet. The result is the piece of a session's message in it.
pub(crate) fn packet(walk: &mut Walk<'_, '_>, context: &mut Context) -> Step<Option<Piece>> {
    "IPX packet".clone_into(&mut walk.out.title);
    let start = walk.at;
    group::part(walk, "ipx")?;
    let whole = walk.end;
    limit(walk, start);
    let sockets = ["SourceSocket", "DestinationSocket"].map(|name| walk.value_of(name) as u16);
    let is = |wanted: u16| sockets.contains(&wanted);
    let piece = match () {
        () if is(socket::NETBIOS) => netbios(walk, context),
        () if is(socket::NMPI_NAMES) || is(socket::NMPI_MAILSLOTS) => {
            nmpi(walk, context).map(|()| None)
        }
        () if is(socket::SMB_SERVER) || is(socket::SMB_CLIENT) => {
            direct(walk, context).map(|()| None)
        }
        () if is(socket::RIP) => rip(walk).map(|()| None),
        () if is(socket::SAP) => sap(walk).map(|()| None),
        () => walk.bytes("Data", walk.left()).map(|()| None),
    };
    walk.at = walk.end;
    walk.end = whole;
    walk.bytes("Padding", walk.left())?;
    piece
}

/// The packet ends where its length says.
fn limit(walk: &mut Walk<'_, '_>, start: usize) {
    let len = walk.length_of("PacketLength");
    let left = walk.left();
    let problem = match len.checked_sub(HEADER_LEN) {
        None => Some(format!("should be {HEADER_LEN} or more")),
        Some(data) if data > left => Some(format!("only {left} bytes of data follow")),
        Some(_) => None,
    };
    let hops = walk.value_of("TransportControl");
    let many = (hops > u64::from(MAX_HOPS)).then(|| format!("more than {MAX_HOPS} routers"));
    let header = walk.out.fields.iter_mut().rev().take(11);
    for field in header {
        match field.name {
            "PacketLength" => field.problem.clone_from(&problem),
            "TransportControl" => field.problem.clone_from(&many),
            _ => {}
        }
    }
    walk.end = start.saturating_add(len).clamp(walk.at, walk.end);
}

/// NetBIOS: a packet of 50 bytes with a name's type behind the networks is about a name; else the second byte says what
/// it is (KB Q128335).
fn netbios(walk: &mut Walk<'_, '_>, context: &mut Context) -> Step<Option<Piece>> {
    let (second, behind) = (walk.rest().get(1).copied(), walk.rest().get(33).copied());
    let is_name = |kind: u8| {
        matches!(
            kind,
            stream::FIND_NAME
                ..=stream::DEREGISTER_NAME | stream::STATUS_QUERY | stream::STATUS_RESPONSE
        )
    };
    if walk.left() == NAME_LEN && behind.is_some_and(is_name) {
        group::part(walk, "nbipx-name")?;
        titled(walk, "NBIPX", "nbipx_type", "NbipxType");
        walk.bytes("Data", walk.left())?;
        return Ok(None);
    }
    if second == Some(stream::DATAGRAM) {
        "NBIPX datagram".clone_into(&mut walk.out.title);
        group::part(walk, "nbipx-datagram")?;
        return session::datagram(walk, context).map(|()| None);
    }
    group::part(walk, "nbipx-session")?;
    titled(walk, "NBIPX", "nbipx_type", "NbipxType");
    in_session(walk)
}

fn in_session(walk: &mut Walk<'_, '_>) -> Step<Option<Piece>> {
    let flags = walk.value_of("ConnectionControl") as u8;
    let (len, left) = (walk.length_of("DataLength"), walk.left());
    if len != left
        && let Some(field) = walk
            .out
            .fields
            .iter_mut()
            .rev()
            .find(|field| field.name == "DataLength")
    {
        field.problem = Some(format!("{left} bytes follow"));
    }
    let opens = flags & control::CONFIRM != 0;
    let is_first = walk.value_of("DestinationConnection") == u64::from(SessionHeader::UNASSIGNED);
    if len > 0 && (opens || is_first) {
        "NBIPX session start".clone_into(&mut walk.out.title);
        group::part(walk, "nbipx-open")?;
    }
    let is_data = walk.value_of("NbipxType") == u64::from(stream::SESSION_DATA)
        && flags & (control::SYSTEM | control::CONFIRM) == 0;
    if !is_data || len == 0 {
        if flags & control::SYSTEM != 0 && !opens {
            "NBIPX acknowledgment".clone_into(&mut walk.out.title);
        }
        walk.bytes("Data", walk.left())?;
        return Ok(None);
    }
    Ok(Some(Piece {
        at: walk.at,
        len,
        last: flags & control::END_OF_MESSAGE != 0,
        offset: Some(walk.length_of("Offset")),
    }))
}

/// The title names the value of a field.
fn titled(walk: &mut Walk<'_, '_>, what: &str, list: &str, field: &str) {
    let name = Tables::get().names(list);
    let name = name.map(|names| names.describe(walk.value_of(field)));
    walk.out.title = format!("{what} {}", name.unwrap_or_default().replace('_', " "));
}

fn nmpi(walk: &mut Walk<'_, '_>, context: &mut Context) -> Step {
    group::part(walk, "nmpi")?;
    titled(walk, "NMPI", "nmpi_opcode", "Opcode");
    session::datagram(walk, context)
}

/// An SMB message without NetBIOS. Behind NEGOTIATE stand two names that its byte count leaves out.
fn direct(walk: &mut Walk<'_, '_>, context: &mut Context) -> Step {
    let body = walk.rest();
    if !body.starts_with(b"\xffSMB") {
        return walk.bytes("Data", walk.left());
    }
    let start = walk.base.saturating_add(walk.at);
    context.connectionless = true;
    smb::message(body, start, context, walk.out);
    let inside = walk.out.fields.iter().filter(|field| field.at >= start);
    let end = inside.map(|field| field.at.saturating_add(field.len)).max();
    walk.at = end
        .unwrap_or(start)
        .saturating_sub(walk.base)
        .clamp(walk.at, walk.end);
    if walk.left() == NAMES_LEN {
        return group::part(walk, "direct-names");
    }
    walk.bytes("Data", walk.left())
}

fn rip(walk: &mut Walk<'_, '_>) -> Step {
    group::part(walk, "rip")?;
    titled(walk, "RIP", "rip_operation", "RipOperation");
    while walk.left() >= 8 {
        group::part(walk, "rip-route")?;
    }
    walk.bytes("Unused", walk.left())
}

fn sap(walk: &mut Walk<'_, '_>) -> Step {
    group::part(walk, "sap")?;
    titled(walk, "SAP", "sap_operation", "SapOperation");
    match walk.value_of("SapOperation") {
        1 | 3 => group::part(walk, "sap-query")?,
        2 | 4 => {
            while walk.left() >= 64 {
                group::part(walk, "sap-service")?;
            }
        }
        _ => {}
    }
    walk.bytes("Unused", walk.left())
}
