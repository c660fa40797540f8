//! The server, its users and its clock ([MS-RAP] 3.2.5.3 and following).

use super::answer::{Answer, Client, listed, packed, single, words};
use crate::config::{Neighbour, UserProfile};
use crate::pipe::services::{VERSION, server_type, time_of_day};
use alloc::{format, vec, vec::Vec};
use coax_wire::{
    rap::{Field, Request, code, function},
    rpc::srvsvc::TimeOfDay,
};

/// SV_TYPE_DOMAIN_ENUM: list workgroups instead of servers ([MS-RAP] 2.5.5.1).
const DOMAIN_ENUM: u32 = 0x8000_0000;
/// SV_TYPE_LOCAL_LIST_ONLY.
const LOCAL_LIST_ONLY: u32 = 0x4000_0000;
/// SV_TYPE_ALL.
const ALL: u32 = 0xffff_ffff;

/// NetServerGetInfo, levels 0 and 1.
pub(super) fn server_info(client: &Client<'_>, request: &Request<'_>) -> Result<Answer, u16> {
    let level = request.level().filter(|level| *level <= 1);
    single(
        request,
        server_record(client, level.ok_or(code::INVALID_LEVEL)?),
    )
}

/// NetServerEnum2 and 3: the servers of the workgroup, or the workgroups.
pub(super) fn server_list(client: &Client<'_>, request: &Request<'_>) -> Result<Answer, u16> {
    let level = request.level().filter(|level| *level <= 1);
    let level = level.ok_or(code::INVALID_LEVEL)?;
    let wanted = request.dword().ok_or(code::INVALID_PARAMETER)?;
    let mut entries = match wanted != ALL && wanted & DOMAIN_ENUM != 0 {
        true => workgroups(client),
        false if is_our_domain(client, request) => servers(client, wanted),
        false => Vec::new(),
    };
    // A domain master fetches what this server hears on its own networks.
    if wanted != ALL && wanted & LOCAL_LIST_ONLY != 0 {
        entries.retain(|entry| entry.local);
    }
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    // NetServerEnum3 continues after a name.
    let first = request
        .text(1)
        .filter(|_| request.function == function::NET_SERVER_ENUM3);
    if let Some(first) = first.map(|first| client.decode(first).to_uppercase()) {
        entries.retain(|entry| entry.name >= first);
    }
    let records: Vec<_> = (entries.iter())
        .map(|entry| listed_record(client, level, entry))
        .collect();
    listed(request, &records)
}

fn is_our_domain(client: &Client<'_>, request: &Request<'_>) -> bool {
    let config = &client.asker.server.config;
    let domain = request.text(0).filter(|domain| !domain.is_empty());
    domain.is_none_or(|domain| {
        config
            .workgroup
            .eq_ignore_ascii_case(&client.decode(domain))
    })
}

/// This server and its neighbours with one of the types `wanted`.
fn servers(client: &Client<'_>, wanted: u32) -> Vec<Neighbour> {
    let server = client.asker.server;
    let config = &server.config;
    let mut entries = vec![Neighbour {
        name: config.name.to_uppercase(),
        version: (VERSION.0 as u8, VERSION.1 as u8),
        server_type: server_type(server),
        comment: config.comment.clone(),
        local: true,
    }];
    let others = config.neighbours.iter().flat_map(|list| list.servers());
    entries.extend(others.filter(|other| !other.name.eq_ignore_ascii_case(&config.name)));
    let kinds = match wanted {
        ALL => ALL,
        _ => wanted & !LOCAL_LIST_ONLY,
    };
    entries.retain(|entry| kinds == 0 || entry.server_type & kinds != 0);
    entries
}

/// The own workgroup and the others, each with its master browser.
fn workgroups(client: &Client<'_>) -> Vec<Neighbour> {
    let config = &client.asker.server.config;
    let master = config.neighbours.as_ref().and_then(|list| list.master());
    let mut entries = vec![Neighbour {
        name: config.workgroup.to_uppercase(),
        version: (VERSION.0 as u8, VERSION.1 as u8),
        server_type: DOMAIN_ENUM,
        comment: master.unwrap_or_else(|| config.name.clone()),
        local: true,
    }];
    let others = config.neighbours.iter().flat_map(|list| list.workgroups());
    entries.extend(others.filter(|other| !other.name.eq_ignore_ascii_case(&config.workgroup)));
    entries
}

