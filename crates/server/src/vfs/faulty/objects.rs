//! Open files and folders whose calls fail as planned.

use super::plan::{Injector, Op};
use crate::vfs::{SetTimes, Stat, VfsDir, VfsError, VfsFile, VfsResult};
use alloc::{format, string::String, sync::Arc, vec::Vec};
use core::any::Any;

#[derive(Debug)]
pub(super) struct FaultyFile {
    inner: Arc<dyn VfsFile>,
    path: String,
    injector: Injector,
}

impl FaultyFile {
    pub(super) fn new(inner: Arc<dyn VfsFile>, path: &str, injector: &Injector) -> Self {
        Self {
            inner,
            path: path.into(),
            injector: injector.clone(),
        }
    }

    fn pass(&self, op: Op) -> VfsResult<()> {
        self.injector.pass(op, || self.path.clone())
    }

    fn pass_attribute(&self, op: Op, name: &str) -> VfsResult<()> {
        self.injector.pass(op, || format!("{} {name}", self.path))
    }
}

impl VfsFile for FaultyFile {
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> VfsResult<usize> {
        self.pass(Op::FileReadAt)?;
        self.inner.read_at(offset, buf)
    }

    fn write_at(&self, offset: u64, data: &[u8]) -> Result<(), (usize, VfsError)> {
        let arrived = self.injector.arrived(Op::FileWriteAt, || self.path.clone());
        let Err(fault) = arrived else {
            return self.inner.write_at(offset, data);
        };
        let written = fault.written.min(data.len());
        if written > 0 {
            let part = data.get(..written).unwrap_or_default();
            self.inner.write_at(offset, part)?;
        }
        Err((written, fault.error))
    }

    fn stat(&self) -> VfsResult<Stat> {
        self.pass(Op::FileStat)?;
        self.inner.stat()
    }

    fn size(&self) -> VfsResult<u64> {
        self.pass(Op::FileSize)?;
        self.inner.size()
    }

    fn set_len(&self, len: u64) -> VfsResult<()> {
        self.pass(Op::FileSetLen)?;
        self.inner.set_len(len)
    }

    fn reserve(&self, len: u64) -> VfsResult<()> {
        self.pass(Op::FileReserve)?;
        self.inner.reserve(len)
    }

    fn set_len_sparse(&self, len: u64) -> VfsResult<()> {
        self.pass(Op::FileSetLen)?;
        self.inner.set_len_sparse(len)
    }

    fn reserve_range(&self, from: u64, to: u64) -> VfsResult<()> {
        self.pass(Op::FileReserve)?;
        self.inner.reserve_range(from, to)
    }

    fn sync(&self) -> VfsResult<()> {
        self.pass(Op::FileSync)?;
        self.inner.sync()
    }

    fn set_times(&self, times: SetTimes) -> VfsResult<()> {
        self.pass(Op::FileSetTimes)?;
        self.inner.set_times(times)
    }

    fn set_writable(&self, writable: bool) -> VfsResult<()> {
        self.pass(Op::FileSetWritable)?;
        self.inner.set_writable(writable)
    }

    fn attribute(&self, name: &str) -> VfsResult<Vec<u8>> {
        self.pass_attribute(Op::FileAttribute, name)?;
        self.inner.attribute(name)
    }

    fn set_attribute(&self, name: &str, value: &[u8]) -> VfsResult<()> {
        self.pass_attribute(Op::FileSetAttribute, name)?;
        self.inner.set_attribute(name, value)
    }

    fn update_attribute(
        &self,
        name: &str,
        change: &mut dyn FnMut(&mut Vec<u8>) -> VfsResult<()>,
    ) -> VfsResult<()> {
        self.pass_attribute(Op::FileUpdateAttribute, name)?;
        self.inner.update_attribute(name, change)
    }

    fn remove_attribute(&self, name: &str) -> VfsResult<()> {
        self.pass_attribute(Op::FileRemoveAttribute, name)?;
        self.inner.remove_attribute(name)
    }

    fn attribute_names(&self) -> VfsResult<Vec<String>> {
        self.pass(Op::FileAttributeNames)?;
        self.inner.attribute_names()
    }

    /// The wrapper itself. A driver that recognised the wrapped file would transfer its data without the plan.
    fn as_any(&self) -> &dyn Any {
        self
    }
}

#[derive(Debug)]
pub(super) struct FaultyDir {
    inner: Arc<dyn VfsDir>,
    path: String,
    injector: Injector,
}

impl FaultyDir {
    pub(super) fn new(inner: Arc<dyn VfsDir>, path: &str, injector: &Injector) -> Self {
        Self {
            inner,
            path: path.into(),
            injector: injector.clone(),
        }
    }
}

impl VfsDir for FaultyDir {
    fn names(&self) -> VfsResult<Vec<String>> {
        self.injector.pass(Op::DirNames, || self.path.clone())?;
        self.inner.names()
    }

    fn entry(&self, name: &str, attribute: Option<&str>) -> VfsResult<(Stat, Option<Vec<u8>>)> {
        self.injector
            .pass(Op::DirEntry, || format!("{} {name}", self.path))?;
        self.inner.entry(name, attribute)
    }

    fn may_have_attributes(&self, name: &str, stat: &Stat, besides: &str) -> bool {
        self.inner.may_have_attributes(name, stat, besides)
    }

    fn stat(&self) -> VfsResult<Stat> {
        self.injector.pass(Op::DirStat, || self.path.clone())?;
        self.inner.stat()
    }

    fn tells_changes_after(&self, stat: &Stat) -> bool {
        self.inner.tells_changes_after(stat)
    }
}
