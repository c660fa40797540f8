//! Named pipes: opens, reads and writes as on files, and the transactions of TRANSACTION on `\PIPE\`. [MS-CIFS] 2.2.5,
//! 3.3.5.57.

use super::transaction::{TransFlow, TransReply, Transaction};
use crate::{
    context::{Call, Flow, Outcome, Tail},
    error::{Because, Result},
    files::{OpenFile, OpenKind},
    pipe::{
        Piece, Pipe, STATE,
        services::{Asker, Service},
    },
    rap,
    reason::{Limit, Reason},
    vfs::FileId,
};
use alloc::{format, string::String, sync::Arc, vec::Vec};
use coax_wire::{
    header::Fid,
    io::Writer,
    smb::{
        nt_create_andx as nt,
        open::{Open, OpenResponse},
        open_andx, read, read_andx, write, write_andx,
    },
    status::Status,
    time::{FileTime, Utime},
};

/// Rights of an open pipe: reading, writing, their attributes, READ_CONTROL, SYNCHRONIZE.
const RIGHTS: u32 = 0x0012_019f;
/// FILE_ATTRIBUTE_NORMAL.
const NORMAL: u32 = 0x80;
/// Allocation size that NT reports for a pipe, bytes.
const ALLOCATION: u64 = 4096;

/// Subcommands of TRANSACTION on pipes ([MS-CIFS] 2.2.5).
mod subcommand {
    pub const SET_STATE: u16 = 0x0001;
    pub const RAW_READ: u16 = 0x0011;
    pub const QUERY_STATE: u16 = 0x0021;
    pub const QUERY_INFO: u16 = 0x0022;
    pub const PEEK: u16 = 0x0023;
    pub const TRANSACT: u16 = 0x0026;
    pub const RAW_WRITE: u16 = 0x0031;
    pub const READ: u16 = 0x0036;
    pub const WRITE: u16 = 0x0037;
    pub const WAIT: u16 = 0x0053;
    pub const CALL: u16 = 0x0054;
}

/// Whether `fid` is an open pipe of this tree.
pub(super) fn is_pipe(call: &Call<'_>, fid: Fid) -> bool {
    call.file(fid)
        .is_ok_and(|file| matches!(file.kind, OpenKind::Pipe(_)))
}

/// The service of a pipe name.
///
/// # Errors
/// `OBJECT_NAME_NOT_FOUND`.
fn service(call: &Call<'_>, name: &str) -> Result<Service> {
    served(call, Service::by_path(name))
}

fn served(call: &Call<'_>, found: Option<Service>) -> Result<Service> {
    let found = found.filter(|_| call.conn.server.config.pipes);
    Ok(found.ok_or(Status::OBJECT_NAME_NOT_FOUND)?)
}

fn open_pipe(call: &mut Call<'_>, service: Service) -> Result<Fid> {
    let share = call.share()?;
    let limit = call.conn.server.config.limits.opens;
    let fid = call.conn.files.free_fid(limit);
    let fid =
        fid.ok_or_else(|| Status::TOO_MANY_OPENED_FILES.because(Reason::Limit(Limit::Opens)))?;
    let header = call.header;
    let mut pipe = Pipe::new(service);
    pipe.reserve(&call.conn.account)?;
    call.conn.files.insert(OpenFile {
        fid,
        kind: OpenKind::Pipe(pipe),
        file: None,
        open: None,
        id: FileId::default(),
        share,
        path: String::from(service.name()),
        stream: Default::default(),
        access: RIGHTS,
        tid: header.tid,
        uid: header.uid,
        pid: header.pid,
        position: 0,
        mode: 0,
        written: false,
        moved: Default::default(),
        counted: Default::default(),
    });
    call.chain_fid = Some(fid);
    Ok(fid)
}

