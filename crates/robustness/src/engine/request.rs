//! Requests that are nearly right: words and bytes of every command by a small table, with choices in between.

use super::{
    client::Known,
    material::{data, encode, name, number, number_of},
    transaction,
};
use crate::choices::Choices;
use coax_wire::{command as c, header::HEADER_LEN};

/// How a word comes about.
#[derive(Clone, Copy, Debug)]
enum W {
    /// This value.
    Is(u16),
    /// Any of a few numbers that matter, or anything.
    Any,
    /// A FID the client was given.
    Fid,
    /// A SID the client was given.
    Sid,
    /// 0 to 255.
    Small,
    /// Length of the data bytes.
    Len,
    /// Where the data bytes begin.
    Offset,
    /// How long the path is.
    PathLen,
}

/// What the bytes are.
#[derive(Clone, Copy, Debug)]
enum B {
    None,
    /// So many strings with a buffer format of 4 before each.
    Paths(usize),
    /// A string alone.
    Name,
    /// A path, then a resume key, as SEARCH has it.
    Search,
    /// A data block: format 1 and its length before it.
    Block,
    /// Data alone.
    Data,
    /// Ranges to lock.
    Ranges,
    /// Strings of a tree connect.
    Tree,
}

use W::{Any, Fid, Is, Len, Offset, PathLen, Sid, Small};

const AX: W = Is(0x00ff);
const ZERO: W = Is(0);

