//! TREE_CONNECT (0x70), TREE_CONNECT_ANDX (0x75), TREE_DISCONNECT (0x71): [MS-CIFS] 3.3.5.40, 3.3.5.44, 3.3.5.41.

use crate::{
    config::Security,
    conn::{Call, Flow, Outcome},
    error::Result,
    event::Event,
    share::{Access, Share, ShareKind},
};
use alloc::{format, string::String, sync::Arc};
use coax_logon::{hash, response, secret::Secret};
use coax_wire::{
    dialect::Generation,
    header::Tid,
    smb::{tree_connect, tree_connect_andx},
    status::Status,
};

/// A core client's tree connect: perhaps without any session set-up before it.
pub fn tree_connect(call: &mut Call<'_>) -> Outcome {
    let request = tree_connect::Request::parse(&call.block)?;
    let (path, password) = (call.text(request.path), request.password.raw);
    let service = String::from_utf8_lossy(request.service.raw).into_owned();
    let (tid, _) = connect(call, &path, &service, password)?;
    let max_buffer = call.conn.server.config.max_buffer;
    tree_connect::Response { max_buffer, tid }.emit(call.out());
    Ok(Flow::Done)
}

/// A LAN Manager or NT client's.
pub fn tree_connect_andx(call: &mut Call<'_>) -> Outcome {
    const DISCONNECT_FIRST: u16 = 1;
    const EXTENDED_RESPONSE: u16 = 8;
    let request = tree_connect_andx::Request::parse(&call.block, call.unicode())?;
    let (path, password) = (call.text(request.path), request.password);
    let service = String::from_utf8_lossy(request.service.raw).into_owned();
    if request.flags & DISCONNECT_FIRST != 0 {
        disconnect(call, call.header.tid);
    }
    let (tid, share) = connect(call, &path, &service, password)?;
    let access = call
        .conn
        .trees
        .find(tid)
        .map_or(Access::None, |tree| tree.access);
    let file_system = match share.kind {
        ShareKind::Ipc => alloc::vec::Vec::new(),
        _ => call.encode(&share.file_system),
    };
    let rights = if access == Access::Write {
        0x001f_01ff
    } else {
        0x0012_00a9
    };
    let extended = request.flags & EXTENDED_RESPONSE != 0 && call.generation() == Generation::Nt;
    let response = tree_connect_andx::Response {
        word_count: word_count(call.generation(), extended),
        optional_support: 1,
        access: (rights, 0),
        service: share.service().as_bytes(),
        file_system: &file_system,
        unicode: call.unicode(),
    };
    response.emit(call.out());
    Ok(Flow::Done)
}

/// LAN Manager 2 clients need three words (interop: jcifs, Windows 95); LAN Manager 1's had two.
fn word_count(generation: Generation, extended: bool) -> u8 {
    match generation {
        Generation::Core | Generation::CorePlus | Generation::Lanman1 => 2,
        _ if extended => 7,
        _ => 3,
    }
}

/// Connects to the share that `path` names, and puts its TID into the header for the rest of the chain.
fn connect(
    call: &mut Call<'_>,
    path: &str,
    service: &str,
    password: &[u8],
) -> Result<(Tid, Arc<Share>)> {
    if call.conn.sessions.is_empty() {
        admit_without_session(call)?;
    }
    call.session()?;
    let share = find_share(call, path)?;
    check_service(call, &share, service)?;
    let access = admit(call, &share, password)?;
    let tid = add_tree(call, &share, access)?;
    call.header.tid = tid;
    call.conn.events.push_back(Event::Connected {
        share: share.name.clone(),
    });
    Ok((tid, share))
}

fn find_share(call: &mut Call<'_>, path: &str) -> Result<Arc<Share>> {
    let name = share_name(path);
    let found = call.conn.server.share(name).cloned();
    found.ok_or_else(|| {
        let (status, why) = (Status::BAD_NETWORK_NAME, "no share has that name");
        refuse(call, name, status, why, None).into()
    })
}

/// What the client may do there: something.
fn admit(call: &mut Call<'_>, share: &Share, password: &[u8]) -> Result<Access> {
    let access = access(call, share, password);
    if access != Access::None {
        return Ok(access);
    }
    let setting = format!(
        "[{}] guest ok = yes, or a log-on that its valid users admit",
        share.name
    );
    let why = "the share does not admit this user";
    Err(refuse(call, &share.name, Status::ACCESS_DENIED, why, Some(setting)).into())
}

fn add_tree(call: &mut Call<'_>, share: &Arc<Share>, access: Access) -> Result<Tid> {
    let most = share.admission.max_connections;
    let conn = call.conn.id;
    let server = call.conn.server.clone();
    if !server.locked(|tables| tables.add_tree(conn, share.id, most)) {
        let setting = Some(format!("[{}] max connections = 0", share.name));
        let status = Status::REQUEST_NOT_ACCEPTED;
        return Err(refuse(
            call,
            &share.name,
            status,
            "as many are connected as may be",
            setting,
        )
        .into());
    }
    let limit = server.config.limits.trees;
    let tid = call.conn.trees.add(limit, share.clone(), access);
    if tid.is_none() {
        server.locked(|tables| tables.drop_tree(conn, share.id));
    }
    Ok(tid.ok_or(Status::INSUFF_SERVER_RESOURCES)?)
}

