//! Reads, writes, lengths and byte-range locks.

use super::{Check, Handle, Lock, Moment, State, require};
use crate::{
    op::{Op, Oplock, Range, Request, right},
    reply::Reply,
    rules::PID,
};

/// The contents after a write of `data` at `offset`.
fn written(bytes: &[u8], offset: u64, data: &[u8]) -> Vec<u8> {
    let (start, mut bytes) = (offset as usize, bytes.to_vec());
    let end = start + data.len();
    if bytes.len() < end {
        bytes.resize(end, 0);
    }
    bytes[start..end].copy_from_slice(data);
    bytes
}

fn resized(bytes: &[u8], len: u32) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes.resize(len as usize, 0);
    bytes
}

impl State {
    pub(super) fn transferred(
        &mut self,
        request: &Request,
        reply: &Reply,
        at: Moment<'_>,
    ) -> Check {
        let handle = |fid: u16| (request.client, fid);
        match &request.op {
            Op::Read {
                fid, offset, len, ..
            } => {
                let node = self.own(request, *fid, right::READ)?.node;
                let range = Range {
                    offset: *offset,
                    length: u64::from(*len),
                };
                require(
                    self.may_transfer(handle(*fid), request.pid, range, false),
                    "read what another has locked",
                )?;
                let bytes = &self.nodes[node].bytes;
                let start = bytes.len().min(*offset as usize);
                let end = bytes.len().min(start + usize::from(*len));
                require(
                    reply.data.as_deref() == Some(&bytes[start..end]),
                    "a read returns other bytes than were acknowledged",
                )
            }
            Op::Write {
                fid, offset, data, ..
            } => {
                let node = self.own(request, *fid, right::WRITE)?.node;
                let range = Range {
                    offset: *offset,
                    length: data.len() as u64,
                };
                require(
                    self.may_transfer(handle(*fid), request.pid, range, true),
                    "wrote what is locked",
                )?;
                let count = reply.written;
                require(
                    count == data.len() || at.faults > 0 && count < data.len(),
                    "wrote fewer bytes, and the disk did not fail",
                )?;
                let bytes = written(&self.nodes[node].bytes, *offset, &data[..count]);
                self.set_bytes(node, bytes);
                self.contents_changed(node);
                Ok(())
            }
            Op::SetLength { fid, len, .. } => {
                let node = self.own(request, *fid, right::WRITE)?.node;
                let range = self.resized_range(node, *len);
                require(
                    self.may_transfer(handle(*fid), request.pid, range, true),
                    "cut or extended what is locked",
                )?;
                if range.length > 0 {
                    let bytes = resized(&self.nodes[node].bytes, *len);
                    self.set_bytes(node, bytes);
                    self.contents_changed(node);
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// The range that a new length removes or adds.
    pub(super) fn resized_range(&self, node: usize, len: u32) -> Range {
        let (old, new) = (self.nodes[node].bytes.len() as u64, u64::from(len));
        Range {
            offset: old.min(new),
            length: old.abs_diff(new),
        }
    }

    /// Notes that the server has received the data of a raw write without a final answer.
    ///
    /// # Errors
    /// The violated rule.
    pub(super) fn raw_data_taken(&mut self, request: &Request, at: Moment<'_>) -> Check {
        let Op::Write { data, fid, .. } = &request.op else {
            return Ok(());
        };
        if self.obstacle(request, at).is_some() {
            if let Some(open) = self.opens.get_mut(&(request.client, *fid)) {
                open.deferred = true;
            }
            self.allow_bytes(request);
            return Ok(());
        }
        let reply = Reply {
            written: data.len(),
            ..Reply::default()
        };
        self.transferred(request, &reply, at)
    }

    /// Allows partial effects of a failed write or length change.
    pub(super) fn allow_bytes(&mut self, request: &Request) {
        let Some(open) = request
            .op
            .fid()
            .and_then(|fid| self.opens.get(&(request.client, fid)))
        else {
            return;
        };
        let node = open.node;
        let old = &self.nodes[node].bytes;
        let new = match &request.op {
            Op::Write { offset, data, .. } => written(old, *offset, data),
            Op::SetLength { len, .. } => resized(old, *len),
            _ => return,
        };
        self.perhaps_write(node, new);
    }

    /// Requires a break for every level II oplock on the file.
    pub(super) fn contents_changed(&mut self, node: usize) {
        for open in self.opens.values_mut().filter(|open| open.node == node) {
            open.break_due |= open.oplock == Oplock::LevelII;
        }
    }

    /// Whether locks allow `pid` to read or write through an open. Exclusive locks of others forbid both; shared locks,
    /// even its own, forbid writing.
    pub(super) fn may_transfer(&self, owner: Handle, pid: u16, range: Range, write: bool) -> bool {
        let Some(node) = self.opens.get(&owner).map(|open| open.node) else {
            return false;
        };
        range.length == 0
            || !self.locks.iter().any(|lock| {
                let forbids = if lock.shared {
                    write
                } else {
                    (lock.owner, lock.pid) != (owner, pid)
                };
                lock.node == node && lock.range.overlaps(range) && forbids
            })
    }

    /// Whether a held lock conflicts with a new one.
    pub(super) fn lock_conflicts(
        &self,
        node: usize,
        (owner, pid): (Handle, u16),
        range: Range,
        shared: bool,
    ) -> bool {
        self.locks.iter().any(|lock| {
            let overlays = !lock.shared && shared && (lock.owner, lock.pid) == (owner, pid);
            lock.node == node && lock.range.overlaps(range) && !(lock.shared && shared) && !overlays
        })
    }

    /// The process that owns the lock: that of the header for LOCK_BYTE_RANGE, always the first for LOCKING_ANDX here.
    pub(super) fn locker(request: &Request) -> u16 {
        match request.op {
            Op::Lock { core: true, .. } | Op::Unlock { core: true, .. } => request.pid,
            _ => PID,
        }
    }

    pub(super) fn locked(&mut self, request: &Request) -> Check {
        let fid = request.op.fid().unwrap_or_default();
        let node = self.own(request, fid, 0)?.node;
        let (owner, pid) = ((request.client, fid), Self::locker(request));
        match &request.op {
            Op::Lock { ranges, shared, .. } => {
                for range in ranges {
                    let taken = self.lock_conflicts(node, (owner, pid), *range, *shared);
                    require(!taken, "a range was locked that is locked already")?;
                    self.locks.push(Lock {
                        owner,
                        pid,
                        node,
                        range: *range,
                        shared: *shared,
                    });
                }
                Ok(())
            }
            Op::Unlock { range, .. } => {
                let is_it =
                    |lock: &Lock| (lock.owner, lock.pid, lock.range) == (owner, pid, *range);
                let mut found = (0..self.locks.len()).filter(|at| is_it(&self.locks[*at]));
                let first = found.clone().next();
                let at = found.find(|at| !self.locks[*at].shared).or(first);
                self.locks
                    .remove(at.ok_or("a range was unlocked that was not locked")?);
                Ok(())
            }
            _ => {
                if let Some(open) = self.opens.get_mut(&owner) {
                    open.lock_cancelled = true;
                }
                Ok(())
            }
        }
    }
}
