//! TRANS2_FIND_FIRST2 (0x0001) and TRANS2_FIND_NEXT2 (0x0002): [MS-CIFS] 2.2.6.2, 2.2.6.3; their information levels:
//! [MS-CIFS] 2.2.8.1 and [MS-SMB] 2.2.8.1.

use crate::{
    block::WireStr,
    error::Result,
    header::Sid,
    io::{Reader, Writer},
    time::{DosDateTime, FileTime, ZoneMinutesWest},
};
use alloc::vec::Vec;

/// Bits of the requests' flags.
pub mod flags {
    /// The search is closed after this request.
    pub const CLOSE_AFTER_REQUEST: u16 = 0x0001;
    /// The search is closed when its end is reached.
    pub const CLOSE_AT_EOS: u16 = 0x0002;
    /// Each entry of the old levels begins with a resume key.
    pub const RETURN_RESUME_KEYS: u16 = 0x0004;
    /// Go on after the last entry sent.
    pub const CONTINUE_FROM_LAST: u16 = 0x0008;
    /// The client makes a backup.
    pub const BACKUP_INTENT: u16 = 0x0010;
}

/// The subcommand FIND_FIRST2.
pub const FIND_FIRST2: u16 = 0x0001;
/// The subcommand FIND_NEXT2.
pub const FIND_NEXT2: u16 = 0x0002;

/// The information level of each entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// SMB_INFO_STANDARD.
    Standard,
    /// SMB_INFO_QUERY_EA_SIZE.
    QueryEaSize,
    /// SMB_INFO_QUERY_EAS_FROM_LIST.
    QueryEasFromList,
    /// SMB_FIND_FILE_DIRECTORY_INFO.
    Directory,
    /// SMB_FIND_FILE_FULL_DIRECTORY_INFO.
    FullDirectory,
    /// SMB_FIND_FILE_NAMES_INFO.
    Names,
    /// SMB_FIND_FILE_BOTH_DIRECTORY_INFO.
    BothDirectory,
    /// SMB_FIND_FILE_ID_FULL_DIRECTORY_INFO.
    IdFullDirectory,
    /// SMB_FIND_FILE_ID_BOTH_DIRECTORY_INFO.
    IdBothDirectory,
}

impl Level {
    /// The level of a code, NT's pass-through codes (1000 and a FILE_INFORMATION_CLASS, [MS-SMB] 2.2.2.3.5) included.
    pub const fn of(code: u16) -> Option<Self> {
        Some(match code {
            0x0001 => Self::Standard,
            0x0002 => Self::QueryEaSize,
            0x0003 => Self::QueryEasFromList,
            0x0101 | 1001 => Self::Directory,
            0x0102 | 1002 => Self::FullDirectory,
            0x0103 | 1012 => Self::Names,
            0x0104 | 1003 => Self::BothDirectory,
            0x0105 | 1038 => Self::IdFullDirectory,
            0x0106 | 1037 => Self::IdBothDirectory,
            _ => return None,
        })
    }

    /// Whether this is one of LAN Manager's, with DOS times and 8-bit name lengths.
    pub const fn is_old(self) -> bool {
        matches!(
            self,
            Self::Standard | Self::QueryEaSize | Self::QueryEasFromList
        )
    }

    /// Whether entries contain the size of the extended attributes.
    pub const fn has_ea_size(self) -> bool {
        !matches!(self, Self::Standard | Self::Directory | Self::Names)
    }
}

/// FIND_FIRST2's parameters before the pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FindFirst2 {
    /// Attributes entries may and must have.
    pub search_attributes: u16,
    /// Entries wanted at most.
    pub search_count: u16,
    /// Flags ([`flags`]).
    pub flags: u16,
    /// Information level.
    pub level: u16,
}

impl FindFirst2 {
    /// Offset of the pattern in the parameters.
    pub const NAME_OFFSET: usize = 12;

    /// Decodes.
    ///
    /// # Errors
    /// [`crate::Error::Short`].
    pub fn parse(mut parameters: Reader<'_>) -> Result<Self> {
        let found = Self {
            search_attributes: parameters.u16("search attributes")?,
            search_count: parameters.u16("search count")?,
            flags: parameters.u16("flags")?,
            level: parameters.u16("information level")?,
        };
        parameters.u32("search storage type")?;
        Ok(found)
    }
}

