//! Data of TRANS2_QUERY_PATH_INFORMATION and TRANS2_QUERY_FILE_INFORMATION: [MS-CIFS] 2.2.8.3, [MS-FSCC] 2.4.

use super::{
    PASS_THROUGH,
    reply::take_name,
    streams::{self, StreamEntry},
};
use crate::{
    error::Result,
    io::{Reader, Writer},
    smb::query_information::DosTimes,
    time::FileTime,
};

/// A level, whichever of its numbers it was asked for by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Level {
    /// SMB_INFO_STANDARD (1).
    InfoStandard,
    /// SMB_INFO_QUERY_EA_SIZE (2).
    InfoQueryEaSize,
    /// SMB_INFO_QUERY_EAS_FROM_LIST (3): the request's data is a list of names.
    InfoQueryEasFromList,
    /// SMB_INFO_QUERY_ALL_EAS (4).
    InfoQueryAllEas,
    /// SMB_INFO_IS_NAME_VALID (6): of paths only; no data.
    InfoIsNameValid,
    /// SMB_QUERY_FILE_BASIC_INFO (0x101), FileBasicInformation.
    Basic,
    /// SMB_QUERY_FILE_STANDARD_INFO (0x102), FileStandardInformation.
    Standard,
    /// FileInternalInformation.
    Internal,
    /// SMB_QUERY_FILE_EA_INFO (0x103), FileEaInformation.
    Ea,
    /// FileAccessInformation.
    Access,
    /// SMB_QUERY_FILE_NAME_INFO (0x104), FileNameInformation.
    Name,
    /// FilePositionInformation.
    Position,
    /// FileModeInformation.
    Mode,
    /// FileAlignmentInformation.
    Alignment,
    /// SMB_QUERY_FILE_ALL_INFO (0x107), FileAllInformation. NT answers both in the form of the former.
    All,
    /// SMB_QUERY_FILE_ALT_NAME_INFO (0x108), FileAlternateNameInformation.
    AltName,
    /// SMB_QUERY_FILE_STREAM_INFO (0x109), FileStreamInformation.
    Stream,
    /// SMB_QUERY_FILE_COMPRESSION_INFO (0x10B), FileCompressionInformation.
    Compression,
    /// FileNetworkOpenInformation.
    NetworkOpen,
    /// FileAttributeTagInformation.
    AttributeTag,
}

/// Every number a level has: those of [MS-CIFS], and the classes of [MS-FSCC] plus [`PASS_THROUGH`].
const CODES: &[(u16, Level)] = &[
    (0x0001, Level::InfoStandard),
    (0x0002, Level::InfoQueryEaSize),
    (0x0003, Level::InfoQueryEasFromList),
    (0x0004, Level::InfoQueryAllEas),
    (0x0006, Level::InfoIsNameValid),
    (0x0101, Level::Basic),
    (0x0102, Level::Standard),
    (0x0103, Level::Ea),
    (0x0104, Level::Name),
    (0x0107, Level::All),
    (0x0108, Level::AltName),
    (0x0109, Level::Stream),
    (0x010b, Level::Compression),
    (PASS_THROUGH + 4, Level::Basic),
    (PASS_THROUGH + 5, Level::Standard),
    (PASS_THROUGH + 6, Level::Internal),
    (PASS_THROUGH + 7, Level::Ea),
    (PASS_THROUGH + 8, Level::Access),
    (PASS_THROUGH + 9, Level::Name),
    (PASS_THROUGH + 14, Level::Position),
    (PASS_THROUGH + 16, Level::Mode),
    (PASS_THROUGH + 17, Level::Alignment),
    (PASS_THROUGH + 18, Level::All),
    (PASS_THROUGH + 21, Level::AltName),
    (PASS_THROUGH + 22, Level::Stream),
    (PASS_THROUGH + 28, Level::Compression),
    (PASS_THROUGH + 34, Level::NetworkOpen),
    (PASS_THROUGH + 35, Level::AttributeTag),
];

impl Level {
    /// The level of a number on the wire.
    pub fn of(code: u16) -> Option<Self> {
        CODES.iter().find(|row| row.0 == code).map(|row| row.1)
    }

