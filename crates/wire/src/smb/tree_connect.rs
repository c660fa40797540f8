//! TREE_CONNECT (0x70), [MS-CIFS] 2.2.4.50; TREE_DISCONNECT (0x71, 2.2.4.51) has an empty block both ways.

use crate::{
    block::{Block, BlockWriter, FORMAT_STRING, WireStr, put_oem},
    error::Result,
    header::Tid,
    io::Writer,
};

/// A core client's request for a share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// Share, perhaps with `\\server\` before it.
    pub path: WireStr<'a>,
    /// Share password in plain text.
    pub password: WireStr<'a>,
    /// `A:`, `LPT1:`, `IPC`, `COMM` or `?????`.
    pub service: WireStr<'a>,
}

impl<'a> Request<'a> {
    /// Decodes. All three strings are always OEM.
    ///
    /// # Errors
    /// [`crate::Error::Value`] or `Short` if a buffer format byte is wrong or missing.
    pub fn parse(block: &Block<'a>) -> Result<Self> {
        let mut strings = block.strings(false);
        strings.format(4)?;
        let path = strings.string();
        strings.second_format(4)?;
        let password = strings.string();
        strings.second_format(4)?;
        Ok(Self {
            path,
            password,
            service: strings.string(),
        })
    }

    /// Appends the request. All three strings are written as OEM ones, which their bytes have to be.
    pub fn emit(&self, out: &mut Writer) {
        let mut block = BlockWriter::begin(out);
        for text in [self.path, self.password, self.service] {
            put_oem(block.bytes().u8(FORMAT_STRING), text.raw);
        }
        block.finish(0);
    }
}

/// The answer: how large messages may be, and the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Response {
    /// Largest message the server takes, bytes: core clients learn it here.
    pub max_buffer: u16,
    /// Tree.
    pub tid: Tid,
}

impl Response {
    /// Decodes.
    ///
    /// # Errors
    /// [`crate::Error::Short`].
    pub fn parse(block: &Block<'_>) -> Result<Self> {
        Ok(Self {
            max_buffer: block.word(0)?,
            tid: Tid(block.word(1)?),
        })
    }

    /// Appends the reply.
    pub fn emit(&self, out: &mut Writer) {
        let mut block = BlockWriter::begin(out);
        block.words().u16(self.max_buffer).u16(self.tid.0);
        block.finish(0);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn parsed(bytes: &[u8]) -> Option<[alloc::vec::Vec<u8>; 3]> {
        let mut out = Writer::default();
        out.zeros(crate::header::HEADER_LEN);
        let mut block = BlockWriter::begin(&mut out);
        block.bytes().bytes(bytes);
        block.finish(0);
        let message = out.into_vec();
        let request = Request::parse(&Block::first(&message).unwrap()).ok()?;
        Some([request.path, request.password, request.service].map(|text| text.raw.to_vec()))
    }

    #[test]
    fn a_padding_byte_before_a_later_string_is_skipped() {
        let plain = parsed(b"\x04DISK\0\x04pw\0\x04A:\0").unwrap();
        assert_eq!(plain, [&b"DISK"[..], b"pw", b"A:"]);
        for padded in [
            &b"\x04DISK\0\0\x04pw\0\x04A:\0"[..],
            b"\x04DISK\0\x04pw\0\0\x04A:\0",
        ] {
            assert_eq!(parsed(padded).as_ref(), Some(&plain));
        }
        assert_eq!(parsed(b"\x04DISK\0\0\0\x04pw\0\x04A:\0"), None);
    }
}
