//! NT_TRANSACT: creates with a security descriptor and extended attributes, controls, change notification, security
//! descriptors. [MS-CIFS] 3.3.5.59.

use super::{
    open::{nt_response, nt_spec},
    pipe,
    transaction::{TransFlow, TransReply, Transaction},
};
use crate::{
    context::{Call, Park, Retry},
    error::{Because, Result},
    files::OpenKind,
    ops::{
        self, eas,
        open::{OpenSpec, Opening},
        security,
    },
    reason::{Limit, Reason},
    table::{
        NotifyFilter, NotifyOutcome, NotifyRecord, Refusal, WatchOutcome, WatchRequest, access,
    },
};
use alloc::vec::Vec;
use coax_wire::{
    header::Fid,
    io::{Reader, Writer},
    smb::nt_transact::{
        CREATE_NAME, Create, Ioctl, NotifyChange, SecurityDesc, emit_change, emit_create_response,
        parse_full_eas,
    },
    status::Status,
};

/// NT_TRANSACT_CREATE. It checks descriptor and attributes before it creates anything.
pub fn create(call: &mut Call<'_>, whole: &Transaction) -> Result<TransFlow> {
    let request = Create::parse(&whole.parameters, &whole.data, whole.string(CREATE_NAME))?;
    let text = call.text(request.open.path);
    if call.share()?.is_ipc() {
        let opened = pipe::nt_open(call, &text)?;
        return Ok(created(&opened));
    }
    if ops::print::is_printer(call) {
        return Ok(created(&super::print::nt_begin(call, &text)?));
    }
    let wanted = parse_full_eas(request.eas)?;
    eas::check(&wanted)?;
    if !request.descriptor.is_empty() {
        security::parse(request.descriptor)?;
    }
    let spec = OpenSpec {
        eas: wanted.into_iter().map(eas::Owned::from).collect(),
        descriptor: request.descriptor.to_vec(),
        ..nt_spec(call, &request.open, &text)?
    };
    match ops::open::open(call, &spec)? {
        Opening::Park(park) => Ok(TransFlow::Park(park)),
        Opening::Opened(opened) => Ok(created(&nt_response(call, &opened, false))),
    }
}

fn created(opened: &coax_wire::smb::nt_create_andx::Response) -> TransFlow {
    let mut out = Writer::default();
    emit_create_response(opened, &mut out);
    TransReply::new(out.into_vec(), Vec::new()).into()
}

/// Supported controls ([MS-FSCC] 2.3).
mod fsctl {
    pub const PIPE_TRANSCEIVE: u32 = 0x0011_c017;
    pub const SET_SPARSE: u32 = 0x0009_00c4;
}

/// NT_TRANSACT_IOCTL. FSCTL_SET_SPARSE succeeds, because the file system decides how sparse a file is. Snapshots,
/// object identifiers and all other controls are not supported.
pub fn ioctl(call: &mut Call<'_>, whole: &Transaction) -> Result<TransFlow> {
    let request = Ioctl::parse(&whole.setup)?;
    let opened = call.file(request.fid)?;
    match request.code {
        fsctl::PIPE_TRANSCEIVE if request.is_fsctl => pipe::transceive(call, whole, request.fid),
        fsctl::SET_SPARSE if request.is_fsctl => match opened.kind {
            OpenKind::File if opened.access & access::WRITE_DATA == 0 => {
                Err(Status::ACCESS_DENIED.because(Reason::OpenedWithout))
            }
            OpenKind::File => Ok(TransReply::default().into()),
            _ => Err(Status::INVALID_PARAMETER.into()),
        },
        _ => Err(Status::NOT_SUPPORTED.into()),
    }
}

/// NT_TRANSACT_NOTIFY_CHANGE. The reply's parameters contain the records. The request waits until something changes,
/// the client cancels it, or the folder is closed.
pub fn notify_change(call: &mut Call<'_>, whole: &Transaction) -> Result<TransFlow> {
    let request = NotifyChange::parse(&whole.setup)?;
    match call.retry.clone() {
        Some(Retry::Notify(outcome)) => return changes(&outcome, whole.max_parameters),
        Some(Retry::Cancelled) => return cancel(call, request.fid, whole.max_parameters),
        _ => {}
    }
    let opened = call.file(request.fid)?;
    let open = match (&opened.kind, opened.open) {
        (OpenKind::Directory, Some(open)) => open,
        _ => return Err(Status::INVALID_PARAMETER.into()),
    };
    if opened.access & access::READ_DATA == 0 {
        return Err(Status::ACCESS_DENIED.because(Reason::OpenedWithout));
    }
    let watch = WatchRequest {
        open,
        filter: NotifyFilter(request.filter),
        recursive: request.watch_tree,
        buffer_bytes: whole.max_parameters,
    };
    match call.conn.server.locked(|tables| tables.watch(&watch)) {
        WatchOutcome::Ready(outcome) => changes(&outcome, whole.max_parameters),
        WatchOutcome::Waiting(ticket) => Ok(TransFlow::Park(Park {
            ticket,
            deadline: None,
        })),
        WatchOutcome::Refused(Refusal::UnknownOpen) => Err(Status::INVALID_HANDLE.into()),
        WatchOutcome::Refused(_) => {
            Err(Status::INSUFF_SERVER_RESOURCES.because(Reason::Limit(Limit::Waits)))
        }
    }
}

