//! Queries and changes of file and folder metadata, by path or through an open.

use super::{
    attributes::{self, Facts, name_of, parent_of},
    journal::atomically,
    locate::Finder,
    security,
    streams::{self, StreamFile},
};
use crate::{
    Server,
    context::Call,
    error::{Because, Result},
    files::{OpenFile, OpenKind},
    names::{
        attributes::Attributes,
        path::{ClientPath, PathKind},
    },
    reason::Reason,
    share::Share,
    table::{NotifyFilter, OpenId, access},
    vfs::{FileId, FsTime, OpenHow, SetTimes, Vfs, VfsFile},
};
use alloc::{string::String, sync::Arc};
use coax_wire::{header::Fid, status::Status, time::TimeChange};

/// Right to change extended attributes ([MS-CIFS] 2.2.1.4.1, FILE_WRITE_EA), and to read them.
pub const WRITE_EA: u32 = 0x10;
/// FILE_READ_EA.
pub const READ_EA: u32 = 0x08;

/// The file or folder of a query.
#[derive(Clone, Debug)]
pub struct Subject {
    /// Its attributes, as clients see them now.
    pub facts: Facts,
    /// Its current path.
    pub path: String,
    /// Its named stream, if the request names one.
    pub stream: Option<String>,
    /// Its share.
    pub share: Arc<Share>,
    /// It is deleted at its last close.
    pub delete_pending: bool,
    /// The open of a query by FID.
    pub open: Option<Through>,
}

/// The open of a query by FID.
#[derive(Clone, Debug)]
pub struct Through {
    /// The file.
    pub file: Arc<dyn VfsFile>,
    /// Its row in the shared table.
    pub open: OpenId,
    /// Rights granted.
    pub access: u32,
    /// Position.
    pub position: u64,
    /// Mode.
    pub mode: u32,
}

/// Times and attributes to change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Changes {
    /// Creation.
    pub created: TimeChange,
    /// Last access.
    pub accessed: TimeChange,
    /// Last write.
    pub modified: TimeChange,
    /// Last change.
    pub changed: TimeChange,
    /// New settable attributes; `None` keeps the old ones.
    pub attributes: Option<u32>,
}

impl Default for Changes {
    fn default() -> Self {
        Self {
            created: TimeChange::Leave,
            accessed: TimeChange::Leave,
            modified: TimeChange::Leave,
            changed: TimeChange::Leave,
            attributes: None,
        }
    }
}

impl Subject {
    /// Finds the file or folder at a path.
    ///
    /// # Errors
    /// `OBJECT_NAME_NOT_FOUND`, `OBJECT_PATH_NOT_FOUND`; `DELETE_PENDING` if it is marked for deletion; file system
    /// errors.
    pub fn at(call: &Call<'_>, path: &ClientPath) -> Result<Self> {
        let (share, vfs) = (call.share()?, call.vfs()?);
        if matches!(path.kind(), PathKind::Stream(_)) && !share.options.streams {
            return Err(Status::OBJECT_NAME_INVALID.into());
        }
        let server = &call.conn.server;
        let finder = Finder {
            server,
            share: &share,
            vfs: &*vfs,
            now: call.now,
            exact: call.is_case_exact(&share),
        };
        let located = finder.locate(path)?;
        let stat = located.existing()?;
        check_stays(server, stat.id)?;
        let (facts, stream) = match path.kind() {
            PathKind::Stream(name) => {
                let stream = stream_at(&*vfs, &located.path, name)?;
                let facts = attributes::facts_of(&stream, &share, &located.path)?;
                check_stays(server, facts.stat.id)?;
                (facts, Some(String::from(stream.name())))
            }
            _ => (
                attributes::facts_at(&*vfs, &share, &located.path, stat)?,
                None,
            ),
        };
        Ok(Self {
            facts: facts.seen(server, &share, call.now),
            path: located.path,
            stream,
            share,
            delete_pending: false,
            open: None,
        })
    }

