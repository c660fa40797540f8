//! Opening and creating: one operation behind every command that opens.

mod rights;
mod spec;
mod streams;

pub use spec::{IfExists, OpenSpec, Wanted};

use super::{
    attributes::{self, Facts, parent_of},
    locate::{Finder, Located},
    security,
};
use crate::{
    conn::{Call, Park, Retry},
    error::Result,
    files::{OpenFile, OpenKind, Stream},
    names::{attributes::Attributes, path::PathKind, wildcard::Pattern},
    names_cache::Change,
    share::Share,
    table::{
        Forgotten, OpenId, OpenOutcome, OpenRequest, Oplock, OplockWish, Refusal, Sharing, Tables,
        access,
    },
    vfs::{FsTime, Kind, OpenHow, SetTimes, Stat, Vfs, VfsError, VfsFile},
};
use alloc::{string::String, sync::Arc};
use coax_wire::{header::Fid, status::Status};

/// What an open did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// It was there: opened.
    Opened = 1,
    /// It was not: created.
    Created = 2,
    /// It was there: cut to nothing.
    Overwritten = 3,
    /// It was there: replaced.
    Superseded = 0,
}

/// A successful open.
#[derive(Clone, Copy, Debug)]
pub struct Opened {
    /// Its FID.
    pub fid: Fid,
    /// What was done.
    pub action: Action,
    /// The file as it is now.
    pub facts: Facts,
    /// The oplock granted.
    pub oplock: Oplock,
    /// Rights granted.
    pub access: u32,
}

/// How an open ended.
#[derive(Clone, Copy, Debug)]
pub enum Opening {
    /// It is open.
    Opened(Opened),
    /// It waits for another's oplock.
    Park(Park),
}

/// Rights that a read-only file refuses: WRITE_DATA, APPEND.
const WRITING: u32 = 0x6;

/// How often a create that finds the file suddenly there, or an open that finds it gone, starts over.
const ATTEMPTS: usize = 4;

/// Opens or creates as `spec` says.
///
/// # Errors
/// What [MS-CIFS] 3.3.5.51 names: collisions, missing names and paths, access, sharing.
pub fn open(call: &mut Call<'_>, spec: &OpenSpec) -> Result<Opening> {
    check_cancelled(call)?;
    if spec.path.kind() == &PathKind::Data && spec.wanted == Wanted::Directory {
        return Err(Status::NOT_A_DIRECTORY.into());
    }
    for _ in 0..ATTEMPTS {
        let (share, vfs) = (call.share()?, call.vfs()?);
        let finder = Finder {
            server: &call.conn.server,
            share: &share,
            vfs: &*vfs,
            now: call.now,
        };
        let located = finder.locate(&spec.path)?;
        let opener = Opener {
            call,
            spec,
            share: &share,
            vfs: &*vfs,
        };
        let attempt = match located.stat {
            _ if let PathKind::Stream(name) = spec.path.kind() => match share.options.streams {
                true => opener.open_stream(&located, name),
                false => Err(Status::OBJECT_NAME_INVALID.into()),
            },
            Some(stat) => opener.open_existing(&located, stat),
            None if spec.create => opener.create(&located),
            None => return Err(Status::OBJECT_NAME_NOT_FOUND.into()),
        };
        match attempt {
            Err(crate::Error::Vfs(VfsError::Exists | VfsError::NotFound)) => {}
            other => return other,
        }
    }
    Err(Status::OBJECT_NAME_NOT_FOUND.into())
}

/// Refuses an open that was parked and that now waits no longer.
fn check_cancelled(call: &Call<'_>) -> Result<()> {
    let (Some(Retry::Cancelled), Some(ticket)) = (&call.retry, call.ticket) else {
        return Ok(());
    };
    let forget = |tables: &mut Tables| tables.forget_parked(ticket);
    Err(match call.conn.server.locked(forget) {
        Forgotten::Suitor => Status::SHARING_VIOLATION.into(),
        Forgotten::Other => Status::CANCELLED.into(),
    })
}

struct Opener<'a, 'c> {
    call: &'a mut Call<'c>,
    spec: &'a OpenSpec,
    share: &'a Arc<Share>,
    vfs: &'a dyn Vfs,
}

/// A file that is open in the file system and the table, and has no FID yet.
struct Held {
    file: Arc<dyn VfsFile>,
    open: OpenId,
    oplock: Oplock,
    path: String,
    action: Action,
    access: u32,
}

/// A file just made, and whether it could be given what it is to have.
struct New {
    file: Arc<dyn VfsFile>,
    path: String,
    facts: Facts,
    dressed: Result<()>,
}

