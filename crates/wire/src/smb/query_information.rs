//! QUERY_INFORMATION (0x08) and QUERY_INFORMATION2 (0x23): [MS-CIFS] 2.2.4.9, 2.2.4.31.

use crate::{
    block::{Block, BlockWriter, WireStr},
    error::Result,
    header::Fid,
    io::Writer,
    time::{DosDateTime, Utime},
};

/// Decodes QUERY_INFORMATION's request: the path asked about.
///
/// # Errors
/// [`crate::Error::Short`], or `Value` for a wrong buffer format.
pub fn parse_path<'a>(block: &Block<'a>, unicode: bool) -> Result<WireStr<'a>> {
    let mut strings = block.strings(unicode);
    strings.format(4)?;
    Ok(strings.string())
}

/// QUERY_INFORMATION's request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// Path of the file or folder.
    pub path: WireStr<'a>,
}

impl Request<'_> {
    /// Appends the request.
    pub fn emit(&self, out: &mut Writer) {
        let mut block = BlockWriter::begin(out);
        self.path.emit_formatted(block.bytes());
        block.finish(0);
    }
}

/// QUERY_INFORMATION's reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Response {
    /// Attributes.
    pub attributes: u16,
    /// Time of last write, local.
    pub modified: Utime,
    /// Length, bytes.
    pub size: u32,
}

impl Response {
    /// Decodes.
    ///
    /// # Errors
    /// [`crate::Error::Short`].
    pub fn parse(block: &Block<'_>) -> Result<Self> {
        let mut words = block.words();
        Ok(Self {
            attributes: words.u16("attributes")?,
            modified: Utime(words.u32("last write time")?),
            size: words.u32("file size")?,
        })
    }

    /// Appends the reply.
    pub fn emit(&self, out: &mut Writer) {
        let mut block = BlockWriter::begin(out);
        block
            .words()
            .u16(self.attributes)
            .u32(self.modified.0)
            .u32(self.size)
            .zeros(10);
        block.finish(0);
    }
}

/// Decodes QUERY_INFORMATION2's request: the open file asked about.
///
/// # Errors
/// [`crate::Error::Short`].
pub fn parse_fid(block: &Block<'_>) -> Result<Fid> {
    Ok(Fid(block.word(0)?))
}

/// QUERY_INFORMATION2's request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request2 {
    /// The open file.
    pub fid: Fid,
}

impl Request2 {
    /// Appends the request.
    pub fn emit(&self, out: &mut Writer) {
        let mut block = BlockWriter::begin(out);
        block.words().u16(self.fid.0);
        block.finish(0);
    }
}

/// Three times as DOS has them, date before time: in QUERY_INFORMATION2, SET_INFORMATION2 and the information levels of
/// LAN Manager 2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DosTimes {
    /// Creation.
    pub created: DosDateTime,
    /// Last access.
    pub accessed: DosDateTime,
    /// Last write.
    pub modified: DosDateTime,
}

impl DosTimes {
    /// Length on the wire, bytes.
    pub const LEN: usize = 12;

    /// Decodes.
    ///
    /// # Errors
    /// [`crate::Error::Short`].
    pub fn parse(reader: &mut crate::io::Reader<'_>) -> Result<Self> {
        let mut stamp = || -> Result<DosDateTime> {
            Ok(DosDateTime {
                date: reader.u16("date")?,
                time: reader.u16("time")?,
            })
        };
        Ok(Self {
            created: stamp()?,
            accessed: stamp()?,
            modified: stamp()?,
        })
    }

    /// Appends the six words.
    pub fn emit(&self, out: &mut Writer) {
        for stamp in [self.created, self.accessed, self.modified] {
            out.u16(stamp.date).u16(stamp.time);
        }
    }
}

/// QUERY_INFORMATION2's reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Response2 {
    /// Times, local.
    pub times: DosTimes,
    /// Length, bytes.
    pub size: u32,
    /// Space allocated on the disk, bytes.
    pub allocation: u32,
    /// Attributes.
    pub attributes: u16,
}

impl Response2 {
    /// Decodes.
    ///
    /// # Errors
    /// [`crate::Error::Short`].
    pub fn parse(block: &Block<'_>) -> Result<Self> {
        let mut words = block.words();
        Ok(Self {
            times: DosTimes::parse(&mut words)?,
            size: words.u32("file size")?,
            allocation: words.u32("allocation size")?,
            attributes: words.u16("attributes")?,
        })
    }

    /// Appends the reply.
    pub fn emit(&self, out: &mut Writer) {
        let mut block = BlockWriter::begin(out);
        self.times.emit(block.words());
        block
            .words()
            .u32(self.size)
            .u32(self.allocation)
            .u16(self.attributes);
        block.finish(0);
    }
}
