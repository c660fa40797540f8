//! Copies and moves on the server: COPY, MOVE and NT_RENAME's copy.

mod folders;
mod pour;

use self::folders::{Folder, LinkedFolders};
use super::doomed::note_not_deleted;
use super::place::{Place, READ, Step, check_cancelled, no_stream};
use super::{
    Selection,
    claim::{Claimed, Wish, claim, release, too_late_to_park},
    create::make_dir_at,
    matching::{NamePattern, folder_of, matches},
    rename::{Source, Target, check_replaceable, find_source, move_name, target_of},
};
use crate::vfs::VfsFile;
use crate::vfs::path::join;
use crate::{
    act::Deed,
    context::{Call, Park},
    error::{Because, Error, Result},
    names::{
        attributes::{Attributes, SearchAttributes},
        path::{ClientPath, PathRules},
    },
    ops::{
        attributes::{self, Facts, parent_of},
        print::is_printer,
        security,
    },
    reason::Reason,
    table::{LockRange, OpenId, access},
    vfs::{Kind, Stat, VfsError},
};
use alloc::{
    string::{String, ToString},
    vec::Vec,
};
use coax_wire::{codepage::eq_ignore_case, status::Status};
use core::cell::{Cell, RefCell};

/// The action if the target file exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IfTaken {
    /// Fail.
    Fail,
    /// Append to it.
    Append,
    /// Replace it.
    Truncate,
}

/// The parameters of a copy or move.
#[derive(Clone, Debug)]
pub struct CopySpec {
    /// The source.
    pub source: Selection,
    /// The target: a file, or a folder to copy into.
    pub target: ClientPath,
    /// The tree of the target.
    pub target_place: Place,
    /// The search attributes.
    pub search: SearchAttributes,
    /// The client's path syntax.
    pub rules: PathRules,
    /// The action if the target file exists.
    pub if_taken: IfTaken,
    /// Whether to create a missing target file.
    pub create: bool,
    /// The target must be a file.
    pub must_be_file: bool,
    /// The target must be a folder.
    pub must_be_directory: bool,
    /// The source is text that ends at its first Control-Z.
    pub source_ascii: bool,
    /// The target is text that ends in Control-Z.
    pub target_ascii: bool,
    /// Copy a folder with all its contents.
    pub tree: bool,
    /// Fail if extended attributes cannot be copied.
    pub need_eas: bool,
    /// Remove the source afterwards.
    pub moves: bool,
}

/// A copy that failed.
#[derive(Clone, Debug)]
pub struct CopyFailure {
    /// The error.
    pub error: Error,
    /// Files copied before the failure.
    pub copied: u16,
    /// Path of the source file that failed, if one file caused the failure.
    pub file: Option<String>,
}

impl From<Error> for CopyFailure {
    fn from(error: Error) -> Self {
        Self {
            error,
            copied: 0,
            file: None,
        }
    }
}

impl From<Status> for CopyFailure {
    fn from(status: Status) -> Self {
        Error::from(status).into()
    }
}

/// The result of a copy that did not fail.
#[derive(Clone, Copy, Debug)]
pub enum Copied {
    /// The number of copied files.
    Files(u16),
    /// It waits for another's oplock and has not changed anything.
    Park(Park),
}

/// Deepest tree copy, in folders.
const MAX_DEPTH: usize = 64;

/// Copies or moves as `spec` requests, until one file fails (LAN Manager 1.0 extensions 9.2.1, 9.2.10). Returns the
/// number of files.
///
/// # Errors
/// The error of the first file that fails, and the work done before it.
pub fn copy(call: &mut Call<'_>, spec: &CopySpec) -> core::result::Result<Copied, CopyFailure> {
    check_cancelled(call)?;
    let from = Place::of(call)?;
    // Nobody reads another's job, so no file leaves the folder of a printer.
    if is_printer(call) && from.share.id != spec.target_place.share.id {
        return Err(Status::ACCESS_DENIED.because(Reason::PrintJob).into());
    }
    let mut copier = Copier {
        call,
        spec,
        from,
        copied: 0,
        appends: false,
        at: None,
        linked: LinkedFolders::default(),
        left: RefCell::default(),
    };
    let outcome = copier.run();
    for (path, error) in copier.left.take() {
        note_not_deleted(call.conn, &spec.target_place.share, &path, Err(error));
    }
    outcome
}

