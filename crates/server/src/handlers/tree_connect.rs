//! TREE_CONNECT (0x70), TREE_CONNECT_ANDX (0x75), TREE_DISCONNECT (0x71): [MS-CIFS] 3.3.5.40, 3.3.5.44, 3.3.5.41.

use super::logon;
use crate::{
    config::Security,
    context::{Call, Flow, Outcome, Park},
    error::{Because, Result},
    event::Event,
    reason::{Limit, Reason},
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

/// TREE_CONNECT of a core client, which may have no session.
pub fn tree_connect(call: &mut Call<'_>) -> Outcome {
    let request = tree_connect::Request::parse(&call.block)?;
    if let Some(park) = wait_for_turn(call)? {
        return Ok(Flow::Park(park));
    }
    let (path, password) = (call.text(request.path), request.password.raw);
    let service = String::from_utf8_lossy(request.service.raw).into_owned();
    let (tid, _) = connect(call, &path, &service, password)?;
    let max_buffer = call
        .conn
        .peer
        .carriage
        .limit(call.conn.server.config.max_buffer);
    tree_connect::Response { max_buffer, tid }.emit(call.out());
    Ok(Flow::Done)
}

/// TREE_CONNECT_ANDX of a LAN Manager or NT client.
pub fn tree_connect_andx(call: &mut Call<'_>) -> Outcome {
    const DISCONNECT_FIRST: u16 = 1;
    const EXTENDED_RESPONSE: u16 = 8;
    let request = tree_connect_andx::Request::parse(&call.block, call.unicode())?;
    if let Some(park) = wait_for_turn(call)? {
        return Ok(Flow::Park(park));
    }
    let (path, password) = (call.text(request.path), request.password);
    let service = String::from_utf8_lossy(request.service.raw).into_owned();
    if request.flags & DISCONNECT_FIRST != 0 {
        disconnect(call, call.header.tid);
    }
    let (tid, share) = connect(call, &path, &service, password)?;
    let access = call.tree_of(tid)?.access;
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
    let by_password = by_password(call, &share, password);
    note_password(call, &share, password, by_password);
    admit(call, &share, by_password)?;
    let tid = add_tree(call, &share, by_password)?;
    call.header.tid = tid;
    call.conn.events.push_back(Event::Connected {
        share: share.name.clone(),
    });
    Ok((tid, share))
}

/// Throttles guesses of share passwords like guesses of user passwords: a client waits after a failure.
fn wait_for_turn(call: &Call<'_>) -> Result<Option<Park>> {
    match call.conn.server.config.security {
        Security::Share => logon::wait_for_turn(call),
        Security::User => Ok(None),
    }
}

/// Records whether a share's password was right, if the client sent one.
fn note_password(call: &mut Call<'_>, share: &Share, password: &[u8], by_password: Access) {
    let passwords = &share.admission.passwords;
    let has_password = passwords.read.is_some() || passwords.write.is_some();
    let share_level = call.conn.server.config.security == Security::Share;
    if !share_level || !has_password || password.iter().all(|byte| *byte == 0) {
        return;
    }
    let account = format!("\\\\{}", share.name);
    if by_password != Access::None {
        return logon::note_success(call, &account);
    }
    let waits = logon::note_failure(call, Some(&account)).unwrap_or_default();
    let why = format!("wrong password{waits}");
    refuse(call, &share.name, Status::ACCESS_DENIED, &why, None);
}

fn find_share(call: &mut Call<'_>, path: &str) -> Result<Arc<Share>> {
    let name = share_name(path);
    let user = call.session()?.user.clone();
    let server = &call.conn.server;
    let found = server.share_for(user.as_deref(), name).cloned();
    found.ok_or_else(|| {
        let (status, why) = (Status::BAD_NETWORK_NAME, "no share has that name");
        refuse(call, name, status, why, None).into()
    })
}

/// Refuses a user without any access to the share.
fn admit(call: &mut Call<'_>, share: &Share, by_password: Access) -> Result<()> {
    let by_name = share.access(call.session()?.user.as_deref());
    if by_name.max(by_password) != Access::None {
        return Ok(());
    }
    let setting = format!(
        "[{}] guest ok = yes, or a log-on that its valid users admit",
        share.name
    );
    let why = "the share does not admit this user";
    Err(refuse(call, &share.name, Status::ACCESS_DENIED, why, Some(setting)).into())
}

fn add_tree(call: &mut Call<'_>, share: &Arc<Share>, by_password: Access) -> Result<Tid> {
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
    let tid = call.conn.trees.add(limit, share.clone(), by_password);
    if tid.is_none() {
        server.locked(|tables| tables.drop_tree(conn, share.id));
    }
    tid.ok_or_else(|| Status::INSUFF_SERVER_RESOURCES.because(Reason::Limit(Limit::Trees)))
}

/// Core clients connect trees without logging on; under user-level security they become guests.
fn admit_without_session(call: &mut Call<'_>) -> Result<()> {
    let share_level = call.conn.server.config.security == Security::Share;
    if share_level || call.generation() <= Generation::Lanman1 {
        call.conn.sessions.imply_guest();
        return Ok(());
    }
    Err(Status::BAD_UID.into())
}

/// The last component of `\\server\share`; old clients send only the share.
fn share_name(path: &str) -> &str {
    path.rsplit(['\\', '/']).next().unwrap_or(path)
}

/// The client may name the kind of share that it expects; `?????` is any ([MS-CIFS] 2.2.4.55.1).
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

/// The device type of a disk is `A:`; some clients send the local drive letter instead, and the server accepts it.
fn is_drive(service: &str) -> bool {
    matches!(service.as_bytes(), [letter, b':'] if letter.is_ascii_alphabetic())
}

/// Checks the password of share-level security; each password gives guests one kind of access. Clients send it in
/// clear, or as the LM or NTLM response to the challenge if the server encrypts passwords ([MS-CIFS] 3.2.4.2.4). Old
/// clients send upper case, so the comparison ignores case.
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
        && call.challenges()
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

/// Closes the tree's open files and removes the tree.
pub fn tree_disconnect(call: &mut Call<'_>) -> Outcome {
    disconnect(call, call.header.tid);
    call.done_empty()
}

/// Closes a tree's open files and removes the tree and its incomplete transactions.
pub(super) fn disconnect(call: &mut Call<'_>, tid: Tid) {
    crate::ops::close::leave_tree(call.conn, call.now, tid);
}
