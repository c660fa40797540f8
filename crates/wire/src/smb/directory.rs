//! CREATE_DIRECTORY (0x00), DELETE_DIRECTORY (0x01), CHECK_DIRECTORY (0x10): [MS-CIFS] 2.2.4.1, 2.2.4.2, 2.2.4.17.
//! All three carry one path and are answered by an empty block.

use crate::{
    block::{Block, BlockWriter, WireStr},
    error::Result,
    io::Writer,
};

/// A folder to create, delete or check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// Path of the folder.
    pub path: WireStr<'a>,
}

impl<'a> Request<'a> {
    /// Decodes.
    ///
    /// # Errors
    /// [`crate::Error::Short`], or `Value` for a wrong buffer format.
    pub fn parse(block: &Block<'a>, unicode: bool) -> Result<Self> {
        let mut strings = block.strings(unicode);
        strings.format(4)?;
        Ok(Self {
            path: strings.string(),
        })
    }

    /// Appends the request.
    pub fn emit(&self, out: &mut Writer) {
        let mut block = BlockWriter::begin(out);
        self.path.emit_formatted(block.bytes());
        block.finish(0);
    }
}

/// Appends a request for the folder of an OEM path, already encoded.
pub fn emit_request(path: &[u8], out: &mut Writer) {
    let mut block = BlockWriter::begin(out);
    crate::block::put_oem(block.bytes().u8(4), path);
    block.finish(0);
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_request_carries_its_path_in_buffer_format_4() {
        let mut out = Writer::default();
        out.zeros(crate::header::HEADER_LEN);
        emit_request(b"\\GAMES", &mut out);
        let message = out.into_vec();
        let block = Block::first(&message).unwrap();
        assert_eq!(block.bytes, b"\x04\\GAMES\0");
        let request = Request::parse(&block, false).unwrap();
        assert_eq!(request.path.raw, b"\\GAMES");
    }

    #[test]
    fn another_buffer_format_is_refused() {
        let mut message = [0u8; 40];
        if let Some(tail) = message.get_mut(32..) {
            tail.copy_from_slice(&[0, 5, 0, 1, b'A', 0, 0, 0]);
        }
        let block = Block::first(&message).unwrap();
        assert!(Request::parse(&block, false).is_err());
    }
}
