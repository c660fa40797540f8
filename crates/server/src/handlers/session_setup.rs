//! SESSION_SETUP_ANDX (0x73) and LOGOFF_ANDX (0x74): [MS-CIFS] 3.3.5.43, 3.3.5.41.

use crate::conn::{Call, Flow, Outcome};
use coax_wire::{
    smb::session_setup_andx::{Request, Response},
    status::Status,
};

/// Logs on.
pub fn session_setup(call: &mut Call<'_>) -> Outcome {
    let request = Request::parse(&call.block, call.unicode())?;
    call.conn.client.max_buffer = request.max_buffer;
    call.conn.client.capabilities = request.capabilities;
    let limit = call.conn.server.config.limits.sessions;
    let uid = call
        .conn
        .sessions
        .add(limit, None, alloc::string::String::new())
        .ok_or(Status::TOO_MANY_UIDS)?;
    call.header.uid = uid;
    let names =
        ["Unix", "coax", call.conn.server.config.workgroup.as_str()].map(|name| call.encode(name));
    let [native_os, native_lan_man, domain] = &names;
    let unicode = call.unicode();
    Response {
        action: 1,
        token: None,
        native_os,
        native_lan_man,
        domain,
        unicode,
    }
    .emit(call.out());
    Ok(Flow::Done)
}

/// Logs off: closes what the user has open.
pub fn logoff(call: &mut Call<'_>) -> Outcome {
    let (uid, now) = (call.header.uid, call.now);
    call.conn.cancel_where(now, |header| header.uid == uid);
    for fid in call.conn.files.fids_where(|file| file.uid == uid) {
        let _ = crate::ops::close::close(call.conn, fid, None, now);
    }
    call.conn.sessions.remove(uid);
    call.done_andx()
}
