//! RENAME (0x07) and NT_RENAME (0xA5): [MS-CIFS] 2.2.4.8, 2.2.4.66.

use crate::{
    block::{Block, BlockWriter, Strings, WireStr},
    error::Result,
    io::Writer,
};

/// A renaming of one file or folder, or of all that a pattern finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// Which files beyond ordinary ones take part (SMB_FILE_ATTRIBUTES, [MS-CIFS] 2.2.1.2.4).
    pub search_attributes: u16,
    /// Old path; its last component may be a pattern.
    pub old: WireStr<'a>,
    /// New path; its last component may be a pattern that is filled in from each old name.
    pub new: WireStr<'a>,
}

impl<'a> Request<'a> {
    /// Decodes.
    ///
    /// # Errors
    /// [`crate::Error::Short`], or `Value` for a wrong buffer format.
    pub fn parse(block: &Block<'a>, unicode: bool) -> Result<Self> {
        let search_attributes = block.words().u16("search attributes")?;
        let (old, new) = two_paths(block.strings(unicode))?;
        Ok(Self {
            search_attributes,
            old,
            new,
        })
    }

    /// Appends the request.
    pub fn emit(&self, out: &mut Writer) {
        let mut block = BlockWriter::begin(out);
        block.words().u16(self.search_attributes);
        self.old.emit_formatted(block.bytes());
        self.new.emit_formatted(block.bytes());
        block.finish(0);
    }
}

/// Appends a RENAME for OEM paths, already encoded.
pub fn emit_request(search_attributes: u16, old: &[u8], new: &[u8], out: &mut Writer) {
    let mut block = BlockWriter::begin(out);
    block.words().u16(search_attributes);
    crate::block::put_oem(block.bytes().u8(4), old);
    crate::block::put_oem(block.bytes().u8(4), new);
    block.finish(0);
}

/// What an NT_RENAME does.
pub mod level {
    /// SMB_NT_RENAME_MOVE_CLUSTER_INFO: reserved, refused by all servers.
    pub const MOVE_CLUSTER_INFO: u16 = 0x0102;
    /// SMB_NT_RENAME_SET_LINK_INFO: creates a hard link.
    pub const SET_LINK_INFO: u16 = 0x0103;
    /// SMB_NT_RENAME_RENAME_FILE: renames.
    pub const RENAME_FILE: u16 = 0x0104;
    /// SMB_NT_RENAME_MOVE_FILE: reserved according to the specification; NT servers copy.
    pub const COPY_FILE: u16 = 0x0105;
}

/// An NT_RENAME of one file or folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NtRequest<'a> {
    /// Which files beyond ordinary ones take part.
    pub search_attributes: u16,
    /// Action ([`level`]).
    pub level: u16,
    /// Of no meaning (ClusterCount in old drafts).
    pub reserved: u32,
    /// Old path.
    pub old: WireStr<'a>,
    /// New path.
    pub new: WireStr<'a>,
}

impl<'a> NtRequest<'a> {
    /// Decodes.
    ///
    /// # Errors
    /// [`crate::Error::Short`], or `Value` for a wrong buffer format.
    pub fn parse(block: &Block<'a>, unicode: bool) -> Result<Self> {
        let mut words = block.words();
        let search_attributes = words.u16("search attributes")?;
        let level = words.u16("information level")?;
        let reserved = words.u32("reserved")?;
        let (old, new) = two_paths(block.strings(unicode))?;
        Ok(Self {
            search_attributes,
            level,
            reserved,
            old,
            new,
        })
    }

    /// Appends the request.
    pub fn emit(&self, out: &mut Writer) {
        let mut block = BlockWriter::begin(out);
        block
            .words()
            .u16(self.search_attributes)
            .u16(self.level)
            .u32(self.reserved);
        self.old.emit_formatted(block.bytes());
        self.new.emit_formatted(block.bytes());
        block.finish(0);
    }
}