/// Level 0 or 1 of an entry of the list.
fn listed_record(client: &Client<'_>, level: u16, entry: &Neighbour) -> Vec<Field> {
    let mut fields = named(
        client,
        level,
        &entry.name,
        entry.server_type,
        &entry.comment,
    );
    if let [_, major, minor, ..] = fields.as_mut_slice() {
        *major = Field::Word(u16::from(entry.version.0));
        *minor = Field::Word(u16::from(entry.version.1));
    }
    fields
}

/// Level 0 (`B16`) or 1 (`B16BBDz`).
fn server_record(client: &Client<'_>, level: u16) -> Vec<Field> {
    let server = client.asker.server;
    let kind = server_type(server);
    named(
        client,
        level,
        &server.config.name,
        kind,
        &server.config.comment,
    )
}

fn named(client: &Client<'_>, level: u16, name: &str, kind: u32, comment: &str) -> Vec<Field> {
    let mut fields = vec![client.text(name)];
    if level == 1 {
        fields.push(Field::Word(VERSION.0 as u16));
        fields.push(Field::Word(VERSION.1 as u16));
        fields.push(Field::Dword(kind));
        fields.push(client.text(comment));
    }
    fields
}

/// NetWkstaGetInfo level 10 (`zzzBBzz`).
pub(super) fn wksta_info(client: &Client<'_>, request: &Request<'_>) -> Result<Answer, u16> {
    if request.level() != Some(10) {
        return Err(code::INVALID_LEVEL);
    }
    let config = &client.asker.server.config;
    let record = vec![
        client.text(&config.name),
        client.text(client.user()),
        client.text(&config.workgroup),
        Field::Word(VERSION.0 as u16),
        Field::Word(VERSION.1 as u16),
        client.text(&config.workgroup),
        client.text(""),
    ];
    single(request, record)
}

/// NetRemoteTOD (`DDBBBBWWBBWB`).
pub(super) fn remote_tod(client: &Client<'_>, request: &Request<'_>) -> Result<Answer, u16> {
    let tod = time_of_day(&client.asker);
    let mut record = vec![Field::Dword(tod.elapsed_s), Field::Dword(tod.msecs)];
    record.extend(tod.time.map(|n| Field::Word(n as u16)));
    record.push(Field::Word(tod.zone_minutes_west as u16));
    record.push(Field::Word(TimeOfDay::TICK as u16));
    record.extend(tod.date.map(|n| Field::Word(n as u16)));
    record.push(Field::Word(tod.weekday as u16));
    let packed = packed(request, &[record])?;
    Ok(Answer {
        parameters: words(&[code::SUCCESS, 0]),
        data: packed.data,
    })
}

/// NetUserGetInfo, levels 0, 1, 10 and 11. Clients may only query their own user.
pub(super) fn user_info(client: &Client<'_>, request: &Request<'_>) -> Result<Answer, u16> {
    let name = client.decode(request.text(0).ok_or(code::INVALID_PARAMETER)?);
    if !name.eq_ignore_ascii_case(client.user()) {
        return Err(code::USER_NOT_FOUND);
    }
    let empty = || client.text("");
    let profile = profile(client, &name);
    let mut record = vec![client.text(&name)];
    match request.level() {
        Some(0) => {}
        Some(1) => {
            // Pad, no password, its age, privilege, home, comment, flags, script.
            record.extend([Field::Word(0), empty(), Field::Dword(0), privilege(client)]);
            record.extend([client.text(&profile.home), empty()]);
            record.extend([Field::Word(1), client.text(&profile.script)]);
        }
        Some(10) => record.extend([Field::Word(0), empty(), empty(), client.text(&name)]),
        Some(11) => record.extend(user_11(client, &name, &profile)),
        _ => return Err(code::INVALID_LEVEL),
    }
    single(request, record)
}

/// The fields of level 11 (`B21BzzzWDDzzDDWWzWzDWb21W`) after the name.
fn user_11(client: &Client<'_>, name: &str, profile: &UserProfile) -> Vec<Field> {
    const NO_LIMIT: u32 = 0xffff_ffff;
    const HOURS_A_WEEK: u16 = 168;
    let empty = || client.text("");
    let server = client.text(&format!("\\\\{}", client.asker.server.config.name));
    let mut fields = vec![Field::Word(0), empty(), empty(), client.text(name)];
    fields.extend([privilege(client), Field::Dword(0), Field::Dword(0)]);
    fields.extend([client.text(&profile.home), empty()]);
    fields.extend([Field::Dword(0), Field::Dword(0)]);
    fields.extend([Field::Word(0), Field::Word(0), server, Field::Word(0)]);
    fields.extend([empty(), Field::Dword(NO_LIMIT), Field::Word(HOURS_A_WEEK)]);
    fields.extend([Field::Null, Field::Word(0)]);
    fields
}

