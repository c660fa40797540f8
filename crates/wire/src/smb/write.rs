//! WRITE (0x0B), [MS-CIFS] 2.2.4.12; WRITE_AND_UNLOCK (0x14, 2.2.4.21) has the same form, WRITE_AND_CLOSE (0x2C,
//! 2.2.4.40) a different one.

use crate::{
    block::{Block, BlockWriter},
    error::{Error, Result},
    header::Fid,
    io::Writer,
    time::Utime,
};

/// A write at a 32-bit offset. A count of zero sets the file's length to the offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// File.
    pub fid: Fid,
    /// Number of bytes to write, from the words.
    pub count: u16,
    /// Offset, bytes.
    pub offset: u32,
    /// Bytes that the client intends to write after this; advisory.
    pub remaining: u16,
    /// The data.
    pub data: &'a [u8],
}

impl<'a> Request<'a> {
    /// Decodes.
    ///
    /// # Errors
    /// [`Error::Short`]; [`Error::Outside`] if the data is shorter than the count.
    pub fn parse(block: &Block<'a>) -> Result<Self> {
        let mut words = block.words();
        let fid = Fid(words.u16("FID")?);
        let count = words.u16("count")?;
        let offset = words.u32("offset")?;
        let remaining = words.u16("remaining").unwrap_or(0);
        let mut strings = block.strings(false);
        let data = if count == 0 {
            &[]
        } else {
            strings
                .bytes(3, "buffer format")
                .and_then(|_| strings.bytes(usize::from(count), "data"))
                .map_err(|_| Error::Outside { what: "count" })?
        };
        Ok(Self {
            fid,
            count,
            offset,
            remaining,
            data,
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
        block.bytes().u8(1).u16(self.count).bytes(self.data);
        block.finish(0);
    }

    /// Appends the request up to its data, of which `count` bytes follow; `data` is left out.
    pub fn emit_head(&self, out: &mut Writer) {
        let mut block = BlockWriter::begin(out);
        block
            .words()
            .u16(self.fid.0)
            .u16(self.count)
            .u32(self.offset)
            .u16(self.remaining);
        block.bytes().u8(1).u16(self.count);
        block.finish(usize::from(self.count));
    }
}

/// WRITE_AND_CLOSE: a write, then a close with the time the client names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AndClose<'a> {
    /// File.
    pub fid: Fid,
    /// Offset, bytes.
    pub offset: u32,
    /// Time of last write to set; 0 leaves it.
    pub modified: Utime,
    /// The data.
    pub data: &'a [u8],
}

impl<'a> AndClose<'a> {
    /// Decodes, with 6 or 12 words.
    ///
    /// # Errors
    /// [`Error::Short`]; [`Error::Outside`] if the data is shorter than the count.
    pub fn parse(block: &Block<'a>) -> Result<Self> {
        let mut words = block.words();
        let fid = Fid(words.u16("FID")?);
        let count = usize::from(words.u16("count")?);
        let offset = words.u32("offset")?;
        let modified = Utime(words.u32("last write time")?);
        let mut strings = block.strings(false);
        strings.bytes(1, "pad")?;
        let data = strings
            .bytes(count, "data")
            .map_err(|_| Error::Outside { what: "count" })?;
        Ok(Self {
            fid,
            offset,
            modified,
            data,
        })
    }

    /// Appends the request, with 6 words.
    pub fn emit(&self, out: &mut Writer) {
        let mut block = BlockWriter::begin(out);
        block
            .words()
            .u16(self.fid.0)
            .u16(self.data.len() as u16)
            .u32(self.offset)
            .u32(self.modified.0);
        block.bytes().u8(0).bytes(self.data);
        block.finish(0);
    }
}

/// Decodes the reply of all three: how many bytes were written.
///
/// # Errors
/// [`Error::Short`].
pub fn parse_response(block: &Block<'_>) -> Result<u16> {
    block.word(0)
}

/// Appends the reply: how many bytes were written.
pub fn emit_response(count: u16, out: &mut Writer) {
    let mut block = BlockWriter::begin(out);
    block.words().u16(count);
    block.finish(0);
}
