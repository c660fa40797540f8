//! The client's side of FIND_FIRST2 and FIND_NEXT2: parameters of the requests and replies, and the entries found
//! ([MS-CIFS] 2.2.6.2, 2.2.6.3, 2.2.8.1).

use super::find_first2::{Entry, Level};
use crate::{
    error::{Error, Result},
    io::Reader,
    time::{DosDateTime, FileTime, ZoneMinutesWest},
};

/// The format of the entries of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// The level asked for.
    pub level: Level,
    /// The header's flag: names are UTF-16LE.
    pub unicode: bool,
    /// [`super::find_first2::flags::RETURN_RESUME_KEYS`] was asked for.
    pub resume_keys: bool,
    /// The zone of DOS times: the server's.
    pub zone: ZoneMinutesWest,
}

/// Iterates over the entries of a reply. A malformed entry is an error and the last item.
#[derive(Clone, Debug)]
pub struct Entries<'a> {
    format: Format,
    data: &'a [u8],
    at: usize,
    left: u16,
}

impl<'a> Entries<'a> {
    /// The entries in the reply's `data`, of which its parameters count `count`.
    pub const fn new(format: Format, data: &'a [u8], count: u16) -> Self {
        Self {
            format,
            data,
            at: 0,
            left: count,
        }
    }

    /// Decodes the entry at `self.at` and moves on.
    fn take(&mut self) -> Result<Entry<'a>> {
        let mut r = Reader::at(self.data, self.at, "entry")?;
        if self.format.level.is_old() {
            let entry = self.format.old(&mut r)?;
            self.at = r.position();
            return Ok(entry);
        }
        let step = r.u32("next entry offset")? as usize;
        let entry = self.format.nt(&mut r)?;
        match step {
            // Some servers put nothing behind the last entry, others link it to the end of the data.
            0 => self.left = 0,
            _ => self.at = self.at.saturating_add(step),
        }
        // An entry that begins within the last one does not end the walk, but this does.
        if step != 0 && step < MIN_NT_ENTRY {
            return Err(Error::Value {
                what: "next entry offset",
            });
        }
        Ok(entry)
    }
}

impl<'a> Iterator for Entries<'a> {
    type Item = Result<Entry<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.left == 0 || self.at >= self.data.len() {
            return None;
        }
        self.left = self.left.saturating_sub(1);
        let entry = self.take();
        if entry.is_err() {
            self.left = 0;
        }
        Some(entry)
    }
}

/// Bytes of NT's shortest entry: offset, index and length of a name.
const MIN_NT_ENTRY: usize = 12;

/// Room for an 8.3 name in UTF-16LE, bytes.
const SHORT_NAME_LEN: usize = 24;

impl Format {
    /// The same, but without resume keys if the entries can be decoded only without them. A Windows Me server omits
    /// them from the standard level (rapid7/ruby_smb, pull request 294); other servers send them on request.
    #[must_use]
    pub fn as_found(self, data: &[u8], count: u16) -> Self {
        let bare = Self {
            resume_keys: false,
            ..self
        };
        let is_doubtful = self.resume_keys && self.level == Level::Standard;
        match is_doubtful && !self.fits(data, count) && bare.fits(data, count) {
            true => bare,
            false => self,
        }
    }

    /// Whether `data` is `count` entries of names with nothing behind them but padding.
    fn fits(self, data: &[u8], count: u16) -> bool {
        const PADDING: usize = 3;
        let mut entries = Entries::new(self, data, count);
        let named = entries
            .by_ref()
            .take_while(|entry| entry.as_ref().is_ok_and(|entry| !entry.name.is_empty()))
            .count();
        named == usize::from(count) && data.len().saturating_sub(entries.at) <= PADDING
    }

