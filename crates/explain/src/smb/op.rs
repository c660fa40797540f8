//! What a request asks for and what its answer says: one [`Op`] for each command of a message's chain.

use coax_wire::{
    Result,
    block::{Block, WireStr, each_in_chain},
    command as code,
    header::Header,
    smb::{
        close, flush, nt_create_andx, open, open_andx, print, read, read_andx, read_raw,
        subcommand::MAILSLOT_WRITE,
        transaction::{self, Kind},
        tree_connect, tree_connect_andx, write, write_andx, write_raw,
    },
};

use super::{
    aim::Names,
    kept::{Kept, Known},
    name::Name,
};

/// A level II oplock ([MS-CIFS] 2.2.4.64.2).
const LEVEL_TWO: u8 = 3;
/// The FID that stands for the file opened earlier in the same chain ([MS-CIFS] 2.2.3.4).
pub(crate) const CHAINED_FID: u16 = 0xffff;

/// What a command does, as far as copies go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// Opens or creates a file of this name.
    Open(String),
    /// Closes one.
    Close,
    /// Asks for `count` bytes at `offset`.
    Read,
    /// Brings them.
    Write,
    /// Writes and closes.
    WriteAndClose,
    /// Wants on the disk what was written.
    Flush,
    /// Connects to this share.
    TreeConnect(String),
    /// A transaction with parameters and data of this total length.
    Transaction(u64),
    /// Anything else.
    Other,
}

/// One command of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Op {
    pub(crate) name: Name,
    pub(crate) what: What,
    pub(crate) fid: u16,
    pub(crate) offset: u64,
    pub(crate) count: u64,
    /// Bytes of a file in this very message.
    pub(crate) carried: u64,
    /// A write that asks for the disk; a raw one is confirmed at its end then.
    pub(crate) write_through: bool,
    /// Which of the above the capture kept.
    pub(crate) known: Known,
}

impl Op {
    pub(super) fn new(command: u8, what: What) -> Self {
        let name = Name {
            command,
            function: None,
        };
        Self {
            name,
            what,
            fid: CHAINED_FID,
            offset: 0,
            count: 0,
            carried: 0,
            write_through: false,
            known: Known::ALL,
        }
    }

    fn transfer(command: u8, what: What, fid: u16, offset: u64, count: u64) -> Self {
        Self {
            fid,
            offset,
            count,
            ..Self::new(command, what)
        }
    }

    /// Whether it moves file data.
    pub(crate) fn is_data(&self) -> bool {
        matches!(self.what, What::Read | What::Write | What::WriteAndClose)
    }
}

/// The commands of a request, in order.
pub(crate) fn request(header: &Header, message: &Kept<'_>) -> Vec<Op> {
    let mut ops = Vec::with_capacity(1);
    each_in_chain(header.command, message.message, |command, block| {
        let op = one(command, block, header.unicode(), message);
        ops.push(op.unwrap_or_else(|_| Op::new(command, What::Other)));
    });
    ops
}

fn one(command: u8, block: &Block<'_>, unicode: bool, message: &Kept<'_>) -> Result<Op> {
    Ok(match command {
        code::READ | code::LOCK_AND_READ | code::READ_ANDX | code::READ_RAW | code::READ_MPX => {
            reading(command, block)?
        }
        code::WRITE
        | code::WRITE_AND_UNLOCK
        | code::WRITE_AND_CLOSE
        | code::WRITE_ANDX
        | code::WRITE_RAW
        | code::WRITE_MPX
        | code::WRITE_PRINT_FILE => writing(command, block)?,
        code::CLOSE | code::CLOSE_PRINT_FILE => {
            let fid = close::Request::parse(block)?.fid.0;
            Op {
                fid,
                ..Op::new(command, What::Close)
            }
        }
        code::FLUSH => Op {
            fid: flush::Request::parse(block)?.fid.0,
            ..Op::new(command, What::Flush)
        },
        code::TREE_CONNECT => Op::new(
            command,
            What::TreeConnect(message.text(tree_connect::Request::parse(block)?.path)),
        ),
        code::TREE_CONNECT_ANDX => {
            let path = tree_connect_andx::Request::parse(block, unicode)?.path;
            Op::new(command, What::TreeConnect(message.text(path)))
        }
        code::TRANSACTION | code::TRANSACTION2 | code::NT_TRANSACT => {
            transacting(command, block, unicode, message)?
        }
        _ => match opening(command, block, unicode)? {
            Some(path) => Op::new(command, What::Open(message.text(path))),
            None => Op::new(command, What::Other),
        },
    })
}

fn reading(command: u8, block: &Block<'_>) -> Result<Op> {
    let (fid, offset, count) = match command {
        code::READ | code::LOCK_AND_READ => {
            let request = read::Request::parse(block)?;
            (
                request.fid,
                u64::from(request.offset),
                u64::from(request.count),
            )
        }
        code::READ_ANDX => {
            let request = read_andx::Request::parse(block)?;
            (request.fid, request.offset, u64::from(request.max_count))
        }
        // READ_MPX has the words of READ_RAW ([MS-CIFS] 2.2.4.23.1)
        _ => {
            let request = read_raw::Request::parse(block)?;
            (request.fid, request.offset, u64::from(request.max_count))
        }
    };
    Ok(Op::transfer(command, What::Read, fid.0, offset, count))
}

