//! Atomicity of requests: each takes effect completely or not at all, for a failure of any file system call. The checks
//! are functions that a test calls on any file system.
//!
//! A [`Case`] is a short conversation: the preparation by a client, and the request under test. [`check`] runs it once
//! without faults and counts the file system calls of the request. Then it repeats the case once for each call and each
//! error. After each run:
//! - a successful request has had the full effect of the run without faults; a failed one has changed nothing, unless
//!   the case lists what a failure may leave (some files of a pattern, the first bytes of a write);
//! - the connection has exactly the expected FIDs, searches and rows of the shared tables;
//! - the same request then succeeds, or another one if it cannot be repeated;
//! - when the client is gone, the tables are empty.
//!
//! In a second round the disk fails permanently from each call on. The server cannot undo anything on such a disk, but
//! it must lose no contents, and the tables must be empty in the end.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::expect_used,
    clippy::panic,
    missing_docs
)]

mod case;
pub mod cases;
mod requests;
mod tree;

use crate::{
    Event, Server,
    config::Config,
    share::{Share, ShareKind, ShareOptions},
    table::{Census, Tables},
    testkit::{self, TestClient},
    vfs::{
        Vfs, VfsError,
        faulty::{self, Fault, FaultyVfs},
        synced::SyncedVfs,
    },
};

use alloc::{format, string::String, vec};

use core::any::Any;

#[doc(hidden)]
pub use alloc::{boxed::Box, sync::Arc, vec::Vec};
pub use case::{CORE, Case, Fids, LANMAN1, LANMAN2, Leaves, NT, On};

use tree::{Entry, Tree};

/// Errors of real disks. EDQUOT is [`VfsError::NoSpace`] too; 4 is EINTR, for file systems that return it.
pub const ERRORS: &[VfsError] = &[
    VfsError::Io(5),
    VfsError::NoSpace,
    VfsError::Denied,
    VfsError::ReadOnly,
    VfsError::TooManyOpen,
    VfsError::NotFound,
    VfsError::Io(4),
];

/// Makes an empty file system, and a guard to keep alive during its use.
pub type Fresh<'a> = &'a dyn Fn() -> (Box<dyn Any>, Arc<dyn Vfs>);

/// The errors to inject into each call.
#[derive(Clone, Copy, Debug)]
pub enum Errors {
    /// Each of [`ERRORS`], in one run each.
    All,
    /// One of [`ERRORS`], and the next one for the next call: for expensive runs.
    InTurn,
}

impl Errors {
    fn of(self, call: u64) -> impl Iterator<Item = VfsError> {
        let count = match self {
            Self::All => ERRORS.len(),
            Self::InTurn => 1,
        };
        let first = call as usize % ERRORS.len();
        ERRORS.iter().cycle().skip(first).take(count).copied()
    }
}

/// Runs cases on file systems from `fresh`.
///
/// # Panics
/// With a list of all failed runs.
pub fn check(fresh: Fresh<'_>, cases: &[Case], errors: Errors) {
    let mut wrong = Vec::new();
    for case in cases {
        for dialect in case.dialects {
            let check = Check {
                fresh,
                case,
                dialect,
                wrong: &mut wrong,
            };
            check.run(errors);
        }
    }
    let shown: Vec<_> = wrong.iter().take(60).cloned().collect();
    assert!(
        wrong.is_empty(),
        "{} runs failed:\n{}",
        wrong.len(),
        shown.join("\n")
    );
}

/// Whether the file systems of `fresh` support extended attributes.
#[must_use]
pub fn keeps_attributes(fresh: Fresh<'_>) -> bool {
    let (_keep, fs) = fresh();
    let how = crate::vfs::OpenHow {
        read: true,
        write: true,
        create: true,
        ..Default::default()
    };
    let file = fs.open("PROBE", how).unwrap().0;
    file.set_attribute("user.PROBE", b"x").is_ok()
}

struct Check<'a> {
    fresh: Fresh<'a>,
    case: &'a Case,
    dialect: &'a str,
    wrong: &'a mut Vec<String>,
}

/// The state that a request may change.
#[derive(Clone, Debug, PartialEq, Eq)]
struct State {
    tree: Tree,
    held: Held,
}

/// The resources of the client.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Held {
    fids: usize,
    searches: usize,
    rows: Census,
}

struct World {
    _keep: Vec<Box<dyn Any>>,
    faulty: FaultyVfs,
    server: Arc<Server>,
    client: TestClient,
    fids: Vec<u16>,
    disks: Vec<Arc<dyn Vfs>>,
}