/// Core clients connect trees without logging on; where users must log on, they are guests.
fn admit_without_session(call: &mut Call<'_>) -> Result<()> {
    let share_level = call.conn.server.config.security == Security::Share;
    if share_level || call.generation() <= Generation::Lanman1 {
        call.conn.sessions.imply_guest();
        return Ok(());
    }
    Err(Status::BAD_UID.into())
}

/// The last component of `\\server\share`; old clients send the share alone.
fn share_name(path: &str) -> &str {
    path.rsplit(['\\', '/']).next().unwrap_or(path)
}

/// The client may say what kind of share it expects; `?????` is any ([MS-CIFS] 2.2.4.55.1).
fn check_service(call: &mut Call<'_>, share: &Share, service: &str) -> Result<()> {
    let matches = match service.to_ascii_uppercase().as_str() {
        "" | "?????" => true,
        "IPC" => matches!(share.kind, ShareKind::Ipc),
        "COMM" => false,
        other if other.starts_with("LPT") => matches!(share.kind, ShareKind::Printer(_)),
        other if is_drive(other) => matches!(share.kind, ShareKind::Disk(_)),
        _ => false,
    };
    if matches {
        return Ok(());
    }
    let why = format!(
        "the client asks for a {service} device and the share is {}",
        share.service()
    );
    Err(refuse(call, &share.name, Status::BAD_DEVICE_TYPE, &why, None).into())
}

/// Disks are asked for as `A:`; who names the local drive they are to become is understood.
fn is_drive(service: &str) -> bool {
    matches!(service.as_bytes(), [letter, b':'] if letter.is_ascii_alphabetic())
}

fn access(call: &Call<'_>, share: &Share, password: &[u8]) -> Access {
    let user = call.session().ok().and_then(|session| session.user.clone());
    let by_user = if matches!(share.kind, ShareKind::Ipc) {
        Access::Write
    } else {
        share.admission.access(user.as_deref())
    };
    by_user.max(by_password(call, share, password))
}

/// Share-level passwords open a share to guests, each for its kind of access: sent in clear, or as the LM or NTLM
/// response to the challenge of a server that encrypts passwords ([MS-CIFS] 3.2.4.2.4). Old clients upper-case what they
/// send, so case is not compared.
fn by_password(call: &Call<'_>, share: &Share, password: &[u8]) -> Access {
    if call.conn.server.config.security != Security::Share {
        return Access::None;
    }
    let opens = |wanted: &Option<String>| {
        let wanted = wanted.as_deref().filter(|wanted| !wanted.is_empty());
        wanted.is_some_and(|wanted| is_password(call, wanted, password))
    };
    if opens(&share.admission.passwords.write) {
        Access::Write
    } else if opens(&share.admission.passwords.read) {
        Access::Read
    } else {
        Access::None
    }
}

fn is_password(call: &Call<'_>, wanted: &str, given: &[u8]) -> bool {
    let config = &call.conn.server.config;
    if let Ok(sent) = <[u8; 24]>::try_from(given)
        && config.encrypt_passwords
        && is_response(call, wanted, sent)
    {
        return true;
    }
    let given = given.split(|&b| b == 0).next().unwrap_or(&[]);
    coax_wire::codepage::eq_ignore_case(wanted, &config.code_page.decode(given))
}

fn is_response(call: &Call<'_>, wanted: &str, sent: [u8; 24]) -> bool {
    let page = call.conn.server.config.code_page;
    let challenge = &call.conn.challenge;
    let sent = Secret::new(sent);
    let upper = page.encode_lossy(&page.upper(wanted));
    let lm = hash::lm_hash_of_oem(&upper).map(|hash| response::lm(&hash, challenge).bytes);
    let ntlm = response::ntlm_v1(&hash::nt_hash(wanted), challenge).bytes;
    sent == Secret::new(ntlm) || lm.is_some_and(|lm| sent == Secret::new(lm))
}

fn refuse(
    call: &mut Call<'_>,
    share: &str,
    status: Status,
    why: &str,
    setting: Option<String>,
) -> Status {
    let what = format!("to connect to {share}");
    call.conn.events.push_back(Event::Refused {
        what,
        status,
        why: String::from(why),
        setting,
    });
    status
}

/// Closes what is open on the tree and forgets it.
pub fn tree_disconnect(call: &mut Call<'_>) -> Outcome {
    disconnect(call, call.header.tid);
    call.done_empty()
}

/// Closes what is open on a tree and forgets it, transactions that were still coming in included.
pub(super) fn disconnect(call: &mut Call<'_>, tid: Tid) {
    let now = call.now;
    call.conn.transactions.retain(|pending| !pending.is_of(tid));
    call.conn.searches.close_where(|search| search.tid == tid);
    for fid in call.conn.files.fids_where(|file| file.tid == tid) {
        let _ = crate::ops::close::close(call.conn, fid, None, now);
    }
    call.conn.cancel_where(now, |header| header.tid == tid);
    if let Some(tree) = call.conn.trees.remove(tid) {
        let (server, conn) = (&call.conn.server, call.conn.id);
        server.locked(|tables| tables.drop_tree(conn, tree.share.id));
    }
}
