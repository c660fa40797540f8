//! The one table of commands: code, handler, and what it needs before it may run.

use crate::{
    context::{Call, Outcome},
    error::Result,
    handlers as h,
};
use coax_wire::{command as c, status::Status};

/// What must stand before a command may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Needs {
    /// Nothing at all.
    Nothing,
    /// An agreed dialect.
    Dialect,
    /// A session (or share-level's implied one).
    Session,
    /// A session and a tree that its user may use.
    Tree,
    /// The same, for commands whose first concern is a FID: without session or tree they are told that it is none
    /// (smbtorture raw.context, as NT servers answer).
    File,
    /// A tree, whoever connected it: it outlives its user's session, and is given up without one.
    TreeAlone,
}

/// One command.
pub(super) struct Command {
    /// Code.
    pub code: u8,
    /// What it needs.
    pub needs: Needs,
    /// Who serves it.
    pub serve: fn(&mut Call<'_>) -> Outcome,
}

const fn row(code: u8, needs: Needs, serve: fn(&mut Call<'_>) -> Outcome) -> Command {
    Command { code, needs, serve }
}

/// Every command served. What is not here is answered `BAD_COMMAND`.
pub(super) const COMMANDS: &[Command] = &[
    row(c::NEGOTIATE, Needs::Nothing, h::negotiate::negotiate),
    row(
        c::SESSION_SETUP_ANDX,
        Needs::Dialect,
        h::session_setup::session_setup,
    ),
    row(c::LOGOFF_ANDX, Needs::Session, h::session_setup::logoff),
    row(
        c::TREE_CONNECT,
        Needs::Dialect,
        h::tree_connect::tree_connect,
    ),
    row(
        c::TREE_CONNECT_ANDX,
        Needs::Dialect,
        h::tree_connect::tree_connect_andx,
    ),
    row(
        c::TREE_DISCONNECT,
        Needs::TreeAlone,
        h::tree_connect::tree_disconnect,
    ),
    row(c::OPEN, Needs::Tree, h::open::open),
    row(c::CREATE, Needs::Tree, h::open::create),
    row(c::CREATE_NEW, Needs::Tree, h::open::create_new),
    row(c::CREATE_TEMPORARY, Needs::Tree, h::open::create_temporary),
    row(c::OPEN_ANDX, Needs::Tree, h::open::open_andx),
    row(c::NT_CREATE_ANDX, Needs::Tree, h::open::nt_create_andx),
    row(c::CLOSE, Needs::File, h::transfer::close),
    row(c::FLUSH, Needs::File, h::transfer::flush),
    row(c::READ, Needs::File, h::transfer::read),
    row(c::WRITE, Needs::File, h::transfer::write),
    row(
        c::WRITE_AND_CLOSE,
        Needs::File,
        h::transfer::write_and_close,
    ),
    row(c::SEEK, Needs::File, h::transfer::seek),
    row(c::READ_ANDX, Needs::File, h::transfer::read_andx),
    row(c::WRITE_ANDX, Needs::File, h::transfer::write_andx),
    row(c::TRANSACTION, Needs::Tree, h::transaction::transaction),
    row(
        c::TRANSACTION_SECONDARY,
        Needs::Tree,
        h::transaction::transaction_secondary,
    ),
    row(c::TRANSACTION2, Needs::Tree, h::transaction::transaction2),
    row(
        c::TRANSACTION2_SECONDARY,
        Needs::Tree,
        h::transaction::transaction2_secondary,
    ),
    row(c::NT_TRANSACT, Needs::Tree, h::transaction::nt_transact),
    row(
        c::NT_TRANSACT_SECONDARY,
        Needs::Tree,
        h::transaction::nt_transact_secondary,
    ),
    row(
        c::CREATE_DIRECTORY,
        Needs::Tree,
        h::namespace::create_directory,
    ),
    row(
        c::DELETE_DIRECTORY,
        Needs::Tree,
        h::namespace::delete_directory,
    ),
    row(
        c::CHECK_DIRECTORY,
        Needs::Tree,
        h::namespace::check_directory,
    ),
    row(c::DELETE, Needs::Tree, h::namespace::delete),
    row(c::RENAME, Needs::Tree, h::namespace::rename),
    row(c::NT_RENAME, Needs::Tree, h::namespace::nt_rename),
    row(c::COPY, Needs::Tree, h::namespace::copy),
    row(c::MOVE, Needs::Tree, h::namespace::r#move),
    row(c::LOCK_BYTE_RANGE, Needs::File, h::locking::lock_byte_range),
    row(
        c::UNLOCK_BYTE_RANGE,
        Needs::File,
        h::locking::unlock_byte_range,
    ),
    row(c::LOCK_AND_READ, Needs::File, h::locking::lock_and_read),
    row(
        c::WRITE_AND_UNLOCK,
        Needs::File,
        h::locking::write_and_unlock,
    ),
    row(c::LOCKING_ANDX, Needs::File, h::locking::locking_andx),
    row(c::READ_RAW, Needs::Dialect, h::raw::read_raw),
    row(c::WRITE_RAW, Needs::Dialect, h::raw::write_raw),
    row(c::READ_MPX, Needs::Tree, h::raw::multiplexed),
    row(c::READ_MPX_SECONDARY, Needs::Tree, h::raw::multiplexed),
    row(c::WRITE_MPX, Needs::Tree, h::raw::multiplexed),
    row(c::WRITE_MPX_SECONDARY, Needs::Tree, h::raw::multiplexed),
    row(c::FIND_CLOSE2, Needs::Tree, h::find::find_close2),
    row(
        c::FIND_NOTIFY_CLOSE,
        Needs::Tree,
        h::find::find_notify_close,
    ),
    row(c::SEARCH, Needs::Tree, h::search::search),
    row(c::FIND, Needs::Tree, h::search::find),
    row(c::FIND_UNIQUE, Needs::Tree, h::search::find_unique),
    row(c::FIND_CLOSE, Needs::Tree, h::search::find_close),
    row(c::QUERY_INFORMATION, Needs::Tree, h::information::query),
    row(c::SET_INFORMATION, Needs::Tree, h::information::set),
    row(c::SET_INFORMATION2, Needs::Tree, h::information::set2),
    row(c::QUERY_INFORMATION2, Needs::Tree, h::information::query2),
    row(
        c::QUERY_INFORMATION_DISK,
        Needs::Tree,
        h::information::query_disk,
    ),
    row(c::IOCTL, Needs::Tree, h::information::ioctl),
    row(c::OPEN_PRINT_FILE, Needs::Tree, h::print::open_print_file),
    row(c::WRITE_PRINT_FILE, Needs::Tree, h::print::write_print_file),
    row(c::CLOSE_PRINT_FILE, Needs::Tree, h::print::close_print_file),
    row(c::GET_PRINT_QUEUE, Needs::Tree, h::print::get_print_queue),
    row(c::SEND_SINGLE_BLOCK, Needs::Dialect, h::print::messages),
    row(c::ECHO, Needs::Nothing, h::echo::echo),
    row(c::PROCESS_EXIT, Needs::Session, h::echo::process_exit),
];

/// Runs `call` through its command's handler once what it needs is there.
pub(super) fn serve(command: u8, call: &mut Call<'_>) -> Outcome {
    let Some(row) = COMMANDS.iter().find(|row| row.code == command) else {
        return Err(Status::BAD_COMMAND.into());
    };
    check(row.needs, call)?;
    (row.serve)(call)
}

fn check(needs: Needs, call: &mut Call<'_>) -> Result<()> {
    if needs == Needs::Nothing {
        return Ok(());
    }
    if call.conn.client.dialect.is_none() {
        return Err(Status::INVALID_SMB.into());
    }
    let (has_session, has_tree) = (
        call.session().is_ok(),
        call.conn.trees.is_connected(call.header.tid),
    );
    match needs {
        Needs::Nothing | Needs::Dialect => Ok(()),
        Needs::Session => call.session().map(drop),
        Needs::TreeAlone if has_tree => Ok(()),
        Needs::TreeAlone => Err(Status::BAD_TID.into()),
        Needs::File if !has_session || !has_tree => Err(Status::INVALID_HANDLE.into()),
        Needs::Tree | Needs::File => call.admit(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_stands_once_and_is_one_the_specification_names() {
        for (i, row) in COMMANDS.iter().enumerate() {
            assert!(
                COMMANDS
                    .iter()
                    .skip(i + 1)
                    .all(|other| other.code != row.code),
                "{:#x} twice",
                row.code
            );
            assert!(c::name(row.code).is_some(), "{:#x} has no name", row.code);
        }
    }
}