impl Opener<'_, '_> {
    fn open_existing(mut self, located: &Located, stat: Stat) -> Result<Opening> {
        let facts = attributes::facts_at(self.vfs, self.share, &located.path, stat)?;
        self.check_existing(&facts)?;
        let access = self.access_to(&located.path, &facts)?;
        self.check_read_only(&facts, access)?;
        let request = self.request(&located.path, &facts, access);
        let (open, oplock) = match self.ask_tables(&request)? {
            Asked::Granted(open, oplock) => (open, oplock),
            Asked::Park(park) => return Ok(Opening::Park(park)),
        };
        let held = self
            .open_file(&located.path, &facts, access)
            .and_then(|file| {
                let action = self.overwrite(&*file, &facts)?;
                Ok(Held {
                    file,
                    open,
                    oplock,
                    path: located.path.clone(),
                    action,
                    access,
                })
            });
        self.install(held, open)
    }

    fn check_existing(&self, facts: &Facts) -> Result<()> {
        let refused = match (self.spec.if_exists, facts.stat.kind, self.spec.wanted) {
            (_, Kind::Special, _) => Status::ACCESS_DENIED,
            (_, Kind::Directory, _) if self.spec.path.kind() == &PathKind::Data => {
                Status::FILE_IS_A_DIRECTORY
            }
            (IfExists::Fail, ..) => Status::OBJECT_NAME_COLLISION,
            (_, Kind::Directory, Wanted::File) => Status::FILE_IS_A_DIRECTORY,
            (_, Kind::File, Wanted::Directory) => Status::NOT_A_DIRECTORY,
            (IfExists::Overwrite | IfExists::Supersede, Kind::Directory, _) => {
                Status::INVALID_PARAMETER
            }
            _ => return self.check_overwritten(facts),
        };
        Err(refused.into())
    }

    /// A hidden or system file is only overwritten by who says so ([MS-FSA] 2.1.5.1.2.1).
    fn check_overwritten(&self, facts: &Facts) -> Result<()> {
        let kept = Attributes(facts.attributes.0 & (Attributes::HIDDEN.0 | Attributes::SYSTEM.0));
        if self.spec.overwrites() && !self.spec.attributes.contains(kept) {
            return Err(Status::ACCESS_DENIED.into());
        }
        Ok(())
    }

    fn check_read_only(&self, facts: &Facts, access: u32) -> Result<()> {
        if self.spec.overwrites() || self.spec.delete_on_close {
            self.call.must_write()?;
        }
        if self.spec.overwrites() {
            self.check_deletable_as_asked()?;
        }
        if !facts.attributes.contains(Attributes::READONLY) || facts.is_directory() {
            return Ok(());
        }
        if self.spec.delete_on_close && !self.share.options.delete_readonly {
            return Err(Status::CANNOT_DELETE.into());
        }
        if access & WRITING != 0 || self.spec.overwrites() {
            return Err(Status::ACCESS_DENIED.into());
        }
        Ok(())
    }

    /// A file that gets to be read-only cannot be deleted on close ([MS-FSA] 2.1.5.1).
    fn check_deletable_as_asked(&self) -> Result<()> {
        let read_only = self.spec.attributes.contains(Attributes::READONLY);
        if self.spec.delete_on_close && read_only && !self.share.options.delete_readonly {
            return Err(Status::CANNOT_DELETE.into());
        }
        Ok(())
    }

    fn request(&self, path: &str, facts: &Facts, access: u32) -> OpenRequest {
        let options = &self.share.options;
        OpenRequest {
            file: facts.stat.id,
            conn: self.call.conn.id,
            uid: self.call.header.uid.0,
            pid: (self.call.header.pid.0 & 0xffff) as u16,
            tree: self.call.header.tid.0,
            share: self.share.id,
            path: path.into(),
            stream: None,
            is_directory: facts.is_directory(),
            access,
            sharing: if options.share_modes {
                self.spec.sharing
            } else {
                Sharing::Nt(7)
            },
            oplock: self.oplock(path),
            level2: options.level2_oplocks && self.client_knows_level2(),
            fake_oplocks: options.fake_oplocks,
            overwrites: self.spec.overwrites() || self.spec.resizes,
            delete_on_close: self.spec.delete_on_close,
        }
    }

    /// The oplock that may be had. None is a batch oplock where the path names a stream, be it that of the data, as
    /// Windows has it (raw.oplock stream1).
    fn oplock(&self, path: &str) -> OplockWish {
        let names_stream = self.spec.path.kind() != &PathKind::Plain;
        match self.spec.oplock {
            OplockWish::Batch if names_stream => OplockWish::None,
            wish if self.may_have_oplock(path) => wish,
            _ => OplockWish::None,
        }
    }

