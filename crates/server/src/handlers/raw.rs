//! Raw mode: READ_RAW, WRITE_RAW ([MS-CIFS] 3.3.5.24, 3.3.5.26), and the refusal of multiplexed mode, which needs a
//! datagram transport (3.3.5.25, 3.3.5.27).
//!
//! While a raw write waits for its data, the next message of the connection *is* that data, whatever its contents.

use crate::{
    context::{Call, Context, Flow, Outcome, Reply, Tail},
    error::Result,
    ops::transfer,
    raw_mode::Awaited,
    session::SignedRequest,
};
use coax_wire::{
    block::Block,
    command,
    header::Header,
    smb::{
        read_raw,
        write_raw::{Request, emit_response, mode},
    },
    status::Status,
    time::Time,
};

/// The interim reply's Available field for files; only pipes have remaining data.
const NOT_A_PIPE: u16 = 0xffff;

/// READ_RAW. It has no reply but the data ([`data_up_to_end_of_file`]).
pub fn read_raw(call: &mut Call<'_>) -> Outcome {
    let tail = data_up_to_end_of_file(call);
    call.conn.send_raw(tail);
    Ok(Flow::Silent)
}

/// The rule for the end of file in raw reads, of LANMAN 1.0 and later dialects ([MS-CIFS] 2.2.4.22.2). The data has no
/// header and no status. It ends at the end of the file; at or beyond the end it is empty. An empty reply reports errors,
/// too: the client gets the reason from another kind of read.
fn data_up_to_end_of_file(call: &mut Call<'_>) -> Tail {
    read(call).unwrap_or_default()
}

fn read(call: &mut Call<'_>) -> Result<Tail> {
    call.session()?;
    call.tree()?;
    let request = read_raw::Request::parse(&call.block)?;
    let allowed = call.conn.server.config.read_raw && raw_mode_is_on(call);
    if !allowed || call.conn.has_parked() || break_is_unanswered(call) {
        return Err(Status::USE_STANDARD.into());
    }
    if call.file(request.fid)?.stream.failed.is_some() {
        return Err(Status::UNSUCCESSFUL.into());
    }
    let len = usize::from(request.max_count);
    Ok(transfer::read(call, request.fid, request.offset, len)?.tail)
}

fn raw_mode_is_on(call: &Call<'_>) -> bool {
    let dialect = call.conn.client.dialect;
    dialect.is_some_and(|dialect| dialect.raw) && !call.conn.signing.is_active()
}

/// If a break crosses the raw read, the client may take it for the data. An empty reply resolves this (SMB-LM1X, "Open
/// and X", oplocks).
fn break_is_unanswered(call: &mut Call<'_>) -> bool {
    let raw = &mut call.conn.raw;
    raw.has_breaks()
        && call.conn.server.locked(|tables| {
            raw.awaits_break(|open| tables.get(open).is_some_and(|open| open.breaking.is_some()))
        })
}

/// WRITE_RAW: writes the data in the request and asks for the rest. If there is no rest, or on an error, it sends the
/// final reply at once. On a named pipe the error is ERRusestd: the client repeats the write in standard mode
/// ([MS-CIFS] 2.2.4.25.2).
pub fn write_raw(call: &mut Call<'_>) -> Outcome {
    let mut written = 0;
    let begun = begin_write(call, &mut written);
    if let Ok(Some(awaited)) = begun {
        call.conn.raw.awaited = Some(awaited);
        emit_response(NOT_A_PIPE, call.out());
        return Ok(Flow::Done);
    }
    call.header.command = command::WRITE_COMPLETE;
    emit_response(written as u16, call.out());
    match begun {
        Ok(_) => Ok(Flow::Done),
        Err(error) => {
            call.report_refusal(error);
            Ok(Flow::DoneWith(error.status()))
        }
    }
}

fn begin_write(call: &mut Call<'_>, written: &mut usize) -> Result<Option<Awaited>> {
    call.session()?;
    call.tree()?;
    let request = Request::parse(&call.block)?;
    let promised = usize::from(request.count).checked_sub(request.data.len());
    call.conn.raw.unwanted = promised.filter(|promised| *promised > 0);
    let promised = promised.ok_or(Status::INVALID_SMB)?;
    if super::pipe::is_pipe(call, request.fid) {
        return Err(Status::USE_STANDARD.into());
    }
    let (fid, offset) = (call.file(request.fid)?.fid, request.offset);
    transfer::report_failure(call, fid)?;
    transfer::check_write(call, fid, offset, u64::from(request.count))?;
    let through = request.mode & mode::WRITE_THROUGH != 0;
    // The server writes the data of the request even so: the count tells the client where to continue (SMB-LM1X
    // 9.2.23).
    let goes_on = promised > 0 && call.conn.server.config.write_raw && raw_mode_is_on(call);
    *written = match goes_on {
        true => transfer::write_part(call, fid, offset, request.data)?,
        false => transfer::write(call, fid, offset, request.data, through)?,
    };
    if *written < request.data.len() {
        return Err(Status::DISK_FULL.into());
    }
    if promised == 0 {
        return Ok(None);
    }
    if !goes_on {
        return Err(Status::USE_STANDARD.into());
    }
    call.conn.raw.unwanted = None;
    Ok(Some(Awaited {
        header: call.header,
        fid,
        offset: offset.saturating_add(*written as u64),
        promised,
        written: *written,
        through,
    }))
}

/// Takes the data of a raw write. An unacknowledged write keeps its error for the next request on the FID.
pub fn data(conn: &mut Context, now: Time, message: &[u8]) {
    let Some(awaited) = conn.raw.awaited.take() else {
        return;
    };
    let header = Header {
        command: command::WRITE_COMPLETE,
        ..awaited.header
    };
    let mut reply = Reply::begin();
    let mut call = Call {
        conn,
        header,
        block: Block {
            message: &[],
            words: &[],
            bytes: &[],
            bytes_offset: 0,
            declared_bytes: 0,
        },
        now,
        reply: &mut reply,
        chain_fid: None,
        arrived: now,
        ticket: None,
        retry: None,
        kept: None,
    };
    let mut written = awaited.written;
    let failed = write_rest(&mut call, &awaited, message, &mut written).err();
    if let Some(error) = failed {
        call.report_refusal(error);
    }
    let status = failed.map(crate::Error::status);
    if awaited.through {
        emit_response(written as u16, call.out());
        reply.status = status;
        conn.send_reply(&header, reply, SignedRequest::default());
    } else if let (Some(status), Ok(file)) = (status, call.file_mut(awaited.fid)) {
        file.stream.failed = Some(status);
    }
}

/// Writes less data than announced as it is: a client that cannot continue sends an empty message. More data is an
/// error, and nothing is written.
fn write_rest(
    call: &mut Call<'_>,
    awaited: &Awaited,
    data: &[u8],
    written: &mut usize,
) -> Result<()> {
    if data.len() > awaited.promised {
        return Err(Status::INVALID_SMB.into());
    }
    call.tree()?;
    let (fid, offset) = (awaited.fid, awaited.offset);
    let rest = transfer::write(call, fid, offset, data, awaited.through)?;
    *written = written.saturating_add(rest);
    if rest < data.len() {
        return Err(Status::DISK_FULL.into());
    }
    Ok(())
}

/// READ_MPX, WRITE_MPX and their secondary requests: after this error, clients fall back to standard reads and writes;
/// after a reset they give up.
pub fn multiplexed(_call: &mut Call<'_>) -> Outcome {
    Err(Status::USE_STANDARD.into())
}

#[cfg(test)]
#[path = "raw_tests.rs"]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::expect_used)]
mod tests;
