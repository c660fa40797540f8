//! Last-write times and reserved space, as clients see them while a file is open.
//!
//! Windows does not show a write in the file's times at once, and programs rely on it. A program that writes, reads the
//! time and later sees another time assumes a change by another program. So the first write becomes visible two seconds
//! later or at the close of its open, and the time is then that of the close. A change of the length is visible at
//! once. A time that a client sets through an open survives later writes through it ([MS-FSA] 2.1.4.17, 2.1.5.4,
//! 2.1.5.15.2).
//!
//! The times on the disk change with every write. This module only has the values for clients.

use super::shown_times::Writer;
use super::{OpenId, Tables, share_modes::access};
use crate::vfs::{FileId, FsTime, Stat};
use coax_wire::time::Time;

impl Tables {
    /// Notes that a write through `open` is about to begin; `before` is the state of the file.
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

    /// Notes a change of the length through `open`; `before` is the state of the file. The new time is visible at once.
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

    /// Notes that a client set the last-write time: through `open`, or by path, which only matters if the file is open.
    /// `before` is the state of the file.
    pub fn set_write_time(&mut self, open: Option<OpenId>, before: &Stat, time: FsTime) {
        if self.opens_of_file(before.id).next().is_none() {
            return;
        }
        self.write_times.shown(before).set = Some(time);
        if let Some(open) = open {
            self.freeze_write_time(open, before, true);
        }
    }

    /// Stops (time -1 in [MS-FSCC] 2.4.7) or restarts (-2) the updates of the last-write time by writes through `open`.
    pub fn freeze_write_time(&mut self, open: OpenId, before: &Stat, frozen: bool) {
        self.write_times.shown(before);
        let writer = self.write_times.writers.entry(open).or_default();
        writer.frozen = frozen;
        writer.due = None;
    }

    /// Notes that a client set the change time; `before` is the state of the file. No file system can store it, so
    /// clients see it only until all have closed the file.
    pub fn set_change_time(&mut self, before: &Stat, time: FsTime) {
        if self.opens_of_file(before.id).next().is_some() {
            self.write_times.shown(before).changed = Some(time);
        }
    }

    /// Notes that a client reserved space, in bytes. Clients see the reservation until all have closed the file. Then
    /// the space beyond the end of the file is free again, as on NTFS.
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

    /// Notes that space beyond the end of the file may be allocated, which the last close frees.
    pub(super) fn note_reserved(&mut self, file: FileId) {
        self.write_times.reserved.entry(file).or_insert(0);
    }

    /// Whether the close of `open` ends the file's reservation. If so, and if the open can write, marks the file like
    /// [`Self::begin_trim`] until the close.
    pub fn ends_reservation(&mut self, open: OpenId) -> bool {
        let Some(request) = self.get(open).map(|open| &open.request) else {
            return false;
        };
        let (file, writes) = (request.file, request.access & access::WRITE_DATA != 0);
        let is_last = self.opens_of_file(file).nth(1).is_none();
        let ends = is_last && self.write_times.reserved.remove(&file).is_some();
        ends && writes && self.begin_trim(open)
    }

    /// The visible last-write and change times, if they differ from those on the disk.
    pub fn shown_times(&mut self, now: Time, file: FileId) -> Option<(FsTime, FsTime)> {
        if self.write_times.files.is_empty() {
            return None;
        }
        self.settle_write_times(now, file);
        let shown = self.write_times.files.get(&file)?;
        let modified = shown.set.unwrap_or(shown.modified);
        Some((modified, shown.changed.unwrap_or(modified)))
    }

    /// The last-write time to set at the close of `open`, if any. The client may send one with the close. The caller
    /// must call this before [`Self::close`].
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
            // The time in the close request has priority (raw.close).
            _ if asked.is_some() => asked,
            Some(shown) if writer.frozen => Some(shown.set.unwrap_or(shown.modified)),
            Some(shown) if writer.resized => Some(shown.modified),
            _ if writer.wrote => Some(FsTime(wall.unix_ns())),
            _ => None,
        };
        if let (Some(shown), Some(time)) = (shown, time) {
            // Writes through this open replace a time that a client set through another open.
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

    /// Makes the times visible that are due at `now`.
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
