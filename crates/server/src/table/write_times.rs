//! Times of last write, and space reserved, as clients see them while a file is open.
//!
//! Windows does not show a write in the file's times at once, and programs count on it: one that writes, reads the time
//! and later finds another believes that somebody else changed the file. So a first write shows two seconds later, or
//! when its open is closed, and is then the time of that close; a change of the length shows at once; a time set by a
//! client through an open stays whatever is written through it afterwards ([MS-FSA] 2.1.4.17, 2.1.5.4, 2.1.5.15.2).
//!
//! What is on the disk moves with every write all the same: here is only what a client is told meanwhile.

use super::shown_times::Writer;
use super::{OpenId, Tables};
use crate::vfs::{FileId, FsTime, Stat};
use coax_wire::time::Time;

impl Tables {
    /// Something is about to be written through `open` to its file, which is `before`.
    pub fn note_write(&mut self, now: Time, open: OpenId, before: &Stat) {
        self.write_times.shown(before);
        let writer = self.write_times.writers.entry(open).or_default();
        if writer.frozen {
            return;
        }
        writer.wrote = true;
        writer.resized = false;
        if !core::mem::replace(&mut writer.triggered, true) {
            writer.due = Some(now + self.config.write_time_delay);
        }
    }

    /// The length was changed through `open` of a file that was `before`: that shows at once.
    pub fn note_resize(&mut self, now: Time, open: OpenId, before: &Stat) {
        self.settle_write_times(now, before.id);
        let writer = self.write_times.writers.entry(open).or_default();
        if writer.frozen {
            return;
        }
        *writer = Writer {
            triggered: true,
            resized: true,
            ..Writer::default()
        };
        let wall = self.wall(now);
        self.write_times.shown(before).show(wall);
    }

    /// A client set the time of last write of a file that is `before`: through `open`, or by its path, where it only
    /// matters if somebody has the file open.
    pub fn set_write_time(&mut self, open: Option<OpenId>, before: &Stat, time: FsTime) {
        if self.opens_of_file(before.id).next().is_none() {
            return;
        }
        self.write_times.shown(before).set = Some(time);
        if let Some(open) = open {
            self.freeze_write_time(open, before, true);
        }
    }

    /// Writes through `open` leave the time of last write (time -1 in [MS-FSCC] 2.4.7), or move it again (-2).
    pub fn freeze_write_time(&mut self, open: OpenId, before: &Stat, frozen: bool) {
        self.write_times.shown(before);
        let writer = self.write_times.writers.entry(open).or_default();
        writer.frozen = frozen;
        writer.due = None;
    }

    /// A client set the time of last change of a file that is `before`. No file system lets us keep it: it is shown
    /// until all have closed the file.
    pub fn set_change_time(&mut self, before: &Stat, time: FsTime) {
        if self.opens_of_file(before.id).next().is_some() {
            self.write_times.shown(before).changed = Some(time);
        }
    }

    /// A client reserved space for a file, bytes: it is told of it until all have closed the file, and then what lies
    /// beyond the end is free again, as on NTFS.
    pub fn set_reserved(&mut self, file: FileId, bytes: u64) {
        if self.opens_of_file(file).next().is_some() {
            self.write_times.reserved.insert(file, bytes);
        }
    }

    /// Space that clients reserved for a file, bytes.
    pub fn reserved(&self, file: FileId) -> u64 {
        let reserved = &self.write_times.reserved;
        reserved.get(&file).copied().unwrap_or(0)
    }

    /// `open` is about to be closed: whether the file's reservation ends with it, if there was one.
    pub fn ends_reservation(&mut self, open: OpenId) -> bool {
        let Some(file) = self.get(open).map(|open| open.request.file) else {
            return false;
        };
        let is_last = self.opens_of_file(file).nth(1).is_none();
        is_last && self.write_times.reserved.remove(&file).is_some()
    }

    /// Times of last write and last change to tell instead of those on the disk, if there are any.
    pub fn shown_times(&mut self, now: Time, file: FileId) -> Option<(FsTime, FsTime)> {
        if self.write_times.files.is_empty() {
            return None;
        }
        self.settle_write_times(now, file);
        let shown = self.write_times.files.get(&file)?;
        let modified = shown.set.unwrap_or(shown.modified);
        Some((modified, shown.changed.unwrap_or(modified)))
    }

    /// `open` is about to be closed by a client that may name a time of last write: which one is to be set, if any.
    /// Must be called before [`Self::close`].
    pub fn closing_write_time(
        &mut self,
        now: Time,
        open: OpenId,
        asked: Option<FsTime>,
    ) -> Option<FsTime> {
        let file = self.get(open)?.request.file;
        self.settle_write_times(now, file);
        let is_last = self.opens_of_file(file).nth(1).is_none();
        let writer = self.write_times.writers.remove(&open).unwrap_or_default();
        let wall = self.wall(now);
        let shown = self.write_times.files.get_mut(&file);
        let time = match &shown {
            // What the close itself asks for stands above all (raw.close).
            _ if asked.is_some() => asked,
            Some(shown) if writer.frozen => Some(shown.set.unwrap_or(shown.modified)),
            Some(shown) if writer.resized => Some(shown.modified),
            _ if writer.wrote => Some(FsTime(wall.unix_ns())),
            _ => None,
        };
        if let (Some(shown), Some(time)) = (shown, time) {
            // What was written through this open ends a time that a client set through another.
            if !writer.frozen {
                shown.set = None;
            }
            shown.modified = time;
            shown.changed = None;
        }
        if is_last {
            self.write_times.files.remove(&file);
        }
        time
    }

    /// Shows what has fallen due by `now`.
    fn settle_write_times(&mut self, now: Time, file: FileId) {
        let offset = self.wall_offset_ns;
        let opens = self.files.get(&file).into_iter().flat_map(|f| &f.opens);
        for open in opens {
            let Some(writer) = self.write_times.writers.get_mut(open) else {
                continue;
            };
            if writer.due.is_some_and(|due| due <= now) {
                let due = writer.due.take().unwrap_or(now);
                if let Some(shown) = self.write_times.files.get_mut(&file) {
                    shown.show(Time(due.0.saturating_add_signed(offset)));
                }
            }
        }
    }
}
