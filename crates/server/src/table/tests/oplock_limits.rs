//! Oplocks together with byte-range locks, with operations by path, and when the server grants none.

use super::{
    oplocks::{attributes, batch, breaks, exclusive, open_after_break, oplock_of},
    *,
};

fn lock_start(open: OpenId) -> LockRequest {
    let spans = [LockSpan {
        pid: 1,
        range: LockRange::new(0, 4),
    }]
    .into();
    LockRequest {
        open,
        spans,
        kind: LockKind::Exclusive,
        wait: Wait::No,
        lock_type: 0,
    }
}

#[test]
fn a_byte_range_lock_breaks_level_two() {
    // brl1, brl3; no break without a lock.
    let mut world = World::new();
    let (one, two) = (world.client(), world.client());
    let first = world.open(&batch(shared(one)));
    open_after_break(
        &mut world,
        first,
        &shared(two),
        Oplock::LevelII,
        Oplock::LevelII,
    );
    let nothing = LockRequest {
        spans: Vec::new(),
        ..lock_start(first)
    };
    assert_eq!(world.tables.lock(T0, nothing), LockOutcome::Granted);
    assert_eq!(world.events(one), []);
    assert_eq!(
        world.tables.lock(T0, lock_start(first)),
        LockOutcome::Granted
    );
    assert_eq!(world.events(one), [breaks(first, Oplock::None)]);
    assert_eq!(
        world.tables.lock(T0, lock_start(first)),
        LockOutcome::Failed(LockError::NotGranted)
    );
    assert_eq!(world.events(one), []);
}

#[test]
fn no_oplock_is_granted_on_a_file_with_byte_range_locks() {
    // brl2, brl4.
    let mut world = World::new();
    let (one, two) = (world.client(), world.client());
    let first = world.open(&exclusive(shared(one)));
    world.tables.lock(T0, lock_start(first));
    assert_eq!(world.events(one), []);
    let outcome = open_after_break(
        &mut world,
        first,
        &exclusive(shared(two)),
        Oplock::LevelII,
        Oplock::LevelII,
    );
    assert_eq!(oplock_of(outcome), Oplock::None);
}

#[test]
fn renaming_by_path_breaks_a_batch_oplock_to_none_and_no_other() {
    // batch19, batch20, exclusive7.
    let mut world = World::new();
    let (one, two) = (world.client(), world.client());
    let rename = |world: &mut World| world.tables.break_batch(T0, two, FILE, Oplock::None);
    let first = world.open(&exclusive(shared(one)));
    assert_eq!(rename(&mut world), BreakOutcome::Clear);
    world.close(first);
    let first = world.open(&batch(shared(one)));
    assert!(matches!(rename(&mut world), BreakOutcome::Wait { .. }));
    assert_eq!(world.events(one), [breaks(first, Oplock::None)]);
    world.tables.acknowledge(first, Oplock::None).unwrap();
    assert_eq!(rename(&mut world), BreakOutcome::Clear);
    assert_eq!(
        world.open_with_oplock(&batch(shared(two))).1,
        Oplock::LevelII
    );
    assert_eq!(rename(&mut world), BreakOutcome::Clear);
    assert_eq!(world.events(one), []);
}

#[test]
fn operations_by_path_can_break_oplocks_without_an_open() {
    let mut world = World::new();
    let (one, two) = (world.client(), world.client());
    let break_to = |world: &mut World, to| world.tables.break_oplocks(T0, two, FILE, to);
    assert_eq!(break_to(&mut world, Oplock::None), BreakOutcome::Clear);
    let first = world.open(&exclusive(shared(one)));
    let BreakOutcome::Wait { ticket, .. } = break_to(&mut world, Oplock::LevelII) else {
        panic!()
    };
    world.tables.acknowledge(first, Oplock::LevelII).unwrap();
    assert_eq!(world.events(two), [Event::Retry { ticket }]);
    assert_eq!(break_to(&mut world, Oplock::LevelII), BreakOutcome::Clear);
    assert_eq!(world.events(one), [breaks(first, Oplock::LevelII)]);
    assert_eq!(break_to(&mut world, Oplock::None), BreakOutcome::Clear);
    assert_eq!(world.events(one), [breaks(first, Oplock::None)]);
}

#[test]
fn a_contended_file_gets_no_exclusive_oplock_until_all_have_closed_it() {
    let mut world = World::with(Config {
        contention_limit: 2,
        ..Config::default()
    });
    let (one, two) = (world.client(), world.client());
    world.open(&attributes(shared(two)));
    let fight = |world: &mut World| {
        let (open, oplock) = world.open_with_oplock(&batch(shared(one)));
        if oplock == Oplock::Batch {
            world.parked(&shared(two));
        }
        world.close(open);
        oplock
    };
    assert_eq!(
        [(); 4].map(|()| fight(&mut world)),
        [
            Oplock::Batch,
            Oplock::Batch,
            Oplock::LevelII,
            Oplock::LevelII
        ]
    );
    world.tables.drop_connection(two);
    assert_eq!(world.open_with_oplock(&batch(shared(one))).1, Oplock::Batch);
}

#[test]
fn fake_oplocks_are_granted_to_all_and_never_broken() {
    let mut world = World::new();
    let (one, two) = (world.client(), world.client());
    for client in [one, two] {
        let fake = OpenRequest {
            fake_oplocks: true,
            ..batch(shared(client))
        };
        assert_eq!(world.open_with_oplock(&fake).1, Oplock::Batch);
    }
    assert_eq!(world.events(one), []);
}

#[test]
fn folders_get_no_oplocks() {
    let mut world = World::new();
    let client = world.client();
    let folder = OpenRequest {
        is_directory: true,
        ..batch(shared(client))
    };
    assert_eq!(world.open_with_oplock(&folder).1, Oplock::None);
}

#[test]
fn an_open_that_joins_another_and_overwrites_breaks_level_ii_oplocks() {
    let mut world = World::new();
    let (one, two) = (world.client(), world.client());
    let reader = world.open(&batch(attributes(request(one))));
    let compatible = OpenRequest {
        sharing: Sharing::Dos(DenyMode::Compatibility),
        ..request(two)
    };
    let ticket = world.parked(&compatible);
    assert_eq!(world.events(one), [breaks(reader, Oplock::LevelII)]);
    world.tables.acknowledge(reader, Oplock::LevelII).unwrap();
    assert_eq!(world.events(two), [Event::Retry { ticket }]);
    world.open(&compatible);
    let overwriting = OpenRequest {
        overwrites: true,
        ..compatible
    };
    let outcome = world.try_open(&overwriting);
    assert!(matches!(
        outcome,
        OpenOutcome::Granted { joins: Some(_), .. }
    ));
    assert_eq!(world.events(one), [breaks(reader, Oplock::None)]);
}
