//! Open files and folders in memory.

use alloc::{borrow::ToOwned, string::String, sync::Arc, vec::Vec};
use core::{
    any::Any,
    fmt::{self, Debug},
};

use super::{
    content::Content,
    options::Call,
    state::Shared,
    state::{MAX_LEN, State},
};
use crate::vfs::{OpenHow, SetTimes, Stat, VfsDir, VfsError, VfsFile, VfsResult, path};

/// Keeps an object alive while it is open.
pub(super) struct Handle {
    shared: Shared,
    id: u64,
}

impl Handle {
    pub(super) fn new(shared: &Shared, state: &mut State, id: u64) -> Self {
        if let Ok(node) = state.node_mut(id) {
            node.opens = node.opens.saturating_add(1);
        }
        Self {
            shared: Arc::clone(shared),
            id,
        }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.shared.lock().close(self.id);
    }
}

impl Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "object {}", self.id)
    }
}

/// An open file or folder of a [`MemFs`](super::MemFs).
#[derive(Debug)]
pub struct MemFile {
    handle: Handle,
    how: OpenHow,
}

impl MemFile {
    pub(super) fn new(handle: Handle, how: OpenHow) -> Self {
        Self { handle, how }
    }

    /// Locks and counts. Refuses changes of the contents if the open is not for writing.
    fn begin_content(&self, call: Call) -> VfsResult<spin::MutexGuard<'_, State>> {
        let mut state = self.handle.shared.lock();
        state.begin_change(call)?;
        if self.how.write {
            Ok(state)
        } else {
            Err(VfsError::Denied)
        }
    }

    fn change_metadata(
        &self,
        call: Call,
        change: impl FnOnce(&mut super::node::Node, crate::vfs::FsTime) -> VfsResult<()>,
    ) -> VfsResult<()> {
        let mut state = self.handle.shared.lock();
        state.begin_change(call)?;
        let now = state.now();
        change(state.node_mut(self.handle.id)?, now)
    }
}

impl VfsFile for MemFile {
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> VfsResult<usize> {
        let mut state = self.handle.shared.lock();
        state.begin(Call::ReadAt)?;
        if !self.how.read {
            return Err(VfsError::Denied);
        }
        Ok(state.content(self.handle.id)?.read(offset, buf))
    }

    fn write_at(&self, offset: u64, data: &[u8]) -> Result<(), (usize, VfsError)> {
        let mut state = self.handle.shared.lock();
        let struck = state.begin_write(Call::WriteAt).err();
        state.may_change().map_err(|error| (0, error))?;
        if !self.how.write {
            return Err((0, VfsError::Denied));
        }
        let allowed = struck.map_or(data.len(), |(written, _)| written.min(data.len()));
        let written = write(
            &mut state,
            self.handle.id,
            offset,
            data.get(..allowed).unwrap_or(data),
        )?;
        struck.map_or(Ok(()), |(_, error)| Err((written, error)))
    }

    fn stat(&self) -> VfsResult<Stat> {
        let mut state = self.handle.shared.lock();
        state.begin(Call::Stat)?;
        state.stat(self.handle.id)
    }

    fn set_len(&self, len: u64) -> VfsResult<()> {
        let mut state = self.begin_content(Call::SetLen)?;
        grow(&mut state, self.handle.id, len, |content| {
            content.set_len(len)
        })
    }

    fn reserve(&self, len: u64) -> VfsResult<()> {
        let mut state = self.begin_content(Call::Reserve)?;
        grow(&mut state, self.handle.id, len, |content| {
            content.reserve(len)
        })
    }

    fn sync(&self) -> VfsResult<()> {
        self.handle.shared.lock().begin(Call::Sync)
    }

    fn set_times(&self, times: SetTimes) -> VfsResult<()> {
        self.change_metadata(Call::SetTimes, |node, now| {
            node.set_times(times, now);
            Ok(())
        })
    }

    fn set_writable(&self, writable: bool) -> VfsResult<()> {
        self.change_metadata(Call::SetWritable, |node, now| {
            node.set_writable(writable, now);
            Ok(())
        })
    }

    fn attribute(&self, name: &str) -> VfsResult<Vec<u8>> {
        let mut state = self.handle.shared.lock();
        state.begin(Call::Attribute)?;
        state
            .node(self.handle.id)?
            .attributes
            .get(name)
            .cloned()
            .ok_or(VfsError::NoAttribute)
    }

