//! The disks: memory behind a layer that fails and delays calls as the program says.

use coax_server::{
    memfs::{MemFs, MemOptions},
    vfs::{
        FsTime, Kind, Vfs, VfsError,
        faulty::{Fault, FaultyVfs, Op, Seen},
    },
};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// What is to go wrong.
#[derive(Clone, Copy, Debug)]
pub struct Trouble {
    /// The number of calls of this kind that succeed first.
    pub skip: u64,
    /// So many calls fail then.
    pub times: u64,
    /// Only calls that change something.
    pub only_changes: bool,
    /// With what.
    pub error: VfsError,
}

#[derive(Debug, Default)]
struct State {
    trouble: Option<Trouble>,
    /// Delay of the next call, ns.
    delay: u64,
    /// Delays taken since they were last asked for, ns.
    delayed: u64,
    faults: u64,
    changes: u64,
    calls: u64,
}

/// A share's disk.
#[derive(Clone, Debug)]
pub struct Disk {
    /// What is really on it.
    pub memory: MemFs,
    /// What the server sees.
    pub faulty: FaultyVfs,
    state: Arc<Mutex<State>>,
}

/// A file's bytes, or a folder, by path in upper case.
pub type Listing = BTreeMap<String, Option<Vec<u8>>>;

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

    /// Empties the record of calls, which the wrapper keeps and nobody reads here.
    pub fn forget_calls(&self) {
        let state = self.state.clone();
        self.faulty.restart(Box::new(move |seen| {
            state
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .judge(seen)
        }));
    }

    /// Makes calls to come fail.
    pub fn inject(&self, trouble: Option<Trouble>) {
        self.state().trouble = trouble;
    }

    /// Makes the next call take so long, ns.
    pub fn delay(&self, ns: u64) {
        self.state().delay = ns;
    }

    /// How long calls took since the last question, ns.
    #[must_use]
    pub fn take_delay(&self) -> u64 {
        std::mem::take(&mut self.state().delayed)
    }

    /// How many calls have failed.
    #[must_use]
    pub fn faults(&self) -> u64 {
        self.state().faults
    }

    /// How many calls may have changed something.
    #[must_use]
    pub fn changes(&self) -> u64 {
        self.state().changes
    }

    /// How many calls there were.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.state().calls
    }

    /// Sets the wall clock.
    pub fn set_time(&self, ns: i64) {
        self.memory.set_time(FsTime(ns));
    }

    /// All that is on the disk, past all faults.
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
            match self.memory.stat(&path).map(|stat| stat.kind) {
                Ok(Kind::Directory) => {
                    all.insert(path.to_uppercase(), None);
                    self.list_into(&path, all);
                }
                _ => {
                    all.insert(
                        path.to_uppercase(),
                        Some(self.memory.contents(&path).unwrap_or_default()),
                    );
                }
            }
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
