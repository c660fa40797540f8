//! SET_INFORMATION (0x09) and SET_INFORMATION2 (0x22): [MS-CIFS] 2.2.4.10, 2.2.4.30.

use super::query_information::DosTimes;
use crate::{
    block::{Block, BlockWriter, WireStr, put_oem, put_unicode},
    error::Result,
    header::Fid,
    io::Writer,
    time::Utime,
};

/// SET_INFORMATION's request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// Attributes.
    pub attributes: u16,
    /// Time of last write, local; 0 leaves it.
    pub modified: Utime,
    /// Path.
    pub path: WireStr<'a>,
}

impl<'a> Request<'a> {
    /// Decodes.
    ///
    /// # Errors
    /// [`crate::Error::Short`], or `Value` for a wrong buffer format.
    pub fn parse(block: &Block<'a>, unicode: bool) -> Result<Self> {
        let mut words = block.words();
        let attributes = words.u16("attributes")?;
        let modified = Utime(words.u32("last write time").unwrap_or(0));
        let mut strings = block.strings(unicode);
        strings.format(4)?;
        Ok(Self {
            attributes,
            modified,
            path: strings.string(),
        })
    }

    /// Appends the request.
    pub fn emit(&self, out: &mut Writer) {
        let mut block = BlockWriter::begin(out);
        block
            .words()
            .u16(self.attributes)
            .u32(self.modified.0)
            .zeros(10);
        let bytes = block.bytes().u8(4);
        if self.path.unicode {
            put_unicode(bytes, self.path.raw);
        } else {
            put_oem(bytes, self.path.raw);
        }
        block.finish(0);
    }
}

/// SET_INFORMATION2's request: times of an open file, each all zero to leave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request2 {
    /// File.
    pub fid: Fid,
    /// Times, local.
    pub times: DosTimes,
}

impl Request2 {
    /// Decodes.
    ///
    /// # Errors
    /// [`crate::Error::Short`].
    pub fn parse(block: &Block<'_>) -> Result<Self> {
        let mut words = block.words();
        Ok(Self {
            fid: Fid(words.u16("FID")?),
            times: DosTimes::parse(&mut words)?,
        })
    }

    /// Appends the request.
    pub fn emit(&self, out: &mut Writer) {
        let mut block = BlockWriter::begin(out);
        block.words().u16(self.fid.0);
        self.times.emit(block.words());
        block.finish(0);
    }
}
