//! OPEN_PRINT_FILE (0xC0), WRITE_PRINT_FILE (0xC1), CLOSE_PRINT_FILE (0xC2), GET_PRINT_QUEUE (0xC3): [MS-CIFS] 2.2.4.67 to
//! 2.2.4.69; the queue: SMB-CORE 5.27.

use crate::{
    block::{Block, BlockWriter, WireStr},
    error::{Error, Result},
    header::Fid,
    io::Writer,
};

/// A job begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Open<'a> {
    /// Bytes at the job's beginning that are for the printer's set-up.
    pub setup_bytes: u16,
    /// 0 text, 1 graphics.
    pub mode: u16,
    /// What the client calls the job.
    pub identifier: WireStr<'a>,
}

impl<'a> Open<'a> {
    /// Decodes.
    ///
    /// # Errors
    /// [`Error::Short`], [`Error::Value`] for a wrong buffer format.
    pub fn parse(block: &Block<'a>, unicode: bool) -> Result<Self> {
        let (setup_bytes, mode) = (block.word(0)?, block.word(1)?);
        let mut strings = block.strings(unicode);
        strings.format(4)?;
        Ok(Self {
            setup_bytes,
            mode,
            identifier: strings.string(),
        })
    }
}

/// A piece of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Write<'a> {
    /// The job.
    pub fid: Fid,
    /// The piece.
    pub data: &'a [u8],
}

impl<'a> Write<'a> {
    /// Decodes.
    ///
    /// # Errors
    /// [`Error::Short`]; [`Error::Outside`] if there is less data than the count says.
    pub fn parse(block: &Block<'a>) -> Result<Self> {
        let fid = Fid(block.word(0)?);
        let mut strings = block.strings(false);
        strings.format(1)?;
        let count = usize::from(strings.u16("count")?);
        let data = strings.bytes(count, "data");
        Ok(Self {
            fid,
            data: data.map_err(|_| Error::Outside { what: "count" })?,
        })
    }
}

/// Appends the reply to an open.
pub fn emit_open_response(fid: Fid, out: &mut Writer) {
    let mut block = BlockWriter::begin(out);
    block.words().u16(fid.0);
    block.finish(0);
}

/// Appends the list of an empty queue: no entries, and an empty data block.
pub fn emit_empty_queue(out: &mut Writer) {
    let mut block = BlockWriter::begin(out);
    block.words().u16(0).u16(0);
    block.bytes().u8(1).u16(0);
    block.finish(0);
}
