//! ECHO (0x2B, [MS-CIFS] 2.2.4.39) and PROCESS_EXIT (0x11, 2.2.4.18).

use crate::context::{Call, Flow, Outcome, Reply};
use crate::session::SignedRequest;
use coax_wire::{block::BlockWriter, status::Status};

/// Most replies to one ECHO. Windows clients ask for one; a higher limit would make the server an amplifier.
const MAX_ECHOES: u16 = 100;

/// Sends as many replies as the client asks for, numbered from 1.
pub fn echo(call: &mut Call<'_>) -> Outcome {
    let count = call.block.word(0)?.min(MAX_ECHOES);
    let data = call.block.bytes;
    let header = call.header;
    for number in 1..count {
        let mut reply = Reply::begin();
        put_echo(&mut reply, number, data);
        call.conn
            .send_reply(&header, reply, SignedRequest::default());
    }
    if count == 0 {
        return Ok(Flow::Silent);
    }
    put_echo(call.reply, count, data);
    Ok(Flow::Done)
}

fn put_echo(reply: &mut Reply, number: u16, data: &[u8]) {
    let mut block = BlockWriter::begin(&mut reply.out);
    block.words().u16(number);
    block.bytes().bytes(data);
    block.finish(0);
}

/// PROCESS_EXIT: closes the files of a client process that has ended.
pub fn process_exit(call: &mut Call<'_>) -> Outcome {
    let (pid, uid) = (call.header.pid, call.header.uid);
    let fids = call
        .conn
        .files
        .fids_where(|file| file.pid == pid && file.uid == uid);
    crate::ops::close::close_unasked(call.conn, fids, call.now);
    call.conn
        .searches
        .close_where(|search| search.pid == pid && search.uid == uid);
    call.done_empty().map_err(|_| Status::INVALID_SMB.into())
}