/// USER_PRIV_GUEST or USER_PRIV_USER.
fn privilege(client: &Client<'_>) -> Field {
    Field::Word(u16::from(!client.session.is_guest()))
}

/// NetWkstaUserLogon level 1 (`WB21BWDWWDDDDDDDzzzD`): the domain log-on of Windows 95. This server grants it to every
/// user who is already logged on.
pub(super) fn user_logon(client: &Client<'_>, request: &Request<'_>) -> Result<Answer, u16> {
    const NEVER: u32 = 0xffff_ffff;
    const NAME: usize = 21;
    if request.level() != Some(1) {
        return Err(code::INVALID_LEVEL);
    }
    let bytes = request.values.iter().find_map(|value| match value {
        coax_wire::rap::Value::Bytes(bytes) => Some(*bytes),
        _ => None,
    });
    let name = bytes
        .and_then(|bytes| bytes.get(..NAME))
        .and_then(|name| name.split(|&byte| byte == 0).next());
    let name = client.decode(name.ok_or(code::INVALID_PARAMETER)?);
    if client.session.is_guest() || !name.eq_ignore_ascii_case(client.user()) {
        return Err(code::ACCESS_DENIED);
    }
    let config = &client.asker.server.config;
    let mut record = vec![Field::Word(0), client.text(&name), Field::Word(0)];
    record.extend([
        privilege(client),
        Field::Dword(0),
        Field::Word(0),
        Field::Word(0),
    ]);
    record.extend([0, NEVER, NEVER, NEVER, 0, 0, NEVER].map(Field::Dword));
    record.push(client.text(&format!("\\\\{}", config.name)));
    record.extend([
        client.text(&config.workgroup),
        client.text(&profile(client, &name).script),
        Field::Dword(0),
    ]);
    single(request, record)
}

/// What the user gets at log-on: nothing, unless this server is the domain's.
fn profile(client: &Client<'_>, user: &str) -> UserProfile {
    let logons = client.asker.server.config.domain_logons.as_ref();
    logons.map_or_else(UserProfile::default, |logons| {
        logons.profile(user, client.name)
    })
}

/// NetWkstaUserLogoff level 1 (`WDW`: code, seconds logged on, other log-ons). The server keeps no log-ons, so there is
/// nothing to end.
pub(super) fn user_logoff(client: &Client<'_>, request: &Request<'_>) -> Result<Answer, u16> {
    if request.level() != Some(1) {
        return Err(code::INVALID_LEVEL);
    }
    if client.session.is_guest() {
        return Err(code::ACCESS_DENIED);
    }
    single(
        request,
        vec![Field::Word(0), Field::Dword(0), Field::Word(0)],
    )
}

/// NetSessionEnum level 2. Clients see only their own session.
pub(super) fn session_list(client: &Client<'_>, request: &Request<'_>) -> Result<Answer, u16> {
    listed(request, &[session_record(client, request)?])
}

/// NetSessionGetInfo level 2, of the client's own session.
pub(super) fn session_info(client: &Client<'_>, request: &Request<'_>) -> Result<Answer, u16> {
    let name = client.decode(request.text(0).ok_or(code::INVALID_PARAMETER)?);
    let name = name.trim_start_matches('\\');
    if !name.eq_ignore_ascii_case(client.name) {
        return Err(code::CLIENT_NAME_NOT_FOUND);
    }
    single(request, session_record(client, request)?)
}

/// Level 2 (`zzWWWDDDz`): machine, user, connections, opens, users, seconds connected and idle, flags, kind.
fn session_record(client: &Client<'_>, request: &Request<'_>) -> Result<Vec<Field>, u16> {
    if request.level() != Some(2) {
        return Err(code::INVALID_LEVEL);
    }
    let mut record = vec![client.text(client.name), client.text(client.user())];
    record.extend([1, 0, 1].map(Field::Word));
    record.extend([0, 0, 0].map(Field::Dword));
    record.push(client.text(""));
    Ok(record)
}
