//! Finds the handler of a command, and checks the command's requirements in the table of commands
//! ([`command::COMMANDS`](c::COMMANDS)).

use crate::{
    context::{Call, Outcome},
    error::Result,
    handlers as h,
};
use coax_wire::{
    command::{self as c, Needs},
    status::Status,
};

/// The handler of a command.
pub(super) struct Route {
    /// Code.
    pub code: u8,
    /// Its handler.
    pub serve: fn(&mut Call<'_>) -> Outcome,
}

const fn row(code: u8, serve: fn(&mut Call<'_>) -> Outcome) -> Route {
    Route { code, serve }
}

/// Every supported command. Other commands get `BAD_COMMAND`.
pub(super) const ROUTES: &[Route] = &[
    row(c::NEGOTIATE, h::negotiate::negotiate),
    row(c::SESSION_SETUP_ANDX, h::session_setup::session_setup),
    row(c::LOGOFF_ANDX, h::session_setup::logoff),
    row(c::TREE_CONNECT, h::tree_connect::tree_connect),
    row(c::TREE_CONNECT_ANDX, h::tree_connect::tree_connect_andx),
    row(c::TREE_DISCONNECT, h::tree_connect::tree_disconnect),
    row(c::OPEN, h::open::open),
    row(c::CREATE, h::open::create),
    row(c::CREATE_NEW, h::open::create_new),
    row(c::CREATE_TEMPORARY, h::open::create_temporary),
    row(c::OPEN_ANDX, h::open::open_andx),
    row(c::NT_CREATE_ANDX, h::open::nt_create_andx),
    row(c::CLOSE, h::transfer::close),
    row(c::FLUSH, h::transfer::flush),
    row(c::READ, h::transfer::read),
    row(c::WRITE, h::transfer::write),
    row(c::WRITE_AND_CLOSE, h::transfer::write_and_close),
    row(c::SEEK, h::transfer::seek),
    row(c::READ_ANDX, h::transfer::read_andx),
    row(c::WRITE_ANDX, h::transfer::write_andx),
    row(c::TRANSACTION, h::transaction::transaction),
    row(
        c::TRANSACTION_SECONDARY,
        h::transaction::transaction_secondary,
    ),
    row(c::TRANSACTION2, h::transaction::transaction2),
    row(
        c::TRANSACTION2_SECONDARY,
        h::transaction::transaction2_secondary,
    ),
    row(c::NT_TRANSACT, h::transaction::nt_transact),
    row(
        c::NT_TRANSACT_SECONDARY,
        h::transaction::nt_transact_secondary,
    ),
    row(c::CREATE_DIRECTORY, h::namespace::create_directory),
    row(c::DELETE_DIRECTORY, h::namespace::delete_directory),
    row(c::CHECK_DIRECTORY, h::namespace::check_directory),
    row(c::DELETE, h::namespace::delete),
    row(c::RENAME, h::namespace::rename),
    row(c::NT_RENAME, h::namespace::nt_rename),
    row(c::COPY, h::namespace::copy),
    row(c::MOVE, h::namespace::r#move),
    row(c::LOCK_BYTE_RANGE, h::locking::lock_byte_range),
    row(c::UNLOCK_BYTE_RANGE, h::locking::unlock_byte_range),
    row(c::LOCK_AND_READ, h::locking::lock_and_read),
    row(c::WRITE_AND_UNLOCK, h::locking::write_and_unlock),
    row(c::LOCKING_ANDX, h::locking::locking_andx),
    row(c::READ_RAW, h::raw::read_raw),
    row(c::WRITE_RAW, h::raw::write_raw),
    row(c::READ_MPX, h::raw::multiplexed),
    row(c::READ_MPX_SECONDARY, h::raw::multiplexed),
    row(c::WRITE_MPX, h::raw::multiplexed),
    row(c::WRITE_MPX_SECONDARY, h::raw::multiplexed),
    row(c::FIND_CLOSE2, h::find::find_close2),
    row(c::FIND_NOTIFY_CLOSE, h::find::find_notify_close),
    row(c::SEARCH, h::search::search),
    row(c::FIND, h::search::find),
    row(c::FIND_UNIQUE, h::search::find_unique),
    row(c::FIND_CLOSE, h::search::find_close),
    row(c::QUERY_INFORMATION, h::information::query),
    row(c::SET_INFORMATION, h::information::set),
    row(c::SET_INFORMATION2, h::information::set2),
    row(c::QUERY_INFORMATION2, h::information::query2),
    row(c::QUERY_INFORMATION_DISK, h::information::query_disk),
    row(c::IOCTL, h::information::ioctl),
    row(c::OPEN_PRINT_FILE, h::print::open_print_file),
    row(c::WRITE_PRINT_FILE, h::print::write_print_file),
    row(c::CLOSE_PRINT_FILE, h::print::close_print_file),
    row(c::GET_PRINT_QUEUE, h::print::get_print_queue),
    row(c::SEND_SINGLE_BLOCK, h::message::send_single_block),
    row(c::SEND_START_MULTI_BLOCK, h::message::send_start),
    row(c::SEND_TEXT_MULTI_BLOCK, h::message::send_text),
    row(c::SEND_END_MULTI_BLOCK, h::message::send_end),
    row(c::ECHO, h::echo::echo),
    row(c::PROCESS_EXIT, h::echo::process_exit),
];

/// Checks the command's requirements and runs `call` through its handler.
pub(super) fn serve(command: u8, call: &mut Call<'_>) -> Outcome {
    let Some(row) = ROUTES.iter().find(|row| row.code == command) else {
        return Err(Status::BAD_COMMAND.into());
    };
    let needs = c::find(command).map_or(Needs::Nothing, |command| command.needs);
    check(needs, call)?;
    (row.serve)(call)
}

fn check(needs: Needs, call: &mut Call<'_>) -> Result<()> {
    if needs == Needs::Nothing {
        return Ok(());
    }
    if call.conn.client.dialect.is_none() {
        return Err(Status::INVALID_SMB.into());
    }
    let has_tree = |call: &Call<'_>| call.conn.trees.is_connected(call.header.tid);
    match needs {
        Needs::Nothing | Needs::Dialect => Ok(()),
        Needs::Session => call.session().map(drop),
        Needs::TreeAlone if has_tree(call) => Ok(()),
        Needs::TreeAlone => Err(Status::BAD_TID.into()),
        Needs::Tree => call.admit(),
        // Only an error pays for the question whether session or tree is missing.
        Needs::File => match call.admit() {
            Err(_) if call.session().is_err() || !has_tree(call) => {
                Err(Status::INVALID_HANDLE.into())
            }
            outcome => outcome,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_contains_every_command_once_and_only_specified_commands() {
        for (i, row) in ROUTES.iter().enumerate() {
            assert!(
                ROUTES
                    .iter()
                    .skip(i + 1)
                    .all(|other| other.code != row.code),
                "{:#x} twice",
                row.code
            );
            assert!(
                c::name(row.code).is_some(),
                "command {:#x} has no name",
                row.code
            );
        }
    }
}
