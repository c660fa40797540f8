//! FLUSH (0x05), [MS-CIFS] 2.2.4.6. The reply is an empty block.

use crate::{
    block::{Block, BlockWriter},
    error::Result,
    header::Fid,
    io::Writer,
};

/// Requests that written data be flushed to disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// File; 0xFFFF for all that the client's process has open.
    pub fid: Fid,
}

impl Request {
    /// Decodes.
    ///
    /// # Errors
    /// [`crate::Error::Short`].
    pub fn parse(block: &Block<'_>) -> Result<Self> {
        block.word(0).map(|fid| Self { fid: Fid(fid) })
    }

    /// Appends the request.
    pub fn emit(&self, out: &mut Writer) {
        let mut block = BlockWriter::begin(out);
        block.words().u16(self.fid.0);
        block.finish(0);
    }
}