    fn may_have_oplock(&self, path: &str) -> bool {
        let options = &self.share.options;
        let name = attributes::name_of(path);
        let vetoed = |pattern: &String| Pattern::nt(pattern).matches(name);
        (options.oplocks || options.fake_oplocks) && !options.veto_oplock_files.iter().any(vetoed)
    }

    fn client_knows_level2(&self) -> bool {
        use coax_wire::smb::negotiate::cap;
        self.call.conn.client.capabilities & cap::LEVEL_II_OPLOCKS != 0
    }

    fn ask_tables(&self, request: &OpenRequest) -> Result<Asked> {
        let now = self.call.now;
        let patience = self.call.patience();
        match self
            .call
            .conn
            .server
            .locked(|tables| tables.open_patiently(now, request, patience))
        {
            OpenOutcome::Granted { open, oplock, .. } => Ok(Asked::Granted(open, oplock)),
            OpenOutcome::BreakFirst { ticket, deadline } => Ok(Asked::Park(Park {
                ticket,
                deadline: Some(deadline),
            })),
            OpenOutcome::SharingViolation => Err(Status::SHARING_VIOLATION.into()),
            OpenOutcome::DeletePending => Err(Status::DELETE_PENDING.into()),
            OpenOutcome::Refused(Refusal::TooManyOpens) => {
                Err(Status::TOO_MANY_OPENED_FILES.into())
            }
            OpenOutcome::Refused(_) => Err(Status::INSUFF_SERVER_RESOURCES.into()),
        }
    }

    /// Opens it underneath. Reading is asked for even if the client only writes, so that compatibility opens may share
    /// one handle; a file that may not be read is opened without.
    fn open_file(&self, path: &str, facts: &Facts, access: u32) -> Result<Arc<dyn VfsFile>> {
        let write = !facts.is_directory() && (access & WRITING != 0 || self.spec.overwrites());
        let how = OpenHow {
            read: true,
            write,
            ..OpenHow::default()
        };
        let must_read = access & (access::READ_DATA | access::EXECUTE) != 0;
        match self.vfs.open(path, how) {
            Err(VfsError::Denied) if !must_read && write => {
                Ok(self.vfs.open(path, OpenHow { read: false, ..how })?.0)
            }
            other => Ok(other?.0),
        }
    }

    fn overwrite(&self, file: &dyn VfsFile, facts: &Facts) -> Result<Action> {
        let action = match self.spec.if_exists {
            IfExists::Overwrite => Action::Overwritten,
            IfExists::Supersede => Action::Superseded,
            _ => return Ok(Action::Opened),
        };
        file.set_len(0)?;
        if self.share.options.streams {
            crate::ops::streams::remove_all(file)?;
        }
        self.dress(file, facts, self.spec.created)?;
        Ok(action)
    }