    fn old<'a>(&self, r: &mut Reader<'a>) -> Result<Entry<'a>> {
        let key = match self.resume_keys {
            true => r.u32("resume key")?,
            false => 0,
        };
        let mut entry = Entry {
            key,
            created: self.stamp(r)?,
            accessed: self.stamp(r)?,
            modified: self.stamp(r)?,
            size: u64::from(r.u32("file size")?),
            allocated: u64::from(r.u32("allocation size")?),
            attributes: u32::from(r.u16("attributes")?),
            ..Entry::default()
        };
        entry.changed = entry.modified;
        match self.level {
            Level::QueryEaSize => entry.ea_size = r.u32("EA size")?,
            Level::QueryEasFromList => entry.eas = ea_list(r)?,
            _ => {}
        }
        let len = usize::from(r.u8("name length")?);
        entry.name = self.old_name(r, len);
        Ok(entry)
    }

    /// A name of `len` bytes and its terminator, which is as wide as a character in the standard level and one byte in
    /// the others. Some servers include it in the length; Windows 95 omits it in the last entry.
    fn old_name<'a>(&self, r: &mut Reader<'a>, len: usize) -> &'a [u8] {
        let aligned = self.unicode && self.level == Level::Standard;
        if aligned {
            r.align(2);
        }
        let width = if self.unicode { 2 } else { 1 };
        let counted = r.take_up_to(len);
        let name = without_end(counted, width);
        if name.len() == counted.len() {
            r.take_up_to(if aligned { 2 } else { 1 });
        }
        name
    }

    fn nt<'a>(&self, r: &mut Reader<'a>) -> Result<Entry<'a>> {
        let mut entry = Entry {
            key: r.u32("file index")?,
            ..Entry::default()
        };
        if self.level == Level::Names {
            let len = r.u32("name length")? as usize;
            entry.name = self.nt_name(r, len)?;
            return Ok(entry);
        }
        let mut time = || r.u64("time").map(|time| FileTime(time).unix_ns());
        (entry.created, entry.accessed) = (time()?, time()?);
        (entry.modified, entry.changed) = (time()?, time()?);
        entry.size = r.u64("end of file")?;
        entry.allocated = r.u64("allocation size")?;
        entry.attributes = r.u32("attributes")?;
        let len = r.u32("name length")? as usize;
        if self.level != Level::Directory {
            entry.ea_size = r.u32("EA size")?;
        }
        self.extras(r, &mut entry)?;
        entry.name = self.nt_name(r, len)?;
        Ok(entry)
    }

    fn extras<'a>(&self, r: &mut Reader<'a>, entry: &mut Entry<'a>) -> Result<()> {
        match self.level {
            Level::BothDirectory => entry.short_name = short_name(r)?,
            Level::IdFullDirectory => {
                r.u32("reserved")?;
                entry.file_id = r.u64("file ID")?;
            }
            Level::IdBothDirectory => {
                entry.short_name = short_name(r)?;
                r.u16("reserved")?;
                entry.file_id = r.u64("file ID")?;
            }
            _ => {}
        }
        Ok(())
    }

    fn nt_name<'a>(&self, r: &mut Reader<'a>, len: usize) -> Result<&'a [u8]> {
        let name = r.take(len, "name")?;
        Ok(without_end(name, if self.unicode { 2 } else { 1 }))
    }

    /// Date, then time. An invalid date becomes [`i64::MIN`].
    fn stamp(&self, r: &mut Reader<'_>) -> Result<i64> {
        let (date, time) = (r.u16("date")?, r.u16("time")?);
        let stamp = DosDateTime { date, time };
        Ok(stamp.unix_ns(self.zone).unwrap_or(i64::MIN))
    }
}

fn short_name<'a>(r: &mut Reader<'a>) -> Result<&'a [u8]> {
    let len = usize::from(r.u8("short name length")?);
    r.u8("reserved")?;
    let field = r.take(SHORT_NAME_LEN, "short name")?;
    Ok(without_end(field.get(..len).unwrap_or(field), 2))
}

/// A list of extended attributes, whose first four bytes are its length, those included.
fn ea_list<'a>(r: &mut Reader<'a>) -> Result<&'a [u8]> {
    let rest = r.rest();
    let len = Reader::new(rest).u32("EA list length")? as usize;
    r.take(len.max(4), "EA list")
}

/// The text before the first NUL character.
fn without_end(name: &[u8], width: usize) -> &[u8] {
    let zero = name
        .chunks_exact(width)
        .position(|character| character.iter().all(|&byte| byte == 0));
    let len = zero.map_or(name.len(), |characters| characters * width);
    name.get(..len).unwrap_or(name)
}

#[cfg(test)]
#[path = "find_entries_tests.rs"]
mod tests;