    /// The smallest number of this level.
    pub fn code(self) -> u16 {
        CODES
            .iter()
            .find(|row| row.1 == self)
            .map_or(0, |row| row.0)
    }

    /// Whether the level contains extended attributes or their size.
    pub const fn asks_for_eas(self) -> bool {
        matches!(
            self,
            Self::InfoQueryEaSize
                | Self::InfoQueryEasFromList
                | Self::InfoQueryAllEas
                | Self::Ea
                | Self::All
        )
    }
}

/// The file information of all fixed-form levels. Names are always UTF-16LE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileInfo<'a> {
    /// Creation, last access and last write as DOS has them, local.
    pub dos_times: DosTimes,
    /// Creation.
    pub created: FileTime,
    /// Last access.
    pub accessed: FileTime,
    /// Last write.
    pub modified: FileTime,
    /// Last change of contents or metadata.
    pub changed: FileTime,
    /// Attributes, 16-bit form.
    pub dos_attributes: u16,
    /// Attributes, 32-bit form.
    pub attributes: u32,
    /// Space allocated on the disk, bytes.
    pub allocation: u64,
    /// Length, bytes.
    pub size: u64,
    /// Names it has; 0 when its deletion is pending.
    pub links: u32,
    /// The file is deleted when it is closed.
    pub delete_pending: bool,
    /// It is a folder.
    pub directory: bool,
    /// Which object of the file system it is.
    pub index: u64,
    /// Length of its list of extended attributes, bytes; 0 if it has none.
    pub ea_size: u32,
    /// Rights of the open asked about.
    pub access: u32,
    /// Position of the open.
    pub position: u64,
    /// Mode of the open.
    pub mode: u32,
    /// Path from the share's root, beginning with a backslash.
    pub name: &'a [u8],
    /// Name in 8.3 form.
    pub alt_name: &'a [u8],
}

impl FileInfo<'_> {
    /// Appends the data of `level`. For levels with extended attributes ([`super::ea`]) or without data it appends
    /// nothing.
    pub fn emit(&self, level: Level, out: &mut Writer) {
        match level {
            Level::InfoStandard => self.put_info_standard(out),
            Level::InfoQueryEaSize => {
                self.put_info_standard(out);
                out.u32(self.ea_size);
            }
            Level::Basic => self.put_basic(out),
            Level::Standard => self.put_standard(out),
            Level::Internal => drop(out.u64(self.index)),
            Level::Ea => drop(out.u32(self.ea_size)),
            Level::Access => drop(out.u32(self.access)),
            Level::Name => put_name(self.name, out),
            Level::Position => drop(out.u64(self.position)),
            Level::Mode => drop(out.u32(self.mode)),
            Level::Alignment => drop(out.u32(0)),
            Level::All => self.put_all(out),
            Level::AltName => put_name(self.alt_name, out),
            Level::Stream => self.put_stream(out),
            Level::Compression => drop(out.u64(self.size).zeros(8)),
            Level::NetworkOpen => self.put_network_open(out),
            Level::AttributeTag => drop(out.u32(self.attributes).u32(0)),
            Level::InfoQueryEasFromList | Level::InfoQueryAllEas | Level::InfoIsNameValid => {}
        }
    }

    /// [MS-CIFS] 2.2.8.3.1. Sizes of 4 GiB and more are encoded as the largest 32-bit number.
    fn put_info_standard(&self, out: &mut Writer) {
        let clip = |size: u64| u32::try_from(size).unwrap_or(u32::MAX);
        self.dos_times.emit(out);
        out.u32(clip(self.size))
            .u32(clip(self.allocation))
            .u16(self.dos_attributes);
    }

    fn put_times(&self, out: &mut Writer) {
        for time in [self.created, self.accessed, self.modified, self.changed] {
            out.u64(time.0);
        }
    }

    fn put_basic(&self, out: &mut Writer) {
        self.put_times(out);
        out.u32(self.attributes).u32(0);
    }

    fn put_standard(&self, out: &mut Writer) {
        out.u64(self.allocation).u64(self.size).u32(self.links);
        out.u8(u8::from(self.delete_pending))
            .u8(u8::from(self.directory))
            .u16(0);
    }

    fn put_all(&self, out: &mut Writer) {
        self.put_basic(out);
        self.put_standard(out);
        out.u32(self.ea_size);
        put_name(self.name, out);
    }

    fn put_network_open(&self, out: &mut Writer) {
        self.put_times(out);
        out.u64(self.allocation).u64(self.size);
        out.u32(self.attributes).u32(0);
    }

    /// The one stream that every file has. Folders have none.
    fn put_stream(&self, out: &mut Writer) {
        if self.directory {
            return;
        }
        let unnamed = StreamEntry {
            name: streams::UNNAMED,
            size: self.size,
            allocation: self.allocation,
        };
        streams::emit(&[unnamed], out);
    }
}

