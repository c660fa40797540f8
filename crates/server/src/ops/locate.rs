//! Finds the file of a client's path: by exact name, in another case, or by an 8.3 name.

use super::attributes::{self, name_of, parent_of};
use crate::vfs::path::join;
use crate::{
    error::{Because, Result},
    names::{
        index::DirIndex,
        mangle::{Mangler, ShortName},
        path::ClientPath,
        wildcard::Pattern,
    },
    names_cache::{Change, Seen, Stamp},
    reason::Reason,
    server::Server,
    share::Share,
    table::OwnKind,
    tunnel::Gone,
    vfs::{FsTime, Kind, Stat, Vfs, VfsDir, VfsError},
};
use alloc::string::{String, ToString};
use coax_wire::{status::Status, time::Time};

/// The file of a client's path. A vetoed name counts as missing, whether or not it exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    /// The path in the file system's spelling; a missing last component keeps the client's.
    pub path: String,
    /// The attributes of the file; `None` if only the last component is missing.
    pub stat: Option<Stat>,
}

impl Located {
    /// The attributes of the file.
    ///
    /// # Errors
    /// `OBJECT_NAME_NOT_FOUND`.
    pub fn existing(&self) -> Result<Stat> {
        Ok(self.stat.ok_or(Status::OBJECT_NAME_NOT_FOUND)?)
    }
}

/// A share's folder and the context for looking up names in it.
#[derive(Clone, Copy, Debug)]
pub struct Finder<'a> {
    /// The server, for the name cache.
    pub server: &'a Server,
    /// The share.
    pub share: &'a Share,
    /// Its folder.
    pub vfs: &'a dyn Vfs,
    /// The time of the request.
    pub now: Time,
    /// Names are case-sensitive ([`Call::is_case_exact`](crate::context::Call::is_case_exact)).
    pub exact: bool,
}

