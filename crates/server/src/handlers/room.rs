//! The data capacity of a reply.

use crate::context::{Call, Carriage};
use coax_wire::{dialect::Generation, header::HEADER_LEN};

/// Words, counts and buffer format of READ's reply.
pub(super) const READ_OVERHEAD: usize = 1 + 10 + 2 + 3;

/// Data capacity of a reply within the client's buffer, after the chain's earlier replies.
pub(super) fn room_for_data(call: &Call<'_>, overhead: usize) -> usize {
    let before = call.reply.out.len().max(HEADER_LEN);
    call.client_buffer()
        .saturating_sub(before.saturating_add(overhead))
        .max(1)
}

/// Words, counts and pad of READ_ANDX's reply.
pub(super) const READ_ANDX_OVERHEAD: usize = 1 + 24 + 2 + 1;

/// Most data in a NetBIOS session message with a 17-bit length, less its headers.
pub(super) const LARGEST_READ: usize = 0x1_ffff - HEADER_LEN - READ_ANDX_OVERHEAD;

/// Length of a read. If the server offered CAP_LARGE_READX, it returns the full length, whatever the client's own
/// capabilities and buffer: pysmb sends neither and takes a short reply for the end of the file. Samba also checks only
/// the dialect and `large readwrite`. In a chain, all replies share one message of the client's buffer size. For
/// clients without large reads, the high half of the count belongs to a timeout.
pub(super) fn read_andx_count(call: &Call<'_>, max_count: u32) -> usize {
    use coax_wire::{command::READ_ANDX, smb::negotiate::cap};
    let count = match call.conn.client.capabilities & cap::LARGE_READX {
        0 => max_count & 0xffff,
        _ => max_count,
    };
    let carriage = call.conn.peer.carriage;
    let large =
        call.conn.server.config.large_readwrite && !matches!(carriage, Carriage::Packets(_));
    let offered = call.generation() == Generation::Nt && large;
    let alone = call.header.command == READ_ANDX && call.block.andx().is_none();
    let limit = if offered && alone {
        let whole = carriage.max_message().unwrap_or(usize::MAX);
        LARGEST_READ.min(whole.saturating_sub(HEADER_LEN + READ_ANDX_OVERHEAD))
    } else {
        room_for_data(call, READ_ANDX_OVERHEAD)
    };
    (count as usize).min(limit)
}
