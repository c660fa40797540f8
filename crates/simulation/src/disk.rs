//! The disks: memory behind a layer that makes calls fail or delays them as the program requests.

use coax_server::{
    memfs::{MemFs, MemOptions},
    vfs::{
        FileId, FsTime, Kind, Vfs, VfsError,
        faulty::{Fault, FaultyVfs, Op, Seen},
    },
};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// A fault to inject.
#[derive(Clone, Copy, Debug)]
pub struct Trouble {
    /// The number of calls of this kind that succeed first.
    pub skip: u64,
    /// The number of calls that fail then.
    pub times: u64,
    /// Count only calls that change something.
    pub only_changes: bool,
    /// The error of these calls.
    pub error: VfsError,
}

#[derive(Debug, Default)]
struct State {
    trouble: Option<Trouble>,
    /// The delay of the next call, ns.
    delay: u64,
    /// The delays since the last query, ns.
    delayed: u64,
    faults: u64,
    changes: u64,
    calls: u64,
}

/// The disk of a share.
#[derive(Clone, Debug)]
pub struct Disk {
    /// The actual contents.
    pub memory: MemFs,
    /// The disk as the server sees it.
    pub faulty: FaultyVfs,
    state: Arc<Mutex<State>>,
}

/// A file or folder on a disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its identity, which a rename does not change.
    pub id: FileId,
    /// The bytes of a file; `None` for a folder.
    pub bytes: Option<Vec<u8>>,
}

/// Files and folders, by path in upper case.
pub type Listing = BTreeMap<String, Entry>;

impl Disk {
    /// An empty disk.
    #[must_use]
    pub fn new(device: u64) -> Self {
        let memory = MemFs::with_options(MemOptions {
            device,
            ..MemOptions::default()
        });
        let faulty = FaultyVfs::new(Arc::new(memory.clone()));
        let disk = Self {
            memory,
            faulty,
            state: Arc::default(),
        };
        disk.forget_calls();
        disk
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Clears the wrapper's record of calls, which is unused here.
    pub fn forget_calls(&self) {
        let state = self.state.clone();
        self.faulty.restart(Box::new(move |seen| {
            state
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .judge(seen)
        }));
    }

    /// Sets the fault of later calls.
    pub fn inject(&self, trouble: Option<Trouble>) {
        self.state().trouble = trouble;
    }

    /// Sets the delay of the next call, ns.
    pub fn delay(&self, ns: u64) {
        self.state().delay = ns;
    }

    /// The total delay of calls since the last query, ns.
    #[must_use]
    pub fn take_delay(&self) -> u64 {
        std::mem::take(&mut self.state().delayed)
    }

    /// The number of failed calls.
    #[must_use]
    pub fn faults(&self) -> u64 {
        self.state().faults
    }

    /// The number of calls that may have changed something.
    #[must_use]
    pub fn changes(&self) -> u64 {
        self.state().changes
    }

    /// The number of calls.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.state().calls
    }

    /// Sets the wall clock.
    pub fn set_time(&self, ns: i64) {
        self.memory.set_time(FsTime(ns));
    }

    /// The contents of the disk, without faults.
    #[must_use]
    pub fn listing(&self) -> Listing {
        let mut all = Listing::new();
        self.list_into("", &mut all);
        all
    }

    fn list_into(&self, folder: &str, all: &mut Listing) {
        let names = self
            .memory
            .open_dir(folder)
            .and_then(|dir| dir.names())
            .unwrap_or_default();
        for name in names {
            let path = if folder.is_empty() {
                name
            } else {
                format!("{folder}/{name}")
            };
            let Ok(stat) = self.memory.stat(&path) else {
                continue;
            };
            let bytes = match stat.kind {
                Kind::Directory => {
                    self.list_into(&path, all);
                    None
                }
                _ => Some(self.memory.contents(&path).unwrap_or_default()),
            };
            all.insert(path.to_uppercase(), Entry { id: stat.id, bytes });
        }
    }
}

impl State {
    fn judge(&mut self, seen: &Seen) -> Option<Fault> {
        let creates = seen.op == Op::Open && seen.on.ends_with(']') && seen.on.contains('c');
        let changes = seen.op.changes() || creates;
        self.calls += 1;
        self.changes += u64::from(changes);
        self.delayed += std::mem::take(&mut self.delay);
        let trouble = self.trouble.as_mut()?;
        if trouble.only_changes && !changes {
            return None;
        }
        if trouble.skip > 0 {
            trouble.skip -= 1;
            return None;
        }
        trouble.times -= 1;
        let fault = Fault {
            error: trouble.error,
            written: seen.number as usize % 3 * 5,
        };
        if trouble.times == 0 {
            self.trouble = None;
        }
        self.faults += 1;
        Some(fault)
    }
}
