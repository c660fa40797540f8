//! OPEN (0x02), CREATE (0x03), CREATE_NEW (0x0F), CREATE_TEMPORARY (0x0E): [MS-CIFS] 2.2.4.3, 2.2.4.4, 2.2.4.16,
//! 2.2.4.15.

use crate::{
    block::{Block, BlockWriter, FORMAT_STRING, WireStr},
    error::Result,
    header::Fid,
    io::Writer,
    time::Utime,
};

/// An open of an existing file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Open<'a> {
    /// Access and sharing mode ([`crate::smb::open_andx::AccessMode`]).
    pub access_mode: u16,
    /// Attributes a file may have beyond the ordinary.
    pub search_attributes: u16,
    /// Path.
    pub path: WireStr<'a>,
}

impl<'a> Open<'a> {
    /// Decodes.
    ///
    /// # Errors
    /// [`crate::Error::Short`], or `Value` for a wrong buffer format.
    pub fn parse(block: &Block<'a>, unicode: bool) -> Result<Self> {
        let mut words = block.words();
        let access_mode = words.u16("access mode")?;
        let search_attributes = words.u16("search attributes")?;
        let mut strings = block.strings(unicode);
        strings.format(4)?;
        Ok(Self {
            access_mode,
            search_attributes,
            path: strings.string(),
        })
    }

    /// Appends the request.
    pub fn emit(&self, out: &mut Writer) {
        let mut block = BlockWriter::begin(out);
        block
            .words()
            .u16(self.access_mode)
            .u16(self.search_attributes);
        self.path.emit_formatted(block.bytes());
        block.finish(0);
    }
}

/// A create: of a file, a new file, or (the path a folder) one whose name the server chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Create<'a> {
    /// Attributes.
    pub attributes: u16,
    /// Time to set, as the client gives it.
    pub time: Utime,
    /// Path.
    pub path: WireStr<'a>,
}

impl<'a> Create<'a> {
    /// Decodes.
    ///
    /// # Errors
    /// [`crate::Error::Short`], or `Value` for a wrong buffer format.
    pub fn parse(block: &Block<'a>, unicode: bool) -> Result<Self> {
        let mut words = block.words();
        let attributes = words.u16("attributes")?;
        let time = Utime(words.u32("creation time")?);
        let mut strings = block.strings(unicode);
        strings.format(4)?;
        Ok(Self {
            attributes,
            time,
            path: strings.string(),
        })
    }

    /// Appends the request.
    pub fn emit(&self, out: &mut Writer) {
        let mut block = BlockWriter::begin(out);
        block.words().u16(self.attributes).u32(self.time.0);
        self.path.emit_formatted(block.bytes());
        block.finish(0);
    }
}

/// OPEN's reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenResponse {
    /// FID.
    pub fid: Fid,
    /// Attributes.
    pub attributes: u16,
    /// Time of last write, local.
    pub modified: Utime,
    /// Length, bytes.
    pub size: u32,
    /// Access granted.
    pub access_mode: u16,
}

impl OpenResponse {
    /// Decodes.
    ///
    /// # Errors
    /// [`crate::Error::Short`].
    pub fn parse(block: &Block<'_>) -> Result<Self> {
        let mut words = block.words();
        Ok(Self {
            fid: Fid(words.u16("FID")?),
            attributes: words.u16("attributes")?,
            modified: Utime(words.u32("last write time")?),
            size: words.u32("file size")?,
            access_mode: words.u16("access mode")?,
        })
    }

    /// Appends the reply.
    pub fn emit(&self, out: &mut Writer) {
        let mut block = BlockWriter::begin(out);
        let words = block.words();
        words
            .u16(self.fid.0)
            .u16(self.attributes)
            .u32(self.modified.0)
            .u32(self.size)
            .u16(self.access_mode);
        block.finish(0);
    }
}

/// Decodes the reply of CREATE and CREATE_NEW.
///
/// # Errors
/// [`crate::Error::Short`].
pub fn parse_create_response(block: &Block<'_>) -> Result<Fid> {
    block.word(0).map(Fid)
}

/// Decodes the reply of CREATE_TEMPORARY: the file and its name, OEM. The format byte may be missing.
///
/// # Errors
/// [`crate::Error::Short`].
pub fn parse_create_temporary_response<'a>(block: &Block<'a>) -> Result<(Fid, WireStr<'a>)> {
    let mut strings = block.strings(false);
    strings.maybe_format(FORMAT_STRING);
    Ok((Fid(block.word(0)?), strings.string()))
}

/// Appends the reply of CREATE and CREATE_NEW.
pub fn emit_create_response(fid: Fid, out: &mut Writer) {
    let mut block = BlockWriter::begin(out);
    block.words().u16(fid.0);
    block.finish(0);
}

/// Appends the reply of CREATE_TEMPORARY with the encoded name. The name is always OEM, and real servers send it
/// without the folder.
pub fn emit_create_temporary_response(fid: Fid, name: &[u8], out: &mut Writer) {
    let mut block = BlockWriter::begin(out);
    block.words().u16(fid.0);
    block.bytes().u8(4).bytes(name).u8(0);
    block.finish(0);
}
