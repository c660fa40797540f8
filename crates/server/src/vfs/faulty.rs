//! A file system that fails on purpose: it passes calls on to another and makes chosen ones fail.
//!
//! [`FaultyVfs`] wraps any [`Vfs`] and the files and folders it returns. It numbers every fallible call, files and
//! folders included, in the order in which they arrive. A [`Plan`] decides for each call whether it fails, and how. The
//! wrapper records the calls, so that a test can run an operation once without faults, count its calls, and then repeat
//! it once for each call and error.
//!
//! A failing call does not reach the wrapped file system, so it has no effect. The exception is a write, of which a
//! [`Fault`] may let the first bytes pass, as a disk does that becomes full.
//!
//! Methods of [`Vfs`] and [`VfsDir`] that cannot fail are passed on and are not counted.

mod objects;
#[cfg(test)]
mod tests;

use self::objects::{FaultyDir, FaultyFile};
use super::{OpenHow, Space, Stat, Vfs, VfsDir, VfsError, VfsFile, VfsResult};
use alloc::{boxed::Box, format, string::String, sync::Arc, vec::Vec};
use core::fmt::{self, Debug};

/// One kind of call: a method of [`Vfs`], of [`VfsFile`] (`File…`) or of [`VfsDir`] (`Dir…`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "each is the method of its name in `vfs`")]
pub enum Op {
    Open,
    OpenDir,
    Stat,
    MakeDir,
    RemoveFile,
    RemoveDir,
    Rename,
    HardLink,
    Attribute,
    Space,
    FileReadAt,
    FileWriteAt,
    FileStat,
    FileSize,
    FileSetLen,
    FileReserve,
    FileSync,
    FileSetTimes,
    FileSetWritable,
    FileAttribute,
    FileSetAttribute,
    FileUpdateAttribute,
    FileRemoveAttribute,
    FileAttributeNames,
    DirNames,
    DirEntry,
    DirStat,
}

impl Op {
    /// Whether a call of this kind changes the file system if it succeeds. An open does if it creates or truncates.
    #[must_use]
    pub const fn changes(self) -> bool {
        use Op::*;
        matches!(
            self,
            MakeDir
                | RemoveFile
                | RemoveDir
                | Rename
                | HardLink
                | FileWriteAt
                | FileSetLen
                | FileReserve
                | FileSetTimes
                | FileSetWritable
                | FileSetAttribute
                | FileUpdateAttribute
                | FileRemoveAttribute
        )
    }
}

/// A call that arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Its number, from 0 since the file system was wrapped or [`FaultyVfs::restart`] was called.
    pub number: u64,
    /// What was called.
    pub op: Op,
    /// On what: the path, or the path under which the file or folder was opened. For an open, what it asks for follows
    /// in brackets; for calls with a second path, a name or an attribute, that follows after a space.
    pub on: String,
    /// What it was made to fail with.
    pub failed: Option<Fault>,
}

/// How a call fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What the caller gets.
    pub error: VfsError,
    /// A failing write still stores this many bytes, at most all of them. Other calls ignore it.
    pub written: usize,
}

impl From<VfsError> for Fault {
    fn from(error: VfsError) -> Self {
        Self { error, written: 0 }
    }
}

/// Decides for each call whether it fails. It runs while the wrapper's record is locked, so it must not call the
/// wrapped file system.
pub type Plan = Box<dyn FnMut(&Seen) -> Option<Fault> + Send>;

/// A plan under which nothing fails.
#[must_use]
pub fn never() -> Plan {
    Box::new(|_| None)
}

/// A plan under which the call of this number fails, and no other.
#[must_use]
pub fn at(number: u64, fault: Fault) -> Plan {
    Box::new(move |seen| (seen.number == number).then_some(fault))
}

/// A plan under which the call of this number and all later calls fail, as on a disk that broke.
#[must_use]
pub fn from(number: u64, fault: Fault) -> Plan {
    Box::new(move |seen| (seen.number >= number).then_some(fault))
}

/// The wrapper. A clone is another handle on the same one.
#[derive(Clone, Debug)]
pub struct FaultyVfs {
    inner: Arc<dyn Vfs>,
    injector: Injector,
}

impl FaultyVfs {
    /// Wraps a file system. Nothing fails until [`Self::restart`] sets a plan.
    #[must_use]
    pub fn new(inner: Arc<dyn Vfs>) -> Self {
        Self {
            inner,
            injector: Injector::default(),
        }
    }

    /// Wraps another file system under the same plan: calls of both are numbered together.
    #[must_use]
    pub fn beside(&self, inner: Arc<dyn Vfs>) -> Self {
        Self {
            inner,
            injector: self.injector.clone(),
        }
    }

    /// Forgets the calls recorded so far, numbers from 0 again and follows this plan from now on.
    pub fn restart(&self, plan: Plan) {
        *self.injector.0.lock() = Script {
            plan,
            seen: Vec::new(),
            number: 0,
        };
    }

