//! FIND_CLOSE2 (0x34) and FIND_NOTIFY_CLOSE (0x35): [MS-CIFS] 2.2.4.48, 2.2.4.49.

use crate::{
    block::{Block, BlockWriter},
    error::Result,
    header::Sid,
    io::Writer,
};

/// The end of a TRANS2 search, or of the obsolete notification searches. The reply has neither words nor bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Which search.
    pub sid: Sid,
}

impl Request {
    /// Decodes.
    ///
    /// # Errors
    /// [`crate::Error::Short`].
    pub fn parse(block: &Block<'_>) -> Result<Self> {
        Ok(Self {
            sid: Sid(block.word(0)?),
        })
    }

    /// Appends the request.
    pub fn emit(&self, out: &mut Writer) {
        let mut block = BlockWriter::begin(out);
        block.words().u16(self.sid.0);
        block.finish(0);
    }
}