    /// Finds the file or folder that `fid` has open.
    ///
    /// # Errors
    /// `INVALID_HANDLE`, also for pipes and print jobs; file system errors.
    pub fn of(call: &Call<'_>, fid: Fid) -> Result<Self> {
        let opened = call.file(fid)?;
        let through = Through::new(opened)?;
        let server = &call.conn.server;
        let (now_at, delete_pending) = server.locked(|tables| {
            let request = tables.get(through.open).map(|open| &open.request);
            let now_at = request.map(|request| (request.path.clone(), request.stream.clone()));
            (now_at, tables.is_delete_pending(opened.id))
        });
        let (path, stream) = now_at.unwrap_or_else(|| (opened.path.clone(), None));
        let facts = attributes::facts_of(&*through.file, &opened.share, &path)?;
        Ok(Self {
            facts: facts.seen(server, &opened.share, call.now),
            path,
            stream,
            share: opened.share.clone(),
            delete_pending,
            open: Some(through),
        })
    }

    /// The file's handle; opens the file after a query by path.
    ///
    /// # Errors
    /// File system errors.
    pub fn file(&self, call: &Call<'_>) -> Result<Arc<dyn VfsFile>> {
        match &self.open {
            Some(through) => Ok(through.file.clone()),
            None if let Some(name) = &self.stream => {
                Ok(Arc::new(stream_at(&*call.vfs()?, &self.path, name)?))
            }
            None => {
                let how = OpenHow {
                    read: true,
                    ..OpenHow::default()
                };
                Ok(call.vfs()?.open(&self.path, how)?.0)
            }
        }
    }

    /// Checks an access against the tree, and against the open or, by path, the file's descriptor.
    ///
    /// # Errors
    /// `ACCESS_DENIED`.
    pub fn must_have(&self, call: &Call<'_>, right: u32) -> Result<()> {
        call.must_write()?;
        let granted = match &self.open {
            Some(through) => through.access,
            None if self.facts.described => {
                let by_descriptor = security::granted(call, &*call.vfs()?, &self.path)?;
                by_descriptor.unwrap_or(right)
            }
            None => right,
        };
        if granted & right == 0 {
            let opened = self.open.is_some();
            return Err(Status::ACCESS_DENIED.because(match opened {
                true => Reason::OpenedWithout,
                false => Reason::Descriptor,
            }));
        }
        Ok(())
    }

    /// The path in the client's syntax: backslashes, from the share's root.
    pub fn client_path(&self) -> String {
        let mut path = String::from("\\");
        path.push_str(&self.path.replace('/', "\\"));
        if let Some(stream) = &self.stream {
            path.push(':');
            path.push_str(stream);
        }
        path
    }

    /// The name in 8.3 form; a short name is its own 8.3 form. The root has none.
    ///
    /// # Errors
    /// `OBJECT_NAME_NOT_FOUND`; file system errors.
    pub fn short_name(&self, call: &Call<'_>) -> Result<String> {
        let vfs = call.vfs()?;
        let server = &call.conn.server;
        let finder = Finder {
            server,
            share: &self.share,
            vfs: &*vfs,
            now: call.now,
            exact: call.is_case_exact(&self.share),
        };
        let name = name_of(&self.path);
        let short = finder.with_index(parent_of(&self.path), |index| {
            let id = index.exact(name)?;
            Some(index.short(id)?.to_text(server.config.code_page))
        })?;
        Ok(short.ok_or(Status::OBJECT_NAME_NOT_FOUND)?)
    }

    /// Changes times and attributes.
    ///
    /// # Errors
    /// `ACCESS_DENIED` on read-only trees; file system errors.
    pub fn change(&self, call: &Call<'_>, changes: &Changes) -> Result<()> {
        match self.open {
            Some(_) => call.must_write()?,
            None => self.must_have(call, access::WRITE_ATTRIBUTES)?,
        }
        let times = SetTimes {
            accessed: asked(changes.accessed),
            modified: asked(changes.modified),
        };
        atomically(&self.file(call)?, |file| {
            self.keep(&**file, changes)?;
            if times != SetTimes::default() {
                file.set_times(times)?;
            }
            Ok(())
        })?;
        self.show(call, changes);
        Ok(())
    }

