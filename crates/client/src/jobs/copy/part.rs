//! What the requests of a copy are marked with, and how large its blocks are.

use crate::profile::BlockSize;

/// Marks of requests that are not data.
pub(super) const STEP: u32 = 0;
pub(super) const WATCH_FOLDER: u32 = 1;
pub(super) const WATCH: u32 = 2;
/// Marks from here on are the transfer's.
pub(super) const DATA: u32 = 16;

/// What a block of the profile's size comes to with this much room for a message.
pub(super) fn block_bytes(block: BlockSize, room: u32, headroom: u32) -> u32 {
    match block {
        BlockSize::Bytes(bytes) => bytes.max(1),
        BlockSize::Buffer(_) => room.saturating_sub(headroom).max(1),
    }
}