impl World {
    fn new(fresh: Fresh<'_>, case: &Case, dialect: &str) -> Self {
        let (keep, disk) = fresh();
        let (keep_other, other) = fresh();
        tree::furnish(&*disk, case.on == On::Streams);
        let faulty = FaultyVfs::new(disk.clone());
        let faulty_other = faulty.beside(other.clone());
        let server = server(&faulty, &faulty_other, case.on);
        let mut client = TestClient::on(&server, dialect);
        let fids = (case.prepare)(&mut client);
        Self {
            _keep: vec![keep, keep_other],
            faulty,
            server,
            client,
            fids,
            disks: vec![disk, other],
        }
    }

    fn act(&mut self, case: &Case) -> bool {
        (case.act)(&mut self.client, &self.fids)
    }

    fn state(&self) -> State {
        State {
            tree: Tree::of(&self.disks),
            held: self.held(),
        }
    }

    fn held(&self) -> Held {
        let conn = &self.client.conn;
        Held {
            fids: conn.context.files.len(),
            searches: conn.context.searches.len(),
            rows: Census {
                // The tables also keep last-write times for an open whose write failed.
                write_times: 0,
                ..self.census()
            },
        }
    }

    fn census(&self) -> Census {
        self.server.locked(|tables| tables.census())
    }

    /// Whether an unrelated request that needs the tables and the disk works.
    fn works(&mut self) -> bool {
        let client = &mut self.client;
        requests::connect(client, "DISK");
        requests::make_and_delete(client, "PROBE")
    }

    /// The paths of failed deletions in the log.
    fn reported(&mut self) -> Vec<String> {
        core::iter::from_fn(|| self.client.conn.poll_event())
            .filter_map(|event| match event {
                Event::NotDeleted { path, .. } => Some(path),
                _ => None,
            })
            .collect()
    }

    fn leave(&mut self) -> Census {
        self.client.conn.handle_disconnect(self.client.now);
        self.census()
    }
}

fn server(disk: &FaultyVfs, other: &FaultyVfs, on: On) -> Arc<Server> {
    let wrapped = |disk: &FaultyVfs| -> Arc<dyn Vfs> {
        let disk = Arc::new(disk.clone());
        match on {
            On::Synced => Arc::new(SyncedVfs::new(disk)),
            _ => disk,
        }
    };
    let (vfs, other) = (wrapped(disk), wrapped(other));
    let options = ShareOptions {
        streams: on == On::Streams,
        ..ShareOptions::default()
    };
    let share = |id, name, kind| {
        Arc::new(Share {
            options: options.clone(),
            ..Share::for_guests(id, name, kind)
        })
    };
    let config = Config::default();
    let tables = testkit::exclusive(Tables::new(config.tables()));
    Arc::new(Server {
        config,
        shares: vec![
            share(1, "DISK", ShareKind::Disk(vfs.clone())),
            share(2, "OTHER", ShareKind::Disk(other)),
            share(3, "LASER", ShareKind::Printer(vfs)),
        ],
        accounts: coax_logon::accounts::Accounts::default(),
        tables,
    })
}

