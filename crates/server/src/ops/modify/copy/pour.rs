//! Copies one file. If the copy fails, the target is unchanged: missing, or with its old contents and attributes.

use super::{Copier, Finish, Original};
use crate::ops::modify::place::{READ, Step};
use crate::vfs::path::join;
use crate::{
    error::Result,
    names::attributes::{Attributes, DosAttrib},
    ops::{
        attributes::{self, Facts, parent_of},
        durability,
        journal::Journal,
        modify::{
            claim::{Wish, claiming},
            create::creating,
        },
        security,
    },
    table::NotifyFilter,
    vfs::{Kind, OpenHow, SetTimes, Vfs, VfsError, VfsFile},
};
use alloc::{format, string::String, sync::Arc, vec::Vec};
use coax_wire::status::Status;

/// The end of a DOS text (Control-Z).
const CONTROL_Z: u8 = 0x1a;
/// Most names tried for a backup.
const ATTEMPTS: u64 = 1000;

/// Access for writing to an existing file.
const WRITE: OpenHow = OpenHow {
    write: true,
    ..READ
};
/// To create.
const CREATE: OpenHow = OpenHow {
    create: true,
    exclusive: true,
    ..WRITE
};

/// The backup of a file that is being overwritten.
struct Backup {
    file: Arc<dyn VfsFile>,
    path: String,
}

impl Copier<'_, '_> {
    /// Copies into a new file.
    pub(super) fn copy_new(&self, from: &Original<'_>, to: &str, finish: Finish<'_>) -> Result<()> {
        let place = &self.spec.target_place;
        let folder = security::of_folder_to_grow(self.call, &*place.vfs, parent_of(to), false)?;
        creating(self.call, place, to, Kind::File, || {
            let file = place.vfs.open(to, CREATE)?.0;
            let share = &place.share;
            let inherit = |folder| security::inherit(self.call, share, &*file, folder, false);
            let copied = self
                .pour(from.file, &*file, 0)
                .and_then(|()| folder.as_ref().map_or(Ok(()), inherit))
                .and_then(|()| self.dress(from, &*file, to))
                .and_then(|()| finish());
            if copied.is_err() {
                self.remove(&*place.vfs, to);
            }
            copied
        })
    }

    /// Copies over a file and keeps a backup of its old contents until the copy is complete.
    pub(super) fn copy_over(
        &self,
        from: &Original<'_>,
        (to, there): (&str, &Facts),
        finish: Finish<'_>,
    ) -> Result<Step> {
        let place = &self.spec.target_place;
        let object = (to, &there.stat);
        claiming(self.call, place, object, Wish::OVERWRITE, |open| {
            let file: Arc<dyn VfsFile> = place.vfs.open(to, WRITE)?.0;
            self.respect_locks(place, (open, there.size()), true)?;
            let backup = self.back_up(&*file, to)?;
            let server = &self.call.conn.server;
            server.locked(|tables| tables.before_write(open));
            let journal = Journal::new(file.clone());
            let copied = file
                .set_len(0)
                .map_err(Into::into)
                .and_then(|()| self.pour(from.file, &*file, 0))
                .and_then(|()| self.dress(from, &*journal, to))
                .and_then(|()| finish());
            match copied {
                Ok(()) => self.remove(&*place.vfs, &backup.path),
                Err(_) => {
                    self.restore(&*file, &backup, to);
                    journal.roll_back();
                }
            }
            copied?;
            self.report_modified(to);
            Ok(())
        })
    }

    /// Appends to a file.
    pub(super) fn append(&self, from: &Original<'_>, (to, there): (&str, &Facts)) -> Result<Step> {
        let place = &self.spec.target_place;
        claiming(self.call, place, (to, &there.stat), Wish::APPEND, |open| {
            let file: Arc<dyn VfsFile> = place.vfs.open(to, WRITE)?.0;
            self.respect_locks(place, (open, there.size()), true)?;
            let (size, end) = self.end_of_text(&*file)?;
            let server = &self.call.conn.server;
            server.locked(|tables| tables.before_write(open));
            let poured = self.pour(from.file, &*file, end);
            if poured.is_err() {
                let _ = file.set_len(size);
                if end < size {
                    let _ = file.write_at(end, &[CONTROL_Z]);
                }
            }
            poured?;
            self.report_modified(to);
            Ok(())
        })
    }

    fn report_modified(&self, path: &str) {
        let share = self.spec.target_place.share.id;
        let what = NotifyFilter::LAST_WRITE.or(NotifyFilter::SIZE);
        let server = &self.call.conn.server;
        server.locked(|tables| tables.report_modified(share, path, what));
    }

    /// Copies a file's contents to a backup beside it.
    fn back_up(&self, file: &dyn VfsFile, path: &str) -> Result<Backup> {
        let vfs = &*self.spec.target_place.vfs;
        let backup = backup_file(vfs, parent_of(path), self.call.now.0 / 1_000_000)?;
        let copied = pour_all(file, &*backup.file);
        if copied.is_err() {
            self.remove(vfs, &backup.path);
        }
        copied.map(|()| backup)
    }