/// A file or folder to copy.
struct Item {
    path: String,
    shown: String,
    facts: Facts,
}

impl Item {
    /// Its path, with the name as the client sees it.
    fn as_shown(&self) -> String {
        join(parent_of(&self.path), &self.shown)
    }
}

/// The target of copies.
enum Goal {
    /// Into this folder.
    Folder(String),
    /// To this file.
    File(ClientPath),
}

/// The last step of a copy, which can still fail: a move removes its source.
type Finish<'a> = &'a dyn Fn() -> Result<()>;

/// A file being copied.
struct Original<'a> {
    file: &'a dyn VfsFile,
    facts: &'a Facts,
}

struct Copier<'a, 'c> {
    call: &'a Call<'c>,
    spec: &'a CopySpec,
    from: Place,
    copied: u16,
    /// All sources go into one target file, which already contains the first.
    appends: bool,
    /// The file that a tree copy is copying.
    at: Option<String>,
    linked: LinkedFolders,
    /// Files whose removal failed, with the error.
    left: RefCell<Vec<(String, Error)>>,
}

impl Copier<'_, '_> {
    fn run(&mut self) -> core::result::Result<Copied, CopyFailure> {
        let (files, target) = self.plan()?;
        for file in &files {
            match self.copy_one(file, &target) {
                Ok(Step::Done) => {}
                Ok(Step::Park(park)) if self.copied == 0 => return Ok(Copied::Park(park)),
                outcome => {
                    let refused = outcome.and_then(|step| too_late_to_park(self.call, step));
                    return Err(CopyFailure {
                        error: refused.err().unwrap_or(Status::SHARING_VIOLATION.into()),
                        copied: self.copied,
                        file: Some(self.at.clone().unwrap_or_else(|| file.as_shown())),
                    });
                }
            }
        }
        Ok(Copied::Files(self.copied))
    }

    /// The source and the target.
    fn plan(&self) -> Result<(Vec<Item>, Goal)> {
        no_stream(&self.spec.target)?;
        let items = match &self.spec.source {
            Selection::One(path) => Vec::from([self.single(path)?]),
            Selection::Many(path) => {
                let folder = folder_of(self.call, &self.from, path)?;
                let pattern = NamePattern::new(self.call, &path.pattern);
                let search = self.spec.search;
                let found = matches(self.call, &self.from, &folder, &pattern, search)?;
                let files = found.into_iter().filter(|item| !item.facts.is_directory());
                let items = files.map(|item| Item {
                    path: item.path,
                    shown: item.shown,
                    facts: item.facts,
                });
                items.collect()
            }
        };
        if items.is_empty() {
            return Err(Status::NO_SUCH_FILE.into());
        }
        let goal = self.goal()?;
        Ok((items, goal))
    }

    fn single(&self, path: &ClientPath) -> Result<Item> {
        no_stream(path)?;
        let any = SearchAttributes(self.spec.search.0 | 0x0010);
        let (real, facts) = find_source(self.call, &self.from, path, any)?;
        let wants_folder = self.spec.tree;
        if wants_folder && !facts.is_directory() {
            return Err(Status::NOT_A_DIRECTORY.into());
        }
        if facts.is_directory() && !wants_folder && !self.spec.moves {
            return Err(Status::FILE_IS_A_DIRECTORY.into());
        }
        Ok(Item {
            shown: path.last().unwrap_or_default().to_string(),
            path: real,
            facts,
        })
    }