impl Check<'_> {
    fn run(mut self, errors: Errors) {
        let mut world = self.world();
        let before = world.state();
        world.faulty.restart(faulty::never());
        let done = world.act(self.case);
        let calls = world.faulty.seen();
        let after = world.state();
        if !done {
            return self.note("without faults", "it fails");
        }
        if world.leave() != Census::default() {
            return self.note("without faults", &format!("left: {:?}", world.census()));
        }
        for call in &calls {
            for error in errors.of(call.number) {
                let what = format!("{} {:?} {} {error:?}", call.number, call.op, call.on);
                self.once(&what, call.number, error, (&before, &after));
            }
            let what = format!("from {} {:?} {} on", call.number, call.op, call.on);
            self.for_good(&what, call.number, (&before, &after));
        }
    }

    fn world(&self) -> World {
        World::new(self.fresh, self.case, self.dialect)
    }

    fn note(&mut self, run: &str, what: &str) {
        let (name, dialect) = (self.case.name, self.dialect);
        self.wrong.push(format!("{name} [{dialect}] {run}: {what}"));
    }

    /// A run where one call fails.
    fn once(&mut self, run: &str, number: u64, error: VfsError, (before, after): (&State, &State)) {
        let mut world = self.world();
        let fault = Fault { error, written: 3 };
        world.faulty.restart(faulty::at(number, fault));
        let done = world.act(self.case);
        world.faulty.restart(faulty::never());
        let now = world.state();
        // If the disk wrongly reports an existing object as missing, the server believes it.
        let lied_to = error == VfsError::NotFound;
        let fits = match (done, self.case.leaves) {
            (true, _) if lied_to => now.tree.is_jumble_of(&before.tree, &after.tree),
            (true, _) => now.tree == after.tree,
            (false, _) if now.tree == before.tree || now.tree == after.tree => true,
            (false, Leaves::Nothing) => false,
            (false, Leaves::Parts) => now.tree.is_part_way(&before.tree, &after.tree),
            (false, Leaves::Bytes) => now.tree.is_mixed_of(&before.tree, &after.tree),
        };
        if !fits {
            let found = now.tree.differences(&before.tree, &after.tree);
            self.note(run, &format!("answered {done}, found {found}"));
        }
        let held_fits = match (done, self.case.fids) {
            (true, _) | (false, Fids::AsAfter) => now.held == after.held,
            (false, Fids::AsBefore) => now.held == before.held,
            (false, Fids::Either) => {
                let one_more = now.held.fids == before.held.fids + 1
                    && now.held.rows.opens == before.held.rows.opens + 1;
                now.held == before.held || now.held == after.held || one_more
            }
        };
        if !held_fits {
            self.note(run, &format!("answered {done}, holds {:?}", now.held));
        }
        self.go_on(run, &mut world, (done, &now), (before, after));
    }

    /// Checks that the next request works, and that nothing is left after the disconnect.
    fn go_on(
        &mut self,
        run: &str,
        world: &mut World,
        (done, now): (bool, &State),
        (before, after): (&State, &State),
    ) {
        let again = !done && self.case.repeatable && now == before;
        if again && !(world.act(self.case) && world.state() == *after) {
            let found = world.state().tree.differences(&before.tree, &after.tree);
            self.note(run, &format!("cannot be done again: {found}"));
        }
        if !world.works() {
            self.note(run, "the next request fails");
        }
        let left = world.leave();
        if left != Census::default() {
            self.note(run, &format!("left: {left:?}"));
        }
    }

    /// A run where this call and all later ones fail.
    fn for_good(&mut self, run: &str, number: u64, (before, after): (&State, &State)) {
        let mut world = self.world();
        let fault = Fault {
            error: VfsError::Io(5),
            written: 3,
        };
        world.faulty.restart(faulty::from(number, fault));
        let done = world.act(self.case);
        world.faulty.restart(faulty::never());
        let now = world.state();
        for (path, entry) in &before.tree.0 {
            let kept = |(_, found): (&String, &Entry)| found.holds(entry);
            let same_place = now.tree.0.get(path);
            let replaced = after
                .tree
                .0
                .get(path)
                .is_none_or(|after| same_place.is_some_and(|now| now.holds(after)));
            let mixed = self.case.leaves_broken == Leaves::Bytes
                && now.tree.is_mixed_of(&before.tree, &after.tree);
            if !replaced && !mixed && !now.tree.0.iter().any(kept) {
                self.note(run, &format!("answered {done}, lost {path}"));
            }
        }
        let _ = world.reported();
        if !world.works() {
            self.note(run, "the next request fails");
        }
        let left = world.leave();
        if left != Census::default() {
            self.note(run, &format!("left: {left:?}"));
        }
    }
}

/// Makes a test of every family of cases, or of some. `$fresh` is a function of the type [`Fresh`].
#[macro_export]
macro_rules! atomicity_tests {
    ($fresh:path, $errors:expr, [$($family:ident),* $(,)?]) => {
        $crate::atomicity_tests!(@ $fresh, $errors, $($family),*);
    };
    ($fresh:path, $errors:expr) => {
        $crate::atomicity_tests!(@ $fresh, $errors,
            opening, creating, overwriting, streams, transfer, closing, naming, copying, moving, metadata,
            listing, printing, chains, synced);
    };
    (@ $fresh:path, $errors:expr, $($family:ident),* $(,)?) => {
        $(
            #[test]
            fn $family() {
                let fresh = || {
                    let (keep, fs) = $fresh();
                    (
                        $crate::atomicity::Box::new(keep)
                            as $crate::atomicity::Box<dyn ::core::any::Any>,
                        $crate::atomicity::Arc::new(fs)
                            as $crate::atomicity::Arc<dyn $crate::vfs::Vfs>,
                    )
                };
                let keeps = $crate::atomicity::keeps_attributes(&fresh);
                let cases: $crate::atomicity::Vec<_> = $crate::atomicity::cases::$family()
                    .into_iter()
                    .filter(|case| keeps || !case.attributes)
                    .collect();
                $crate::atomicity::check(&fresh, &cases, $errors);
            }
        )*
    };
}

#[cfg(test)]
mod tests {
    use crate::memfs::MemFs;

    fn fresh() -> ((), MemFs) {
        let fs = MemFs::new();
        fs.set_time(crate::vfs::FsTime(crate::testkit::NOW.0 as i64));
        ((), fs)
    }

    crate::atomicity_tests!(fresh, super::Errors::All);
}