/// Withdraws a waiting request. The folder may already be closed. A change that happened before the cancellation is
/// reported, because no later request would report it.
fn cancel(call: &Call<'_>, fid: Fid, room: usize) -> Result<TransFlow> {
    let open = call.file(fid).ok().and_then(|opened| opened.open);
    let answered = open.zip(call.ticket).and_then(|(open, ticket)| {
        let withdrawn = |tables: &mut crate::table::Tables| tables.withdraw_watch(open, ticket);
        call.conn.server.locked(withdrawn)
    });
    match answered {
        Some(outcome) => changes(&outcome, room),
        None => Err(Status::CANCELLED.into()),
    }
}

fn changes(outcome: &NotifyOutcome, room: usize) -> Result<TransFlow> {
    let records: &[NotifyRecord] = match outcome {
        NotifyOutcome::Changes(records) => records,
        NotifyOutcome::Closed => &[],
        NotifyOutcome::DeletePending => return Err(Status::DELETE_PENDING.into()),
    };
    let mut out = Writer::default();
    for (i, record) in records.iter().enumerate() {
        let is_last = i + 1 == records.len();
        emit_change(record.action as u32, &record.path, is_last, &mut out);
    }
    // The records exceed the client's buffer: an empty reply makes the client list the folder again.
    let records = if out.len() > room {
        Vec::new()
    } else {
        out.into_vec()
    };
    Ok(TransReply::new(records, Vec::new()).into())
}

/// NT_TRANSACT_RENAME: reserved and never implemented ([MS-CIFS] 2.2.7.5). Windows checks the handle, renames nothing
/// and answers success (raw.rename nttransrename).
pub fn rename(call: &mut Call<'_>, whole: &Transaction) -> Result<TransFlow> {
    let fid = Reader::new(&whole.parameters).u16("FID")?;
    call.file(Fid(fid))?;
    Ok(TransReply::default().into())
}

/// Quotas: not supported, the operating system manages them.
pub fn quota(_call: &mut Call<'_>, _whole: &Transaction) -> Result<TransFlow> {
    Err(Status::NOT_SUPPORTED.into())
}

/// NT_TRANSACT_QUERY_SECURITY_DESC. If the client's buffer is too small, the reply contains the needed length.
pub fn query_security_desc(call: &mut Call<'_>, whole: &Transaction) -> Result<TransFlow> {
    let request = SecurityDesc::parse(&whole.parameters)?;
    let bytes = security::query(call, request.fid, request.information)?.to_bytes();
    let mut needed = Writer::default();
    needed.u32(bytes.len() as u32);
    let needed = needed.into_vec();
    if bytes.len() > whole.max_data {
        let reply = TransReply::new(needed, Vec::new());
        return Ok(reply.with_status(Status::BUFFER_TOO_SMALL).into());
    }
    Ok(TransReply::new(needed, bytes).into())
}

/// NT_TRANSACT_SET_SECURITY_DESC.
pub fn set_security_desc(call: &mut Call<'_>, whole: &Transaction) -> Result<TransFlow> {
    let request = SecurityDesc::parse(&whole.parameters)?;
    call.must_write()?;
    security::set(call, request.fid, request.information, &whole.data)?;
    let opened = call.file(request.fid)?;
    if let Some(open) = opened.open {
        call.conn.server.locked(|tables| {
            let place = tables.get(open).map(|open| &open.request);
            if let Some((share, path)) = place.map(|place| (place.share, place.path.clone())) {
                tables.report_modified(share, &path, NotifyFilter::SECURITY);
            }
        });
    }
    Ok(TransReply::default().into())
}

#[cfg(test)]
#[path = "nt_transact_tests.rs"]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::expect_used)]
mod tests;
