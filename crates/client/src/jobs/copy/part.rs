//! Tags of a copy's requests, and block sizes.

use crate::profile::BlockSize;

/// Tags of requests without data.
pub(super) const STEP: u32 = 0;
pub(super) const WATCH_FOLDER: u32 = 1;
pub(super) const WATCH: u32 = 2;
/// Tags from here on belong to the data transfer.
pub(super) const DATA: u32 = 16;

/// The size of a block with this profile setting and message size.
pub(super) fn block_bytes(block: BlockSize, room: u32, headroom: u32) -> u32 {
    match block {
        BlockSize::Bytes(bytes) => bytes.max(1),
        BlockSize::Buffer(_) => room.saturating_sub(headroom).max(1),
    }
}
