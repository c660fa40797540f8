//! READ (0x0A), [MS-CIFS] 2.2.4.11; LOCK_AND_READ (0x13, 2.2.4.20) has the same form.

use crate::{
    block::{Block, BlockWriter},
    error::Result,
    header::Fid,
    io::Writer,
};
use core::ops::Range;

/// A read at a 32-bit offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// File.
    pub fid: Fid,
    /// Bytes wanted.
    pub count: u16,
    /// Offset, bytes.
    pub offset: u32,
    /// Bytes that the client intends to read after this; advisory.
    pub remaining: u16,
}

impl Request {
    /// Decodes.
    ///
    /// # Errors
    /// [`crate::Error::Short`].
    pub fn parse(block: &Block<'_>) -> Result<Self> {
        let mut words = block.words();
        Ok(Self {
            fid: Fid(words.u16("FID")?),
            count: words.u16("count")?,
            offset: words.u32("offset")?,
            remaining: words.u16("remaining").unwrap_or(0),
        })
    }

    /// Appends the request.
    pub fn emit(&self, out: &mut Writer) {
        let mut block = BlockWriter::begin(out);
        block
            .words()
            .u16(self.fid.0)
            .u16(self.count)
            .u32(self.offset)
            .u16(self.remaining);
        block.finish(0);
    }
}

/// The reply: the position of its data in the message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// The data's place, bytes from the header's first. Empty at the end of the file.
    pub data: Range<usize>,
}

impl Response {
    /// Decodes.
    ///
    /// # Errors
    /// [`crate::Error::Short`]; [`crate::Error::Outside`] if the data is shorter than the words declare.
    pub fn parse(block: &Block<'_>) -> Result<Self> {
        let count = usize::from(block.word(0)?);
        let start = block.bytes_offset.saturating_add(DATA_HEAD);
        let data = block.range(start, count, "data")?;
        Ok(Self { data })
    }
}

/// Bytes before the data: buffer format and length.
const DATA_HEAD: usize = 3;

/// Appends the reply's block up to its data, of which `count` bytes follow.
pub fn emit_response(count: u16, out: &mut Writer) {
    let mut block = BlockWriter::begin(out);
    block.words().u16(count).zeros(8);
    block.bytes().u8(1).u16(count);
    block.finish(usize::from(count));
}