    fn set_attribute(&self, name: &str, value: &[u8]) -> VfsResult<()> {
        self.change_metadata(Call::SetAttribute, |node, now| {
            node.attributes.insert(name.to_owned(), value.to_owned());
            node.touch_metadata(now);
            Ok(())
        })
    }

    fn update_attribute(
        &self,
        name: &str,
        change: &mut dyn FnMut(&mut Vec<u8>) -> VfsResult<()>,
    ) -> VfsResult<()> {
        self.change_metadata(Call::SetAttribute, |node, now| {
            let value = node.attributes.get_mut(name).ok_or(VfsError::NoAttribute)?;
            let mut new = value.clone();
            change(&mut new)?;
            *value = new;
            node.touch_metadata(now);
            Ok(())
        })
    }

    fn remove_attribute(&self, name: &str) -> VfsResult<()> {
        self.change_metadata(Call::RemoveAttribute, |node, now| {
            node.attributes.remove(name).ok_or(VfsError::NoAttribute)?;
            node.touch_metadata(now);
            Ok(())
        })
    }

    fn attribute_names(&self) -> VfsResult<Vec<String>> {
        let mut state = self.handle.shared.lock();
        state.begin(Call::AttributeNames)?;
        Ok(state
            .node(self.handle.id)?
            .attributes
            .keys()
            .cloned()
            .collect())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Writes as much as fits. Returns the full length, or the number of bytes written and the error.
fn write(state: &mut State, id: u64, offset: u64, data: &[u8]) -> Result<usize, (usize, VfsError)> {
    let end = offset
        .checked_add(data.len() as u64)
        .filter(|end| *end <= MAX_LEN)
        .ok_or((0, VfsError::TooLarge))?;
    if data.is_empty() {
        return Ok(0);
    }
    let reach = state.room_up_to(id, end).map_err(|error| (0, error))?;
    let fits = usize::try_from(reach.saturating_sub(offset))
        .unwrap_or(usize::MAX)
        .min(data.len());
    let part = data.get(..fits).unwrap_or(data);
    if !part.is_empty() {
        state
            .change_content(id, |content, keep| content.write(offset, part, keep))
            .map_err(|error| (0, error))?;
    }
    if fits < data.len() {
        Err((fits, VfsError::NoSpace))
    } else {
        Ok(fits)
    }
}

/// Changes the length or the reservation to `len` if the space suffices.
fn grow(state: &mut State, id: u64, len: u64, change: impl FnOnce(&mut Content)) -> VfsResult<()> {
    if len > MAX_LEN {
        return Err(VfsError::TooLarge);
    }
    if state.room_up_to(id, len)? < len {
        return Err(VfsError::NoSpace);
    }
    state.change_content(id, |content, _| change(content))
}

/// A folder of a [`MemFs`](super::MemFs), open for listing.
#[derive(Debug)]
pub struct MemDir {
    handle: Handle,
}

impl MemDir {
    pub(super) fn new(handle: Handle) -> Self {
        Self { handle }
    }
}

impl VfsDir for MemDir {
    fn names(&self) -> VfsResult<Vec<String>> {
        let mut state = self.handle.shared.lock();
        state.begin(Call::Names)?;
        Ok(state.entries(self.handle.id)?.keys().cloned().collect())
    }

    fn entry(&self, name: &str, attribute: Option<&str>) -> VfsResult<(Stat, Option<Vec<u8>>)> {
        path::check_name(name)?;
        let mut state = self.handle.shared.lock();
        state.begin(Call::Entry)?;
        let id = state.child(self.handle.id, name)?;
        let value =
            attribute.and_then(|wanted| state.node(id).ok()?.attributes.get(wanted).cloned());
        Ok((state.stat(id)?, value))
    }

    fn may_have_attributes(&self, name: &str, _stat: &Stat, besides: &str) -> bool {
        let state = self.handle.shared.lock();
        let node = state
            .child(self.handle.id, name)
            .and_then(|id| state.node(id));
        node.is_ok_and(|node| node.attributes.keys().any(|known| known != besides))
    }

    fn stat(&self) -> VfsResult<Stat> {
        let mut state = self.handle.shared.lock();
        state.begin(Call::Stat)?;
        state.stat(self.handle.id)
    }
}
