//! Data of TRANS2_SET_PATH_INFORMATION and TRANS2_SET_FILE_INFORMATION: [MS-CIFS] 2.2.8.4, [MS-FSCC] 2.4.

use super::PASS_THROUGH;
use crate::{
    block::WireStr,
    error::Result,
    io::{Reader, Writer},
    smb::query_information::DosTimes,
    time::FileTime,
};

/// Times and attributes to be set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Basic {
    /// Creation.
    pub created: FileTime,
    /// Last access.
    pub accessed: FileTime,
    /// Last write.
    pub modified: FileTime,
    /// Last change.
    pub changed: FileTime,
    /// Attributes, 32-bit form; 0 leaves them.
    pub attributes: u32,
}

/// A rename by an open or a path ([MS-FSCC] 2.4.42.1, the form of SMB1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rename<'a> {
    /// An existing file may be replaced.
    pub replace: bool,
    /// Folder that the name counts from; SMB1 demands 0.
    pub root: u32,
    /// The new name.
    pub name: WireStr<'a>,
}

/// The values to set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetFile<'a> {
    /// SMB_INFO_STANDARD (1): three times.
    InfoStandard(DosTimes),
    /// SMB_INFO_SET_EAS (2): an [`super::ea`] list, not yet decoded.
    InfoSetEas(&'a [u8]),
    /// SMB_SET_FILE_BASIC_INFO (0x101), FileBasicInformation.
    Basic(Basic),
    /// SMB_SET_FILE_DISPOSITION_INFO (0x102), FileDispositionInformation: delete on close, or do not.
    Disposition(bool),
    /// SMB_SET_FILE_ALLOCATION_INFO (0x103), FileAllocationInformation: space to have, bytes.
    Allocation(u64),
    /// SMB_SET_FILE_END_OF_FILE_INFO (0x104), FileEndOfFileInformation: length, bytes.
    EndOfFile(u64),
    /// FileRenameInformation.
    Rename(Rename<'a>),
    /// FilePositionInformation.
    Position(u64),
    /// FileModeInformation.
    Mode(u32),
}

impl<'a> SetFile<'a> {
    /// Decodes the data of level `code`; `None` for levels that cannot be set. `unicode` is the header's flag. It decides
    /// the encoding of a rename's new name as of all names in a message ([MS-CIFS] 2.2.3.1); smbd decides so, too.
    ///
    /// # Errors
    /// [`crate::Error::Short`].
    pub fn parse(code: u16, data: &'a [u8], unicode: bool) -> Result<Option<Self>> {
        let mut r = Reader::new(data);
        let class = code.checked_sub(PASS_THROUGH);
        Ok(Some(match (code, class) {
            (1, _) => Self::InfoStandard(DosTimes::parse(&mut r)?),
            (2, _) => Self::InfoSetEas(data),
            (0x101, _) | (_, Some(4)) => Self::Basic(Basic::parse(&mut r)?),
            (0x102, _) | (_, Some(13)) => Self::Disposition(r.u8("disposition")? != 0),
            (0x103, _) | (_, Some(19)) => Self::Allocation(r.u64("allocation size")?),
            (0x104, _) | (_, Some(20)) => Self::EndOfFile(r.u64("end of file")?),
            (_, Some(10)) => Self::Rename(Rename::parse(&mut r, unicode)?),
            (_, Some(14)) => Self::Position(r.u64("position")?),
            (_, Some(16)) => Self::Mode(r.u32("mode")?),
            _ => return Ok(None),
        }))
    }

    /// The level's number: that of [MS-CIFS] if there is one, else the class of [MS-FSCC] plus [`PASS_THROUGH`].
    pub const fn code(&self) -> u16 {
        match self {
            Self::InfoStandard(_) => 1,
            Self::InfoSetEas(_) => 2,
            Self::Basic(_) => 0x101,
            Self::Disposition(_) => 0x102,
            Self::Allocation(_) => 0x103,
            Self::EndOfFile(_) => 0x104,
            Self::Rename(_) => PASS_THROUGH + 10,
            Self::Position(_) => PASS_THROUGH + 14,
            Self::Mode(_) => PASS_THROUGH + 16,
        }
    }

    /// Appends the data. After SMB_INFO_STANDARD's times come sizes and attributes as in the query's form. Servers
    /// ignore them, and OS/2 requires them ([MS-CIFS] 2.2.8.4.1).
    pub fn emit(&self, out: &mut Writer) {
        match self {
            Self::InfoStandard(times) => {
                times.emit(out);
                out.zeros(10);
            }
            Self::InfoSetEas(list) => drop(out.bytes(list)),
            Self::Basic(basic) => {
                for time in [basic.created, basic.accessed, basic.modified, basic.changed] {
                    out.u64(time.0);
                }
                out.u32(basic.attributes).u32(0);
            }
            Self::Disposition(delete) => drop(out.u8(u8::from(*delete))),
            Self::Allocation(bytes) | Self::EndOfFile(bytes) | Self::Position(bytes) => {
                out.u64(*bytes);
            }
            Self::Mode(mode) => drop(out.u32(*mode)),
            Self::Rename(rename) => {
                out.u32(u32::from(rename.replace)).u32(rename.root);
                out.u32(rename.name.raw.len() as u32).bytes(rename.name.raw);
            }
        }
    }
}

impl Basic {
    fn parse(r: &mut Reader<'_>) -> Result<Self> {
        Ok(Self {
            created: FileTime(r.u64("creation time")?),
            accessed: FileTime(r.u64("last access time")?),
            modified: FileTime(r.u64("last write time")?),
            changed: FileTime(r.u64("change time")?),
            attributes: r.u32("attributes")?,
        })
    }
}

impl<'a> Rename<'a> {
    fn parse(r: &mut Reader<'a>, unicode: bool) -> Result<Self> {
        let replace = r.u32("replace flag")? & 0xff != 0;
        let root = r.u32("root directory")?;
        let len = r.u32("name length")? as usize;
        let raw = r.take(len, "new name")?;
        let terminator: &[u8] = if unicode { &[0, 0] } else { &[0] };
        Ok(Self {
            replace,
            root,
            name: WireStr {
                raw: raw.strip_suffix(terminator).unwrap_or(raw),
                unicode,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn basic_information_of_36_bytes_is_enough() {
        let mut data = [0; 36];
        data[16] = 7;
        data[32] = 0x80;
        let expected = SetFile::Basic(Basic {
            modified: FileTime(7),
            attributes: 0x80,
            ..Basic::default()
        });
        assert_eq!(SetFile::parse(0x101, &data, true).unwrap(), Some(expected));
        assert_eq!(SetFile::parse(1004, &data, true).unwrap(), Some(expected));
        assert!(SetFile::parse(0x101, &data[..35], true).is_err());
    }

    #[test]
    fn a_rename_contains_its_name_without_a_terminator() {
        let data = b"\x01\0\0\0\0\0\0\0\x04\0\0\0a\0b\0\0\0";
        let Some(SetFile::Rename(rename)) = SetFile::parse(1010, data, true).unwrap() else {
            panic!("not a rename");
        };
        assert!(rename.replace && rename.root == 0);
        assert_eq!(rename.name.raw, b"a\0b\0");
        assert!(SetFile::parse(1010, &data[..14], true).is_err());
    }

    #[test]
    fn a_rename_without_unicode_contains_its_name_in_the_code_page() {
        let data = b"\0\0\0\0\0\0\0\0\x03\0\0\0ab\0";
        let Some(SetFile::Rename(rename)) = SetFile::parse(1010, data, false).unwrap() else {
            panic!("not a rename");
        };
        assert!(!rename.name.unicode);
        assert_eq!(rename.name.raw, b"ab");
    }

    #[test]
    fn levels_that_cannot_be_set_decode_to_none() {
        for code in [0, 3, 4, 0x107, 0x200, 1005, 1018, 0xffff] {
            assert_eq!(
                SetFile::parse(code, &[0; 64], true).unwrap(),
                None,
                "{code}"
            );
        }
        assert_eq!(
            SetFile::parse(1020, &[1, 0, 0, 0, 1, 0, 0, 0], true).unwrap(),
            Some(SetFile::EndOfFile(0x1_0000_0001))
        );
    }

    #[test]
    fn values_to_set_survive_a_round_trip() {
        let name = WireStr {
            raw: b"a\0",
            unicode: true,
        };
        for set in [
            SetFile::InfoStandard(DosTimes::default()),
            SetFile::InfoSetEas(b"\x04\0\0\0"),
            SetFile::Basic(Basic {
                modified: FileTime(7),
                attributes: 0x80,
                ..Basic::default()
            }),
            SetFile::Disposition(true),
            SetFile::Allocation(1 << 40),
            SetFile::EndOfFile(5),
            SetFile::Rename(Rename {
                replace: true,
                root: 0,
                name,
            }),
            SetFile::Position(9),
            SetFile::Mode(2),
        ] {
            let mut out = Writer::default();
            set.emit(&mut out);
            assert_eq!(
                SetFile::parse(set.code(), out.as_slice(), true),
                Ok(Some(set))
            );
        }
        let mut out = Writer::default();
        SetFile::Basic(Basic::default()).emit(&mut out);
        assert_eq!(out.len(), 40);
    }

    proptest! {
        #[test]
        fn any_bytes_decode_or_are_refused(code in any::<u16>(), data in proptest::collection::vec(any::<u8>(), 0..64)) {
            if let Ok(Some(SetFile::Rename(rename))) = SetFile::parse(code, &data, true) {
                prop_assert!(rename.name.raw.len() <= data.len());
            }
        }
    }
}
