//! NEGOTIATE (0x72), [MS-CIFS] 3.3.5.42.

use crate::{
    config::{Security, Signing},
    context::{Call, Carriage, Client, Context, Flow, Outcome},
    event::Event,
};
use alloc::{string::String, vec::Vec};
use coax_wire::{
    dialect::{self, Dialect, NegotiateShape},
    header::Flags2,
    smb::negotiate::{Request, Response, cap, raw_mode, security},
    status::Status,
    time::{DosDateTime, FileTime, Time, ZoneMinutesWest},
};

/// Chooses the best dialect that both sides support and announces the server's capabilities in it.
pub fn negotiate(call: &mut Call<'_>) -> Outcome {
    if call.conn.client.dialect.is_some() {
        return Err(Status::INVALID_SMB.into());
    }
    let request = Request::parse(&call.block)?;
    let config = &call.conn.server.config;
    let (min, max) = (config.min_generation, config.max_generation);
    let chosen = dialect::choose(request.dialects(), |d| (min..=max).contains(&d.generation));
    let offered = request
        .dialects()
        .map(|name| String::from_utf8_lossy(name).into_owned())
        .collect();
    call.conn.events.push_back(Event::Negotiated {
        offered,
        chosen: chosen.map(|(_, d)| d.name),
    });
    let Some((index, dialect)) = chosen else {
        if is_smb2_only(&request) {
            refuse_smb2(call.conn);
        }
        Response::emit_none(call.out());
        return Ok(Flow::Done);
    };
    call.conn.client = Client {
        dialect: Some(dialect),
        ..Client::default()
    };
    let response = response(call, index, dialect);
    response.emit(dialect.shape, dialect.domain, call.out());
    Ok(Flow::Done)
}

fn is_smb2_only(request: &Request<'_>) -> bool {
    let mut names = request.dialects().peekable();
    names.peek().is_some() && names.all(|name| name.starts_with(b"SMB 2."))
}

/// Reports a client without SMB1: it offers SMB 2 dialects only, or begins with an SMB2 header.
pub fn refuse_smb2(conn: &mut Context) {
    conn.events.push_back(Event::Refused {
        what: String::from("to negotiate"),
        status: Status::NOT_SUPPORTED,
        why: String::from(SMB2_ONLY),
        setting: None,
    });
}

/// Advice to the user of a client without SMB1.
pub const SMB2_ONLY: &str = "it speaks only SMB2 or later, and this server speaks SMB1: allow SMB1 on the client (Windows \
    10 and 11: the feature \"SMB 1.0/CIFS Client\"; Samba's tools: \"client min protocol = NT1\"; Linux: mount option vers=1.0)";

fn response(call: &mut Call<'_>, index: u16, dialect: &Dialect) -> Response {
    let extended = dialect.is_nt()
        && call.conn.server.config.extended_security
        // A share password needs a challenge, and this reply has no field for one.
        && call.conn.server.config.security == Security::User
        && call.header.flags2.has(Flags2::EXTENDED_SECURITY);
    call.conn.client.extended_security = extended;
    let config = &call.conn.server.config;
    let raw =
        u16::from(config.read_raw) * raw_mode::READ + u16::from(config.write_raw) * raw_mode::WRITE;
    let carriage = call.conn.peer.carriage;
    let signing = config.signing != Signing::Off && dialect.is_nt() && carriage.can_sign();
    let wall = call.conn.server.wall(call.now);
    Response {
        index,
        security_mode: security_mode(call, signing),
        max_mpx: config.max_mpx,
        max_vcs: 1,
        max_buffer: u32::from(carriage.limit(config.max_buffer)),
        max_raw: 65_536,
        raw_mode: match dialect.raw && carriage == Carriage::Stream {
            true => raw,
            false => 0,
        },
        session_key: call.conn.id.0 as u32,
        capabilities: capabilities(call, extended),
        file_time: FileTime::from_unix_ns(wall.unix_ns()).0,
        dos_time: local_dos_time(wall, config.time_zone_minutes),
        time_zone: config.time_zone_minutes,
        challenge: challenge(call, extended),
        domain: name(call, dialect, &config.workgroup),
        server: name(call, dialect, &config.name),
        extended: extended.then(|| (config.guid, coax_logon::spnego::negotiate_blob())),
    }
}

fn security_mode(call: &Call<'_>, signing: bool) -> u8 {
    let config = &call.conn.server.config;
    let mut mode = if config.security == Security::User {
        security::USER_LEVEL
    } else {
        0
    };
    if call.challenges() {
        mode |= security::ENCRYPT_PASSWORDS;
    }
    if signing {
        mode |= security::SIGNATURES_ENABLED;
    }
    if signing && config.signing == Signing::Required {
        mode |= security::SIGNATURES_REQUIRED;
    }
    mode
}

/// The server never offers CAP_UNIX or CAP_MPX_MODE: Linux 2.6 smbfs fails with an incomplete CAP_UNIX, and multiplexed
/// mode does not exist over TCP. Raw data cannot be signed ([MS-CIFS] 3.3.5.24), so the server does not offer raw mode
/// if it requires signing. If it only offers signing, it offers raw mode too, as Samba does, and refuses raw requests
/// on connections that sign (`handlers::raw`).
fn capabilities(call: &Call<'_>, extended: bool) -> u32 {
    let config = &call.conn.server.config;
    let carriage = call.conn.peer.carriage;
    let is_short = matches!(carriage, Carriage::Packets(_));
    let mut caps =
        cap::LARGE_FILES | cap::NT_SMBS | cap::LEVEL_II_OPLOCKS | cap::LOCK_AND_READ | cap::NT_FIND;
    caps |= cap::INFOLEVEL_PASSTHRU;
    let options = [
        (
            config.read_raw
                && config.write_raw
                && config.signing != Signing::Required
                && carriage == Carriage::Stream,
            cap::RAW_MODE,
        ),
        (config.unicode, cap::UNICODE),
        (config.pipes, cap::RPC_REMOTE_APIS),
        (config.nt_status, cap::NT_STATUS),
        (config.large_readwrite && !is_short, cap::LARGE_READX),
        (
            config.large_readwrite && carriage == Carriage::Stream,
            cap::LARGE_WRITEX,
        ),
        (extended, cap::EXTENDED_SECURITY),
    ];
    options
        .iter()
        .filter(|(on, _)| *on)
        .for_each(|(_, bits)| caps |= bits);
    caps
}

fn challenge(call: &Call<'_>, extended: bool) -> Vec<u8> {
    if extended || !call.challenges() {
        return Vec::new();
    }
    call.conn.challenge.to_vec()
}

/// Names in the reply: OEM for LAN Manager. For NT always unaligned UTF-16 if the server offers CAP_UNICODE, whatever
/// the request's flags. NT and Samba do this, and nmap requires it; [MS-CIFS] 2.2.4.52.2 does not specify it.
fn name(call: &Call<'_>, dialect: &Dialect, name: &str) -> Vec<u8> {
    let unicode = dialect.shape == NegotiateShape::Nt && call.conn.server.config.unicode;
    let mut bytes = call.encode_as(name, unicode);
    bytes.extend_from_slice(if unicode { &[0, 0] } else { &[0] });
    bytes
}

fn local_dos_time(now: Time, zone: i16) -> (u16, u16) {
    let local = DosDateTime::from_unix_ns(now.unix_ns(), ZoneMinutesWest(zone));
    (local.time, local.date)
}
