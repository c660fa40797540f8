//! Opening and creating: one operation for every command that opens.
//!
//! An open happens completely or not at all. Every open takes these steps, in this order:
//!
//! 1. Look up the path, check the request against the existing file, and resolve the rights.
//! 2. Find a free FID and take a row of the shared tables: this covers limits, share modes, oplocks and pending deletions.
//!    A file that does not exist yet has no identity to share; its row is reserved by path
//!    ([`Tables::reserve`]). Only this step parks a request, and nothing has been changed before it.
//! 3. Change the disk. Creating undoes itself by removing what it created; overwriting changes metadata through a
//!    [`Journal`](super::journal::Journal) first and cuts the contents last. If something fails, the row is given back
//!    ([`Tables::withdraw`]) and the client gets the error.
//! 4. Enter the FID, which cannot fail.

mod create;
mod overwrite;
mod rights;
mod spec;
mod streams;

pub use spec::{IfExists, OpenSpec, Wanted};

use super::{
    attributes::{self, Facts},
    locate::{Finder, Located},
    modify, print,
};
use crate::{
    act::{Act, Deed},
    context::{Call, Park, Retry},
    error::{Because, Result},
    files::{OpenFile, OpenKind, Stream},
    names::{attributes::Attributes, path::PathKind, wildcard::Pattern},
    reason::{Limit, Reason},
    share::Share,
    table::{
        Closed, Forgotten, OpenId, OpenOutcome, OpenRequest, Oplock, OplockWish, Refusal, Sharing,
        Tables, access,
    },
    vfs::{FileId, Kind, OpenHow, Stat, Vfs, VfsError, VfsFile},
};
use alloc::{format, string::String, sync::Arc};
use coax_wire::{header::Fid, status::Status};

/// What an open did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// It existed: opened.
    Opened = 1,
    /// It did not exist: created.
    Created = 2,
    /// It existed: truncated.
    Overwritten = 3,
    /// It existed: replaced.
    Superseded = 0,
}

/// A successful open.
#[derive(Clone, Copy, Debug)]
pub struct Opened {
    /// Its FID.
    pub fid: Fid,
    /// The action taken.
    pub action: Action,
    /// The file's attributes now.
    pub facts: Facts,
    /// The oplock granted.
    pub oplock: Oplock,
    /// Rights granted.
    pub access: u32,
}

/// The result of an open that did not fail.
#[derive(Clone, Copy, Debug)]
pub enum Opening {
    /// The file is open.
    Opened(Opened),
    /// The open waits for another's oplock or close.
    Park(Park),
}

/// Rights that a read-only file refuses: WRITE_DATA, APPEND.
const WRITING: u32 = 0x6;

/// Most restarts of a create that finds the file suddenly there, or of an open that finds it gone.
const ATTEMPTS: usize = 4;

/// Opens or creates as `spec` requests.
///
/// # Errors
/// As in [MS-CIFS] 3.3.5.51: collisions, missing names and paths, access, sharing.
pub fn open(call: &mut Call<'_>, spec: &OpenSpec) -> Result<Opening> {
    check_cancelled(call)?;
    // Each open of a printer's share begins a job ([`print::begin`]), and this is for files only, so that nobody reads another's.
    if print::is_printer(call) {
        return Err(Status::ACCESS_DENIED.because(Reason::PrintJob));
    }
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
            exact: call.is_case_exact(&share),
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
            None if spec.create => opener.create(&located, None),
            None => return Err(Status::OBJECT_NAME_NOT_FOUND.into()),
        };
        match attempt {
            Err(crate::Error::Vfs(VfsError::Exists | VfsError::NotFound)) => {}
            other => return other,
        }
    }
    Err(Status::OBJECT_NAME_NOT_FOUND.into())
}

/// Refuses a parked open whose wait has ended.
fn check_cancelled(call: &Call<'_>) -> Result<()> {
    let (Some(Retry::Cancelled), Some(ticket)) = (&call.retry, call.ticket) else {
        return Ok(());
    };
    let forget = |tables: &mut Tables| tables.forget_parked(ticket);
    Err(match call.conn.server.locked(forget) {
        Forgotten::OpenWaiter => Status::SHARING_VIOLATION.because(Reason::Sharing(None)),
        Forgotten::Other => Status::CANCELLED.into(),
    })
}

struct Opener<'a, 'c> {
    call: &'a mut Call<'c>,
    spec: &'a OpenSpec,
    share: &'a Arc<Share>,
    vfs: &'a dyn Vfs,
}

/// A row of the shared tables, and the reserved FID of the open.
#[derive(Clone, Copy, Debug)]
struct Row {
    open: OpenId,
    oplock: Oplock,
    fid: Fid,
}