fn put_name(name: &[u8], out: &mut Writer) {
    out.u32(name.len() as u32).bytes(name);
}

impl<'a> FileInfo<'a> {
    /// Decodes the data of `level`. Not for levels of variable form (lists of extended attributes, streams): use
    /// [`super::ea`] and [`super::reply::streams`].
    ///
    /// # Errors
    /// `Error::Short`.
    pub fn parse(level: Level, data: &'a [u8]) -> Result<Self> {
        let mut r = Reader::new(data);
        let mut info = Self::default();
        match level {
            Level::InfoStandard => info.take_info_standard(&mut r)?,
            Level::InfoQueryEaSize => {
                info.take_info_standard(&mut r)?;
                info.ea_size = r.u32("EA size")?;
            }
            Level::Basic => info.take_basic(&mut r)?,
            Level::Standard => info.take_standard(&mut r)?,
            Level::Internal => info.index = r.u64("index number")?,
            Level::Ea => info.ea_size = r.u32("EA size")?,
            Level::Access => info.access = r.u32("access")?,
            Level::Name => info.name = take_name(&mut r)?,
            Level::Position => info.position = r.u64("position")?,
            Level::Mode => info.mode = r.u32("mode")?,
            Level::All => info.take_all(&mut r)?,
            Level::AltName => info.alt_name = take_name(&mut r)?,
            Level::Compression => info.size = r.u64("compressed size")?,
            Level::NetworkOpen => info.take_network_open(&mut r)?,
            Level::AttributeTag => info.attributes = r.u32("attributes")?,
            Level::Alignment
            | Level::Stream
            | Level::InfoQueryEasFromList
            | Level::InfoQueryAllEas
            | Level::InfoIsNameValid => {}
        }
        Ok(info)
    }

    fn take_info_standard(&mut self, r: &mut Reader<'_>) -> Result<()> {
        self.dos_times = DosTimes::parse(r)?;
        self.size = u64::from(r.u32("file size")?);
        self.allocation = u64::from(r.u32("allocation size")?);
        self.dos_attributes = r.u16("attributes")?;
        Ok(())
    }

    fn take_times(&mut self, r: &mut Reader<'_>) -> Result<()> {
        self.created = FileTime(r.u64("creation time")?);
        self.accessed = FileTime(r.u64("last access time")?);
        self.modified = FileTime(r.u64("last write time")?);
        self.changed = FileTime(r.u64("change time")?);
        Ok(())
    }

    fn take_basic(&mut self, r: &mut Reader<'_>) -> Result<()> {
        self.take_times(r)?;
        self.attributes = r.u32("attributes")?;
        r.take_up_to(4);
        Ok(())
    }

    fn take_standard(&mut self, r: &mut Reader<'_>) -> Result<()> {
        self.allocation = r.u64("allocation size")?;
        self.size = r.u64("end of file")?;
        self.links = r.u32("number of links")?;
        self.delete_pending = r.u8("delete pending")? != 0;
        self.directory = r.u8("directory")? != 0;
        r.take_up_to(2);
        Ok(())
    }

    /// The name at the end may lack.
    fn take_all(&mut self, r: &mut Reader<'a>) -> Result<()> {
        self.take_basic(r)?;
        self.take_standard(r)?;
        self.ea_size = r.u32("EA size").unwrap_or(0);
        self.name = take_name(r).unwrap_or(&[]);
        Ok(())
    }

