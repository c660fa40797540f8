//! QUERY_INFORMATION_DISK (0x80), [MS-CIFS] 2.2.4.57. The request is an empty block.

use crate::{
    block::{Block, BlockWriter},
    error::Result,
    io::Writer,
};

/// The reply. All counts have 16 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Response {
    /// Size of the disk, allocation units.
    pub total_units: u16,
    /// Blocks in an allocation unit.
    pub blocks_per_unit: u16,
    /// Size of a block, bytes.
    pub block_size: u16,
    /// Free allocation units.
    pub free_units: u16,
}

impl Response {
    /// Decodes.
    ///
    /// # Errors
    /// [`crate::Error::Short`].
    pub fn parse(block: &Block<'_>) -> Result<Self> {
        let mut words = block.words();
        Ok(Self {
            total_units: words.u16("total units")?,
            blocks_per_unit: words.u16("blocks per unit")?,
            block_size: words.u16("block size")?,
            free_units: words.u16("free units")?,
        })
    }

    /// Appends the reply.
    pub fn emit(&self, out: &mut Writer) {
        let mut block = BlockWriter::begin(out);
        block
            .words()
            .u16(self.total_units)
            .u16(self.blocks_per_unit)
            .u16(self.block_size)
            .u16(self.free_units)
            .u16(0);
        block.finish(0);
    }
}
