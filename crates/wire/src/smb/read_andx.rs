//! READ_ANDX (0x2E), [MS-CIFS] 2.2.4.42; large reads: [MS-SMB] 2.2.4.2.

use crate::{
    block::{Block, BlockWriter},
    error::{Error, Result},
    header::Fid,
    io::Writer,
};
use core::ops::Range;

/// A read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// File.
    pub fid: Fid,
    /// Offset, bytes.
    pub offset: u64,
    /// Bytes wanted: the low 16 bits, and the high ones of large reads (0xFFFF there means none).
    pub max_count: u32,
    /// Bytes wanted at least; advisory on files.
    pub min_count: u16,
    /// Timeout on a pipe, milliseconds (0xFFFFFFFF: for ever, 0xFFFFFFFE: the pipe's default).
    pub timeout_ms: u32,
}

impl Request {
    /// Decodes, with 10 or 12 words.
    ///
    /// # Errors
    /// [`Error::WordCount`].
    pub fn parse(block: &Block<'_>) -> Result<Self> {
        if !matches!(block.word_count(), 10 | 12) {
            return Err(Error::WordCount {
                what: "READ_ANDX",
                found: block.word_count(),
            });
        }
        let mut words = block.words();
        words.u32("AndX")?;
        let fid = Fid(words.u16("FID")?);
        let offset_low = u64::from(words.u32("offset")?);
        let count_low = u32::from(words.u16("max count")?);
        let min_count = words.u16("min count")?;
        let timeout_ms = words.u32("timeout")?;
        words.u16("remaining")?;
        let offset_high = u64::from(words.u32("offset high").unwrap_or(0));
        let count_high = timeout_ms & 0xffff;
        let large = if timeout_ms == 0xffff_ffff || count_high == 0xffff {
            0
        } else {
            count_high
        };
        Ok(Self {
            fid,
            offset: offset_high << 32 | offset_low,
            max_count: large << 16 | count_low,
            min_count,
            timeout_ms,
        })
    }

    /// Appends the request, with 12 words if the offset or count need them.
    pub fn emit(&self, out: &mut Writer) {
        self.emit_wide(self.offset >> 32 != 0 || self.max_count > 0xffff, out);
    }

    /// Appends the request with 12 words, as NT clients do, or with 10 as in LAN Manager. For a 16-bit count, the high
    /// count field contains the timeout.
    pub fn emit_wide(&self, wide: bool, out: &mut Writer) {
        let mut block = BlockWriter::begin_andx(out);
        let words = block.words();
        words
            .u16(self.fid.0)
            .u32(self.offset as u32)
            .u16(self.max_count as u16)
            .u16(self.min_count);
        words.u32(match self.max_count >> 16 {
            0 => self.timeout_ms,
            high => high,
        });
        words.u16(0);
        if wide {
            words.u32((self.offset >> 32) as u32);
        }
        block.finish(0);
    }
}

/// The reply: the position of its data in the message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// Bytes available in a pipe or device; 0xFFFF (-1) for files.
    pub remaining: u16,
    /// The data's place, bytes from the header's first. Empty at the end of the file.
    pub data: Range<usize>,
}

impl Response {
    /// Decodes the reply. Servers without large reads may put any value into the high word of the length; it is used
    /// only if the message contains that much data.
    ///
    /// # Errors
    /// [`Error::Short`]; [`Error::Outside`] if the data is outside the message.
    pub fn parse(block: &Block<'_>) -> Result<Self> {
        let mut words = block.words();
        words.u32("AndX")?;
        let remaining = words.u16("remaining")?;
        words.u32("reserved")?;
        let low = usize::from(words.u16("data length")?);
        let offset = usize::from(words.u16("data offset")?);
        let high = usize::from(words.u16("data length high").unwrap_or(0));
        let data = block
            .range(offset, high << 16 | low, "data")
            .or_else(|_| block.range(offset, low, "data"))?;
        Ok(Self { remaining, data })
    }
}

/// Appends the reply's block up to its data; the caller appends `count` bytes. One pad byte aligns the data to an even
/// offset, which Windows clients require.
pub fn emit_response(count: u32, remaining: u16, out: &mut Writer) {
    let data_offset = out.len() + 1 + 24 + 2 + 1;
    let mut block = BlockWriter::begin_andx(out);
    let (low, high) = (count as u16, (count >> 16) as u16);
    let words = [remaining, 0, 0, low, data_offset as u16, high, 0, 0, 0, 0];
    block.words().u16s(words);
    block.bytes().u8(0);
    block.finish(count as usize);
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::header::HEADER_LEN;

    #[test]
    fn a_large_read_keeps_its_high_words_and_a_timeout_of_minus_one_is_none() {
        for (max_count, offset) in [(65_535, 0), (0x1_0000, 7 << 32), (61_440, 5)] {
            let request = Request {
                fid: Fid(3),
                offset,
                max_count,
                min_count: 0,
                timeout_ms: max_count >> 16,
            };
            let mut out = Writer::default();
            out.zeros(HEADER_LEN);
            request.emit(&mut out);
            assert_eq!(
                Request::parse(&Block::first(out.as_slice()).unwrap()).unwrap(),
                request
            );
        }
    }

    #[test]
    fn the_data_offset_of_the_reply_is_where_the_data_begins() {
        let mut out = Writer::default();
        out.zeros(HEADER_LEN);
        emit_response(5, 0xffff, &mut out);
        out.bytes(b"hello");
        let block = Block::first(out.as_slice()).unwrap();
        let offset = usize::from(block.word(6).unwrap());
        assert_eq!(block.slice(offset, 5, "data").unwrap(), b"hello");
        assert_eq!(block.declared_bytes, 6);
    }
}