type Row = (u8, &'static [W], B);

/// Commands with the words and bytes they have when they are right.
const ROWS: &[Row] = &[
    (c::CREATE_DIRECTORY, &[], B::Paths(1)),
    (c::DELETE_DIRECTORY, &[], B::Paths(1)),
    (c::OPEN, &[Any, Small], B::Paths(1)),
    (c::CREATE, &[Small, Any, Any], B::Paths(1)),
    (c::CREATE_NEW, &[Small, Any, Any], B::Paths(1)),
    (c::CREATE_TEMPORARY, &[Small, Any, Any], B::Paths(1)),
    (c::CLOSE, &[Fid, Any, Any], B::None),
    (c::FLUSH, &[Fid], B::None),
    (c::DELETE, &[Small], B::Paths(1)),
    (c::RENAME, &[Small], B::Paths(2)),
    (c::NT_RENAME, &[Small, Any, Any, Any], B::Paths(2)),
    (c::QUERY_INFORMATION, &[], B::Paths(1)),
    (
        c::SET_INFORMATION,
        &[Small, Any, Any, ZERO, ZERO, ZERO, ZERO, ZERO],
        B::Paths(1),
    ),
    (c::READ, &[Fid, Any, Any, Any, Any], B::None),
    (c::WRITE, &[Fid, Len, Any, Any, Any], B::Block),
    (c::LOCK_BYTE_RANGE, &[Fid, Any, ZERO, Any, ZERO], B::None),
    (c::UNLOCK_BYTE_RANGE, &[Fid, Any, ZERO, Any, ZERO], B::None),
    (c::LOCK_AND_READ, &[Fid, Any, Any, Any, ZERO], B::None),
    (c::WRITE_AND_UNLOCK, &[Fid, Len, Any, Any, ZERO], B::Block),
    (c::CHECK_DIRECTORY, &[], B::Paths(1)),
    (c::PROCESS_EXIT, &[], B::None),
    (c::SEEK, &[Fid, Small, Any, Any], B::None),
    (
        c::READ_RAW,
        &[Fid, Any, ZERO, Any, Any, Any, Any, ZERO],
        B::None,
    ),
    (
        c::READ_RAW,
        &[Fid, Any, ZERO, Any, Any, Any, Any, ZERO, Any, Any],
        B::None,
    ),
    (
        c::READ_MPX,
        &[Fid, Any, Any, Any, Any, Any, Any, ZERO],
        B::None,
    ),
    (
        c::WRITE_RAW,
        &[
            Fid, Any, ZERO, Any, ZERO, Any, Any, Small, ZERO, ZERO, Len, Offset,
        ],
        B::Data,
    ),
    (
        c::WRITE_RAW,
        &[
            Fid, Any, ZERO, Any, ZERO, Any, Any, Small, ZERO, ZERO, Len, Offset, Any, Any,
        ],
        B::Data,
    ),
    (
        c::WRITE_MPX,
        &[
            Fid, Any, ZERO, Any, ZERO, Any, Any, Small, ZERO, ZERO, Len, Offset,
        ],
        B::Data,
    ),
    (
        c::SET_INFORMATION2,
        &[Fid, Any, Any, Any, Any, Any, Any],
        B::None,
    ),
    (c::QUERY_INFORMATION2, &[Fid], B::None),
    (
        c::LOCKING_ANDX,
        &[AX, ZERO, Fid, Small, Any, Any, Small, Small],
        B::Ranges,
    ),
    (
        c::IOCTL,
        &[
            Fid, Any, Any, Any, Any, Any, Any, Any, Any, Any, Any, Any, Any, Any,
        ],
        B::Data,
    ),
    (c::COPY, &[Any, Any, Any], B::Paths(2)),
    (c::MOVE, &[Any, Any, Any], B::Paths(2)),
    (c::ECHO, &[Small], B::Data),
    (
        c::WRITE_AND_CLOSE,
        &[Fid, Len, Any, Any, Any, Any],
        B::Block,
    ),
    (
        c::OPEN_ANDX,
        &[
            AX, ZERO, Any, Any, Any, Any, Any, Any, Any, Any, Any, Any, Any, ZERO, ZERO,
        ],
        B::Name,
    ),
    (
        c::READ_ANDX,
        &[AX, ZERO, Fid, Any, Any, Any, Any, ZERO, ZERO, Any],
        B::None,
    ),
    (
        c::READ_ANDX,
        &[AX, ZERO, Fid, Any, Any, Any, Any, ZERO, ZERO, Any, Any, Any],
        B::None,
    ),
    (
        c::WRITE_ANDX,
        &[
            AX, ZERO, Fid, Any, ZERO, ZERO, ZERO, Small, ZERO, ZERO, Len, Offset,
        ],
        B::Data,
    ),
    (
        c::WRITE_ANDX,
        &[
            AX, ZERO, Fid, Any, Any, ZERO, ZERO, Small, ZERO, Any, Len, Offset, Any, Any,
        ],
        B::Data,
    ),
    (c::FIND_CLOSE2, &[Sid], B::None),
    (c::FIND_NOTIFY_CLOSE, &[Sid], B::None),
    (c::TREE_CONNECT, &[], B::Tree),
    (c::TREE_DISCONNECT, &[], B::None),
    (c::TREE_CONNECT_ANDX, &[AX, ZERO, Small, Is(1)], B::Tree),
    (c::LOGOFF_ANDX, &[AX, ZERO], B::None),
    (
        c::SESSION_SETUP_ANDX,
        &[AX, ZERO, Any, Is(50), Is(1), ZERO, ZERO, Any, ZERO, ZERO],
        B::Data,
    ),
    (
        c::SESSION_SETUP_ANDX,
        &[
            AX,
            ZERO,
            Any,
            Is(50),
            Is(1),
            ZERO,
            ZERO,
            Any,
            ZERO,
            ZERO,
            Any,
            Is(0x8000),
        ],
        B::Data,
    ),
    (
        c::SESSION_SETUP_ANDX,
        &[
            AX,
            ZERO,
            Any,
            Is(50),
            Is(1),
            ZERO,
            ZERO,
            Any,
            Any,
            ZERO,
            ZERO,
            Any,
            Any,
        ],
        B::Data,
    ),
    (c::QUERY_INFORMATION_DISK, &[], B::None),
    (c::SEARCH, &[Small, Small], B::Search),
    (c::FIND, &[Small, Small], B::Search),
    (c::FIND_UNIQUE, &[Small, Small], B::Search),
    (c::FIND_CLOSE, &[Small, Small], B::Search),
    (
        c::NT_CREATE_ANDX,
        &[
            AX,
            ZERO,
            PathLen,
            Small,
            ZERO,
            ZERO,
            ZERO,
            Any,
            Any,
            ZERO,
            ZERO,
            ZERO,
            ZERO,
            Small,
            ZERO,
            Small,
            ZERO,
            Small,
            ZERO,
            Any,
            Any,
            Is(2),
            ZERO,
            ZERO,
        ],
        B::Name,
    ),
    (c::NT_CANCEL, &[], B::None),
    (c::OPEN_PRINT_FILE, &[Small, Small], B::Paths(1)),
    (c::WRITE_PRINT_FILE, &[Fid], B::Block),
    (c::CLOSE_PRINT_FILE, &[Fid], B::None),
    (c::GET_PRINT_QUEUE, &[Small, Any], B::None),
    (c::NEGOTIATE, &[], B::Paths(1)),
];

const SHARES: &[&str] = &[
    "DISK",
    "IPC$",
    "\\\\COAX\\DISK",
    "\\\\COAX\\IPC$",
    "\\\\COAX\\PRINT",
    "NONE",
    "\\\\X\\",
];

/// A request's command and block.
pub fn build(choices: &mut Choices<'_>, known: &Known, unicode: bool) -> (u8, Vec<u8>) {
    let index = choices.below(ROWS.len() + 16);
    let Some((command, words, bytes)) = ROWS.get(index) else {
        return transaction::build(choices, known, unicode);
    };
    let at = HEADER_LEN + 1 + words.len() * 2 + 2;
    let (content, name_len) = contents(*bytes, choices, known, unicode, at);
    let words: Vec<u16> = words
        .iter()
        .map(|word| match word {
            Len => data_len(*bytes, &content),
            Offset => at as u16,
            PathLen => name_len as u16,
            other => value(*other, choices, known),
        })
        .collect();
    (*command, finish(words, &content, choices))
}

fn data_len(bytes: B, content: &[u8]) -> u16 {
    let head = if matches!(bytes, B::Block) { 3 } else { 0 };
    content.len().saturating_sub(head) as u16
}

fn value(word: W, choices: &mut Choices<'_>, known: &Known) -> u16 {
    match word {
        Is(value) => value,
        Fid => number_of(&known.fids, choices),
        Sid => number_of(&known.sids, choices),
        Small => u16::from(choices.u8()),
        _ => number(choices),
    }
}

fn contents(
    bytes: B,
    choices: &mut Choices<'_>,
    known: &Known,
    unicode: bool,
    at: usize,
) -> (Vec<u8>, usize) {
    let mut out = Vec::new();
    let mut name_len = 0;
    match bytes {
        B::None => {}
        B::Paths(count) => {
            for _ in 0..count {
                out.push(4);
                let path = name(choices, unicode, at + out.len());
                out.extend(path);
            }
        }
        B::Name => {
            out = name(choices, unicode, at);
            name_len = out
                .len()
                .saturating_sub(if unicode { 2 + at % 2 } else { 1 });
        }
        B::Search => out = search(choices, known, unicode, at),
        B::Block => {
            let data = data(choices);
            out = [
                &[1, data.len() as u8, (data.len() >> 8) as u8],
                data.as_slice(),
            ]
            .concat();
        }
        B::Data => out = data(choices),
        B::Ranges => (0..choices.below(5)).for_each(|_| out.extend(range(choices))),
        B::Tree => out = tree(choices, unicode, at),
    }
    (out, name_len)
}

fn search(choices: &mut Choices<'_>, known: &Known, unicode: bool, at: usize) -> Vec<u8> {
    let mut out = vec![4];
    out.extend(name(choices, unicode, at + 1));
    let key = known.resume_keys.last().filter(|_| choices.once_in(2));
    out.extend([5, key.map_or(0, |key| key.len() as u8), 0]);
    out.extend(key.into_iter().flatten());
    out
}

fn range(choices: &mut Choices<'_>) -> Vec<u8> {
    let mut range = number(choices).to_le_bytes().to_vec();
    for _ in 0..2 {
        range.extend(u32::from(number(choices)).to_le_bytes());
    }
    range
}

fn tree(choices: &mut Choices<'_>, unicode: bool, at: usize) -> Vec<u8> {
    let share = *choices.one_of(SHARES);
    match choices.below(3) {
        0 => [b"\x04", share.as_bytes(), b"\0\x04\0\x04?????\0"].concat(),
        1 => [b"\x04", share.as_bytes(), b"\0\x04Secret\0\x04A:\0"].concat(),
        _ => [&[0], encode(share, unicode, at + 1).as_slice(), b"?????\0"].concat(),
    }
}

/// The block, right or wrong: sometimes a word is another one, the byte count lies, or the end is missing.
fn finish(mut words: Vec<u16>, content: &[u8], choices: &mut Choices<'_>) -> Vec<u8> {
    let wrong = choices.u8();
    if wrong & 0xf0 == 0xf0 && !words.is_empty() {
        let index = choices.below(words.len());
        words[index] = choices.u16();
    }
    let count = if wrong & 0x0f == 0x0f {
        choices.u16()
    } else {
        content.len() as u16
    };
    let mut block = vec![words.len() as u8];
    block.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    block.extend(count.to_le_bytes());
    block.extend(content);
    if wrong == 0x5a {
        block.truncate(choices.below(256));
    }
    block
}