/// A file that is open in the file system and has the requested attributes.
struct Held {
    file: Arc<dyn VfsFile>,
    path: String,
    action: Action,
    access: u32,
    /// The file's attributes now.
    facts: Facts,
    /// Whether the requested space is reserved.
    reserved: bool,
}

/// The file or folder at a path that is being opened.
#[derive(Clone, Copy)]
struct Subject<'a> {
    path: &'a str,
    id: FileId,
    is_directory: bool,
}

impl Opener<'_, '_> {
    fn open_existing(mut self, located: &Located, stat: Stat) -> Result<Opening> {
        let facts = attributes::facts_at(self.vfs, self.share, &located.path, stat)?;
        self.check_existing(&facts)?;
        let access = self.access_to(&located.path, &facts)?;
        self.check_read_only(&facts, access)?;
        let subject = Subject {
            path: &located.path,
            id: facts.stat.id,
            is_directory: facts.is_directory(),
        };
        let request = self.request(subject, access);
        let row = match self.ask_tables(&request)? {
            Asked::Granted(row) => row,
            Asked::Park(park) => return Ok(Opening::Park(park)),
        };
        let held = self.hold_existing(&located.path, &facts, (access, row.open));
        self.install(held, row)
    }

    fn hold_existing(
        &self,
        path: &str,
        facts: &Facts,
        (access, row): (u32, OpenId),
    ) -> Result<Held> {
        let file = self.open_file(path, facts, access)?;
        let action = match self.spec.if_exists {
            IfExists::Overwrite => Action::Overwritten,
            IfExists::Supersede => Action::Superseded,
            _ => Action::Opened,
        };
        let (facts, reserved) = match action {
            Action::Opened => (attributes::facts_of(&*file, self.share, path)?, false),
            _ => self.overwrite(&file, path, facts, row)?,
        };
        Ok(Held {
            file,
            path: path.into(),
            action,
            access,
            facts,
            reserved,
        })
    }

