//! Hex dumps of messages without authentication data.
//!
//! The dump shows bytes block by block. It withholds bytes that [`redaction`] names as authentication data, and bytes
//! outside all blocks.

use std::fmt::Write;

use coax_wire::{
    block::{Block, each_in_chain},
    command as code,
    header::{HEADER_LEN, Header},
    smb::redaction,
};

/// Bytes per line.
const WIDTH: usize = 16;

/// The header's fields.
pub(super) fn header(header: &Header) -> String {
    format!(
        "{} status={:#010x} flags={:#04x} flags2={:#06x} tid={:#06x} pid={:#x} uid={:#06x} mid={:#06x}",
        code::name(header.command).unwrap_or("unknown command"),
        header.status,
        header.flags.0,
        header.flags2.0,
        header.tid.0,
        header.pid.0,
        header.uid.0,
        header.mid.0,
    )
}

/// The words and bytes of every block, and the length of the `tail` that follows, bytes.
pub(super) fn message(command: u8, message: &[u8], tail: usize) -> String {
    let mut out = String::new();
    let mut end = HEADER_LEN;
    each_in_chain(command, message, |command, block| {
        end = block.bytes_offset.saturating_add(block.bytes.len());
        one(&mut out, command, block);
    });
    // Writing to memory does not fail.
    match message.len().saturating_sub(end) {
        0 => {}
        rest => drop(writeln!(out, "  {rest} bytes outside of any block")),
    }
    if tail > 0 {
        let _ = writeln!(out, "  {tail} bytes of file data follow");
    }
    out
}

fn one(out: &mut String, command: u8, block: &Block<'_>) {
    let name = code::name(command).unwrap_or("unknown command");
    let start = block
        .bytes_offset
        .saturating_sub(block.words.len())
        .saturating_sub(2);
    let _ = writeln!(out, "  {name}, {} words:", block.word_count());
    lines(out, start, block.words);
    let len = block.bytes.len();
    let shown = redaction::shown_bytes(command, block);
    let _ = writeln!(out, "  {name}, {len} bytes:");
    lines(
        out,
        block.bytes_offset,
        block.bytes.get(..shown).unwrap_or_default(),
    );
    match len.saturating_sub(shown) {
        0 => {}
        hidden => drop(writeln!(
            out,
            "  {hidden} bytes withheld: authentication data"
        )),
    }
}

/// `0020  ff 53 4d 42 …  .SMB…`
fn lines(out: &mut String, start: usize, bytes: &[u8]) {
    for (index, line) in bytes.chunks(WIDTH).enumerate() {
        let at = start.saturating_add(index.saturating_mul(WIDTH));
        let _ = write!(out, "  {at:04x} ");
        for byte in line {
            let _ = write!(out, " {byte:02x}");
        }
        let gap = WIDTH.saturating_sub(line.len()).saturating_mul(3);
        let text: String = line
            .iter()
            .map(|byte| match byte {
                0x20..=0x7e => char::from(*byte),
                _ => '.',
            })
            .collect();
        let _ = writeln!(out, "{:gap$}  {text}", "");
    }
}
