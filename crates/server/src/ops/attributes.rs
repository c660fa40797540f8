//! DOS attributes and creation times of files: stored in `user.DOSATTRIB`, derived from `stat` if nothing is stored.

use crate::{
    error::Result,
    names::attributes::{Attributes, DosAttrib},
    server::Server,
    share::Share,
    vfs::{FsTime, Kind, Stat, Vfs, VfsError, VfsFile},
};
use alloc::vec::Vec;
use coax_wire::time::{FileTime, Time};

/// Unit of reported allocation sizes, bytes.
pub const CLUSTER: u64 = 4096;

/// The attributes of a file or folder, as clients see them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The result of `stat`.
    pub stat: Stat,
    /// DOS attributes.
    pub attributes: Attributes,
    /// When it was created, nanoseconds since 1970.
    pub created: FsTime,
    /// Space that the server has reserved for a client, bytes.
    pub reserved: u64,
    /// It may have a security descriptor of its own. The stored attributes, which are read anyway, contain this flag;
    /// on shares without stored attributes, any file may have one.
    pub described: bool,
}

impl Facts {
    /// Whether it is a folder.
    pub fn is_directory(&self) -> bool {
        self.stat.kind == Kind::Directory
    }

    /// Length as clients see it: 0 for folders.
    pub fn size(&self) -> u64 {
        if self.is_directory() {
            0
        } else {
            self.stat.size
        }
    }

    /// Allocation size as clients see it, in whole clusters: 0 for folders. Holes count as if filled; the space of
    /// stored attributes does not count.
    pub fn allocation(&self) -> u64 {
        if self.is_directory() {
            return 0;
        }
        let taken = self.stat.size.max(self.reserved);
        taken.checked_next_multiple_of(CLUSTER).unwrap_or(taken)
    }

    /// The same with the times that clients see at `now`. The server delays the times of a file that is being written
    /// ([`crate::table::Tables::shown_times`]). The change time is the last write time unless a client has set it, and
    /// `dos filetime resolution` rounds down to two seconds.
    pub fn seen(mut self, server: &Server, share: &Share, now: Time) -> Self {
        let id = self.stat.id;
        let (shown, reserved) =
            server.locked(|tables| (tables.shown_times(now, id), tables.reserved(id)));
        self.reserved = reserved;
        let modified = self.stat.modified;
        (self.stat.modified, self.stat.changed) = shown.unwrap_or((modified, modified));
        if share.options.dos_filetime_resolution {
            let even =
                |time: FsTime| FsTime(time.0.saturating_sub(time.0.rem_euclid(2_000_000_000)));
            self.created = even(self.created);
            self.stat.modified = even(self.stat.modified);
            self.stat.accessed = even(self.stat.accessed);
            self.stat.changed = even(self.stat.changed);
        }
        self
    }

    /// Combines `stat` and the stored attribute `blob` of the file `name`.
    pub fn new(share: &Share, name: &str, stat: Stat, blob: Option<&[u8]>) -> Self {
        let kept = blob.and_then(DosAttrib::decode);
        let mut attributes = match (&kept, stat.kind) {
            (Some(kept), _) => Attributes(kept.attributes.0 & Attributes::SETTABLE.0),
            (None, Kind::Directory) => Attributes::NONE,
            (None, _) => Attributes::ARCHIVE,
        };
        if stat.kind == Kind::Directory {
            attributes = attributes.with(Attributes::DIRECTORY);
        } else if share.options.map_readonly && stat.mode & 0o200 == 0 {
            attributes = attributes.with(Attributes::READONLY);
        }
        if is_hidden_by_name(share, name) {
            attributes = attributes.with(Attributes::HIDDEN);
        }
        let kept_time = kept
            .and_then(|kept| kept.created)
            .map(|time| FsTime(time.unix_ns()));
        let oldest = stat.modified.min(stat.changed);
        let faked = share.options.fake_directory_create_times && stat.kind == Kind::Directory;
        let faked = faked.then_some(FAKE_DIRECTORY_TIME);
        Self {
            stat,
            attributes,
            created: faked.or(kept_time).or(stat.created).unwrap_or(oldest),
            reserved: 0,
            described: kept.map_or(!share.options.store_dos_attributes, |kept| {
                kept.attributes.contains(Attributes::DESCRIBED)
            }),
        }
    }
}