    fn take_network_open(&mut self, r: &mut Reader<'_>) -> Result<()> {
        self.take_times(r)?;
        self.allocation = r.u64("allocation size")?;
        self.size = r.u64("end of file")?;
        self.attributes = r.u32("attributes")?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;
    use crate::time::DosDateTime;
    use alloc::vec::Vec;

    fn sample() -> FileInfo<'static> {
        let stamp = |n| DosDateTime {
            date: n,
            time: n + 1,
        };
        FileInfo {
            dos_times: DosTimes {
                created: stamp(0x0101),
                accessed: stamp(0x0202),
                modified: stamp(0x0303),
            },
            created: FileTime(1),
            accessed: FileTime(2),
            modified: FileTime(3),
            changed: FileTime(4),
            dos_attributes: 0x21,
            attributes: 0x2021,
            allocation: 0x2000,
            size: 0x1234,
            links: 1,
            delete_pending: false,
            directory: false,
            index: 77,
            ea_size: 20,
            access: 0x12019f,
            position: 5,
            mode: 2,
            name: b"\\\0a\0",
            alt_name: b"A\0",
        }
    }

    fn bytes(info: &FileInfo<'_>, level: Level) -> Vec<u8> {
        let mut out = Writer::default();
        info.emit(level, &mut out);
        out.into_vec()
    }

    #[test]
    fn info_standard_is_dates_before_times_and_sixteen_bit_attributes() {
        let got = bytes(&sample(), Level::InfoQueryEaSize);
        assert_eq!(
            got,
            b"\x01\x01\x02\x01\x02\x02\x03\x02\x03\x03\x04\x03\x34\x12\0\0\0\x20\0\0\x21\0\x14\0\0\0"
        );
        assert_eq!(bytes(&sample(), Level::InfoStandard), got[..22]);
    }

    #[test]
    fn every_level_has_the_length_that_clients_check() {
        let lengths = [
            (Level::Basic, 40),
            (Level::Standard, 24),
            (Level::Internal, 8),
            (Level::Ea, 4),
            (Level::Access, 4),
            (Level::Name, 8),
            (Level::Position, 8),
            (Level::Mode, 4),
            (Level::Alignment, 4),
            (Level::All, 76),
            (Level::AltName, 6),
            (Level::Stream, 38),
            (Level::Compression, 16),
            (Level::NetworkOpen, 56),
            (Level::AttributeTag, 8),
            (Level::InfoQueryAllEas, 0),
        ];
        for (level, length) in lengths {
            assert_eq!(bytes(&sample(), level).len(), length, "{level:?}");
        }
    }

    #[test]
    fn all_information_holds_basic_and_standard_then_the_size_of_attributes_and_the_name() {
        let got = bytes(&sample(), Level::All);
        assert_eq!(got[..40], bytes(&sample(), Level::Basic));
        assert_eq!(got[40..64], bytes(&sample(), Level::Standard));
        assert_eq!(got[64..], *b"\x14\0\0\0\x04\0\0\0\\\0a\0");
        assert_eq!(got[32..40], *b"\x21\x20\0\0\0\0\0\0");
    }

    #[test]
    fn sizes_beyond_32_bits_are_clipped_where_there_is_no_room() {
        let info = FileInfo {
            size: 5 << 30,
            allocation: 5 << 30,
            ..sample()
        };
        assert_eq!(bytes(&info, Level::InfoStandard)[12..20], [0xff; 8]);
        let folder = FileInfo {
            directory: true,
            ..sample()
        };
        assert!(bytes(&folder, Level::Stream).is_empty());
    }

    #[test]
    fn every_number_leads_to_its_level_and_no_number_stands_twice() {
        for (i, row) in CODES.iter().enumerate() {
            assert_eq!(Level::of(row.0), Some(row.1));
            assert!(CODES[..i].iter().all(|other| other.0 != row.0));
        }
        assert_eq!(Level::of(0x200), None);
        assert_eq!(Level::All.code(), 0x107);
    }
}
