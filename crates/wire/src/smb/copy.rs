//! COPY (0x29) and MOVE (0x2A): *SMB File Sharing Protocol Extensions* (LAN Manager 1.0) 9.2.1 and 9.2.10, tree copies
//! from the LAN Manager 2.0 extensions 5.3. [MS-CIFS] 2.2.4.37 only names them.

use crate::{
    block::{Block, BlockWriter, FORMAT_STRING, Strings, WireStr},
    error::Result,
    header::Tid,
    io::Writer,
};

/// The destination TID that denotes the header's own TID.
pub const SAME_TREE: Tid = Tid(0xffff);

/// Bits of `smb_flags`.
pub mod flags {
    /// The destination must be a file.
    pub const MUST_BE_FILE: u16 = 0x01;
    /// The destination must be a folder.
    pub const MUST_BE_DIRECTORY: u16 = 0x02;
    /// The destination is text: it ends in Control-Z.
    pub const TARGET_ASCII: u16 = 0x04;
    /// The source is text: it ends at its first Control-Z.
    pub const SOURCE_ASCII: u16 = 0x08;
    /// Verify all writes.
    pub const VERIFY: u16 = 0x10;
    /// Copy a folder with all beneath it.
    pub const TREE: u16 = 0x20;
    /// Fail if the source has extended attributes that the destination cannot store; otherwise drop them.
    pub const NEED_EAS: u16 = 0x40;
}

/// Values and bits of `smb_ofun`.
pub mod open_function {
    /// Bits that determine the action if the destination exists.
    pub const IF_EXISTS: u16 = 0x03;
    /// Fail if it exists.
    pub const FAIL: u16 = 0;
    /// Append to it.
    pub const APPEND: u16 = 1;
    /// Truncate it.
    pub const TRUNCATE: u16 = 2;
    /// Create it if it does not exist.
    pub const CREATE: u16 = 0x10;
}

/// A copy or a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// Tree of the destination ([`SAME_TREE`] for the header's).
    pub tid2: Tid,
    /// Actions for an existing and a missing destination ([`open_function`]).
    pub open_function: u16,
    /// Options ([`flags`]).
    pub flags: u16,
    /// Source; its last component may be a pattern.
    pub source: WireStr<'a>,
    /// Destination.
    pub target: WireStr<'a>,
}

impl<'a> Request<'a> {
    /// Decodes the request. In the specification, the paths have no buffer formats. Requests with buffer formats are
    /// accepted too, because no path starts with the byte 4.
    ///
    /// # Errors
    /// [`crate::Error::Short`].
    pub fn parse(block: &Block<'a>, unicode: bool) -> Result<Self> {
        let mut words = block.words();
        let mut strings = block.strings(unicode);
        Ok(Self {
            tid2: Tid(words.u16("second TID")?),
            open_function: words.u16("open function")?,
            flags: words.u16("flags")?,
            source: path(&mut strings),
            target: {
                strings.maybe_second_format(FORMAT_STRING);
                strings.string()
            },
        })
    }

    /// Appends the request as the specification has it, without buffer formats.
    pub fn emit(&self, out: &mut Writer) {
        let mut block = BlockWriter::begin(out);
        block
            .words()
            .u16(self.tid2.0)
            .u16(self.open_function)
            .u16(self.flags);
        self.source.emit(block.bytes());
        self.target.emit(block.bytes());
        block.finish(0);
    }
}

/// The reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Response<'a> {
    /// Files copied or moved.
    pub count: u16,
    /// The file that failed; empty if none did.
    pub failed: WireStr<'a>,
}

impl<'a> Response<'a> {
    /// Decodes.
    ///
    /// # Errors
    /// [`crate::Error::Short`].
    pub fn parse(block: &Block<'a>, unicode: bool) -> Result<Self> {
        Ok(Self {
            count: block.word(0)?,
            failed: path(&mut block.strings(unicode)),
        })
    }
}

fn path<'a>(strings: &mut Strings<'a>) -> WireStr<'a> {
    strings.maybe_format(FORMAT_STRING);
    strings.string()
}

/// Appends the reply: files copied or moved, and on failure the path of the file that failed, encoded with its
/// terminator.
pub fn emit_response(count: u16, failed: &[u8], out: &mut Writer) {
    let mut block = BlockWriter::begin(out);
    block.words().u16(count);
    block.bytes().bytes(failed);
    block.finish(0);
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use alloc::vec::Vec;

    fn parse(bytes: &[u8]) -> (Tid, Vec<u8>, Vec<u8>) {
        let mut out = Writer::default();
        out.zeros(crate::header::HEADER_LEN);
        let mut block = BlockWriter::begin(&mut out);
        block.words().u16(0xffff).u16(0x12).u16(0x20);
        block.bytes().bytes(bytes);
        block.finish(0);
        let message = out.into_vec();
        let request = Request::parse(&Block::first(&message).unwrap(), false).unwrap();
        (
            request.tid2,
            request.source.raw.to_vec(),
            request.target.raw.to_vec(),
        )
    }

    #[test]
    fn paths_are_understood_with_and_without_buffer_formats() {
        let want = (SAME_TREE, b"A\\*.C".to_vec(), b"B".to_vec());
        assert_eq!(parse(b"A\\*.C\0B\0"), want);
        assert_eq!(parse(b"\x04A\\*.C\0\x04B\0"), want);
        // As libogc and libdsm pad the second name of RENAME.
        assert_eq!(parse(b"\x04A\\*.C\0\0\x04B\0"), want);
    }
}