    fn goal(&self) -> Result<Goal> {
        let spec = self.spec;
        let located = spec.target_place.finder(self.call).locate(&spec.target)?;
        match located.stat.map(|stat| stat.kind) {
            Some(Kind::Directory) if spec.must_be_file => Err(Status::FILE_IS_A_DIRECTORY.into()),
            Some(Kind::Directory) => Ok(Goal::Folder(located.path)),
            None if spec.tree => Ok(Goal::File(spec.target.clone())),
            None if spec.must_be_directory => Err(Status::OBJECT_PATH_NOT_FOUND.into()),
            Some(_) if spec.must_be_directory || spec.tree => Err(Status::NOT_A_DIRECTORY.into()),
            _ if spec.moves && matches!(spec.source, Selection::Many(_)) => {
                Err(Status::OBJECT_PATH_NOT_FOUND.into())
            }
            _ => Ok(Goal::File(spec.target.clone())),
        }
    }

    fn copy_one(&mut self, item: &Item, goal: &Goal) -> Result<Step> {
        if self.spec.tree {
            return self.copy_tree(item, goal).map(|()| Step::Done);
        }
        let target = match goal {
            Goal::File(path) => path.clone(),
            Goal::Folder(_) => {
                let child = self.spec.target.child(&item.shown, self.spec.rules);
                child.map_err(|_| Status::OBJECT_NAME_INVALID)?
            }
        };
        let source = Source {
            path: &item.path,
            shown: &item.shown,
            facts: &item.facts,
        };
        let step = self.onto_path(&source, &target)?;
        if matches!(step, Step::Done) {
            self.copied = self.copied.saturating_add(1);
            self.appends = matches!(goal, Goal::File(_));
        }
        Ok(step)
    }

    fn onto_path(&self, source: &Source<'_>, target: &ClientPath) -> Result<Step> {
        let place = &self.spec.target_place;
        if !self.same_share() {
            let finder = place.finder(self.call);
            let located = finder.locate(target)?;
            let path = match located.stat {
                Some(_) => located.path,
                None => finder.reborn(&located.path).0,
            };
            return self.onto(source, &path, located.stat);
        }
        match target_of(self.call, place, source, target)? {
            Target::Taken(to, stat) => self.onto(source, &to, Some(stat)),
            Target::Free(to) if self.spec.moves || !eq_ignore_case(&to, source.path) => {
                self.onto(source, &to, None)
            }
            // A file cannot be copied onto itself.
            _ => Err(Status::SHARING_VIOLATION.into()),
        }
    }

    fn same_share(&self) -> bool {
        self.from.share.id == self.spec.target_place.share.id
    }

    fn onto(&self, source: &Source<'_>, to: &str, there: Option<Stat>) -> Result<Step> {
        if self.spec.moves {
            return self.move_onto(source, to, there);
        }
        self.copy_onto(source, to, there)
    }

    fn move_onto(&self, source: &Source<'_>, to: &str, there: Option<Stat>) -> Result<Step> {
        self.call.must_write()?;
        if !self.same_share() {
            return self.move_across(source, to, there);
        }
        let object = (source.path, &source.facts.stat);
        super::claim::claiming(self.call, &self.from, object, Wish::RENAME, |_| {
            if let Some(stat) = there {
                if self.spec.if_taken != IfTaken::Truncate {
                    return Err(Status::OBJECT_NAME_COLLISION.into());
                }
                check_replaceable(self.call, &self.from, source, (to, stat))?;
            }
            move_name(self.call, &self.from, source, to, there.is_some())
        })
    }

    /// Between shares, a move is a copy and a deletion.
    fn move_across(&self, source: &Source<'_>, to: &str, there: Option<Stat>) -> Result<Step> {
        if source.facts.is_directory() {
            return Err(Status::NOT_SAME_DEVICE.into());
        }
        if source.facts.attributes.contains(Attributes::READONLY) {
            return Err(Status::CANNOT_DELETE.because(Reason::ReadOnlyFile));
        }
        self.copy_onto(source, to, there)
    }

