//! Connections: limits, mailboxes, wakes, and the clean-up after a disconnect.

use super::*;
use std::sync::Mutex;

#[derive(Debug)]
struct Locked(Mutex<Tables>);

impl Exclusive for Locked {
    fn with(&self, work: &mut dyn FnMut(&mut Tables)) {
        work(&mut self.0.lock().unwrap());
    }
}

/// Checks in each wake that the tables are unlocked.
#[derive(Debug, Default)]
struct Looker(Mutex<Option<Arc<Locked>>>, AtomicUsize);

impl Wake for Looker {
    fn wake(&self) {
        let tables = self.0.lock().unwrap().clone().unwrap();
        assert!(tables.0.try_lock().is_ok());
        self.1.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn the_holder_of_an_oplock_is_woken_once_and_after_unlocking() {
    let tables = Arc::new(Locked(Mutex::new(Tables::default())));
    let looker = Arc::new(Looker::default());
    *looker.0.lock().unwrap() = Some(tables.clone());
    let holder = locked(&*tables, |tables| tables.add_connection(looker.clone()));
    let other = locked(&*tables, |tables| {
        tables.add_connection(Arc::new(Bell::default()))
    });
    for inode in [1, 2] {
        let batch = OpenRequest {
            oplock: OplockWish::Batch,
            ..path("f", inode, shared(holder))
        };
        locked(&*tables, |tables| tables.open(T0, &batch));
        assert_eq!(looker.1.load(Ordering::Relaxed), 0);
    }
    for inode in [1, 2] {
        locked(&*tables, |tables| {
            tables.open(T0, &path("f", inode, shared(other)))
        });
    }
    assert_eq!(looker.1.load(Ordering::Relaxed), 1);
    let events = locked(&*tables, |tables| tables.take_events(holder));
    assert_eq!(events.len(), 2);
    assert!(locked(&*tables, |tables| tables.take_events(holder)).is_empty());
}

#[test]
fn a_connection_cannot_exceed_its_open_limit() {
    let limits = Limits {
        opens: 2,
        ..Limits::default()
    };
    let mut world = World::with(Config {
        limits,
        ..Config::default()
    });
    let (one, two) = (world.client(), world.client());
    let first = world.open(&shared(one));
    world.open(&shared(one));
    assert_eq!(
        world.try_open(&shared(one)),
        OpenOutcome::Refused(Refusal::TooManyOpens)
    );
    world.open(&shared(two));
    world.close(first);
    world.open(&shared(one));
}

#[test]
fn a_dropped_connection_leaves_no_rows_and_returns_the_files_to_delete() {
    let mut world = World::new();
    let one = world.client();
    let doomed = world.open(&OpenRequest {
        delete_on_close: true,
        ..shared(one)
    });
    let folder = path(
        "watched",
        3,
        OpenRequest {
            is_directory: true,
            ..shared(one)
        },
    );
    let open = world.open(&folder);
    let watch = WatchRequest {
        open,
        filter: NotifyFilter(0xFFF),
        recursive: true,
        buffer_bytes: 99,
    };
    assert!(matches!(
        world.tables.watch(&watch),
        WatchOutcome::Waiting(_)
    ));
    assert_eq!(world.tables.opens_of(one).count(), 2);
    let deletions = world.tables.drop_connection(one);
    assert_eq!(deletions.len(), 1);
    assert_eq!(deletions[0].path, "dir/file.dat");
    world.tables.finish_delete(FILE);
    assert!(world.tables.get(doomed).is_none() && world.tables.watches.is_empty());
    assert!(world.tables.files.is_empty() && world.tables.doomed.is_empty());
    assert!(!world.tables.is_open_beneath(SHARE, ""));
    assert_eq!(
        world.try_open(&shared(one)),
        OpenOutcome::Refused(Refusal::UnknownConnection)
    );
    assert!(world.tables.drop_connection(one).is_empty());
}

#[test]
fn locks_of_a_dropped_connection_go_to_waiting_requests() {
    let mut world = World::new();
    let (one, two) = (world.client(), world.client());
    let (held, other) = (world.open(&shared(one)), world.open(&shared(two)));
    let whole = LockSpan {
        pid: 1,
        range: LockRange::new(0, 100),
    };
    let lock = |open, wait| LockRequest {
        open,
        spans: [whole].into(),
        kind: LockKind::Exclusive,
        wait,
        lock_type: 0,
    };
    assert_eq!(
        world.tables.lock(T0, lock(held, Wait::No)),
        LockOutcome::Granted
    );
    assert!(matches!(
        world.tables.lock(T0, lock(held, Wait::For(Span(5)))),
        LockOutcome::Waiting(_)
    ));
    let LockOutcome::Waiting(ticket) = world.tables.lock(T0, lock(other, Wait::Forever)) else {
        panic!()
    };
    world.tables.drop_connection(one);
    assert_eq!(
        world.events(two),
        [Event::Lock {
            ticket,
            result: Ok(())
        }]
    );
    assert_eq!(world.tables.next_deadline(), None);
}

#[test]
fn a_parked_request_of_a_dropped_connection_has_no_effect() {
    let mut world = World::new();
    let (one, two) = (world.client(), world.client());
    let held = world.open(&OpenRequest {
        oplock: OplockWish::Batch,
        ..shared(one)
    });
    world.parked(&shared(two));
    world.tables.drop_connection(two);
    assert_eq!(
        world.tables.acknowledge(held, Oplock::LevelII),
        Ok(Oplock::LevelII)
    );
    assert_eq!(world.events(two), []);
    let third = world.client();
    world.open(&shared(third));
}
