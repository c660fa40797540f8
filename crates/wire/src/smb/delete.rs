//! DELETE (0x06), [MS-CIFS] 2.2.4.7.

use crate::{
    block::{Block, BlockWriter, WireStr},
    error::Result,
    io::Writer,
};

/// A deletion of one file, or of all that a pattern finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// Which files beyond ordinary ones take part (SMB_FILE_ATTRIBUTES, [MS-CIFS] 2.2.1.2.4).
    pub search_attributes: u16,
    /// Path; its last component may be a pattern.
    pub path: WireStr<'a>,
}

impl<'a> Request<'a> {
    /// Decodes.
    ///
    /// # Errors
    /// [`crate::Error::Short`], or `Value` for a wrong buffer format.
    pub fn parse(block: &Block<'a>, unicode: bool) -> Result<Self> {
        let search_attributes = block.words().u16("search attributes")?;
        let mut strings = block.strings(unicode);
        strings.format(4)?;
        Ok(Self {
            search_attributes,
            path: strings.string(),
        })
    }

    /// Appends the request.
    pub fn emit(&self, out: &mut Writer) {
        let mut block = BlockWriter::begin(out);
        block.words().u16(self.search_attributes);
        self.path.emit_formatted(block.bytes());
        block.finish(0);
    }
}

/// Appends a request for an OEM path, already encoded.
pub fn emit_request(search_attributes: u16, path: &[u8], out: &mut Writer) {
    let mut block = BlockWriter::begin(out);
    block.words().u16(search_attributes);
    crate::block::put_oem(block.bytes().u8(4), path);
    block.finish(0);
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn attributes_and_pattern_come_back_as_they_were_written() {
        let mut out = Writer::default();
        out.zeros(crate::header::HEADER_LEN);
        emit_request(0x16, b"\\TMP\\*.*", &mut out);
        let message = out.into_vec();
        let request = Request::parse(&Block::first(&message).unwrap(), false).unwrap();
        assert_eq!(
            (request.search_attributes, request.path.raw),
            (0x16, &b"\\TMP\\*.*"[..])
        );
    }
}
