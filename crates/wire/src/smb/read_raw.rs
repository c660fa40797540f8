//! READ_RAW (0x1A), [MS-CIFS] 2.2.4.22; *SMB Protocol Extensions* (SMB-LM1X) 9.2.14. The reply is a message of data
//! without a header. An empty reply means the end of the file or any error.

use crate::{
    block::{Block, BlockWriter},
    error::{Error, Result},
    header::Fid,
    io::Writer,
};

/// A raw read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// File.
    pub fid: Fid,
    /// Offset, bytes.
    pub offset: u64,
    /// Bytes wanted.
    pub max_count: u16,
    /// Bytes wanted at least; advisory on files.
    pub min_count: u16,
    /// Timeout on a pipe, milliseconds.
    pub timeout_ms: u32,
}

impl Request {
    /// Decodes, with 8 or 10 words.
    ///
    /// # Errors
    /// [`Error::WordCount`].
    pub fn parse(block: &Block<'_>) -> Result<Self> {
        if !matches!(block.word_count(), 8 | 10) {
            return Err(Error::WordCount {
                what: "READ_RAW",
                found: block.word_count(),
            });
        }
        let mut words = block.words();
        let fid = Fid(words.u16("FID")?);
        let offset_low = u64::from(words.u32("offset")?);
        let max_count = words.u16("max count")?;
        let min_count = words.u16("min count")?;
        let timeout_ms = words.u32("timeout")?;
        words.u16("reserved")?;
        let offset_high = u64::from(words.u32("offset high").unwrap_or(0));
        Ok(Self {
            fid,
            offset: offset_high << 32 | offset_low,
            max_count,
            min_count,
            timeout_ms,
        })
    }

    /// Appends the request, with 10 words if the offset needs them.
    pub fn emit(&self, out: &mut Writer) {
        let mut block = BlockWriter::begin(out);
        let words = block.words();
        words
            .u16(self.fid.0)
            .u32(self.offset as u32)
            .u16(self.max_count)
            .u16(self.min_count)
            .u32(self.timeout_ms)
            .u16(0);
        if self.offset >> 32 != 0 {
            words.u32((self.offset >> 32) as u32);
        }
        block.finish(0);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::header::HEADER_LEN;

    #[test]
    fn an_offset_above_four_gibibytes_takes_two_words_more() {
        for (offset, words) in [(0xffff_ffff, 8), (6 << 32 | 1, 10)] {
            let request = Request {
                fid: Fid(3),
                offset,
                max_count: 65_535,
                min_count: 0,
                timeout_ms: 0,
            };
            let mut out = Writer::default();
            out.zeros(HEADER_LEN);
            request.emit(&mut out);
            let block = Block::first(out.as_slice()).unwrap();
            assert_eq!(block.word_count(), words);
            assert_eq!(Request::parse(&block).unwrap(), request);
        }
    }
}