fn two_paths<'a>(mut strings: Strings<'a>) -> Result<(WireStr<'a>, WireStr<'a>)> {
    strings.format(4)?;
    let old = strings.string();
    strings.second_format(4)?;
    Ok((old, strings.string()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn both_patterns_come_back_as_they_were_written() {
        let mut out = Writer::default();
        out.zeros(crate::header::HEADER_LEN);
        emit_request(6, b"\\*.A", b"\\*.B", &mut out);
        let message = out.into_vec();
        let request = Request::parse(&Block::first(&message).unwrap(), false).unwrap();
        assert_eq!(
            (request.search_attributes, request.old.raw, request.new.raw),
            (6, &b"\\*.A"[..], &b"\\*.B"[..])
        );
    }

    #[test]
    fn both_unicode_paths_align_to_the_header() {
        let mut out = Writer::default();
        out.zeros(crate::header::HEADER_LEN);
        let mut block = BlockWriter::begin(&mut out);
        block.words().u16(0x16).u16(level::SET_LINK_INFO).u32(0);
        for path in [b"o\0", b"n\0"] {
            crate::block::put_unicode(block.bytes().u8(4), path);
        }
        block.finish(0);
        let message = out.into_vec();
        let request = NtRequest::parse(&Block::first(&message).unwrap(), true).unwrap();
        assert_eq!(
            (request.level, request.old.raw, request.new.raw),
            (0x103, &b"o\0"[..], &b"n\0"[..])
        );
    }

    fn message(words: &[u16], bytes: &[u8]) -> alloc::vec::Vec<u8> {
        let mut out = Writer::default();
        out.zeros(crate::header::HEADER_LEN);
        let mut block = BlockWriter::begin(&mut out);
        for &word in words {
            block.words().u16(word);
        }
        block.bytes().bytes(bytes);
        block.finish(0);
        out.into_vec()
    }

    /// `\\a` to `\\b` as libogc's SMB_Rename and libdsm's smb_file_mv encode it: an unnecessary pad byte precedes the
    /// second buffer format.
    const PADDED_UNICODE: &[u8] = b"\x04\\\0a\0\0\0\x00\x04\\\0b\0\0\0";

    #[test]
    fn a_padding_byte_before_the_second_name_is_skipped() {
        let sent = message(&[0x06], PADDED_UNICODE);
        let request = Request::parse(&Block::first(&sent).unwrap(), true).unwrap();
        assert_eq!(
            (request.old.raw, request.new.raw),
            (&b"\\\0a\0"[..], &b"\\\0b\0"[..])
        );
        // libogc without Unicode.
        let sent = message(&[0x02], b"\x04\\A\0\0\x04\\B\0");
        let request = Request::parse(&Block::first(&sent).unwrap(), false).unwrap();
        assert_eq!(
            (request.old.raw, request.new.raw),
            (&b"\\A"[..], &b"\\B"[..])
        );
    }

    #[test]
    fn nt_rename_skips_the_same_padding_byte() {
        let sent = message(&[0x16, level::RENAME_FILE, 0, 0], PADDED_UNICODE);
        let request = NtRequest::parse(&Block::first(&sent).unwrap(), true).unwrap();
        assert_eq!(
            (request.old.raw, request.new.raw),
            (&b"\\\0a\0"[..], &b"\\\0b\0"[..])
        );
    }

    #[test]
    fn more_than_one_padding_byte_is_malformed() {
        let sent = message(&[0x02], b"\x04\\A\0\0\0\x04\\B\0");
        assert!(Request::parse(&Block::first(&sent).unwrap(), false).is_err());
    }

    #[test]
    fn a_missing_second_path_is_malformed() {
        let mut out = Writer::default();
        out.zeros(crate::header::HEADER_LEN);
        crate::smb::delete::emit_request(0, b"ONLY", &mut out);
        let message = out.into_vec();
        assert!(Request::parse(&Block::first(&message).unwrap(), false).is_err());
    }
}
