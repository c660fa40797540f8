//! SEEK (0x12), [MS-CIFS] 2.2.4.19.

use crate::{
    block::{Block, BlockWriter},
    error::Result,
    header::Fid,
    io::Writer,
};

/// A move of the file's position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// File.
    pub fid: Fid,
    /// 0: from the beginning; 1: from the position; 2: from the end.
    pub mode: u16,
    /// Distance, bytes.
    pub offset: i32,
}

impl Request {
    /// Decodes.
    ///
    /// # Errors
    /// [`crate::Error::Short`].
    pub fn parse(block: &Block<'_>) -> Result<Self> {
        let mut words = block.words();
        let fid = Fid(words.u16("FID")?);
        let mode = words.u16("mode")?;
        Ok(Self {
            fid,
            mode,
            offset: words.u32("offset")? as i32,
        })
    }

    /// Appends the request.
    pub fn emit(&self, out: &mut Writer) {
        let mut block = BlockWriter::begin(out);
        block
            .words()
            .u16(self.fid.0)
            .u16(self.mode)
            .u32(self.offset as u32);
        block.finish(0);
    }
}

/// Decodes the reply: the new position.
///
/// # Errors
/// [`crate::Error::Short`].
pub fn parse_response(block: &Block<'_>) -> Result<u32> {
    block.words().u32("position")
}

/// Appends the reply: the new position.
pub fn emit_response(position: u32, out: &mut Writer) {
    let mut block = BlockWriter::begin(out);
    block.words().u32(position);
    block.finish(0);
}
