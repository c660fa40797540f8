//! Plans of faults, and the record of the calls.

use super::{VfsError, VfsResult};
use alloc::{boxed::Box, string::String, sync::Arc, vec::Vec};
use core::fmt::{self, Debug};

/// One kind of call: a method of `Vfs`, of `VfsFile` (`File…`) or of `VfsDir` (`Dir…`).
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

/// A recorded call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The number of the call, from 0 since the wrapping of the file system or the last `FaultyVfs::restart`.
    pub number: u64,
    /// The kind of the call.
    pub op: Op,
    /// The object of the call: the path, or the path under which the file or folder was opened. An open adds its mode
    /// in brackets. Calls with a second path, a name or an attribute add that after a space.
    pub on: String,
    /// The injected fault.
    pub failed: Option<Fault>,
}

/// The fault of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The error for the caller.
    pub error: VfsError,
    /// The number of bytes that a failing write still stores. Other calls ignore it.
    pub written: usize,
}

impl From<VfsError> for Fault {
    fn from(error: VfsError) -> Self {
        Self { error, written: 0 }
    }
}

/// Decides for each call whether it fails. The plan runs while the wrapper's record is locked, so it must not call the
/// wrapped file system.
pub type Plan = Box<dyn FnMut(&Seen) -> Option<Fault> + Send>;

/// A plan without faults.
#[must_use]
pub fn never() -> Plan {
    Box::new(|_| None)
}

/// A plan where only the call of this number fails.
#[must_use]
pub fn at(number: u64, fault: Fault) -> Plan {
    Box::new(move |seen| (seen.number == number).then_some(fault))
}

/// A plan where the call of this number and all later calls fail, as on a broken disk.
#[must_use]
pub fn from(number: u64, fault: Fault) -> Plan {
    Box::new(move |seen| (seen.number >= number).then_some(fault))
}

/// The maximum number of recorded calls. Later calls count and may fail, but the record does not list them.
pub const MAX_RECORDED: usize = 4_096;

pub(super) struct Script {
    pub(super) plan: Plan,
    pub(super) seen: Vec<Seen>,
    pub(super) number: u64,
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

/// The common state of the wrapper and all files and folders opened through it.
#[derive(Clone, Default)]
pub(super) struct Injector(pub(super) Arc<spin::Mutex<Script>>);

impl Debug for Injector {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Injector({})", self.0.lock().number)
    }
}

impl Injector {
    /// Numbers and records a call.
    pub(super) fn arrived(&self, op: Op, on: impl FnOnce() -> String) -> Result<(), Fault> {
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

    /// Like `arrived`, for calls without an effect on failure.
    pub(super) fn pass(&self, op: Op, on: impl FnOnce() -> String) -> VfsResult<()> {
        self.arrived(op, on).map_err(|fault| fault.error)
    }
}
