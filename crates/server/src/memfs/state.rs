//! The in-memory tree and its operations.

use alloc::{
    borrow::ToOwned, boxed::Box, collections::BTreeMap, string::String, sync::Arc, vec::Vec,
};
use core::fmt::{self, Debug};

use super::{
    content::{Content, clusters},
    node::{Body, Node},
    options::{Call, Fault, MemOptions, components},
};
use crate::vfs::{FsTime, OpenHow, Stat, VfsError, VfsResult, path};

/// The root folder's number.
pub(super) const ROOT: u64 = 1;
/// The maximum file length: a signed 64-bit offset, as on Linux.
pub(super) const MAX_LEN: u64 = i64::MAX as u64;

#[derive(Debug)]
pub(super) struct State {
    pub(super) options: MemOptions,
    pub(super) clock: Clock,
    pub(super) faults: Vec<Fault>,
    pub(super) calls: BTreeMap<Call, u64>,
    pub(super) nodes: BTreeMap<u64, Node>,
    /// Bytes allocated by all files, unlinked open ones included.
    pub(super) used: u64,
    next: u64,
}

#[derive(Clone)]
pub(super) enum Clock {
    Set(FsTime),
    Read(Arc<dyn Fn() -> FsTime + Send + Sync>),
}

impl Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.now().fmt(f)
    }
}

impl Clock {
    fn now(&self) -> FsTime {
        match self {
            Self::Set(now) => *now,
            Self::Read(read) => read(),
        }
    }
}

impl State {
    pub(super) fn new(options: MemOptions) -> Self {
        let clock = Clock::Set(FsTime::default());
        let root = Node::new(
            Body::Folder {
                entries: BTreeMap::new(),
                parent: ROOT,
            },
            clock.now(),
        );
        let nodes = BTreeMap::from([(ROOT, root)]);
        Self {
            options,
            clock,
            faults: Vec::new(),
            calls: BTreeMap::new(),
            nodes,
            used: 0,
            next: ROOT + 1,
        }
    }

    pub(super) fn now(&self) -> FsTime {
        self.clock.now()
    }

    /// Counts a call and applies faults. The number is what a failing write still stores.
    pub(super) fn begin_write(&mut self, call: Call) -> Result<(), (usize, VfsError)> {
        let count = self.calls.entry(call).or_default();
        *count = count.saturating_add(1);
        let mut struck = None;
        for fault in self
            .faults
            .iter_mut()
            .filter(|f| f.call.is_none_or(|c| c == call))
        {
            if fault.skip > 0 {
                fault.skip -= 1;
            } else if fault.times > 0 && struck.is_none() {
                fault.times -= 1;
                struck = Some((fault.written, fault.error));
            }
        }
        self.faults.retain(|f| f.times > 0);
        struck.map_or(Ok(()), Err)
    }

    pub(super) fn begin(&mut self, call: Call) -> VfsResult<()> {
        self.begin_write(call).map_err(|(_, error)| error)
    }

    pub(super) fn begin_change(&mut self, call: Call) -> VfsResult<()> {
        self.begin(call)?;
        self.may_change()
    }

    pub(super) fn may_change(&self) -> VfsResult<()> {
        if self.options.read_only {
            Err(VfsError::ReadOnly)
        } else {
            Ok(())
        }
    }

    pub(super) fn node(&self, id: u64) -> VfsResult<&Node> {
        self.nodes.get(&id).ok_or(VfsError::NotFound)
    }

    pub(super) fn node_mut(&mut self, id: u64) -> VfsResult<&mut Node> {
        self.nodes.get_mut(&id).ok_or(VfsError::NotFound)
    }

    pub(super) fn stat(&self, id: u64) -> VfsResult<Stat> {
        Ok(self.node(id)?.stat(self.options.device, id))
    }

    pub(super) fn content(&self, id: u64) -> VfsResult<&Content> {
        match &self.node(id)?.body {
            Body::File(content) => Ok(content),
            Body::Folder { .. } => Err(VfsError::IsADirectory),
        }
    }

    pub(super) fn entries(&self, id: u64) -> VfsResult<&BTreeMap<String, u64>> {
        match &self.node(id)?.body {
            Body::Folder { entries, .. } => Ok(entries),
            Body::File(_) => Err(VfsError::NotADirectory),
        }
    }

    pub(super) fn resolve(&self, path: &str) -> VfsResult<u64> {
        components(path)?.try_fold(ROOT, |at, name| self.child(at, name))
    }

