//! Overwrites and supersedes files, and sets the metadata of created and overwritten files ([MS-FSA] 2.1.5.1.2).

use super::Opener;
use crate::{
    error::Result,
    names::attributes::Attributes,
    ops::{
        attributes::{self, Facts},
        eas,
        journal::Journal,
        security, trim,
    },
    table::OpenId,
    vfs::{FsTime, SetTimes, VfsFile, VfsResult},
};
use alloc::{sync::Arc, vec::Vec};

impl Opener<'_, '_> {
    /// Overwrites a file. Returns its attributes, and whether space was reserved.
    ///
    /// Until the contents are truncated, every step can be undone, and is undone if a later one fails. Afterwards
    /// nothing fails the open, because an error would tell the client that its file is unchanged. The reply shows if
    /// there is less space than requested, or if the last write time is not set; servers may ignore both ([MS-CIFS]
    /// 2.2.4.4.1, 2.2.4.41.1).
    ///
    /// # Errors
    /// File system errors; the file is unchanged.
    pub(super) fn overwrite(
        &self,
        file: &Arc<dyn VfsFile>,
        path: &str,
        facts: &Facts,
        row: OpenId,
    ) -> Result<(Facts, bool)> {
        let give_back = || trim::give_back(&self.call.conn.server, row, &**file);
        let journal = Journal::new(file.clone());
        let space = self.spec.allocation.max(self.spec.length);
        let extends = space > facts.stat.size;
        let emptied = self.prepare(&journal, facts).and_then(|()| {
            if extends {
                file.reserve(space)?;
            }
            file.set_len(0)?;
            let server = &self.call.conn.server;
            server.locked(|tables| tables.resized(facts.stat.id));
            Ok(())
        });
        if let Err(error) = emptied {
            if extends {
                // The space did not belong to the file before.
                give_back();
            }
            journal.roll_back();
            return Err(error);
        }
        let reserved = self.spec.allocation > 0 && file.reserve(self.spec.allocation).is_ok();
        let extended = self.spec.length == 0 || file.set_len(self.spec.length).is_ok();
        if !extended || reserved != (self.spec.allocation > 0) {
            give_back();
        }
        let _ = self.set_write_time(&**file);
        let now = attributes::facts_of(&**file, self.share, path);
        let now = now.unwrap_or_else(|_| self.facts_emptied(facts));
        Ok((now, reserved))
    }

    /// Everything of an overwritten file except its contents.
    fn prepare(&self, file: &Arc<Journal>, facts: &Facts) -> Result<()> {
        self.keep_attributes(&**file, facts, self.spec.created)?;
        if self.share.options.streams {
            crate::ops::streams::remove_all(&**file)?;
        }
        self.give(&**file)
    }

    /// The expected attributes of an overwritten file, if the file system cannot return them.
    fn facts_emptied(&self, before: &Facts) -> Facts {
        let mut facts = *before;
        facts.stat.size = 0;
        let asked = self.wanted_attributes(before);
        facts.attributes = Attributes(
            (before.attributes.0 & !Attributes::SETTABLE.0) | (asked.0 & Attributes::SETTABLE.0),
        );
        facts.created = self.spec.created.unwrap_or(before.created);
        facts
    }

    /// The attributes of a created or overwritten file.
    fn wanted_attributes(&self, facts: &Facts) -> Attributes {
        let asked = Attributes(self.spec.attributes.0 & Attributes::SETTABLE.0);
        if facts.is_directory() {
            asked
        } else {
            asked.with(Attributes::ARCHIVE)
        }
    }

    /// Sets the attributes of a created or overwritten file.
    pub(super) fn keep_attributes(
        &self,
        file: &dyn VfsFile,
        facts: &Facts,
        created: Option<FsTime>,
    ) -> Result<()> {
        let wanted = self.wanted_attributes(facts);
        let has = Attributes(facts.attributes.0 & Attributes::SETTABLE.0);
        if wanted != has || created.is_some() {
            attributes::keep(file, self.share, facts, wanted, created)?;
        }
        Ok(())
    }

    /// Sets attributes, space and time of a created file.
    pub(super) fn dress(
        &self,
        file: &dyn VfsFile,
        facts: &Facts,
        created: Option<FsTime>,
    ) -> Result<()> {
        self.keep_attributes(file, facts, created)?;
        if facts.is_directory() {
            return Ok(());
        }
        if self.spec.allocation > 0 {
            file.reserve(self.spec.allocation)?;
        }
        if self.spec.length > 0 {
            file.set_len(self.spec.length)?;
        }
        Ok(self.set_write_time(file)?)
    }

    /// Sets the extended attributes and the descriptor of the request on a created or overwritten file.
    pub(super) fn give(&self, file: &dyn VfsFile) -> Result<()> {
        let list: Vec<_> = self.spec.eas.iter().map(eas::Owned::as_ea).collect();
        eas::set(self.call, file, &list)?;
        if self.spec.descriptor.is_empty() {
            return Ok(());
        }
        security::set_new(self.call, file, &self.spec.descriptor)
    }

    /// Sets the requested last write time of a created or overwritten file.
    fn set_write_time(&self, file: &dyn VfsFile) -> VfsResult<()> {
        match self.spec.modified {
            None => Ok(()),
            modified => file.set_times(SetTimes {
                modified,
                ..SetTimes::default()
            }),
        }
    }
}
