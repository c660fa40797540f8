//! Reading, writing, seeking, flushing and closing: READ, WRITE, WRITE_AND_CLOSE, SEEK, FLUSH, CLOSE, READ_ANDX,
//! WRITE_ANDX. [MS-CIFS] 3.3.5.7 and following.

use super::room::{READ_OVERHEAD, read_andx_count, room_for_data};
use crate::{
    context::{Call, Flow, Outcome},
    error::Result,
    ops,
    vfs::FsTime,
};
use coax_wire::{
    header::Fid,
    smb::{close, read, read_andx, seek, write, write_andx},
    status::Status,
    time::{TimeChange, Utime, ZoneMinutesWest},
};

/// READ.
pub fn read(call: &mut Call<'_>) -> Outcome {
    let request = read::Request::parse(&call.block)?;
    if super::pipe::is_pipe(call, request.fid) {
        return super::pipe::read(call, &request);
    }
    ops::transfer::report_failure(call, request.fid)?;
    let room = room_for_data(call, READ_OVERHEAD);
    let wanted = usize::from(request.count).min(room);
    let data = ops::transfer::read(call, request.fid, u64::from(request.offset), wanted)?;
    read::emit_response(data.len() as u16, call.out());
    call.reply.tail = data.tail;
    Ok(Flow::Done)
}

/// WRITE; a count of zero sets the length to the offset ([MS-CIFS] 3.3.5.13), but a print job has no settable length
/// and stays as it is. A count above the data's length is an invalid parameter, not a malformed message (raw.write
/// bad-write).
pub fn write(call: &mut Call<'_>) -> Outcome {
    let request = match write::Request::parse(&call.block) {
        Err(coax_wire::Error::Outside { .. }) => return Err(Status::INVALID_PARAMETER.into()),
        request => request?,
    };
    if super::pipe::is_pipe(call, request.fid) {
        return super::pipe::write(call, &request);
    }
    ops::transfer::report_failure(call, request.fid)?;
    let offset = u64::from(request.offset);
    let written = if request.count == 0 && !ops::print::is_job(call, request.fid) {
        ops::transfer::set_len(call, request.fid, offset)?;
        ops::durability::after_write(call, request.fid, false)?;
        0
    } else {
        ops::transfer::write(call, request.fid, offset, request.data, false)?
    };
    write::emit_response(written as u16, call.out());
    Ok(Flow::Done)
}

/// WRITE_AND_CLOSE: closes the file even if the write fails. With a count of zero it neither writes nor truncates nor
/// closes, as Windows (raw.write write close).
pub fn write_and_close(call: &mut Call<'_>) -> Outcome {
    let request = write::AndClose::parse(&call.block)?;
    let fid = call.file(request.fid)?.fid;
    if request.data.is_empty() {
        write::emit_response(0, call.out());
        return Ok(Flow::Done);
    }
    let offset = u64::from(request.offset);
    let written = ops::transfer::report_failure(call, fid)
        .and_then(|()| ops::transfer::write(call, fid, offset, request.data, false));
    let closed = close_file(call, fid, request.modified);
    let written = written?;
    closed?;
    write::emit_response(written as u16, call.out());
    Ok(Flow::Done)
}

/// SEEK sets a position of its own. Reads and writes move it; NT's position information does not show it (raw.seek).
pub fn seek(call: &mut Call<'_>) -> Outcome {
    let request = seek::Request::parse(&call.block)?;
    ops::transfer::report_failure(call, request.fid)?;
    let opened = call.file(request.fid)?;
    let file = opened.file.as_ref().ok_or(Status::INVALID_DEVICE_REQUEST)?;
    let from = |base: u64| {
        let base = i64::try_from(base).unwrap_or(i64::MAX);
        // A position before the beginning becomes the beginning ([MS-CIFS] 2.2.4.19.1).
        base.saturating_add(i64::from(request.offset)).max(0) as u64
    };
    let position = match request.mode {
        0 => u64::from(request.offset as u32),
        1 => from(opened.stream.position),
        2 => from(file.stat()?.size),
        _ => return Err(Status::INVALID_PARAMETER.into()),
    };
    let fid = opened.fid;
    call.conn
        .files
        .reposition(fid, |opened| opened.stream.position = position);
    seek::emit_response(position as u32, call.out());
    Ok(Flow::Done)
}

/// FLUSH: of one file, or with FID 0xFFFF of all open files of the process ([MS-CIFS] 3.3.5.8).
pub fn flush(call: &mut Call<'_>) -> Outcome {
    let fid = Fid(call.block.word(0)?);
    if fid == Fid(0xffff) {
        ops::durability::flush_all(call)?;
    } else {
        ops::transfer::report_failure(call, fid)?;
        ops::durability::flush(call, fid)?;
    }
    call.done_empty()
}

/// CLOSE.
pub fn close(call: &mut Call<'_>) -> Outcome {
    let request = close::Request::parse(&call.block)?;
    let fid = call.file(request.fid)?.fid;
    let written_behind = ops::transfer::report_failure(call, fid);
    close_file(call, fid, request.modified)?;
    written_behind?;
    call.done_empty()
}

fn close_file(call: &mut Call<'_>, fid: Fid, modified: Utime) -> Result<()> {
    let zone = ZoneMinutesWest(call.conn.server.config.time_zone_minutes);
    let modified = match modified.change(zone) {
        TimeChange::Set(ns) => Some(FsTime(ns)),
        _ => None,
    };
    let now = call.now;
    call.chain_fid = None;
    ops::close::close(call.conn, fid, modified, now)
}

/// READ_ANDX. If the server offered large reads, the reply is short only at the end of the file, whatever the client's
/// buffer.
pub fn read_andx(call: &mut Call<'_>) -> Outcome {
    let request = read_andx::Request::parse(&call.block)?;
    if super::pipe::is_pipe(call, request.fid) {
        return super::pipe::read_andx(call, &request);
    }
    ops::transfer::report_failure(call, request.fid)?;
    let wanted = read_andx_count(call, request.max_count);
    let data = ops::transfer::read(call, request.fid, request.offset, wanted)?;
    read_andx::emit_response(data.len() as u32, 0xffff, call.out());
    call.reply.tail = data.tail;
    Ok(Flow::Done)
}

/// WRITE_ANDX. Length zero writes nothing ([MS-CIFS] 3.3.5.36).
pub fn write_andx(call: &mut Call<'_>) -> Outcome {
    let request = write_andx::Request::parse(&call.block)?;
    if super::pipe::is_pipe(call, request.fid) {
        return super::pipe::write_andx(call, &request);
    }
    ops::transfer::report_failure(call, request.fid)?;
    let through = request.mode & write_andx::mode::WRITE_THROUGH != 0;
    let written = ops::transfer::write(call, request.fid, request.offset, request.data, through)?;
    write_andx::emit_response(written as u32, 0xffff, call.out());
    Ok(Flow::Done)
}

#[cfg(test)]
#[path = "transfer_tests.rs"]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::expect_used)]
mod tests;
