//! Print jobs: OPEN_PRINT_FILE, WRITE_PRINT_FILE, CLOSE_PRINT_FILE, GET_PRINT_QUEUE, and files that DOS and NT clients open
//! on a printer share. [MS-CIFS] 3.3.5.52 to 3.3.5.54.

use crate::{
    context::{Call, Flow, Outcome},
    error::{Because, Result},
    files::OpenKind,
    ops::{
        close::close,
        print::{append, begin, is_printer},
    },
    reason::Reason,
};
use coax_wire::{
    header::Fid,
    smb::{nt_create_andx as nt, print},
    status::Status,
};

/// OPEN_PRINT_FILE.
pub fn open_print_file(call: &mut Call<'_>) -> Outcome {
    let request = print::Open::parse(&call.block, call.unicode())?;
    must_be_printer(call)?;
    let identifier = call.text(request.identifier);
    let fid = begin(call, &identifier)?;
    print::emit_open_response(fid, call.out());
    Ok(Flow::Done)
}

/// WRITE_PRINT_FILE.
pub fn write_print_file(call: &mut Call<'_>) -> Outcome {
    let request = print::Write::parse(&call.block)?;
    match append(call, request.fid, request.data)? {
        None => Err(Status::INVALID_HANDLE.into()),
        Some(written) if written < request.data.len() => Err(Status::DISK_FULL.into()),
        Some(_) => call.done_empty(),
    }
}

/// CLOSE_PRINT_FILE. For a FID that is no print job, it closes nothing and fails with ERRSRV/ERRerror (raw.close).
pub fn close_print_file(call: &mut Call<'_>) -> Outcome {
    let opened = call.file(Fid(call.block.word(0)?))?;
    if !matches!(opened.kind, OpenKind::PrintJob(_)) {
        return Err(Status::INVALID_SMB.into());
    }
    let fid = opened.fid;
    let now = call.now;
    close(call.conn, fid, None, now)?;
    call.done_empty()
}

/// GET_PRINT_QUEUE: the reply is always empty, because a complete job leaves the queue.
pub fn get_print_queue(call: &mut Call<'_>) -> Outcome {
    must_be_printer(call)?;
    print::emit_empty_queue(call.out());
    Ok(Flow::Done)
}

fn must_be_printer(call: &Call<'_>) -> Result<()> {
    if is_printer(call) {
        Ok(())
    } else {
        Err(Status::BAD_DEVICE_TYPE.because(Reason::NotAPrinter))
    }
}

/// Begins a print job of an NT client.
///
/// # Errors
/// Those of [`begin`].
pub(super) fn nt_begin(call: &mut Call<'_>, name: &str) -> Result<nt::Response> {
    Ok(nt::Response {
        fid: begin(call, name)?,
        action: 2,
        attributes: 0x80,
        resource_type: 3,
        ..nt::Response::default()
    })
}

#[cfg(test)]
#[path = "print_tests.rs"]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::expect_used)]
mod tests;
