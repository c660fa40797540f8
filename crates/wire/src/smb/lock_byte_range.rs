//! LOCK_BYTE_RANGE (0x0C), [MS-CIFS] 2.2.4.13; UNLOCK_BYTE_RANGE (0x0D, 2.2.4.14) has the same form.

use crate::{
    block::{Block, BlockWriter},
    error::Result,
    header::Fid,
    io::Writer,
};

/// A lock, or the end of one, of the header's process. Both replies are empty blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// File.
    pub fid: Fid,
    /// Number of bytes.
    pub count: u32,
    /// The first of them.
    pub offset: u32,
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
            count: words.u32("count")?,
            offset: words.u32("offset")?,
        })
    }

    /// Appends the request.
    pub fn emit(&self, out: &mut Writer) {
        let mut block = BlockWriter::begin(out);
        block
            .words()
            .u16(self.fid.0)
            .u32(self.count)
            .u32(self.offset);
        block.finish(0);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::header::HEADER_LEN;

    #[test]
    fn the_count_stands_before_the_offset() {
        let request = Request {
            fid: Fid(0x0102),
            count: 7,
            offset: 0xee00_0000,
        };
        let mut out = Writer::default();
        out.zeros(HEADER_LEN);
        request.emit(&mut out);
        let (_, block) = out.as_slice().split_at(HEADER_LEN);
        assert_eq!(block, [5, 2, 1, 7, 0, 0, 0, 0, 0, 0, 0xee, 0, 0]);
        let parsed = Request::parse(&Block::first(out.as_slice()).unwrap());
        assert_eq!(parsed.unwrap(), request);
    }
}