    /// How many calls have arrived.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.injector.0.lock().number
    }

    /// The calls that have arrived, oldest first, as many as [`MAX_RECORDED`].
    #[must_use]
    pub fn seen(&self) -> Vec<Seen> {
        self.injector.0.lock().seen.clone()
    }

    /// The file system beneath, whose calls are neither counted nor failed.
    #[must_use]
    pub fn inner(&self) -> &Arc<dyn Vfs> {
        &self.inner
    }
}

/// Calls recorded at most; later ones are counted, and may fail, but are not listed.
pub const MAX_RECORDED: usize = 4_096;

struct Script {
    plan: Plan,
    seen: Vec<Seen>,
    number: u64,
}

impl Default for Script {
    fn default() -> Self {
        Self {
            plan: never(),
            seen: Vec::new(),
            number: 0,
        }
    }
}

/// What the wrapper and all files and folders opened through it share.
#[derive(Clone, Default)]
struct Injector(Arc<spin::Mutex<Script>>);

impl Debug for Injector {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Injector({})", self.0.lock().number)
    }
}

impl Injector {
    /// Numbers and records a call.
    fn arrived(&self, op: Op, on: impl FnOnce() -> String) -> Result<(), Fault> {
        let mut script = self.0.lock();
        let mut seen = Seen {
            number: script.number,
            op,
            on: on(),
            failed: None,
        };
        script.number = script.number.saturating_add(1);
        let fault = (script.plan)(&seen);
        seen.failed = fault;
        if script.seen.len() < MAX_RECORDED {
            script.seen.push(seen);
        }
        fault.map_or(Ok(()), Err)
    }

    /// The same for calls of which nothing happens if they fail.
    fn pass(&self, op: Op, on: impl FnOnce() -> String) -> VfsResult<()> {
        self.arrived(op, on).map_err(|fault| fault.error)
    }
}

/// What an open asks for, in a few letters.
fn how_letters(how: OpenHow) -> String {
    [
        (how.read, 'r'),
        (how.write, 'w'),
        (how.create, 'c'),
        (how.exclusive, 'x'),
        (how.truncate, 't'),
    ]
    .iter()
    .filter(|(set, _)| *set)
    .map(|(_, letter)| *letter)
    .collect()
}

impl Vfs for FaultyVfs {
    fn open(&self, path: &str, how: OpenHow) -> VfsResult<(Arc<dyn VfsFile>, bool)> {
        self.injector
            .pass(Op::Open, || format!("{path} [{}]", how_letters(how)))?;
        let (file, created) = self.inner.open(path, how)?;
        let file = FaultyFile::new(file, path, &self.injector);
        Ok((Arc::new(file), created))
    }

    fn open_dir(&self, path: &str) -> VfsResult<Arc<dyn VfsDir>> {
        self.injector.pass(Op::OpenDir, || path.into())?;
        let dir = FaultyDir::new(self.inner.open_dir(path)?, path, &self.injector);
        Ok(Arc::new(dir))
    }

    fn stat(&self, path: &str) -> VfsResult<Stat> {
        self.injector.pass(Op::Stat, || path.into())?;
        self.inner.stat(path)
    }

    fn make_dir(&self, path: &str) -> VfsResult<()> {
        self.injector.pass(Op::MakeDir, || path.into())?;
        self.inner.make_dir(path)
    }

    fn remove_file(&self, path: &str) -> VfsResult<()> {
        self.injector.pass(Op::RemoveFile, || path.into())?;
        self.inner.remove_file(path)
    }

    fn remove_dir(&self, path: &str) -> VfsResult<()> {
        self.injector.pass(Op::RemoveDir, || path.into())?;
        self.inner.remove_dir(path)
    }

    fn rename(&self, from: &str, to: &str, replace: bool) -> VfsResult<()> {
        self.injector.pass(Op::Rename, || format!("{from} {to}"))?;
        self.inner.rename(from, to, replace)
    }

    fn hard_link(&self, from: &str, to: &str) -> VfsResult<()> {
        self.injector
            .pass(Op::HardLink, || format!("{from} {to}"))?;
        self.inner.hard_link(from, to)
    }

    fn attribute(&self, path: &str, name: &str) -> VfsResult<Vec<u8>> {
        self.injector
            .pass(Op::Attribute, || format!("{path} {name}"))?;
        self.inner.attribute(path, name)
    }

    fn attribute_in(&self, path: &str, stat: &Stat, name: &str) -> VfsResult<Vec<u8>> {
        self.injector
            .pass(Op::Attribute, || format!("{path} {name}"))?;
        self.inner.attribute_in(path, stat, name)
    }

    fn tells_changes_after(&self, path: &str, stat: &Stat) -> bool {
        self.inner.tells_changes_after(path, stat)
    }

    fn space(&self) -> VfsResult<Space> {
        self.injector.pass(Op::Space, String::new)?;
        self.inner.space()
    }
}