/// FIND_NEXT2's parameters before the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FindNext2 {
    /// Which search.
    pub sid: Sid,
    /// Entries wanted at most.
    pub search_count: u16,
    /// Information level.
    pub level: u16,
    /// Resume key of the entry to go on after; 0 if the client has none.
    pub resume_key: u32,
    /// Flags ([`flags`]).
    pub flags: u16,
}

impl FindNext2 {
    /// Offset in the parameters of the name after which the search continues.
    pub const NAME_OFFSET: usize = 12;

    /// Decodes.
    ///
    /// # Errors
    /// [`crate::Error::Short`].
    pub fn parse(mut parameters: Reader<'_>) -> Result<Self> {
        Ok(Self {
            sid: Sid(parameters.u16("SID")?),
            search_count: parameters.u16("search count")?,
            level: parameters.u16("information level")?,
            resume_key: parameters.u32("resume key")?,
            flags: parameters.u16("flags")?,
        })
    }
}

/// The parameters of both replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// The search, in FIND_FIRST2's.
    pub sid: Option<Sid>,
    /// Entries sent.
    pub count: u16,
    /// Nothing follows them.
    pub end_of_search: bool,
    /// Offset of the last entry in the data.
    pub last_name_offset: u16,
}

impl Found {
    /// The parameters.
    pub fn to_bytes(self) -> Vec<u8> {
        let mut out = Writer::with_capacity(10);
        if let Some(sid) = self.sid {
            out.u16(sid.0);
        }
        out.u16(self.count)
            .u16(u16::from(self.end_of_search))
            .u16(0)
            .u16(self.last_name_offset);
        out.into_vec()
    }
}

/// One file found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Entry<'a> {
    /// Resume key; never 0.
    pub key: u32,
    /// Time of creation, nanoseconds since 1970.
    pub created: i64,
    /// Time of last access, the same.
    pub accessed: i64,
    /// Time of last write, the same.
    pub modified: i64,
    /// Time of last change, the same.
    pub changed: i64,
    /// Length, bytes.
    pub size: u64,
    /// Space allocated, bytes.
    pub allocated: u64,
    /// Attributes in the 32-bit form; the old levels take the low byte without `NORMAL`.
    pub attributes: u32,
    /// Bytes that the extended attributes take as a list, 0 if there are none.
    pub ea_size: u32,
    /// A number that is the file's own.
    pub file_id: u64,
    /// 8.3 name in UTF-16LE; empty if the name is one.
    pub short_name: &'a [u8],
    /// Name, encoded for the client.
    pub name: &'a [u8],
    /// The extended attributes asked for, as a FEA list ([MS-CIFS] 2.2.1.2.2.1).
    pub eas: &'a [u8],
}

/// A list of entries while it is written.
#[derive(Debug)]
pub struct EntryList {
    /// Information level.
    pub level: Level,
    /// Names are UTF-16LE.
    pub unicode: bool,
    /// Entries of the old levels begin with their resume key.
    pub resume_keys: bool,
    /// The zone of DOS times.
    pub zone: ZoneMinutesWest,
    /// Bytes there may be.
    pub limit: usize,
    out: Writer,
    last: usize,
}

/// Room for an 8.3 name in UTF-16LE, bytes.
const SHORT_NAME_LEN: usize = 24;
/// NT's entries begin at multiples of this.
const ALIGNMENT: usize = 8;

impl EntryList {
    /// An empty list of at most `limit` bytes.
    pub fn new(level: Level, unicode: bool, limit: usize) -> Self {
        Self {
            level,
            unicode,
            resume_keys: false,
            zone: ZoneMinutesWest(0),
            limit,
            out: Writer::with_capacity(limit.min(0x1_0000)),
            last: 0,
        }
    }

    /// Offset of the last entry.
    pub fn last_offset(&self) -> usize {
        self.last
    }

    /// The finished list.
    pub fn into_bytes(self) -> Vec<u8> {
        self.out.into_vec()
    }