/// NT_CREATE_ANDX on `IPC$`.
pub(super) fn nt_create_andx(call: &mut Call<'_>, request: &nt::Request<'_>) -> Outcome {
    let name = call.text(request.path);
    let service = served(call, Service::by_name(&name))?;
    let fid = open_pipe(call, service)?;
    let extended = request.flags & nt::flags::EXTENDED_RESPONSE != 0;
    nt_response(fid, extended).emit(call.out());
    Ok(Flow::Done)
}

/// The attributes of an open pipe for NT clients.
fn nt_response(fid: Fid, extended: bool) -> nt::Response {
    nt::Response {
        fid,
        action: 1,
        created: FileTime(0),
        attributes: NORMAL,
        allocation: ALLOCATION,
        resource_type: 2,
        pipe_state: STATE,
        extended: extended.then_some((RIGHTS, 0)),
        ..nt::Response::default()
    }
}

/// OPEN_ANDX on `IPC$`: names of pipes begin with `PIPE\`, with or without leading backslashes.
pub(super) fn open_andx(call: &mut Call<'_>, request: &open_andx::Request<'_>) -> Outcome {
    const PREFIX: &str = "PIPE\\";
    let name = call.text(request.path);
    let prefix = name.trim_start_matches('\\').get(..PREFIX.len());
    if !prefix.is_some_and(|prefix| prefix.eq_ignore_ascii_case(PREFIX)) {
        return Err(Status::OBJECT_PATH_SYNTAX_BAD.into());
    }
    let service = service(call, &name)?;
    let fid = open_pipe(call, service)?;
    let extended = request.flags & open_andx::flags::EXTENDED_RESPONSE != 0;
    let response = open_andx::Response {
        fid,
        attributes: 0,
        modified: Utime(0),
        size: 0,
        access: 2,
        resource_type: 2,
        pipe_state: STATE,
        action: 1,
        extended: extended.then_some((RIGHTS, 0)),
    };
    response.emit(call.out());
    Ok(Flow::Done)
}

/// OPEN on `IPC$`.
pub(super) fn open(call: &mut Call<'_>, request: &Open<'_>) -> Outcome {
    let service = service(call, &call.text(request.path))?;
    let fid = open_pipe(call, service)?;
    let response = OpenResponse {
        fid,
        attributes: 0,
        modified: Utime(0),
        size: 0,
        access_mode: 2,
    };
    response.emit(call.out());
    Ok(Flow::Done)
}