    /// Gives a created or overwritten file its attributes and space.
    fn dress(&self, file: &dyn VfsFile, facts: &Facts, created: Option<FsTime>) -> Result<()> {
        let asked = Attributes(self.spec.attributes.0 & Attributes::SETTABLE.0);
        let wanted = if facts.is_directory() {
            asked
        } else {
            asked.with(Attributes::ARCHIVE)
        };
        let has = Attributes(facts.attributes.0 & Attributes::SETTABLE.0);
        if wanted != has || created.is_some() {
            attributes::keep(file, self.share, facts, wanted, created)?;
        }
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

    /// Gives a created or overwritten file the time of last write that the client names.
    fn set_write_time(&self, file: &dyn VfsFile) -> core::result::Result<(), VfsError> {
        match self.spec.modified {
            None => Ok(()),
            modified => file.set_times(SetTimes {
                modified,
                ..SetTimes::default()
            }),
        }
    }

    fn create(mut self, located: &Located) -> Result<Opening> {
        self.call.must_write()?;
        let access = self.access_to_new()?;
        let directory = self.spec.wanted == Wanted::Directory;
        if !directory {
            self.check_deletable_as_asked()?;
        }
        let New {
            file,
            path,
            facts,
            dressed,
        } = self.make(located, directory)?;
        let request = self.request(&path, &facts, access);
        let (open, oplock) = match self.ask_tables(&OpenRequest {
            overwrites: false,
            ..request
        })? {
            Asked::Granted(open, oplock) => (open, oplock),
            Asked::Park(park) => return Ok(Opening::Park(park)),
        };
        self.call
            .conn
            .server
            .locked(|tables| tables.report_created(self.share.id, &path, directory));
        let held = dressed.map(|()| Held {
            file,
            open,
            oplock,
            path,
            action: Action::Created,
            access,
        });
        self.install(held, open)
    }

    /// Makes a file or folder that is not there, with what it inherits and is to have.
    fn make(&self, located: &Located, directory: bool) -> Result<New> {
        let finder = Finder {
            server: &self.call.conn.server,
            share: self.share,
            vfs: self.vfs,
            now: self.call.now,
        };
        let (path, reborn) = match directory {
            true => (finder.spelling(&located.path), None),
            false => finder.reborn(&located.path),
        };
        self.check_folder(parent_of(&path))?;
        let described =
            security::of_folder_to_grow(self.call, self.vfs, parent_of(&path), directory)?;
        let change = Change::Added(attributes::name_of(&path));
        let file = finder.changing(parent_of(&path), change, || {
            self.create_file(&path, directory)
        })?;
        let facts = attributes::facts_of(&*file, self.share, &path)?;
        let dressed = self.dress(&*file, &facts, self.spec.created.or(reborn));
        let dressed = dressed.and_then(|()| match &described {
            Some(folder) => security::inherit(self.call, &*file, folder, directory),
            None => Ok(()),
        });
        Ok(New {
            file,
            path,
            facts,
            dressed,
        })
    }

    /// A folder that is about to be removed takes nothing new ([MS-FSA] 2.1.5.1.1).
    fn check_folder(&self, folder: &str) -> Result<()> {
        let (server, share) = (&self.call.conn.server, self.share.id);
        if server.locked(|tables| tables.is_folder_doomed(share, folder)) {
            return Err(Status::DELETE_PENDING.into());
        }
        Ok(())
    }

    fn create_file(&self, path: &str, directory: bool) -> Result<Arc<dyn VfsFile>> {
        if directory {
            self.vfs.make_dir(path)?;
            return Ok(self
                .vfs
                .open(
                    path,
                    OpenHow {
                        read: true,
                        ..OpenHow::default()
                    },
                )?
                .0);
        }
        let how = OpenHow {
            read: true,
            write: true,
            create: true,
            exclusive: true,
            truncate: false,
        };
        Ok(self.vfs.open(path, how)?.0)
    }

    /// Gives what is held a FID, or gives the table its row back.
    fn install(&mut self, held: Result<Held>, open: OpenId) -> Result<Opening> {
        let installed = held.and_then(|held| self.install_held(held));
        if installed.is_err() {
            let _ = self.call.conn.server.locked(|tables| tables.close(open));
        }
        installed.map(Opening::Opened)
    }

    fn install_held(&mut self, held: Held) -> Result<Opened> {
        let (server, now) = (&self.call.conn.server, self.call.now);
        let facts = attributes::facts_of(&*held.file, self.share, &held.path)?;
        if self.spec.allocation > 0 && held.action != Action::Opened {
            let (id, bytes) = (facts.stat.id, self.spec.allocation);
            server.locked(|tables| tables.set_reserved(id, bytes));
        }
        let facts = facts.seen(server, self.share, now);
        let limit = self.call.conn.server.config.limits.opens;
        let fid = self
            .call
            .conn
            .files
            .free_fid(limit)
            .ok_or(Status::TOO_MANY_OPENED_FILES)?;
        let (action, oplock, access) = (held.action, held.oplock, held.access);
        let file = self.open_file_of(held, fid, &facts);
        self.call.conn.files.insert(file);
        self.call.chain_fid = Some(fid);
        Ok(Opened {
            fid,
            action,
            facts,
            oplock,
            access,
        })
    }

    /// The row that the connection keeps of what is held.
    fn open_file_of(&self, held: Held, fid: Fid, facts: &Facts) -> OpenFile {
        let kind = if facts.is_directory() {
            OpenKind::Directory
        } else {
            OpenKind::File
        };
        let header = self.call.header;
        let stream = Stream {
            position_of: self.call.conn.server.locked(|tables| {
                let open = tables.get(held.open);
                open.map(|open| open.position_of)
            }),
            ..Stream::default()
        };
        OpenFile {
            fid,
            kind,
            file: Some(held.file),
            open: Some(held.open),
            id: facts.stat.id,
            share: self.share.clone(),
            path: held.path,
            access: held.access,
            tid: header.tid,
            uid: header.uid,
            pid: header.pid,
            position: 0,
            stream,
            mode: self.spec.mode,
            written: false,
        }
    }
}

enum Asked {
    Granted(OpenId, Oplock),
    Park(Park),
}