    /// Appends an entry; reports if it does not fit.
    pub fn push(&mut self, entry: &Entry<'_>) -> bool {
        let end = self.out.len();
        if self.level.is_old() {
            self.put_old(entry);
        } else {
            self.out.align(ALIGNMENT);
            let start = self.out.len();
            self.put_nt(entry);
            if end > 0 && self.out.len() <= self.limit {
                let step = start.saturating_sub(self.last) as u32;
                self.out.patch_u32(self.last, step);
            }
        }
        if self.out.len() > self.limit {
            self.out.truncate(end);
            return false;
        }
        self.last = if self.level.is_old() {
            end
        } else {
            end.next_multiple_of(ALIGNMENT)
        };
        true
    }

    fn put_old(&mut self, entry: &Entry<'_>) {
        const KNOWN: u32 = 0x3f;
        if self.resume_keys {
            self.out.u32(entry.key);
        }
        for time in [entry.created, entry.accessed, entry.modified] {
            let stamp = DosDateTime::from_unix_ns(time, self.zone);
            self.out.u16(stamp.date).u16(stamp.time);
        }
        for size in [entry.size, entry.allocated] {
            self.out.u32(u32::try_from(size).unwrap_or(u32::MAX));
        }
        self.out.u16((entry.attributes & KNOWN) as u16);
        match self.level {
            Level::QueryEaSize => self.out.u32(entry.ea_size),
            Level::QueryEasFromList => self.out.bytes(entry.eas),
            _ => &mut self.out,
        };
        self.out
            .u8(u8::try_from(entry.name.len()).unwrap_or(u8::MAX));
        self.put_old_name(entry.name);
    }

    /// The name ends with a zero that its length does not include. In the standard level it is aligned and the zero is
    /// as wide as a character. In the other levels one zero byte follows the name in any encoding, as servers send it.
    fn put_old_name(&mut self, name: &[u8]) {
        let aligned = self.unicode && self.level == Level::Standard;
        if aligned {
            self.out.align(2);
        }
        self.out.bytes(name).u8(0);
        if aligned {
            self.out.u8(0);
        }
    }

    fn put_nt(&mut self, entry: &Entry<'_>) {
        // Outside Unicode the name ends with a zero, and its length counts that.
        let terminator = usize::from(!self.unicode);
        let name_len = entry.name.len().saturating_add(terminator) as u32;
        self.out.u32(0).u32(entry.key);
        if self.level == Level::Names {
            self.out.u32(name_len);
        } else {
            self.put_facts(entry, name_len);
        }
        self.out.bytes(entry.name).zeros(terminator);
    }

    fn put_facts(&mut self, entry: &Entry<'_>, name_len: u32) {
        for time in [entry.created, entry.accessed, entry.modified, entry.changed] {
            self.out.u64(FileTime::from_unix_ns(time).0);
        }
        self.out
            .u64(entry.size)
            .u64(entry.allocated)
            .u32(entry.attributes)
            .u32(name_len);
        if self.level != Level::Directory {
            self.out.u32(entry.ea_size);
        }
        match self.level {
            Level::BothDirectory => self.put_short(entry.short_name),
            Level::IdFullDirectory => {
                self.out.u32(0).u64(entry.file_id);
            }
            Level::IdBothDirectory => {
                self.put_short(entry.short_name);
                self.out.u16(0).u64(entry.file_id);
            }
            _ => {}
        }
    }

    fn put_short(&mut self, short: &[u8]) {
        let short = short.get(..SHORT_NAME_LEN).unwrap_or(short);
        self.out.u8(short.len() as u8).u8(0).bytes(short);
        self.out.zeros(SHORT_NAME_LEN.saturating_sub(short.len()));
    }
}

impl FindFirst2 {
    /// The parameters with the name of the last received entry. Windows 95 and NT servers continue after that name,
    /// OS/2 after the resume key, so both are required (see [`flags::CONTINUE_FROM_LAST`]).
    pub fn to_bytes(&self, pattern: &WireStr<'_>) -> Vec<u8> {
        let mut out = Writer::default();
        out.u16(self.search_attributes)
            .u16(self.search_count)
            .u16(self.flags)
            .u16(self.level)
            .u32(0);
        pattern.emit(&mut out);
        out.into_vec()
    }
}