    /// Copies one file while both ends are claimed. A move removes the source last; if that fails, it undoes the copy.
    fn copy_onto(&self, source: &Source<'_>, to: &str, there: Option<Stat>) -> Result<Step> {
        let object = (source.path, &source.facts.stat);
        let wish = match self.spec.moves {
            true => Wish::MOVE_FROM,
            false => Wish::COPY_FROM,
        };
        security::require(self.call, &*self.from.vfs, source.path, access::READ_DATA)?;
        let from = match claim(self.call, &self.from, object, wish)? {
            Claimed::Yes(open) => open,
            Claimed::Park(park) => return Ok(Step::Park(park)),
        };
        let held = Cell::new(true);
        let unsynced = Cell::new(None);
        let finish = || {
            if !self.spec.moves {
                return Ok(());
            }
            let server = &self.call.conn.server;
            let _ = server.locked(|tables| tables.set_delete_pending(from, true));
            held.set(false);
            let removed = release(self.call, &self.from, from);
            let Err(error) = removed else { return Ok(()) };
            if self.from.vfs.stat(source.path) != Err(VfsError::NotFound) {
                return Err(error);
            }
            // The source is removed but the sync failed, so the copy is the only remaining file.
            unsynced.set(Some(error));
            Ok(())
        };
        let copied = self
            .respect_locks(&self.from, (from, source.facts.size()), false)
            .and_then(|()| self.copy_claimed(source, (to, there), &finish));
        if let Ok(Step::Done) = copied {
            self.record(source.path, to);
        }
        if !held.get() {
            return copied.and_then(|step| unsynced.take().map_or(Ok(step), Err));
        }
        let released = release(self.call, &self.from, from);
        copied.and_then(|step| released.map(|()| step))
    }

    fn record(&self, from: &str, to: &str) {
        self.from.record(self.call, (from, false), || Deed::Copy {
            to_share: self.spec.target_place.share.name.clone(),
            to: to.into(),
        });
    }

    fn copy_claimed(
        &self,
        source: &Source<'_>,
        (to, there): (&str, Option<Stat>),
        finish: Finish<'_>,
    ) -> Result<Step> {
        let place = &self.spec.target_place;
        let (file, _) = self.from.vfs.open(source.path, READ)?;
        let from = Original {
            file: &*file,
            facts: source.facts,
        };
        let Some(stat) = there else {
            if !self.spec.create {
                return Err(Status::OBJECT_NAME_NOT_FOUND.into());
            }
            return self.copy_new(&from, to, finish).map(|()| Step::Done);
        };
        if stat.id == source.facts.stat.id {
            return Err(Status::SHARING_VIOLATION.into());
        }
        let facts = attributes::facts_at(&*place.vfs, &place.share, to, stat)?;
        let if_taken = if self.appends {
            IfTaken::Append
        } else {
            self.spec.if_taken
        };
        let read_only = facts.attributes.contains(Attributes::READONLY);
        Err(match (if_taken, stat.kind) {
            (IfTaken::Fail, _) => Status::OBJECT_NAME_COLLISION.into(),
            (_, Kind::Directory) => Status::FILE_IS_A_DIRECTORY.into(),
            (_, Kind::Special) => Status::ACCESS_DENIED.because(Reason::SpecialFile),
            _ if read_only => Status::ACCESS_DENIED.because(Reason::ReadOnlyFile),
            _ if if_taken == IfTaken::Append => {
                security::require(self.call, &*place.vfs, to, access::APPEND_DATA)?;
                return self.append(&from, (to, &facts));
            }
            _ => {
                security::require(self.call, &*place.vfs, to, access::WRITE_DATA)?;
                return self.copy_over(&from, (to, &facts), finish);
            }
        })
    }

