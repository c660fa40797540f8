//! How much data fits into a reply.

use crate::context::Call;
use coax_wire::{dialect::Generation, header::HEADER_LEN};

/// Words, counts and buffer format of READ's reply.
pub(super) const READ_OVERHEAD: usize = 1 + 10 + 2 + 3;

/// How much data fits into a reply that is no larger than what the client takes, behind what the chain has answered.
pub(super) fn room_for_data(call: &Call<'_>, overhead: usize) -> usize {
    let before = call.reply.out.len().max(HEADER_LEN);
    call.client_buffer()
        .saturating_sub(before.saturating_add(overhead))
        .max(1)
}

/// Words, counts and pad of READ_ANDX's reply.
pub(super) const READ_ANDX_OVERHEAD: usize = 1 + 24 + 2 + 1;

/// Most that fits into a NetBIOS session message of 17 length bits beside its headers.
pub(super) const LARGEST_READ: usize = 0x1_ffff - HEADER_LEN - READ_ANDX_OVERHEAD;

/// How much to read. Once CAP_LARGE_READX was offered, a read comes back full whatever the client said of its own
/// capabilities and buffer: pysmb states neither and takes a short reply for the end of the file, and Samba looks at
/// nothing but dialect and `large readwrite` either. In a chain replies share one message, which is the client's buffer.
/// The high half of the count is a timeout's for clients that do not know large reads.
pub(super) fn read_andx_count(call: &Call<'_>, max_count: u32) -> usize {
    use coax_wire::{command::READ_ANDX, smb::negotiate::cap};
    let count = match call.conn.client.capabilities & cap::LARGE_READX {
        0 => max_count & 0xffff,
        _ => max_count,
    };
    let offered = call.generation() == Generation::Nt && call.conn.server.config.large_readwrite;
    let alone = call.header.command == READ_ANDX && call.block.andx().is_none();
    let limit = if offered && alone {
        LARGEST_READ
    } else {
        room_for_data(call, READ_ANDX_OVERHEAD)
    };
    (count as usize).min(limit)
}
