//! Requests of which the capture kept only the first bytes: which of their words are there, and what stands in for the
//! others. A packet of 96 bytes holds an SMB header and a few words.

use coax_wire::{command as code, header::HEADER_LEN};

use super::op::{Answer, Op, What};

/// Where the words begin.
const WORDS: usize = HEADER_LEN + 1;

/// Which words of a transfer were kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    pub(crate) fid: bool,
    pub(crate) offset: bool,
    pub(crate) count: bool,
}

impl Known {
    pub(super) const ALL: Self = Self {
        fid: true,
        offset: true,
        count: true,
    };

    /// What the first `kept` bytes of a message of `len` bytes hold of this command's words.
    fn of(command: u8, kept: usize, len: u64) -> Self {
        if kept as u64 >= len {
            return Self::ALL;
        }
        // where FID, offset and count end, in bytes from the first word ([MS-CIFS] 2.2.4.x, [MS-SMB] 2.2.4.2, 2.2.4.3)
        let (fid, offset, count) = match command {
            code::READ | code::LOCK_AND_READ => (2, 8, 4),
            code::WRITE | code::WRITE_AND_UNLOCK | code::WRITE_AND_CLOSE => (2, 8, 4),
            code::READ_ANDX => (6, 24, 18),
            code::WRITE_ANDX => (6, 28, 22),
            code::READ_RAW | code::READ_MPX => (2, 20, 8),
            code::WRITE_RAW | code::WRITE_MPX => (2, 24, 4),
            _ => return Self::ALL,
        };
        let is_kept = |end: usize| kept >= WORDS.saturating_add(end);
        Self {
            fid: is_kept(fid),
            offset: is_kept(offset),
            count: is_kept(count),
        }
    }
}

/// What is known from elsewhere.
#[derive(Clone, Copy, Debug)]
pub(super) struct Elsewhere {
    /// The file that was opened or used last.
    pub(super) fid: Option<u16>,
    /// The most that one read brought, bytes.
    pub(super) read: u64,
    /// Where the transfer before it ended and how much it moved, if it was of the same kind and that is known.
    pub(super) before: Option<(u64, u64)>,
}

/// Mends the first command of a message of `len` bytes of which `head` was kept.
pub(super) fn mend(op: &mut Op, head: &[u8], len: u64, elsewhere: &Elsewhere) {
    if head.len() as u64 >= len {
        return;
    }
    let command = op.name.command;
    if op.what == What::Other {
        op.what = kind(command);
    }
    op.known = Known::of(command, head.len(), len);
    if !op.known.fid {
        op.fid = elsewhere.fid.unwrap_or(op.fid);
    }
    if let (Some((end, count)), Known { offset: false, .. }) = (elsewhere.before, op.known) {
        (op.offset, op.count) = (end, count);
        (op.known.offset, op.known.count) = (true, true);
    }
    if !op.known.count {
        op.count = match op.what {
            What::Read => elsewhere.read,
            _ => brought(head, len),
        };
    }
}

/// Mends the answer to `op` of which the first `kept` bytes are there.
pub(super) fn mend_answer(op: &Op, answer: &mut Answer, kept: usize) {
    let is_kept = |end: usize| kept >= WORDS.saturating_add(end);
    match op.name.command {
        // the count is the third word ([MS-CIFS] 2.2.4.43.2)
        code::WRITE_ANDX if !is_kept(6) => answer.bytes = op.count,
        command => {
            // where the FID ends ([MS-CIFS] 2.2.4.41.2, 2.2.4.64.2)
            let fid = match command {
                code::NT_CREATE_ANDX => 7,
                code::OPEN_ANDX => 6,
                _ => 2,
            };
            if let Some(opened) = &mut answer.opened {
                opened.is_sure = is_kept(fid);
            }
        }
    }
}

/// What a command does whose words cannot be read.
fn kind(command: u8) -> What {
    match command {
        code::READ | code::LOCK_AND_READ | code::READ_ANDX | code::READ_RAW | code::READ_MPX => {
            What::Read
        }
        code::WRITE | code::WRITE_AND_UNLOCK | code::WRITE_ANDX => What::Write,
        code::WRITE_RAW | code::WRITE_MPX => What::Write,
        code::WRITE_AND_CLOSE => What::WriteAndClose,
        code::OPEN | code::OPEN_ANDX | code::NT_CREATE_ANDX => What::Open(String::new()),
        code::CREATE | code::CREATE_NEW | code::CREATE_TEMPORARY => What::Open(String::new()),
        _ => What::Other,
    }
}

/// What a write brings besides its words and byte count. Clients put up to three bytes before the data.
fn brought(head: &[u8], len: u64) -> u64 {
    let words = head.get(HEADER_LEN).copied().unwrap_or_default();
    let before = (WORDS as u64)
        .saturating_add(u64::from(words) * 2)
        .saturating_add(2);
    let bytes = len.saturating_sub(before);
    match bytes % 512 {
        padding @ 1..=3 if bytes > 512 => bytes.saturating_sub(padding),
        _ => bytes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_kept_of_a_read_is_known_word_by_word() {
        let known = |kept| Known::of(code::READ_ANDX, kept, 59);
        let all = |known: Known| (known.fid, known.offset, known.count);
        assert_eq!(all(known(38)), (false, false, false));
        assert_eq!(all(known(40)), (true, false, false));
        assert_eq!(all(known(51)), (true, false, true));
        assert_eq!(all(known(59)), (true, true, true));
    }

    #[test]
    fn a_write_brings_what_is_not_words() {
        let mut head = [0; 40];
        head[HEADER_LEN] = 14;
        // 32 of header, 1, 28 of words, 2, and one to align
        assert_eq!(brought(&head, 64 + 4096), 4096);
        head[HEADER_LEN] = 12;
        assert_eq!(brought(&head, 59 + 1000), 1000);
    }
}
