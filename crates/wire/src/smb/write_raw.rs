//! WRITE_RAW (0x1D) and WRITE_COMPLETE (0x20), [MS-CIFS] 2.2.4.25, 2.2.4.28; *SMB Protocol Extensions* (SMB-LM1X)
//! 9.2.23. Between the interim and the final reply the client sends one message of data without any header.

use crate::{
    block::{Block, BlockWriter},
    command,
    error::{Error, Result},
    header::Fid,
    io::Writer,
};

/// Bits of the write mode.
pub mod mode {
    /// The data is to be on the disk before the final reply, which is sent only then.
    pub const WRITE_THROUGH: u16 = 0x0001;
}

/// A raw write, with the beginning of its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// File.
    pub fid: Fid,
    /// Bytes to write in all, those in this message among them.
    pub count: u16,
    /// Offset, bytes.
    pub offset: u64,
    /// Timeout on a pipe, milliseconds.
    pub timeout_ms: u32,
    /// Write mode ([`mode`]).
    pub mode: u16,
    /// The data in this message.
    pub data: &'a [u8],
}

impl<'a> Request<'a> {
    /// Decodes, with 12 or 14 words.
    ///
    /// # Errors
    /// [`Error::WordCount`]; [`Error::Outside`] if the data is outside the message.
    pub fn parse(block: &Block<'a>) -> Result<Self> {
        if !matches!(block.word_count(), 12 | 14) {
            return Err(Error::WordCount {
                what: "WRITE_RAW",
                found: block.word_count(),
            });
        }
        let mut words = block.words();
        let fid = Fid(words.u16("FID")?);
        let count = words.u16("count")?;
        words.u16("reserved")?;
        let offset_low = u64::from(words.u32("offset")?);
        let timeout_ms = words.u32("timeout")?;
        let mode = words.u16("write mode")?;
        words.u32("reserved")?;
        let len = usize::from(words.u16("data length")?);
        let data_offset = usize::from(words.u16("data offset")?);
        let offset_high = u64::from(words.u32("offset high").unwrap_or(0));
        Ok(Self {
            fid,
            count,
            offset: offset_high << 32 | offset_low,
            timeout_ms,
            mode,
            data: block.slice(data_offset, len, "data")?,
        })
    }

    /// Appends the request, with 14 words if the offset needs them, and the data it carries.
    pub fn emit(&self, out: &mut Writer) {
        let wide = self.offset >> 32 != 0;
        let data_offset = out.len() + 1 + if wide { 28 } else { 24 } + 2;
        let mut block = BlockWriter::begin(out);
        let words = block.words();
        words
            .u16(self.fid.0)
            .u16(self.count)
            .u16(0)
            .u32(self.offset as u32)
            .u32(self.timeout_ms)
            .u16(self.mode)
            .u32(0)
            .u16(self.data.len() as u16)
            .u16(data_offset as u16);
        if wide {
            words.u32((self.offset >> 32) as u32);
        }
        block.bytes().bytes(self.data);
        block.finish(0);
    }
}

/// A server's reply to a raw write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Response {
    /// WRITE_RAW: go on and send the data.
    Interim {
        /// Bytes that a pipe can accept; 0xFFFF (-1) for files.
        available: u16,
    },
    /// WRITE_COMPLETE: the final reply. Without an interim reply before it, the server refused the data.
    Complete {
        /// Number of bytes written, including those in the request.
        count: u16,
    },
}

impl Response {
    /// Decodes the reply with this command code in its header. An error reply may lack the word; then the count is 0.
    ///
    /// # Errors
    /// [`Error::Value`] if the command is neither.
    pub fn parse(code: u8, block: &Block<'_>) -> Result<Self> {
        let number = block.word(0).unwrap_or(0);
        match code {
            command::WRITE_RAW => Ok(Self::Interim { available: number }),
            command::WRITE_COMPLETE => Ok(Self::Complete { count: number }),
            _ => Err(Error::Value { what: "command" }),
        }
    }
}

/// Appends the interim reply (WRITE_RAW: send the data) with 0xFFFF, as for files, or the final one (WRITE_COMPLETE)
/// with the count of bytes written.
pub fn emit_response(number: u16, out: &mut Writer) {
    let mut block = BlockWriter::begin(out);
    block.words().u16(number);
    block.finish(0);
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::header::HEADER_LEN;

    #[test]
    fn a_raw_write_comes_back_and_one_whose_data_is_not_there_is_refused() {
        for offset in [5, 7 << 32] {
            let request = Request {
                fid: Fid(3),
                count: 9_000,
                offset,
                timeout_ms: 0,
                mode: mode::WRITE_THROUGH,
                data: b"abc",
            };
            let mut out = Writer::default();
            out.zeros(HEADER_LEN);
            request.emit(&mut out);
            let block = Block::first(out.as_slice()).unwrap();
            assert_eq!(Request::parse(&block).unwrap(), request);
            let cut = out.as_slice().split_last().unwrap().1;
            assert_eq!(
                Request::parse(&Block::first(cut).unwrap()),
                Err(Error::Outside { what: "data" })
            );
        }
    }
}