impl Finder<'_> {
    /// Finds the file of `path`.
    ///
    /// # Errors
    /// `OBJECT_PATH_NOT_FOUND` if a folder of the path is missing or is a file; file system errors.
    pub fn locate(&self, path: &ClientPath) -> Result<Located> {
        let literal = path.as_str().to_string();
        match self.stat(&literal)? {
            Some(stat) => Ok(Located {
                path: literal,
                stat: Some(stat),
            }),
            None if self.exact => self.missing(literal),
            None => self.walk(&literal),
        }
    }

    /// Finds the folder of `path`.
    ///
    /// # Errors
    /// `OBJECT_PATH_NOT_FOUND`, `NOT_A_DIRECTORY`.
    pub fn locate_folder(&self, path: &ClientPath) -> Result<String> {
        let located = self.locate(path)?;
        match located.stat {
            None => Err(Status::OBJECT_PATH_NOT_FOUND.into()),
            Some(stat) if stat.kind != Kind::Directory => Err(Status::NOT_A_DIRECTORY.into()),
            Some(_) => Ok(located.path),
        }
    }

    /// The spelling of a new name: the client's, or folded by `default case` and `preserve case`.
    pub fn spelling(&self, path: &str) -> String {
        let name = name_of(path);
        let is_short = Mangler::new(self.server.config.code_page).is_legal(name);
        let keeps = if is_short {
            self.share.options.short_preserve_case
        } else {
            self.share.options.preserve_case
        };
        if keeps {
            return path.to_string();
        }
        let folded = if self.share.options.default_case_upper {
            name.to_uppercase()
        } else {
            name.to_lowercase()
        };
        join(parent_of(path), &folded)
    }

    /// The name, and perhaps the creation time, of a new file: those of a file that had this 8.3 name shortly before
    /// ([`crate::tunnel`]), else [`Self::spelling`].
    pub fn reborn(&self, path: &str) -> (String, Option<FsTime>) {
        let (folder, name) = (parent_of(path), name_of(path));
        let gone = Mangler::new(self.server.config.code_page)
            .legal(name)
            .and_then(|short| {
                self.server
                    .locked(|tables| tables.tunnel.find(self.now, self.share.id, folder, short))
            })
            .map(|gone| (join(folder, &gone.name), gone.created))
            .filter(|(path, _)| matches!(self.vfs.stat(path), Err(VfsError::NotFound)));
        match gone {
            Some((path, created)) => (path, Some(created)),
            None => (self.spelling(path), None),
        }
    }

    /// The tunnel entry of a file that is about to lose its name, if its 8.3 name was generated.
    fn leaving(&self, folder: &str, change: Change<'_>) -> Option<(ShortName, Gone)> {
        let name = match change {
            Change::Added(_) => return None,
            Change::Removed(name) | Change::Renamed(name, _) => name,
        };
        let short = self
            .server
            .locked(|tables| tables.names.generated_short(self.share.id, folder, name))?;
        let path = join(folder, name);
        let stat = self.vfs.stat(&path).ok()?;
        let facts = attributes::facts_at(self.vfs, self.share, &path, stat).ok()?;
        let gone = Gone {
            name: name.to_string(),
            created: facts.created,
        };
        (stat.kind == Kind::File).then_some((short, gone))
    }

    fn stat(&self, path: &str) -> Result<Option<Stat>> {
        if self.is_vetoed(path) {
            return Ok(None);
        }
        match self.vfs.stat(path) {
            Ok(stat) => Ok(Some(stat)),
            Err(
                VfsError::NotFound
                | VfsError::NotADirectory
                | VfsError::InvalidName
                | VfsError::NameTooLong,
            ) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// The existing name that leaves no room for the new name `path`, compared as in lookups. A request calls this once
    /// no other request can create the name, because two lookups at the same time both find nothing. Case-sensitive
    /// names need no such check: the file system makes it.
    ///
    /// # Errors
    /// As [`Self::with_index`].
    pub fn occupant(&self, path: &str) -> Result<Option<String>> {
        if self.exact {
            return Ok(None);
        }
        let folder = parent_of(path);
        let Some(real) = self.find_in(folder, name_of(path))? else {
            return Ok(None);
        };
        // The index may still contain a name that was removed outside this server.
        let stat = self.stat(&join(folder, &real))?;
        Ok(stat.map(|_| real))
    }

    /// Refuses a path that `veto files` hides. [`Self::changing`] checks every new name here.
    ///
    /// # Errors
    /// `OBJECT_NAME_NOT_FOUND`, as in Samba.
    pub fn refuse_vetoed(&self, path: &str) -> Result<()> {
        match self.is_vetoed(path) {
            true => Err(Status::OBJECT_NAME_NOT_FOUND.because(Reason::Veto)),
            false => Ok(()),
        }
    }

    /// Whether a component of `path` matches `veto files`.
    pub fn is_vetoed(&self, path: &str) -> bool {
        let patterns = &self.share.options.veto_files;
        !patterns.is_empty()
            && path.split('/').any(|name| {
                patterns
                    .iter()
                    .any(|pattern| Pattern::nt(pattern).vetoes(name))
            })
    }

    /// Fails unless the parent exists.
    fn missing(&self, path: String) -> Result<Located> {
        match self.stat(parent_of(&path))? {
            Some(stat) if stat.kind == Kind::Directory => Ok(Located { path, stat: None }),
            _ => Err(Status::OBJECT_PATH_NOT_FOUND.into()),
        }
    }

    /// Finds each component in its folder's index. First it tries the whole folder path in the client's spelling.
    fn walk(&self, literal: &str) -> Result<Located> {
        let (parent, last) = literal.rsplit_once('/').unwrap_or(("", literal));
        let parent = match self.stat(parent)? {
            Some(stat) if stat.kind == Kind::Directory => parent.to_string(),
            Some(_) => return Err(Status::OBJECT_PATH_NOT_FOUND.into()),
            None => self.walk_folder(parent)?,
        };
        // The lookup includes vetoed names, so that their 8.3 aliases are vetoed too and not available to new files.
        let Some(real) = self.look_up(&parent, last)? else {
            return Ok(Located {
                path: join(&parent, last),
                stat: None,
            });
        };
        let path = join(&parent, &real);
        let stat = self.stat(&path)?;
        Ok(Located { path, stat })
    }

    fn walk_folder(&self, folder: &str) -> Result<String> {
        let mut path = String::new();
        for component in folder.split('/') {
            let next = join(&path, component);
            path = match self.stat(&next)? {
                Some(stat) if stat.kind == Kind::Directory => next,
                Some(_) => return Err(Status::OBJECT_PATH_NOT_FOUND.into()),
                None => {
                    let real = self
                        .find_in(&path, component)?
                        .ok_or(Status::OBJECT_PATH_NOT_FOUND)?;
                    join(&path, &real)
                }
            };
        }
        Ok(path)
    }

    /// The real name in `folder` of the client's `name`, unless it is vetoed.
    fn find_in(&self, folder: &str, name: &str) -> Result<Option<String>> {
        let found = self.look_up(folder, name)?;
        Ok(found.filter(|real| !self.is_vetoed(real)))
    }

    fn look_up(&self, folder: &str, name: &str) -> Result<Option<String>> {
        self.with_index(folder, |index| {
            index
                .lookup(name)
                .and_then(|id| index.name(id))
                .map(ToString::to_string)
        })
    }

    /// Runs a query on a folder's index. It reads the folder if the index is missing or stale.
    ///
    /// # Errors
    /// `OBJECT_PATH_NOT_FOUND`; file system errors.
    pub fn with_index<T>(&self, folder: &str, question: impl Fn(&DirIndex) -> T) -> Result<T> {
        let stat = self.vfs.stat(folder).map_err(path_error)?;
        let stamp = Stamp::from(&stat);
        let cached = self
            .server
            .locked(|tables| tables.names.ask(self.share.id, folder, stamp, &question));
        if let Some((answer, settled)) = cached
            && (settled || !self.vfs.tells_changes_after(folder, &stat))
        {
            return Ok(answer);
        }
        let dir = self.vfs.open_dir(folder).map_err(path_error)?;
        let seen = Seen::now(&*dir)?;
        let index = self.read_index(folder, &*dir)?;
        let answer = question(&index);
        self.server
            .locked(|tables| tables.names.keep(self.share.id, folder, seen, index));
        Ok(answer)
    }

    /// Reads a folder's names into its existing index, if there is one, so that generated 8.3 names stay.
    fn read_index(&self, folder: &str, dir: &dyn VfsDir) -> Result<DirIndex> {
        let names = dir.names()?;
        let (known, generation) = self.server.locked(|tables| {
            let known = tables.names.take(self.share.id, folder);
            (known, tables.names.new_generation())
        });
        Ok(match known {
            Some(mut index) => {
                index.refresh(&names);
                index
            }
            None => DirIndex::build(Mangler::new(self.server.config.code_page), &names)
                .with_generation(generation),
        })
    }

    /// Runs `work`, which changes the names of `folder`, and enters the change in its index. A driver that watches the
    /// disk learns of the change before the disk does, so it never reports the change as external.
    ///
    /// # Errors
    /// As [`Self::refuse_vetoed`] for a new name; those of `work`.
    pub fn changing<T>(
        &self,
        folder: &str,
        change: Change<'_>,
        work: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        if let Change::Added(name) | Change::Renamed(_, name) = change {
            self.refuse_vetoed(name)?;
        }
        let (share, own) = (self.share.id, own_names(change));
        let known = self.server.locked(|tables| {
            tables.announce(share, folder, own);
            tables.names.knows(share, folder)
        });
        let result = match known {
            true => self.changing_index(folder, change, work),
            false => work(),
        };
        if result.is_err() {
            self.server
                .locked(|tables| tables.retract(share, folder, own));
        }
        result
    }

    fn changing_index<T>(
        &self,
        folder: &str,
        change: Change<'_>,
        work: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let leaving = self.leaving(folder, change);
        let before = self.vfs.stat(folder).ok().map(|stat| Stamp::from(&stat));
        let result = work()?;
        let after = self.vfs.stat(folder).ok().map(|stat| Seen {
            stamp: Stamp::from(&stat),
            settled: self.vfs.tells_changes_after(folder, &stat),
        });
        let (now, share) = (self.now, self.share.id);
        self.server.locked(|tables| {
            if let Some((short, gone)) = leaving {
                tables.tunnel.remember(now, share, folder, short, gone);
            }
            match (before, after) {
                (Some(before), Some(after)) => {
                    tables.names.changed(share, folder, before, after, change)
                }
                _ => tables.names.forget(share, folder),
            }
        });
        Ok(result)
    }
}

/// The names that a change adds and removes.
fn own_names(change: Change<'_>) -> [Option<(&str, OwnKind)>; 2] {
    let (gone, come) = match change {
        Change::Added(name) => (None, Some(name)),
        Change::Removed(name) => (Some(name), None),
        Change::Renamed(from, to) => (Some(from), Some(to)),
    };
    let gone = gone.map(|name| (name, OwnKind::Vanished));
    [gone, come.map(|name| (name, OwnKind::Appeared))]
}

fn path_error(error: VfsError) -> crate::Error {
    match error {
        VfsError::NotFound | VfsError::NotADirectory => Status::OBJECT_PATH_NOT_FOUND.into(),
        other => other.into(),
    }
}

#[cfg(test)]
#[path = "locate_tests.rs"]
#[allow(clippy::unwrap_used)]
mod tests;

#[cfg(test)]
#[path = "tunnel_tests.rs"]
#[allow(clippy::unwrap_used)]
mod tunnel_tests;