fn writing(command: u8, block: &Block<'_>) -> Result<Op> {
    let write = |fid: u16, offset, count| Op::transfer(command, What::Write, fid, offset, count);
    Ok(match command {
        code::WRITE | code::WRITE_AND_UNLOCK => {
            let request = write::Request::parse(block)?;
            write(
                request.fid.0,
                u64::from(request.offset),
                u64::from(request.count),
            )
        }
        code::WRITE_AND_CLOSE => {
            let request = write::AndClose::parse(block)?;
            let count = request.data.len() as u64;
            Op {
                what: What::WriteAndClose,
                ..write(request.fid.0, u64::from(request.offset), count)
            }
        }
        code::WRITE_ANDX => {
            let request = write_andx::Request::parse(block)?;
            Op {
                write_through: request.mode & write_andx::mode::WRITE_THROUGH != 0,
                ..write(request.fid.0, request.offset, request.data.len() as u64)
            }
        }
        code::WRITE_PRINT_FILE => {
            let request = print::Write::parse(block)?;
            write(request.fid.0, 0, request.data.len() as u64)
        }
        _ => writing_raw(command, block)?,
    })
}

/// WRITE_MPX has the words of WRITE_RAW ([MS-CIFS] 2.2.4.26.1), its mask where those are reserved.
fn writing_raw(command: u8, block: &Block<'_>) -> Result<Op> {
    let request = write_raw::Request::parse(block)?;
    let (fid, count) = (request.fid.0, u64::from(request.count));
    Ok(Op {
        carried: request.data.len() as u64,
        write_through: request.mode & write_raw::mode::WRITE_THROUGH != 0,
        ..Op::transfer(command, What::Write, fid, request.offset, count)
    })
}

fn opening<'a>(command: u8, block: &Block<'a>, unicode: bool) -> Result<Option<WireStr<'a>>> {
    Ok(Some(match command {
        code::OPEN => open::Open::parse(block, unicode)?.path,
        code::CREATE | code::CREATE_NEW | code::CREATE_TEMPORARY => {
            open::Create::parse(block, unicode)?.path
        }
        code::OPEN_ANDX => open_andx::Request::parse(block, unicode)?.path,
        code::NT_CREATE_ANDX => nt_create_andx::Request::parse(block, unicode)?.path,
        code::OPEN_PRINT_FILE => print::Open::parse(block, unicode)?.identifier,
        _ => return Ok(None),
    }))
}

fn transacting(command: u8, block: &Block<'_>, unicode: bool, message: &Kept<'_>) -> Result<Op> {
    let kind = Kind::of(command).unwrap_or(Kind::Transaction);
    let request = transaction::Request::parse(kind, block, unicode)?;
    let total = u64::from(request.total_parameters) + u64::from(request.total_data);
    let carried = (request.parameters.len() + request.data.len()) as u64;
    let function = function(kind, &request, block, message);
    Ok(Op {
        name: Name { command, function },
        carried,
        ..Op::new(command, What::Transaction(total))
    })
}

/// What a transaction is for, if it says so where the capture kept it.
fn function(
    kind: Kind,
    request: &transaction::Request<'_>,
    block: &Block<'_>,
    message: &Kept<'_>,
) -> Option<u16> {
    /// What names of mailslots begin with ([MS-CIFS] 2.2.1.1.3).
    const MAILSLOT: &str = "\\MAILSLOT";
    // the last of the fixed words ([MS-CIFS] 2.2.4.62.1)
    const NT_FUNCTION: usize = 2 * 18 + 2;
    if kind == Kind::NtTransact {
        let words = block.words.get(..NT_FUNCTION)?;
        return message.has(words, 0).then_some(request.function);
    }
    let setup = request.setup.first_chunk::<2>()?;
    let code = u16::from_le_bytes(*setup);
    if !message.has(setup, 0) {
        return None;
    }
    let name = message.text(request.name).to_ascii_uppercase();
    let is_mail = kind == Kind::Transaction && code == 1 && name.starts_with(MAILSLOT);
    Some(if is_mail { MAILSLOT_WRITE } else { code })
}

/// What an answer's block says about the command it answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Answer {
    /// Bytes of a file that were read or written.
    pub(crate) bytes: u64,
    /// The file that was opened.
    pub(crate) opened: Option<Opened>,
    /// Parameter and data bytes of a transaction in this message, and in all.
    pub(crate) pieces: Option<(u64, u64)>,
    /// Names of a listing.
    pub(crate) names: Option<Names>,
    /// The tree that was connected is a printer.
    pub(crate) is_printer: bool,
}

/// What an open's answer says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Opened {
    pub(crate) fid: u16,
    /// Whether all of its number was kept.
    pub(crate) is_sure: bool,
    pub(crate) size: Option<u64>,
    /// Whether it is a file on a disk (or a print job): not a pipe, not a folder.
    pub(crate) is_file: bool,
    /// Whether the client got a level II oplock.
    pub(crate) has_level_two: bool,
}

