//! Creates files and folders, and files together with a named stream.

use super::{Action, Asked, Held, Opener, Opening, Row, Subject, Wanted};
use crate::{
    error::Result,
    names_cache::Change,
    ops::{
        attributes::{self, name_of, parent_of},
        locate::{Finder, Located},
        modify, security,
        streams::{self, StreamFile},
    },
    table::{OpenRequest, Tables},
    vfs::{FileId, FsTime, OpenHow, VfsError, VfsFile},
};
use alloc::{string::String, sync::Arc};
use coax_wire::{security::Descriptor, status::Status};

/// A file or folder about to be created.
struct New<'a> {
    path: String,
    is_directory: bool,
    /// The creation time of a file that had this name shortly before ([`crate::tunnel`]).
    reborn: Option<FsTime>,
    /// Its named stream to open.
    stream: Option<&'a str>,
    /// The folder's descriptor, from which it inherits.
    folder: Option<Descriptor>,
    access: u32,
}

impl Opener<'_, '_> {
    /// Creates a missing file or folder, with its named stream `stream` if the client opens one, and opens it.
    pub(super) fn create(mut self, located: &Located, stream: Option<&str>) -> Result<Opening> {
        self.call.must_write()?;
        let access = self.access_to_new()?;
        let is_directory = self.spec.wanted == Wanted::Directory;
        if !is_directory {
            self.check_deletable_as_asked()?;
        }
        let (path, reborn) = match is_directory {
            true => (self.finder().spelling(&located.path), None),
            false => self.finder().reborn(&located.path),
        };
        let folder =
            security::of_folder_to_grow(self.call, self.vfs, parent_of(&path), is_directory)?;
        let subject = Subject {
            path: &path,
            id: FileId::default(),
            is_directory,
        };
        let request = OpenRequest {
            overwrites: false,
            ..self.request(subject, access)
        };
        let row = match self.reserve(&request)? {
            Asked::Granted(row) => row,
            Asked::Park(park) => return Ok(Opening::Park(park)),
        };
        if let Err(error) = self.check_free(&path) {
            return self.install(Err(error), row);
        }
        let new = New {
            path,
            is_directory,
            reborn,
            stream,
            folder,
            access,
        };
        let held = self.make(&new);
        self.enter(held, &new, row)
    }

    /// Repeats the lookup under the reserved row: meanwhile another request may have created the name in another case.
    fn check_free(&self, path: &str) -> Result<()> {
        match self.finder().occupant(path)? {
            Some(_) => Err(VfsError::Exists.into()),
            None => Ok(()),
        }
    }

    /// Converts the reserved row into that of the new file.
    fn enter(&mut self, held: Result<Held>, new: &New<'_>, row: Row) -> Result<Opening> {
        let held = match held {
            Ok(held) => held,
            Err(error) => return self.install(Err(error), row),
        };
        let (id, share) = (held.facts.stat.id, self.share.id);
        let stream = new.stream.map(String::from);
        let oplock = self.call.conn.server.locked(|tables: &mut Tables| {
            tables.report_created(share, &new.path, new.is_directory);
            tables.created(row.open, id, stream)
        });
        match oplock {
            Some(oplock) => self.install(Ok(held), Row { oplock, ..row }),
            // Another client has the file open, so it stays.
            None => self.install(Err(Status::SHARING_VIOLATION.into()), row),
        }
    }

    fn finder(&self) -> Finder<'_> {
        Finder {
            server: &self.call.conn.server,
            share: self.share,
            vfs: self.vfs,
            now: self.call.now,
            exact: self.call.is_case_exact(self.share),
        }
    }

    /// Creates a file or folder with its inherited and requested metadata. If that fails, removes it again.
    fn make(&mut self, new: &New<'_>) -> Result<Held> {
        let (folder, change) = (parent_of(&new.path), Change::Added(name_of(&new.path)));
        let file = self.finder().changing(folder, change, || {
            create_file(self.vfs, &new.path, new.is_directory)
        })?;
        let made = self.complete(&file, new);
        if made.is_err() {
            let unmade =
                self.finder()
                    .changing(folder, Change::Removed(name_of(&new.path)), || {
                        match new.is_directory {
                            true => Ok(self.vfs.remove_dir(&new.path)?),
                            false => Ok(self.vfs.remove_file(&new.path)?),
                        }
                    });
            modify::note_not_deleted(self.call.conn, self.share, &new.path, unmade);
        }
        made
    }

    fn complete(&self, file: &Arc<dyn VfsFile>, new: &New<'_>) -> Result<Held> {
        let facts = attributes::facts_of(&**file, self.share, &new.path)?;
        let created = self.spec.created.or(new.reborn);
        match new.stream {
            Some(_) => self.keep_attributes(&**file, &facts, created)?,
            None => self.dress(&**file, &facts, created)?,
        }
        if let Some(folder) = &new.folder {
            security::inherit(self.call, self.share, &**file, folder, new.is_directory)?;
        }
        self.give(&**file)?;
        let opened: Arc<dyn VfsFile> = match new.stream {
            Some(name) => Arc::new(self.make_stream(file.clone(), name)?),
            None => file.clone(),
        };
        Ok(Held {
            facts: attributes::facts_of(&*opened, self.share, &new.path)?,
            file: opened,
            path: new.path.clone(),
            action: Action::Created,
            access: new.access,
            reserved: self.spec.allocation > 0 && new.stream.is_none() && !new.is_directory,
        })
    }

    /// Creates a stream of the requested length.
    pub(super) fn make_stream(&self, base: Arc<dyn VfsFile>, name: &str) -> Result<StreamFile> {
        let stream = StreamFile::create(base, name)?;
        if self.spec.length > 0 {
            stream.set_len(self.spec.length)?;
        }
        Ok(stream)
    }
}

fn create_file(
    vfs: &dyn crate::vfs::Vfs,
    path: &str,
    is_directory: bool,
) -> Result<Arc<dyn VfsFile>> {
    if !is_directory {
        let how = OpenHow {
            read: true,
            write: true,
            create: true,
            exclusive: true,
            truncate: false,
        };
        return Ok(vfs.open(path, how)?.0);
    }
    vfs.make_dir(path)?;
    let opened = streams::open_base(vfs, path);
    if opened.is_err() {
        // Nobody can have written to it, because its path is reserved.
        let _ = vfs.remove_dir(path);
    }
    Ok(opened?)
}