    fn check_existing(&self, facts: &Facts) -> Result<()> {
        let refused = match (self.spec.if_exists, facts.stat.kind, self.spec.wanted) {
            (_, Kind::Special, _) => return Err(Status::ACCESS_DENIED.because(Reason::SpecialFile)),
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

    /// Overwriting a hidden or system file requires these attributes in the request ([MS-FSA] 2.1.5.1.2.1).
    fn check_overwritten(&self, facts: &Facts) -> Result<()> {
        let kept = Attributes(facts.attributes.0 & (Attributes::HIDDEN.0 | Attributes::SYSTEM.0));
        if self.spec.overwrites() && !self.spec.attributes.contains(kept) {
            return Err(Status::ACCESS_DENIED.because(Reason::HiddenOrSystem));
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
            return Err(Status::CANNOT_DELETE.because(Reason::ReadOnlyKept));
        }
        if access & WRITING != 0 || self.spec.overwrites() {
            return Err(Status::ACCESS_DENIED.because(Reason::ReadOnlyFile));
        }
        Ok(())
    }

    /// A file that is to become read-only cannot be deleted on close ([MS-FSA] 2.1.5.1).
    fn check_deletable_as_asked(&self) -> Result<()> {
        let read_only = self.spec.attributes.contains(Attributes::READONLY);
        if self.spec.delete_on_close && read_only && !self.share.options.delete_readonly {
            return Err(Status::CANNOT_DELETE.because(Reason::ReadOnlyKept));
        }
        Ok(())
    }

    fn request(&self, subject: Subject<'_>, access: u32) -> OpenRequest {
        let options = &self.share.options;
        let path = subject.path;
        OpenRequest {
            file: subject.id,
            conn: self.call.conn.id,
            uid: self.call.header.uid.0,
            pid: (self.call.header.pid.0 & 0xffff) as u16,
            tree: self.call.header.tid.0,
            share: self.share.id,
            path: path.into(),
            stream: None,
            is_directory: subject.is_directory,
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

    /// The grantable oplock. Windows grants no batch oplock on a path that names a stream, even the default stream
    /// (raw.oplock stream1).
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

    /// Takes a row and a FID for an existing file.
    fn ask_tables(&mut self, request: &OpenRequest) -> Result<Asked> {
        let (now, patience) = (self.call.now, self.call.patience());
        self.take_row(request, |tables| {
            tables.open_patiently(now, request, patience)
        })
    }

    /// Takes a row and a FID for a file about to be created.
    fn reserve(&mut self, request: &OpenRequest) -> Result<Asked> {
        let now = self.call.now;
        self.take_row(request, |tables| tables.reserve(now, request))
    }

    fn take_row(
        &mut self,
        request: &OpenRequest,
        ask: impl FnOnce(&mut Tables) -> OpenOutcome,
    ) -> Result<Asked> {
        let conn = &self.call.conn;
        let too_many = || Status::TOO_MANY_OPENED_FILES.because(Reason::Limit(Limit::Opens));
        let limit = conn.server.config.limits.opens;
        let fid = conn.files.free_fid(limit).ok_or_else(too_many)?;
        match conn.server.locked(ask) {
            OpenOutcome::Granted { open, oplock, .. } => {
                Ok(Asked::Granted(Row { open, oplock, fid }))
            }
            OpenOutcome::BreakFirst { ticket, deadline } => Ok(Asked::Park(Park {
                ticket,
                deadline: Some(deadline),
            })),
            OpenOutcome::SharingViolation => Err(self.call.sharing_violation(request)),
            OpenOutcome::DeletePending => Err(Status::DELETE_PENDING.into()),
            OpenOutcome::Refused(Refusal::TooManyOpens) => Err(too_many()),
            OpenOutcome::Refused(_) => {
                Err(Status::INSUFF_SERVER_RESOURCES.because(Reason::Limit(Limit::Waits)))
            }
        }
    }

    /// Opens the file in the file system. It asks for read access even if the client only writes, so that compatibility
    /// opens can share one handle; it omits read access if the file system refuses it.
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

    /// Enters the FID of the held row, or returns the row to the table.
    fn install(&mut self, held: Result<Held>, row: Row) -> Result<Opening> {
        match held {
            Ok(held) => Ok(Opening::Opened(self.install_held(held, row))),
            Err(error) => {
                self.withdraw(row);
                Err(error)
            }
        }
    }

    /// Returns the row of a failed open. Meanwhile others may have marked the file for deletion and closed it.
    fn withdraw(&mut self, row: Row) {
        let server = &self.call.conn.server;
        let withdrawn = server.locked(|tables| tables.withdraw(row.open));
        let Ok(Closed {
            delete: Some(doomed),
        }) = withdrawn
        else {
            return;
        };
        let by = (self.call.header.uid, &**self.share);
        modify::remove_doomed_for_others(self.call.conn, by, &doomed, self.call.now);
    }

    fn install_held(&mut self, held: Held, row: Row) -> Opened {
        let (server, now) = (&self.call.conn.server, self.call.now);
        if held.reserved {
            let (id, bytes) = (held.facts.stat.id, self.spec.allocation);
            server.locked(|tables| tables.set_reserved(id, bytes));
        }
        let facts = held.facts.seen(server, self.share, now);
        let (action, access) = (held.action, held.access);
        let file = self.open_file_of(held, row, &facts);
        self.record(action, &file);
        self.call.conn.files.insert(file);
        self.call.chain_fid = Some(row.fid);
        Opened {
            fid: row.fid,
            action,
            facts,
            oplock: row.oplock,
            access,
        }
    }

    fn record(&self, action: Action, file: &OpenFile) {
        let is_directory = matches!(file.kind, OpenKind::Directory);
        let (share, created) = (&*self.share.name, action == Action::Created);
        let at = match self.spec.path.kind() {
            PathKind::Stream(stream) => format!("{}:{stream}", file.path),
            _ => file.path.clone(),
        };
        let made = created && is_directory;
        if made {
            let act = || Act::done(Deed::MakeDirectory, share, &at, true);
            self.call.conn.record(file.uid, act);
        }
        let deed = Deed::Open {
            open: file.open.map(|open| open.0),
            created,
            truncated: matches!(action, Action::Overwritten | Action::Superseded),
            reads: file.access & (access::READ_DATA | access::EXECUTE) != 0,
            writes: file.access & WRITING != 0,
        };
        let act = || Act::done(deed, share, &at, is_directory);
        self.call.conn.record(file.uid, act);
    }

    /// The connection's record of the open.
    fn open_file_of(&self, held: Held, row: Row, facts: &Facts) -> OpenFile {
        let kind = if facts.is_directory() {
            OpenKind::Directory
        } else {
            OpenKind::File
        };
        let header = self.call.header;
        let stream = Stream {
            position_of: self.call.conn.server.locked(|tables| {
                let open = tables.get(row.open);
                open.map(|open| open.position_of)
            }),
            ..Stream::default()
        };
        OpenFile {
            fid: row.fid,
            kind,
            file: Some(held.file),
            open: Some(row.open),
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
            moved: Default::default(),
            counted: Default::default(),
        }
    }
}

enum Asked {
    Granted(Row),
    Park(Park),
}