/// Decodes the answer to `op`.
pub(crate) fn answer(op: &Op, command: u8, block: &Block<'_>) -> Answer {
    let bytes = match (&op.what, command) {
        (What::Read, _) => bytes_read(command, block),
        (What::Write | What::WriteAndClose, _) => bytes_written(op, command, block),
        _ => Ok(0),
    };
    let kind = Kind::of(command);
    let pieces = kind.and_then(|kind| transaction::Response::parse(kind, block).ok()?);
    Answer {
        bytes: bytes.unwrap_or(0),
        opened: opened(command, block).ok().flatten(),
        names: Names::of(op.name, block),
        is_printer: is_printer(command, block),
        pieces: pieces.map(|pieces| {
            let here = (pieces.parameters.len() + pieces.data.len()) as u64;
            (
                here,
                u64::from(pieces.total_parameters) + u64::from(pieces.total_data),
            )
        }),
    }
}

/// Whether a tree is a printer ([MS-CIFS] 2.2.4.55.2).
fn is_printer(command: u8, block: &Block<'_>) -> bool {
    const PRINTER: &[u8] = b"LPT1:";
    let is_tree = command == code::TREE_CONNECT_ANDX;
    let response = is_tree.then(|| tree_connect_andx::Response::parse(block, false));
    response.is_some_and(|response| response.is_ok_and(|response| response.service == PRINTER))
}

fn bytes_read(command: u8, block: &Block<'_>) -> Result<u64> {
    Ok(match command {
        code::READ | code::LOCK_AND_READ => read::Response::parse(block)?.data.len() as u64,
        code::READ_ANDX => read_andx::Response::parse(block)?.data.len() as u64,
        // the data length of READ_MPX ([MS-CIFS] 2.2.4.23.2)
        code::READ_MPX => u64::from(block.word(6)?),
        _ => 0,
    })
}

fn bytes_written(op: &Op, command: u8, block: &Block<'_>) -> Result<u64> {
    let said = match command {
        code::WRITE_ANDX => {
            let response = write_andx::Response::parse(block)?;
            match u64::from(response.count) {
                count if count <= op.count => count,
                _ => u64::from(response.count_low()),
            }
        }
        // these say nothing of bytes
        code::WRITE_PRINT_FILE | code::WRITE_MPX => op.count,
        _ => u64::from(write::parse_response(block)?),
    };
    Ok(said.min(op.count))
}

fn opened(command: u8, block: &Block<'_>) -> Result<Option<Opened>> {
    Ok(Some(match command {
        code::OPEN => {
            let response = open::OpenResponse::parse(block)?;
            Opened {
                fid: response.fid.0,
                is_sure: true,
                size: Some(u64::from(response.size)),
                is_file: true,
                has_level_two: false,
            }
        }
        code::CREATE | code::CREATE_NEW | code::CREATE_TEMPORARY | code::OPEN_PRINT_FILE => {
            Opened {
                fid: open::parse_create_response(block)?.0,
                is_sure: true,
                size: None,
                is_file: true,
                has_level_two: false,
            }
        }
        code::OPEN_ANDX => {
            let response = open_andx::Response::parse(block)?;
            Opened {
                fid: response.fid.0,
                is_sure: true,
                size: Some(u64::from(response.size)),
                is_file: matches!(response.resource_type, 0 | 3),
                has_level_two: false,
            }
        }
        code::NT_CREATE_ANDX => {
            let response = nt_create_andx::Response::parse(block)?;
            Opened {
                fid: response.fid.0,
                is_sure: true,
                size: Some(response.size),
                is_file: response.resource_type == 0 && !response.directory,
                has_level_two: response.oplock == LEVEL_TWO,
            }
        }
        _ => return Ok(None),
    }))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;

    fn only(command: u8, words: &[u16]) -> Op {
        let mut message = b"\xffSMB".to_vec();
        message.resize(coax_wire::header::HEADER_LEN, 0);
        message[4] = command;
        message.push(words.len() as u8);
        message.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        message.extend([0, 0]);
        let header = Header::parse(&message).unwrap();
        request(&header, &Kept::of(&message, message.len())).remove(0)
    }

    #[test]
    fn a_flush_is_about_its_file() {
        let op = only(code::FLUSH, &[0x4001]);
        assert_eq!(
            (op.what.clone(), op.fid, op.is_data()),
            (What::Flush, 0x4001, false)
        );
    }

    #[test]
    fn a_write_that_asks_for_the_disk_is_told_from_one_that_does_not() {
        for (mode, through) in [(0, false), (1, true), (2, false), (9, true)] {
            let words = [0xff, 0, 0x4001, 0, 0, 0, 0, mode, 0, 0, 0, 59];
            let op = only(code::WRITE_ANDX, &words);
            assert_eq!(
                (op.what.clone(), op.write_through),
                (What::Write, through),
                "{mode}"
            );
        }
    }
}