/// Midnight of 1980-01-01, the oldest time DOS knows (smb.conf `fake directory create times`).
const FAKE_DIRECTORY_TIME: FsTime = FsTime(315_532_800_000_000_000);

fn is_hidden_by_name(share: &Share, name: &str) -> bool {
    let dotted =
        share.options.hide_dot_files && name.starts_with('.') && name != "." && name != "..";
    dotted
        || share
            .options
            .hide_files
            .iter()
            .any(|pattern| crate::names::wildcard::Pattern::nt(pattern).matches(name))
}

/// The attributes of the file at `path`, whose `stat` is known.
///
/// # Errors
/// File system errors, except for attributes that the file system does not support.
pub fn facts_at(vfs: &dyn Vfs, share: &Share, path: &str, stat: Stat) -> Result<Facts> {
    let blob = if share.options.store_dos_attributes {
        kept(vfs.attribute_in(path, &stat, DosAttrib::NAME))?
    } else {
        None
    };
    Ok(Facts::new(share, name_of(path), stat, blob.as_deref()))
}

/// The attributes of an open file whose path at the open was `path`.
///
/// # Errors
/// As [`facts_at`].
pub fn facts_of(file: &dyn VfsFile, share: &Share, path: &str) -> Result<Facts> {
    let stat = file.stat()?;
    let blob = if share.options.store_dos_attributes {
        kept(file.attribute(DosAttrib::NAME))?
    } else {
        None
    };
    Ok(Facts::new(share, name_of(path), stat, blob.as_deref()))
}

/// Stores attributes and, if given, a creation time. On shares without stored attributes, the read-only attribute is
/// the owner's write permission.
///
/// # Errors
/// File system errors.
pub fn keep(
    file: &dyn VfsFile,
    share: &Share,
    facts: &Facts,
    attributes: Attributes,
    created: Option<FsTime>,
) -> Result<()> {
    if !share.options.store_dos_attributes {
        return keep_in_mode(file, facts, attributes);
    }
    let created = created.unwrap_or(facts.created);
    let described = if facts.described {
        Attributes::DESCRIBED
    } else {
        Attributes::NONE
    };
    let blob = DosAttrib {
        attributes: attributes.with(described),
        created: Some(FileTime::from_unix_ns(created.0)),
    }
    .encode();
    if facts.stat.mode & 0o200 == 0 && !attributes.contains(Attributes::READONLY) {
        file.set_writable(true)?;
    }
    match file.set_attribute(DosAttrib::NAME, &blob) {
        Err(VfsError::Unsupported) => keep_in_mode(file, facts, attributes),
        other => Ok(other?),
    }
}

/// Records in a file's stored attributes that it has a security descriptor of its own.
///
/// # Errors
/// File system errors.
pub fn mark_described(file: &dyn VfsFile, share: &Share) -> Result<()> {
    if !share.options.store_dos_attributes {
        return Ok(());
    }
    let blob = kept(file.attribute(DosAttrib::NAME))?;
    let mut now = match blob.as_deref().and_then(DosAttrib::decode) {
        Some(now) => now,
        None if file.stat()?.kind == Kind::Directory => DosAttrib::default(),
        None => DosAttrib {
            attributes: Attributes::ARCHIVE,
            created: None,
        },
    };
    if now.attributes.contains(Attributes::DESCRIBED) {
        return Ok(());
    }
    now.attributes = now.attributes.with(Attributes::DESCRIBED);
    Ok(file.set_attribute(DosAttrib::NAME, &now.encode())?)
}

fn keep_in_mode(file: &dyn VfsFile, facts: &Facts, attributes: Attributes) -> Result<()> {
    let writable = !attributes.contains(Attributes::READONLY);
    if facts.is_directory() || writable == (facts.stat.mode & 0o200 != 0) {
        return Ok(());
    }
    Ok(file.set_writable(writable)?)
}

fn kept(read: core::result::Result<Vec<u8>, VfsError>) -> Result<Option<Vec<u8>>> {
    match read {
        Ok(blob) => Ok(Some(blob)),
        Err(VfsError::NoAttribute | VfsError::Unsupported) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The last component of a path.
pub fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The path without its last component.
pub fn parent_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}
