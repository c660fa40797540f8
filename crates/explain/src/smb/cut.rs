//! Estimates for the words that the capture cut off a request or its answer.

use coax_wire::{command as code, header::HEADER_LEN};

use crate::session::Message;

use super::{
    kept::{Known, WORDS},
    op::{Answer, Op, What},
};

/// What is known from elsewhere.
#[derive(Clone, Copy, Debug)]
pub(super) struct Elsewhere {
    /// The file that was opened or used last.
    pub(super) fid: Option<u16>,
    /// The most that one read brought, bytes.
    pub(super) read: u64,
    /// Bytes that this client puts between a write's words and its data.
    pub(super) write_padding: u64,
    /// Where the transfer before it ended and how much it moved, if it was of the same kind and that is known.
    pub(super) before: Option<(u64, u64)>,
}

/// Whether the capture cut off words that describe a transfer.
pub(super) fn is_cut(message: &Message<'_>) -> bool {
    const COUNT_AND_WORDS: usize = 1 + 20;
    let needed = HEADER_LEN + COUNT_AND_WORDS;
    message.head.len() < needed && message.len >= needed as u64
}

/// Mends the first command of a message of `len` bytes of which `head` was kept.
pub(super) fn infer_truncated(op: &mut Op, head: &[u8], len: u64, elsewhere: &Elsewhere) {
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
            _ => beyond_words(head, len).saturating_sub(elsewhere.write_padding),
        };
    }
}

/// Mends the answer to `op` of which the first `kept` bytes are there.
pub(super) fn infer_truncated_response(op: &Op, answer: &mut Answer, kept: usize) {
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

/// What a write brings besides its words and byte count.
fn beyond_words(head: &[u8], len: u64) -> u64 {
    let words = head.get(HEADER_LEN).copied().unwrap_or_default();
    let before = (WORDS as u64)
        .saturating_add(u64::from(words) * 2)
        .saturating_add(2);
    len.saturating_sub(before)
}

/// How many bytes a client puts before a write's data, up to three, to align them: what is left of a write beyond whole disk
/// blocks, of which most writes are.
pub(super) fn padding(op: &Op, head: &[u8], len: u64) -> Option<u64> {
    let bytes = beyond_words(head, len);
    let is_cut = (head.len() as u64) < len;
    let tells = op.name.command == code::WRITE_ANDX && is_cut && bytes > 512 && bytes % 512 <= 3;
    tells.then_some(bytes % 512)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_brings_what_is_not_words_nor_what_aligns_its_data() {
        let mut head = [0; 40];
        head[4] = code::WRITE_ANDX;
        head[HEADER_LEN] = 14;
        // 32 of header, 1, 28 of words, 2, and one to align
        assert_eq!(beyond_words(&head, 63 + 4096), 4096);
        let op = Op::new(code::WRITE_ANDX, What::Write);
        assert_eq!(padding(&op, &head, 64 + 4096), Some(1));
        assert_eq!(padding(&op, &head, 63 + 4096), Some(0));
        assert_eq!(padding(&op, &head, 64 + 840), None);
        assert_eq!(
            padding(&Op::new(code::WRITE, What::Write), &head, 64 + 4096),
            None
        );
    }
}