fn with_pipe<T>(
    call: &mut Call<'_>,
    fid: Fid,
    work: impl FnOnce(&mut Pipe, &Asker<'_>) -> Result<T>,
) -> Result<T> {
    let server = Arc::clone(&call.conn.server);
    let user = call.session().ok().and_then(|session| session.user.clone());
    let asker = Asker {
        server: &server,
        user: user.as_deref(),
        now: call.now,
    };
    let account = call.conn.account.clone();
    match &mut call.file_mut(fid)?.kind {
        OpenKind::Pipe(pipe) => {
            let done = work(pipe, &asker)?;
            pipe.reserve(&account)?;
            Ok(done)
        }
        _ => Err(Status::INVALID_DEVICE_REQUEST.into()),
    }
}

fn flow(status: Status) -> Flow {
    match status {
        Status::OK => Flow::Done,
        status => Flow::DoneWith(status),
    }
}

/// READ of a pipe.
pub(super) fn read(call: &mut Call<'_>, request: &read::Request) -> Outcome {
    let room = super::room::room_for_data(call, super::room::READ_OVERHEAD);
    let wanted = usize::from(request.count).min(room);
    let piece = with_pipe(call, request.fid, |pipe, _| pipe.read(wanted))?;
    read::emit_response(piece.data.len() as u16, call.out());
    let status = piece.status();
    call.reply.tail = Tail::Bytes(piece.data);
    Ok(flow(status))
}

/// READ_ANDX of a pipe.
pub(super) fn read_andx(call: &mut Call<'_>, request: &read_andx::Request) -> Outcome {
    let wanted = super::room::read_andx_count(call, request.max_count & 0xffff);
    let piece = with_pipe(call, request.fid, |pipe, _| pipe.read(wanted))?;
    read_andx::emit_response(piece.data.len() as u32, 0, call.out());
    let status = piece.status();
    call.reply.tail = Tail::Bytes(piece.data);
    Ok(flow(status))
}

/// WRITE to a pipe.
pub(super) fn write(call: &mut Call<'_>, request: &write::Request<'_>) -> Outcome {
    with_pipe(call, request.fid, |pipe, asker| {
        pipe.write(asker, request.data)
    })?;
    write::emit_response(request.data.len() as u16, call.out());
    Ok(Flow::Done)
}

/// WRITE_ANDX to a pipe. The first block of a raw message begins with the message's length, which is not part of the
/// message ([MS-CIFS] 2.2.4.43.1).
pub(super) fn write_andx(call: &mut Call<'_>, request: &write_andx::Request<'_>) -> Outcome {
    const RAW_START: u16 = write_andx::mode::RAW_PIPE | write_andx::mode::MESSAGE_START;
    let data = if request.mode & RAW_START == RAW_START {
        request.data.get(2..).ok_or(Status::INVALID_PARAMETER)?
    } else {
        request.data
    };
    let available = with_pipe(call, request.fid, |pipe, asker| {
        pipe.write(asker, data)?;
        Ok(pipe.available())
    })?;
    let told = if request.mode & write_andx::mode::READ_BYTES_AVAILABLE != 0 {
        available.min(0xffff) as u16
    } else {
        0
    };
    write_andx::emit_response(request.data.len() as u32, told, call.out());
    Ok(Flow::Done)
}

/// RAP on `\PIPE\LANMAN`: works without an open pipe and on every tree, as on real servers.
pub fn remote_administration(call: &mut Call<'_>, whole: &Transaction) -> Result<TransFlow> {
    let peer = &call.conn.peer;
    let name = peer.calling.as_deref().unwrap_or(&peer.address);
    let client = rap::Client {
        asker: Asker {
            server: &call.conn.server,
            user: call.session()?.user.as_deref(),
            now: call.now,
        },
        session: call.session()?,
        name: name.trim_end(),
    };
    let answer = rap::serve(&client, &whole.parameters);
    Ok(TransReply::new(answer.parameters, answer.data).into())
}

fn must_be_ipc(call: &Call<'_>) -> Result<()> {
    if call.share()?.is_ipc() {
        Ok(())
    } else {
        Err(Status::ACCESS_DENIED.into())
    }
}

/// TRANSACTION on `\PIPE\`: the first setup word is the subcommand, the second the FID.
pub fn transact(call: &mut Call<'_>, whole: &Transaction) -> Result<TransFlow> {
    use subcommand as s;
    must_be_ipc(call)?;
    let function = whole.setup_word(0)?;
    let fid = Fid(whole.setup_word(1).unwrap_or(0));
    match function {
        s::CALL => return call_pipe(call, whole),
        s::WAIT => {
            service(call, &whole.name)?;
            return Ok(TransReply::default().into());
        }
        _ if !is_pipe(call, fid) => return Err(Status::INVALID_HANDLE.into()),
        s::QUERY_INFO => return query_info(call, whole, fid),
        _ => {}
    }
    let reply = with_pipe(call, fid, |pipe, asker| match function {
        s::TRANSACT => exchange(pipe, asker, whole),
        s::RAW_READ | s::READ => Ok(data_reply(pipe.read(whole.max_data)?)),
        s::RAW_WRITE | s::WRITE => {
            pipe.write(asker, &whole.data)?;
            Ok(words_reply(&[whole.data.len() as u16]))
        }
        s::QUERY_STATE => Ok(words_reply(&[pipe.state()])),
        s::SET_STATE => {
            pipe.set_state(whole.parameters().u16("pipe state")?);
            Ok(TransReply::default())
        }
        s::PEEK => Ok(peek(pipe, whole)),
        _ => Err(Status::NOT_SUPPORTED.into()),
    });
    reply.map(TransFlow::Reply)
}

/// Writes a message and reads the answer.
fn exchange(pipe: &mut Pipe, asker: &Asker<'_>, whole: &Transaction) -> Result<TransReply> {
    if pipe.available() > 0 {
        return Err(Status::PIPE_BUSY.into());
    }
    pipe.write(asker, &whole.data)?;
    if pipe.available() == 0 {
        // Only the last fragment has an answer.
        return Ok(TransReply::default());
    }
    Ok(data_reply(pipe.read(whole.max_data)?))
}

fn data_reply(piece: Piece) -> TransReply {
    let status = piece.status();
    TransReply::new(Vec::new(), piece.data).with_status(status)
}

fn words_reply(words: &[u16]) -> TransReply {
    let mut out = Writer::default();
    words.iter().for_each(|&word| {
        out.u16(word);
    });
    TransReply::new(out.into_vec(), Vec::new())
}

/// PeekNmPipe ([MS-CIFS] 2.2.5.5): bytes in the pipe, bytes in the message, and the state "connected".
fn peek(pipe: &Pipe, whole: &Transaction) -> TransReply {
    const CONNECTED: u16 = 3;
    let clip = |bytes: usize| bytes.min(0xffff) as u16;
    let data = Vec::from(pipe.peek(whole.max_data));
    let more = data.len() < pipe.message_bytes();
    let counts = [
        clip(pipe.available()),
        clip(pipe.message_bytes()),
        CONNECTED,
    ];
    let status = if more && whole.max_data > 0 {
        Status::BUFFER_OVERFLOW
    } else {
        Status::OK
    };
    TransReply {
        data,
        status,
        ..words_reply(&counts)
    }
}

/// QueryNmPipeInfo level 1 ([MS-CIFS] 2.2.5.4).
fn query_info(call: &Call<'_>, whole: &Transaction, fid: Fid) -> Result<TransFlow> {
    const BUFFER: u16 = 4280;
    const NO_LIMIT: u8 = 0xff;
    if whole.parameters().u16("information level")? != 1 {
        return Err(Status::INVALID_PARAMETER.into());
    }
    let OpenKind::Pipe(pipe) = &call.file(fid)?.kind else {
        return Err(Status::INVALID_HANDLE.into());
    };
    let name = call.encode(&format!("\\PIPE\\{}\0", pipe.service().name()));
    let mut out = Writer::default();
    out.u16(BUFFER).u16(BUFFER).u8(NO_LIMIT).u8(1);
    out.u8(name.len() as u8).bytes(&name);
    Ok(TransReply::new(Vec::new(), out.into_vec()).into())
}

/// CallNmPipe: opens the pipe, exchanges one message, closes it.
fn call_pipe(call: &mut Call<'_>, whole: &Transaction) -> Result<TransFlow> {
    let mut pipe = Pipe::new(service(call, &whole.name)?);
    let asker = Asker {
        server: &call.conn.server,
        user: call.session()?.user.as_deref(),
        now: call.now,
    };
    exchange(&mut pipe, &asker, whole).map(TransFlow::Reply)
}

/// FSCTL_PIPE_TRANSCEIVE: the same exchange in NT_TRANSACT_IOCTL ([MS-FSCC] 2.3.47).
pub(super) fn transceive(call: &mut Call<'_>, whole: &Transaction, fid: Fid) -> Result<TransFlow> {
    with_pipe(call, fid, |pipe, asker| exchange(pipe, asker, whole)).map(TransFlow::Reply)
}

/// NT_TRANSACT_CREATE on `IPC$`.
pub(super) fn nt_open(call: &mut Call<'_>, name: &str) -> Result<nt::Response> {
    let service = served(call, Service::by_name(name))?;
    Ok(nt_response(open_pipe(call, service)?, false))
}

#[cfg(test)]
#[path = "pipe_tests.rs"]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::expect_used)]
mod tests;