    /// Attributes and creation time.
    fn keep(&self, file: &dyn VfsFile, changes: &Changes) -> Result<()> {
        let created = asked(changes.created);
        let wanted = changes.attributes.map_or(self.facts.attributes, |sent| {
            self.facts.attributes.after_set(sent)
        });
        if created.is_none() && wanted == self.facts.attributes {
            return Ok(());
        }
        let settable = Attributes(wanted.0 & Attributes::SETTABLE.0);
        attributes::keep(file, &self.share, &self.facts, settable, created)
    }

    /// Updates the times in the shared table and notifies watchers.
    fn show(&self, call: &Call<'_>, changes: &Changes) {
        let open = self.open.as_ref().map(|through| through.open);
        let stat = &self.facts.stat;
        call.conn.server.locked(|tables| {
            match (changes.modified, open) {
                (TimeChange::Set(time), _) => tables.set_write_time(open, stat, FsTime(time)),
                (TimeChange::Suspend, Some(open)) => tables.freeze_write_time(open, stat, true),
                (TimeChange::Resume, Some(open)) => tables.freeze_write_time(open, stat, false),
                _ => {}
            }
            if let TimeChange::Set(time) = changes.changed {
                tables.set_change_time(stat, FsTime(time));
            }
            if let Some(what) = changes.filter() {
                tables.report_modified(self.share.id, &self.path, what);
            }
        });
    }
}

impl Through {
    fn new(opened: &OpenFile) -> Result<Self> {
        let is_file = matches!(opened.kind, OpenKind::File | OpenKind::Directory);
        let (Some(file), Some(open), true) = (&opened.file, opened.open, is_file) else {
            return Err(Status::INVALID_HANDLE.into());
        };
        Ok(Self {
            file: file.clone(),
            open,
            access: opened.access,
            position: opened.position,
            mode: opened.mode,
        })
    }
}

impl Changes {
    /// The change flags for watchers.
    fn filter(&self) -> Option<NotifyFilter> {
        let steps = [
            (self.attributes.is_some(), NotifyFilter::ATTRIBUTES),
            (asked(self.modified).is_some(), NotifyFilter::LAST_WRITE),
            (asked(self.accessed).is_some(), NotifyFilter::LAST_ACCESS),
            (asked(self.created).is_some(), NotifyFilter::CREATION),
        ];
        steps
            .into_iter()
            .filter_map(|(is, what)| is.then_some(what))
            .reduce(NotifyFilter::or)
    }
}

/// Refuses files with a pending deletion.
fn check_stays(server: &Server, file: FileId) -> Result<()> {
    match server.locked(|tables| tables.is_delete_pending(file)) {
        true => Err(Status::DELETE_PENDING.into()),
        false => Ok(()),
    }
}

/// The stream `name`, case-insensitive, of the file at `path`.
fn stream_at(vfs: &dyn Vfs, path: &str, name: &str) -> Result<StreamFile> {
    let base = streams::open_base(vfs, path)?;
    let found = streams::find(&base, name)?;
    Ok(found.ok_or(Status::OBJECT_NAME_NOT_FOUND)?)
}

fn asked(change: TimeChange) -> Option<FsTime> {
    match change {
        TimeChange::Set(time) => Some(FsTime(time)),
        _ => None,
    }
}

/// Sets the length of a file through an open. This requires FILE_WRITE_DATA; FILE_APPEND_DATA is not enough ([MS-FSA]
/// 2.1.5.15.4).
///
/// # Errors
/// `ACCESS_DENIED`, `DISK_FULL`; as [`super::transfer::set_len`].
pub fn set_end_of_file(call: &mut Call<'_>, fid: Fid, len: u64) -> Result<()> {
    let opened = call.file(fid)?;
    if opened.access & access::WRITE_DATA == 0 {
        return Err(Status::ACCESS_DENIED.because(Reason::OpenedWithout));
    }
    if let Some(file) = &opened.file
        && file.stat()?.size == len
    {
        return Ok(());
    }
    super::transfer::set_len(call, fid, len)
}
