//! The commands of a chain.

use coax_wire::{block::Block, command as code, header::HEADER_LEN};

/// Maximum number of chained commands decoded.
const MAX_CHAIN: usize = 8;

/// Calls `each` with the commands of a chain and their blocks.
pub(super) fn each_block<'a>(command: u8, message: &'a [u8], mut each: impl FnMut(u8, &Block<'a>)) {
    let mut at = (command, HEADER_LEN);
    for _ in 0..MAX_CHAIN {
        let Ok(block) = Block::at(message, at.1) else {
            return;
        };
        each(at.0, &block);
        match block.andx() {
            Some(next) if code::is_andx(at.0) && next.1 > at.1 => at = next,
            _ => return,
        }
    }
}
