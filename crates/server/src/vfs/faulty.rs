//! A fault-injecting file system: it forwards calls to another one and makes selected calls fail.
//!
//! [`FaultyVfs`] wraps any [`Vfs`] and the files and folders it returns. It numbers every fallible call, files and
//! folders included, in the order in which they arrive. A [`Plan`] decides for each call whether it fails, and how. The
//! wrapper records the calls, so that a test can run an operation once without faults, count its calls, and then repeat
//! it once for each call and error.
//!
//! A failing call does not reach the wrapped file system, so it has no effect. The exception is a write: a [`Fault`]
//! may let its first bytes through, like a disk that becomes full.
//!
//! The wrapper forwards methods of [`Vfs`] and [`VfsDir`] that cannot fail, and does not count them.

mod objects;
mod plan;

#[cfg(test)]
mod tests;

pub use plan::{Fault, Op, Plan, Seen, at, from, never};

use self::objects::{FaultyDir, FaultyFile};
use self::plan::{Injector, Script};

use super::{OpenHow, Space, Stat, Vfs, VfsDir, VfsError, VfsFile, VfsResult};

use alloc::{format, string::String, sync::Arc, vec::Vec};

use core::fmt::Debug;

/// The wrapper. A clone is another handle on the same wrapper.
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

    /// Wraps another file system under the same plan, with a common numbering of calls.
    #[must_use]
    pub fn beside(&self, inner: Arc<dyn Vfs>) -> Self {
        Self {
            inner,
            injector: self.injector.clone(),
        }
    }

    /// Clears the recorded calls, restarts the numbering at 0 and uses this plan from now on.
    pub fn restart(&self, plan: Plan) {
        *self.injector.0.lock() = Script {
            plan,
            seen: Vec::new(),
            number: 0,
        };
    }

    /// The number of calls so far.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.injector.0.lock().number
    }

    /// The calls so far, oldest first, at most `MAX_RECORDED`.
    #[must_use]
    pub fn seen(&self) -> Vec<Seen> {
        self.injector.0.lock().seen.clone()
    }

    /// The wrapped file system, for calls without counting or faults.
    #[must_use]
    pub fn inner(&self) -> &Arc<dyn Vfs> {
        &self.inner
    }
}

/// The mode of an open, in a few letters.
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

    fn is_link(&self, path: &str) -> bool {
        self.inner.is_link(path)
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