    /// Refuses to copy from or over bytes that another client has locked. `open` is the claim of a file of this size.
    fn respect_locks(&self, place: &Place, (open, size): (OpenId, u64), write: bool) -> Result<()> {
        let options = &place.share.options;
        if !options.locking || !options.strict_locking || size == 0 {
            return Ok(());
        }
        let pid = (self.call.header.pid.0 & 0xffff) as u16;
        let range = LockRange {
            offset: 0,
            length: size,
        };
        let server = &self.call.conn.server;
        match server.locked(|tables| tables.may_io(open, pid, range, write)) {
            true => Ok(()),
            false => {
                let holder = server.locked(|tables| tables.io_lock_holder(open, pid, range, write));
                Err(Status::FILE_LOCK_CONFLICT.because(Reason::Locked(holder)))
            }
        }
    }

    /// Copies a folder's contents into another, and creates that if it is missing (LAN Manager 2.0 extensions 5.3).
    fn copy_tree(&mut self, item: &Item, goal: &Goal) -> Result<()> {
        let place = &self.spec.target_place;
        let top = match goal {
            Goal::Folder(path) => path.clone(),
            Goal::File(path) => {
                let finder = place.finder(self.call);
                let path = finder.spelling(&finder.locate(path)?.path);
                self.check_outside(&item.path, &path)?;
                self.make_folder(&path)?;
                path
            }
        };
        self.check_outside(&item.path, &top)?;
        let outermost = self.from.vfs.stat(&item.path)?.id;
        let mut folders = Vec::from([Folder {
            from: item.path.clone(),
            to: top,
            around: Vec::from([outermost]),
            linked: false,
        }]);
        while let Some(folder) = folders.pop() {
            if folder.around.len() > MAX_DEPTH {
                return Err(Status::OBJECT_NAME_INVALID.into());
            }
            self.copy_folder(&folder, &mut folders)?;
        }
        Ok(())
    }

    fn check_outside(&self, from: &str, to: &str) -> Result<()> {
        let rest = to.strip_prefix(from);
        let inside = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        if inside && self.same_share() {
            return Err(Status::ACCESS_DENIED.because(Reason::IntoItself));
        }
        Ok(())
    }

    fn copy_folder(&mut self, folder: &Folder, folders: &mut Vec<Folder>) -> Result<()> {
        let place = &self.spec.target_place;
        for name in self.from.vfs.open_dir(&folder.from)?.names()? {
            let source = join(&folder.from, &name);
            if self.from.finder(self.call).is_vetoed(&name) {
                continue;
            }
            self.at = Some(source.clone());
            let finder = place.finder(self.call);
            finder.refuse_vetoed(&name)?;
            let stat = self.from.vfs.stat(&source)?;
            // A file of this name in another case is the target, as for one file.
            let target = join(&folder.to, &name);
            let target = match finder.occupant(&target)? {
                Some(real) => join(&folder.to, &real),
                None => target,
            };
            let there = place.vfs.stat(&target).ok();
            match stat.kind {
                Kind::Special => {}
                // A symbolic link to a folder around it leads back here without end.
                Kind::Directory if folder.around.contains(&stat.id) => {}
                Kind::Directory => {
                    let linked = folder.linked || self.from.vfs.is_link(&source);
                    if linked {
                        self.linked.enter(stat.id)?;
                    }
                    if there.is_none() {
                        self.make_folder(&target)?;
                    }
                    folders.push(folder.inner((source, target), stat.id, linked));
                }
                Kind::File => self.copy_inner((&source, &name, stat), &target, there)?,
            }
        }
        Ok(())
    }

    /// Copies a file of a tree.
    fn copy_inner(
        &mut self,
        (path, shown, stat): (&str, &str, Stat),
        target: &str,
        there: Option<Stat>,
    ) -> Result<()> {
        let facts = attributes::facts_at(&*self.from.vfs, &self.from.share, path, stat)?;
        let source = Source {
            path,
            shown,
            facts: &facts,
        };
        let step = self.copy_onto(&source, target, there)?;
        too_late_to_park(self.call, step)?;
        self.copied = self.copied.saturating_add(1);
        Ok(())
    }

    fn make_folder(&self, path: &str) -> Result<()> {
        make_dir_at(self.call, &self.spec.target_place, path, &[])
    }
}
