//! CLOSE (0x04), [MS-CIFS] 2.2.4.5.

use crate::{
    block::{Block, BlockWriter},
    error::Result,
    header::Fid,
    io::Writer,
    time::Utime,
};

/// A close.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// File.
    pub fid: Fid,
    /// Time of last write to set; 0 and 0xFFFFFFFF leave it.
    pub modified: Utime,
}

impl Request {
    /// Decodes. Some clients leave out the time.
    ///
    /// # Errors
    /// [`crate::Error::Short`].
    pub fn parse(block: &Block<'_>) -> Result<Self> {
        let mut words = block.words();
        Ok(Self {
            fid: Fid(words.u16("FID")?),
            modified: Utime(words.u32("last write time").unwrap_or(0)),
        })
    }

    /// Appends the request.
    pub fn emit(&self, out: &mut Writer) {
        let mut block = BlockWriter::begin(out);
        block.words().u16(self.fid.0).u32(self.modified.0);
        block.finish(0);
    }
}
