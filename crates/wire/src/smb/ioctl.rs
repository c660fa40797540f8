//! IOCTL (0x27), [MS-CIFS] 2.2.4.35: device control of LAN Manager 1.0, of which print queues use one function.

use crate::{
    block::{Block, BlockWriter},
    error::Result,
    header::Fid,
    io::Writer,
};

/// Category of a spooler's functions.
pub const CATEGORY_PRINTER: u16 = 0x0053;
/// Function: the number of a print job.
pub const GET_PRINTER_ID: u16 = 0x0060;

/// The request. Of its data blocks no function served has any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// File or print job.
    pub fid: Fid,
    /// Device type.
    pub category: u16,
    /// Function.
    pub function: u16,
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
            category: words.u16("category")?,
            function: words.u16("function")?,
        })
    }

    /// Appends the request with 14 words. Those about parameters and data are 0, except for the requested amount of
    /// data.
    pub fn emit(&self, max_data: u16, out: &mut Writer) {
        let mut block = BlockWriter::begin(out);
        let words = block.words();
        words.u16(self.fid.0).u16(self.category).u16(self.function);
        words.zeros(6).u16(max_data).zeros(14);
        block.finish(0);
    }
}

/// The reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Response<'a> {
    /// The function's result: for [`GET_PRINTER_ID`] the job's number, server and queue.
    pub data: &'a [u8],
}

impl<'a> Response<'a> {
    /// Decodes, with 8 words.
    ///
    /// # Errors
    /// [`crate::Error::Short`]; [`crate::Error::Outside`] if the data is outside the message.
    pub fn parse(block: &Block<'a>) -> Result<Self> {
        let (len, offset) = (block.word(5)?, block.word(6)?);
        let data = block.slice(usize::from(offset), usize::from(len), "data")?;
        Ok(Self { data })
    }

    /// Appends the reply.
    pub fn emit(&self, out: &mut Writer) {
        let data_offset = out.len() + 1 + 16 + 2;
        let mut block = BlockWriter::begin(out);
        let len = self.data.len() as u16;
        let words = block.words();
        words.u16(0).u16(len).zeros(6);
        words.u16(len).u16(data_offset as u16).u16(0);
        block.bytes().bytes(self.data);
        block.finish(0);
    }
}