    pub(super) fn child(&self, folder: u64, name: &str) -> VfsResult<u64> {
        self.entries(folder)?
            .get(name)
            .copied()
            .ok_or(VfsError::NotFound)
    }

    /// The folder and the name of a path other than the root. The folder must exist.
    fn place<'p>(&self, path: &'p str) -> VfsResult<(u64, &'p str)> {
        drop(components(path)?);
        let (parent, name) = path::split(path).ok_or(VfsError::Busy)?;
        let parent = self.resolve(parent)?;
        self.entries(parent)?;
        Ok((parent, name))
    }

    /// Like `place`; the name must not exist yet.
    pub(super) fn vacancy<'p>(&self, path: &'p str) -> VfsResult<(u64, &'p str)> {
        if path.is_empty() {
            return Err(VfsError::Exists);
        }
        let (parent, name) = self.place(path)?;
        match self.child(parent, name) {
            Ok(_) => Err(VfsError::Exists),
            Err(_) => Ok((parent, name)),
        }
    }

    pub(super) fn insert(&mut self, parent: u64, name: &str, body: Body) -> VfsResult<u64> {
        let (id, now) = (self.next, self.now());
        self.next = self.next.saturating_add(1);
        if let Body::File(content) = &body {
            self.take(content.allocated())?;
        }
        self.nodes.insert(id, Node::new(body, now));
        self.enter(parent, name, id)?;
        Ok(id)
    }

    /// Opens a file. Returns its number, and whether this call created it.
    pub(super) fn open(&mut self, path: &str, how: OpenHow) -> VfsResult<(u64, bool)> {
        let found = self.resolve(path);
        if found == Err(VfsError::NotFound) && how.create {
            let (parent, name) = self.vacancy(path)?;
            self.may_change()?;
            return Ok((
                self.insert(parent, name, Body::File(Content::default()))?,
                true,
            ));
        }
        let id = found?;
        if how.create && how.exclusive {
            return Err(VfsError::Exists);
        }
        let (node, changes) = (self.node(id)?, how.write || how.truncate);
        if node.is_folder() && (changes || how.create) {
            return Err(VfsError::IsADirectory);
        }
        if changes {
            self.may_change()?;
        }
        if changes && !node.writable() {
            return Err(VfsError::Denied);
        }
        if how.truncate {
            self.change_content(id, |content, _| content.set_len(0))?;
        }
        Ok((id, false))
    }

    /// Changes a file's content in a way that never needs more space.
    pub(super) fn change_content(
        &mut self,
        id: u64,
        change: impl FnOnce(&mut Content, bool),
    ) -> VfsResult<()> {
        let (now, keep) = (self.now(), self.options.keep_contents);
        let node = self.node_mut(id)?;
        let Body::File(content) = &mut node.body else {
            return Err(VfsError::IsADirectory);
        };
        let before = content.allocated();
        change(content, keep);
        let after = content.allocated();
        node.touch(now);
        self.used = self.used.saturating_sub(before).saturating_add(after);
        Ok(())
    }

    /// The length up to which a file may grow now, at most `wanted`.
    pub(super) fn room_up_to(&self, id: u64, wanted: u64) -> VfsResult<u64> {
        let held = self.content(id)?.allocated();
        let free = self.options.capacity.saturating_sub(self.used);
        let reach = held.saturating_add(free / super::content::CLUSTER * super::content::CLUSTER);
        Ok(if clusters(wanted) <= held {
            wanted
        } else {
            wanted.min(reach)
        })
    }

    pub(super) fn remove_file(&mut self, path: &str) -> VfsResult<()> {
        if path.is_empty() {
            return Err(VfsError::IsADirectory);
        }
        let (parent, name) = self.place(path)?;
        let id = self.child(parent, name)?;
        if self.node(id)?.is_folder() {
            return Err(VfsError::IsADirectory);
        }
        self.leave(parent, name)?;
        self.unlink(id);
        Ok(())
    }

    pub(super) fn remove_dir(&mut self, path: &str) -> VfsResult<()> {
        let (parent, name) = self.place(path)?;
        let id = self.child(parent, name)?;
        if !self.entries(id)?.is_empty() {
            return Err(VfsError::NotEmpty);
        }
        self.leave(parent, name)?;
        self.unlink(id);
        Ok(())
    }

    pub(super) fn rename(&mut self, from: &str, to: &str, replace: bool) -> VfsResult<()> {
        let (old_parent, old_name) = self.place(from)?;
        let (new_parent, new_name) = self.place(to)?;
        let id = self.child(old_parent, old_name)?;
        let folder = self.node(id)?.is_folder();
        if let Ok(there) = self.child(new_parent, new_name) {
            if there == id && replace {
                return Ok(());
            }
            if folder || !replace {
                return Err(VfsError::Exists);
            }
            if self.node(there)?.is_folder() {
                return Err(VfsError::IsADirectory);
            }
            self.leave(new_parent, new_name)?;
            self.unlink(there);
        } else if folder && self.lies_beneath(new_parent, id) {
            return Err(VfsError::Denied);
        }
        self.leave(old_parent, old_name)?;
        self.enter(new_parent, new_name, id)?;
        let now = self.now();
        let node = self.node_mut(id)?;
        if let Body::Folder { parent, .. } = &mut node.body {
            *parent = new_parent;
        }
        node.touch_metadata(now);
        Ok(())
    }

    pub(super) fn hard_link(&mut self, from: &str, to: &str) -> VfsResult<()> {
        let id = self.resolve(from)?;
        if self.node(id)?.is_folder() {
            return Err(VfsError::IsADirectory);
        }
        let (parent, name) = self.vacancy(to)?;
        let now = self.now();
        self.enter(parent, name, id)?;
        let node = self.node_mut(id)?;
        node.links = node.links.saturating_add(1);
        node.touch_metadata(now);
        Ok(())
    }

    pub(super) fn close(&mut self, id: u64) {
        if let Some(node) = self.nodes.get_mut(&id) {
            node.opens = node.opens.saturating_sub(1);
        }
        self.forget_if_unused(id);
    }

    pub(super) fn add_dir(&mut self, path: &str) -> VfsResult<u64> {
        let names: Vec<Box<str>> = components(path)?.map(Into::into).collect();
        names
            .iter()
            .try_fold(ROOT, |at, name| match self.child(at, name) {
                Ok(id) => self.entries(id).map(|_| id),
                Err(VfsError::NotFound) => self.insert(
                    at,
                    name,
                    Body::Folder {
                        entries: BTreeMap::new(),
                        parent: at,
                    },
                ),
                Err(other) => Err(other),
            })
    }

    pub(super) fn add_file(&mut self, path: &str, content: Content) -> VfsResult<()> {
        let (parent, name) = path::split(path).ok_or(VfsError::IsADirectory)?;
        path::check_name(name)?;
        let parent = self.add_dir(parent)?;
        if self.child(parent, name).is_ok() {
            self.remove_file(path)?;
        }
        self.insert(parent, name, Body::File(content)).map(drop)
    }

    fn take(&mut self, bytes: u64) -> VfsResult<()> {
        let used = self.used.saturating_add(bytes);
        if used > self.options.capacity && bytes > 0 {
            return Err(VfsError::NoSpace);
        }
        self.used = used;
        Ok(())
    }

    fn enter(&mut self, folder: u64, name: &str, id: u64) -> VfsResult<()> {
        self.change_names(folder, |entries| {
            entries.insert(name.to_owned(), id);
        })
    }

    fn leave(&mut self, folder: u64, name: &str) -> VfsResult<()> {
        self.change_names(folder, |entries| {
            entries.remove(name);
        })
    }

    fn change_names(
        &mut self,
        folder: u64,
        change: impl FnOnce(&mut BTreeMap<String, u64>),
    ) -> VfsResult<()> {
        let now = self.now();
        let node = self.node_mut(folder)?;
        if let Body::Folder { entries, .. } = &mut node.body {
            change(entries);
        }
        node.touch(now);
        Ok(())
    }

    fn unlink(&mut self, id: u64) {
        let now = self.now();
        if let Some(node) = self.nodes.get_mut(&id) {
            node.links = node.links.saturating_sub(1);
            node.touch_metadata(now);
        }
        self.forget_if_unused(id);
    }

    fn forget_if_unused(&mut self, id: u64) {
        if self
            .nodes
            .get(&id)
            .is_none_or(|node| node.links > 0 || node.opens > 0)
        {
            return;
        }
        if let Some(Node {
            body: Body::File(content),
            ..
        }) = self.nodes.remove(&id)
        {
            self.used = self.used.saturating_sub(content.allocated());
        }
    }

    fn lies_beneath(&self, mut at: u64, ancestor: u64) -> bool {
        while at != ancestor {
            match self.nodes.get(&at).map(|node| &node.body) {
                Some(Body::Folder { parent, .. }) if *parent != at => at = *parent,
                _ => return false,
            }
        }
        true
    }
}

pub(super) type Shared = Arc<spin::Mutex<State>>;