impl FindNext2 {
    /// The parameters with the name of the last received entry. Windows 95 and NT servers continue after that name,
    /// OS/2 after the resume key, so both are required (see [`flags::CONTINUE_FROM_LAST`]).
    pub fn to_bytes(&self, name: &WireStr<'_>) -> Vec<u8> {
        let mut out = Writer::default();
        out.u16(self.sid.0)
            .u16(self.search_count)
            .u16(self.level)
            .u32(self.resume_key)
            .u16(self.flags);
        name.emit(&mut out);
        out.into_vec()
    }
}

impl Found {
    /// Decodes the reply's parameters: of FIND_FIRST2, which begin with the search, or of FIND_NEXT2. Words behind the end
    /// of the search may lack.
    ///
    /// # Errors
    /// `Error::Short`.
    pub fn parse(parameters: &[u8], is_first: bool) -> Result<Self> {
        let mut r = Reader::new(parameters);
        let sid = match is_first {
            true => Some(Sid(r.u16("SID")?)),
            false => None,
        };
        let count = r.u16("search count")?;
        let end_of_search = r.u16("end of search")? != 0;
        let _ea_error_offset = r.u16("EA error offset");
        Ok(Self {
            sid,
            count,
            end_of_search,
            last_name_offset: r.u16("last name offset").unwrap_or(0),
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;

    fn entry<'a>(name: &'a [u8]) -> Entry<'a> {
        Entry {
            key: 3,
            created: 0,
            accessed: 0,
            modified: 0,
            changed: 0,
            size: 5,
            allocated: 4096,
            attributes: 0x20,
            ea_size: 0,
            file_id: 0x1122,
            short_name: b"A\0~\x001\0",
            name,
            eas: &[],
        }
    }

    #[test]
    fn a_standard_entry_stands_as_lan_manager_has_it() {
        let mut list = EntryList::new(Level::Standard, false, 100);
        list.resume_keys = true;
        assert!(list.push(&entry(b"FOO.TXT")));
        let want =
            b"\x03\0\0\0\x21\0\0\0\x21\0\0\0\x21\0\0\0\x05\0\0\0\0\x10\0\0\x20\0\x07FOO.TXT\0";
        assert_eq!(list.into_bytes(), want);
    }

    #[test]
    fn names_begin_where_each_level_has_them() {
        for (level, offset) in [
            (Level::Standard, 24),
            (Level::QueryEaSize, 27),
            (Level::Directory, 64),
            (Level::FullDirectory, 68),
            (Level::Names, 12),
            (Level::BothDirectory, 94),
            (Level::IdFullDirectory, 80),
            (Level::IdBothDirectory, 104),
        ] {
            let mut list = EntryList::new(level, true, 200);
            assert!(list.push(&entry(b"F\0O\0")));
            let bytes = list.into_bytes();
            assert_eq!(&bytes[offset..offset + 4], b"F\0O\0", "{level:?}");
        }
    }

    #[test]
    fn entries_are_linked_and_the_last_ends_the_chain() {
        let mut list = EntryList::new(Level::Names, true, 60);
        let mut count = 0;
        while list.push(&entry(b"A\0B\0C\0")) {
            count += 1;
        }
        assert_eq!((count, list.last_offset()), (2, 24));
        let bytes = list.into_bytes();
        assert_eq!((bytes[0], bytes[24], bytes.len()), (24, 0, 42));
    }

    #[test]
    fn outside_unicode_the_long_levels_count_a_terminator() {
        let mut list = EntryList::new(Level::Names, false, 60);
        assert!(list.push(&entry(b"ABC")));
        let bytes = list.into_bytes();
        assert_eq!((bytes[8], &bytes[12..]), (4, &b"ABC\0"[..]));
    }

    #[test]
    fn pass_through_codes_name_the_same_levels() {
        assert_eq!(Level::of(1003), Level::of(0x104));
        assert_eq!(Level::of(1037), Some(Level::IdBothDirectory));
        assert_eq!(Level::of(0x107), None);
    }
}
