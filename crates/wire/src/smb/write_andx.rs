//! WRITE_ANDX (0x2F), [MS-CIFS] 2.2.4.43; large writes: [MS-SMB] 2.2.4.3.

use crate::{
    block::{Block, BlockWriter},
    error::{Error, Result},
    header::Fid,
    io::Writer,
};

/// Bits of the write mode.
pub mod mode {
    /// Write through to the disk.
    pub const WRITE_THROUGH: u16 = 0x0001;
    /// The reply's `available` tells how much a pipe holds.
    pub const READ_BYTES_AVAILABLE: u16 = 0x0002;
    /// The data is a pipe message's beginning and begins with its length ([MS-CIFS] 2.2.4.43.1).
    pub const RAW_PIPE: u16 = 0x0004;
    /// First block of a pipe message.
    pub const MESSAGE_START: u16 = 0x0008;
}

/// A write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// File.
    pub fid: Fid,
    /// Where, bytes.
    pub offset: u64,
    /// How ([`mode`]).
    pub mode: u16,
    /// How much the client means to write from here on; advisory.
    pub remaining: u16,
    /// The data.
    pub data: &'a [u8],
}

impl<'a> Request<'a> {
    /// Decodes, with 12 or 14 words.
    ///
    /// # Errors
    /// [`Error::WordCount`]; [`Error::Outside`] if the data lies outside the message.
    pub fn parse(block: &Block<'a>) -> Result<Self> {
        if !matches!(block.word_count(), 12 | 14) {
            return Err(Error::WordCount {
                what: "WRITE_ANDX",
                found: block.word_count(),
            });
        }
        let mut words = block.words();
        words.u32("AndX")?;
        let fid = Fid(words.u16("FID")?);
        let offset_low = u64::from(words.u32("offset")?);
        words.u32("timeout")?;
        let mode = words.u16("write mode")?;
        let remaining = words.u16("remaining")?;
        let len_high = usize::from(words.u16("data length high")?);
        let len = usize::from(words.u16("data length")?) | len_high << 16;
        let data_offset = usize::from(words.u16("data offset")?);
        let offset_high = u64::from(words.u32("offset high").unwrap_or(0));
        let data = block.slice(data_offset, len, "data")?;
        Ok(Self {
            fid,
            offset: offset_high << 32 | offset_low,
            mode,
            remaining,
            data,
        })
    }

    /// Appends the request, with 14 words, and the data.
    pub fn emit(&self, out: &mut Writer) {
        let data_offset = out.len() + 1 + 28 + 2 + 1;
        let mut block = BlockWriter::begin_andx(out);
        let words = block.words();
        words
            .u16(self.fid.0)
            .u32(self.offset as u32)
            .u32(0)
            .u16(self.mode)
            .u16(self.remaining);
        words
            .u16((self.data.len() >> 16) as u16)
            .u16(self.data.len() as u16)
            .u16(data_offset as u16);
        words.u32((self.offset >> 32) as u32);
        block.bytes().u8(0).bytes(self.data);
        block.finish(0);
    }
}

/// Appends the reply: how many bytes were written, and what a pipe still holds.
pub fn emit_response(count: u32, available: u16, out: &mut Writer) {
    let mut block = BlockWriter::begin_andx(out);
    block
        .words()
        .u16(count as u16)
        .u16(available)
        .u16((count >> 16) as u16)
        .u16(0);
    block.finish(0);
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::header::HEADER_LEN;

    #[test]
    fn a_write_comes_back_and_one_whose_data_is_not_there_is_refused() {
        let request = Request {
            fid: Fid(9),
            offset: 5 << 32 | 1,
            mode: 1,
            remaining: 0,
            data: b"abc",
        };
        let mut out = Writer::default();
        out.zeros(HEADER_LEN);
        request.emit(&mut out);
        assert_eq!(
            Request::parse(&Block::first(out.as_slice()).unwrap()).unwrap(),
            request
        );
        let cut = out.as_slice().split_last().unwrap().1;
        assert_eq!(
            Request::parse(&Block::first(cut).unwrap()),
            Err(Error::Outside { what: "data" })
        );
    }
}
