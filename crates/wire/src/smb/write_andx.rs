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
    /// The reply's `available` contains the number of bytes in a pipe.
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
    /// Offset, bytes.
    pub offset: u64,
    /// Write mode ([`mode`]).
    pub mode: u16,
    /// Bytes that the client intends to write after this; advisory.
    pub remaining: u16,
    /// The data.
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
        let head = Head {
            fid: self.fid,
            offset: self.offset,
            mode: self.mode,
            remaining: self.remaining,
            len: self.data.len() as u32,
        };
        head.emit(true, out);
        out.bytes(self.data);
    }
}

/// A write whose data the caller sends separately, directly after the head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// File.
    pub fid: Fid,
    /// Offset, bytes. Without the wide form only its low 32 bits.
    pub offset: u64,
    /// Write mode ([`mode`]).
    pub mode: u16,
    /// Bytes that the client intends to write after this; advisory.
    pub remaining: u16,
    /// Number of data bytes that follow.
    pub len: u32,
}

impl Head {
    /// Appends the request up to its data: with 14 words if `wide` (NT servers with large files), else with 12 as in
    /// LAN Manager. One pad byte aligns the data to a multiple of four.
    pub fn emit(&self, wide: bool, out: &mut Writer) {
        let words_len = if wide { 28 } else { 24 };
        let data_offset = out.len() + 1 + words_len + 2 + 1;
        let mut block = BlockWriter::begin_andx(out);
        let words = block.words();
        words
            .u16(self.fid.0)
            .u32(self.offset as u32)
            .u32(0)
            .u16(self.mode)
            .u16(self.remaining);
        words
            .u16((self.len >> 16) as u16)
            .u16(self.len as u16)
            .u16(data_offset as u16);
        if wide {
            words.u32((self.offset >> 32) as u32);
        }
        block.bytes().u8(0);
        block.finish(self.len as usize);
    }
}

/// The reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Response {
    /// Number of bytes written. The high word is valid if the server has large writes; otherwise use
    /// [`Self::count_low`].
    pub count: u32,
    /// Bytes available in a pipe; 0xFFFF (-1) for files.
    pub available: u16,
}

impl Response {
    /// Decodes.
    ///
    /// # Errors
    /// [`Error::Short`].
    pub fn parse(block: &Block<'_>) -> Result<Self> {
        let mut words = block.words();
        words.u32("AndX")?;
        let low = u32::from(words.u16("count")?);
        let available = words.u16("available")?;
        let high = u32::from(words.u16("count high").unwrap_or(0));
        Ok(Self {
            count: high << 16 | low,
            available,
        })
    }

    /// The low word of the count: the whole count of writes below 64 KiB.
    pub const fn count_low(&self) -> u16 {
        self.count as u16
    }
}

/// Appends the reply: the number of bytes written, and the bytes available in a pipe.
pub fn emit_response(count: u32, available: u16, out: &mut Writer) {
    let mut block = BlockWriter::begin_andx(out);
    let (low, high) = (count as u16, (count >> 16) as u16);
    block.words().u16s([low, available, high, 0]);
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