    /// Restores the old contents: into the file, so that it stays the same object, or else by replacing it.
    fn restore(&self, file: &dyn VfsFile, backup: &Backup, path: &str) {
        let vfs = &*self.spec.target_place.vfs;
        let restored = file
            .set_len(0)
            .map_err(Into::into)
            .and_then(|()| pour_all(&*backup.file, file));
        if restored.is_ok() {
            self.remove(vfs, &backup.path);
        } else if let Err(error) = vfs.rename(&backup.path, path, true) {
            let left = (backup.path.clone(), error.into());
            self.left.borrow_mut().push(left);
        }
    }

    /// Removes a file of this copy. The log reports a failure.
    fn remove(&self, vfs: &dyn Vfs, path: &str) {
        let removed = vfs.remove_file(path).or_else(|_| vfs.remove_file(path));
        match removed {
            Ok(()) | Err(VfsError::NotFound) => {}
            Err(error) => self.left.borrow_mut().push((path.into(), error.into())),
        }
    }

    /// The length, and the append position, which overwrites a final Control-Z of a text.
    fn end_of_text(&self, file: &dyn VfsFile) -> Result<(u64, u64)> {
        let size = file.stat()?.size;
        let Some(last) = size.checked_sub(1).filter(|_| self.spec.target_ascii) else {
            return Ok((size, size));
        };
        let mut byte = [0];
        file.read_at(last, &mut byte)?;
        Ok((size, if byte == [CONTROL_Z] { last } else { size }))
    }

    /// Copies the contents of one file into another from `at` on, as text if the client asks for it.
    fn pour(&self, from: &dyn VfsFile, to: &dyn VfsFile, at: u64) -> Result<()> {
        let end = pour_until(from, to, at, self.spec.source_ascii)?;
        if self.spec.target_ascii {
            to.write_at(end, &[CONTROL_Z]).map_err(|(_, error)| error)?;
        }
        durability::after_copy(&self.spec.target_place.share.options, to)
    }

    /// Copies the attributes, extended attributes and last write time, not the descriptor: the target has its own.
    fn dress(&self, from: &Original<'_>, to: &dyn VfsFile, path: &str) -> Result<()> {
        let share = &self.spec.target_place.share;
        self.copy_eas(from.file, to)?;
        let has = attributes::facts_of(to, share, path)?;
        let wanted = Attributes(from.facts.attributes.0 & Attributes::SETTABLE.0);
        attributes::keep(to, share, &has, wanted, None)?;
        Ok(to.set_times(SetTimes {
            modified: Some(from.facts.stat.modified),
            accessed: None,
        })?)
    }

    fn copy_eas(&self, from: &dyn VfsFile, to: &dyn VfsFile) -> Result<()> {
        let names = match from.attribute_names() {
            Err(VfsError::Unsupported) => Vec::new(),
            names => names?,
        };
        let own = [DosAttrib::NAME, security::NAME];
        for name in names.iter().filter(|name| !own.contains(&name.as_str())) {
            match to.set_attribute(name, &from.attribute(name)?) {
                Err(VfsError::Unsupported) if self.spec.need_eas => {
                    return Err(Status::EAS_NOT_SUPPORTED.into());
                }
                Err(VfsError::Unsupported) => return Ok(()),
                done => done?,
            }
        }
        Ok(())
    }
}

fn backup_file(vfs: &dyn Vfs, folder: &str, seed: u64) -> Result<Backup> {
    for number in 0..ATTEMPTS {
        let path = join(folder, &format!(".coax-{}.tmp", seed.wrapping_add(number)));
        match vfs.open(&path, CREATE) {
            Ok((file, _)) => return Ok(Backup { file, path }),
            Err(VfsError::Exists) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(Status::OBJECT_NAME_COLLISION.into())
}

fn pour_all(from: &dyn VfsFile, to: &dyn VfsFile) -> Result<()> {
    pour_until(from, to, 0, false).map(drop)
}

/// Copies contents to `at`, a text up to its Control-Z, and returns the end position.
fn pour_until(from: &dyn VfsFile, to: &dyn VfsFile, mut at: u64, text: bool) -> Result<u64> {
    const BLOCK: usize = 1 << 16;
    let mut buffer = alloc::vec![0; BLOCK];
    let mut offset = 0u64;
    loop {
        let got = from.read_at(offset, &mut buffer)?;
        let block = buffer.get(..got).unwrap_or_default();
        let end = block.iter().position(|b| text && *b == CONTROL_Z);
        let data = block.get(..end.unwrap_or(got)).unwrap_or_default();
        if !data.is_empty() {
            to.write_at(at, data).map_err(|(_, error)| error)?;
        }
        at = at.saturating_add(data.len() as u64);
        offset = offset.saturating_add(got as u64);
        if end.is_some() || got == 0 {
            return Ok(at);
        }
    }
}
