//! What is to come back for a request.

use coax_wire::{
    block::Block,
    command,
    header::HEADER_LEN,
    smb::{echo, locking_andx},
};

use super::pending::Due;

/// What is to come back for a request with this command.
pub(super) fn due(code: u8, bytes: &[u8]) -> Due {
    let block = Block::at(bytes, HEADER_LEN);
    match code {
        command::READ_RAW => Due::RawData,
        command::WRITE_RAW => Due::Go,
        command::READ_MPX => Due::Bytes,
        command::TRANSACTION | command::TRANSACTION2 | command::NT_TRANSACT => Due::Pieces,
        command::ECHO => {
            let request = block.and_then(|block| echo::Request::parse(&block));
            Due::Replies(request.map_or(1, |request| request.count))
        }
        _ => Due::Reply,
    }
}

/// Cancels, and acknowledgments of oplock breaks ([MS-CIFS] 2.2.4.32.1), are not answered.
pub(super) fn wants_no_answer(code: u8, bytes: &[u8]) -> bool {
    match code {
        command::NT_CANCEL => true,
        command::LOCKING_ANDX => {
            let block = Block::at(bytes, HEADER_LEN);
            let request = block.and_then(|block| locking_andx::Request::parse(&block));
            request.is_ok_and(|request| {
                let moves_no_lock = request.locks.is_empty() && request.unlocks.is_empty();
                request.is(locking_andx::kind::OPLOCK_RELEASE) && moves_no_lock
            })
        }
        command::ECHO => {
            let request =
                Block::at(bytes, HEADER_LEN).and_then(|block| echo::Request::parse(&block));
            request.is_ok_and(|request| request.count == 0)
        }
        _ => false,
    }
}
