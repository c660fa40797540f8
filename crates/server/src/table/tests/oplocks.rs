//! Oplocks, as raw.oplock expects them of Windows; each test names its source there.

use super::*;

pub(super) fn exclusive(request: OpenRequest) -> OpenRequest {
    OpenRequest {
        oplock: OplockWish::Exclusive,
        ..request
    }
}

pub(super) fn batch(request: OpenRequest) -> OpenRequest {
    OpenRequest {
        oplock: OplockWish::Batch,
        ..request
    }
}

pub(super) fn attributes(request: OpenRequest) -> OpenRequest {
    let access = access::READ_ATTRIBUTES | access::WRITE_ATTRIBUTES | access::SYNCHRONIZE;
    OpenRequest { access, ..request }
}

/// The request of SMB_COM_DELETE.
fn unlink(conn: ConnId) -> OpenRequest {
    OpenRequest {
        access: access::DELETE,
        ..request(conn)
    }
}

/// The request of SMB_COM_RENAME.
fn rename(conn: ConnId) -> OpenRequest {
    OpenRequest {
        sharing: Sharing::Nt(share::READ | share::WRITE),
        ..unlink(conn)
    }
}

/// The request to set the length by path.
fn set_length(conn: ConnId) -> OpenRequest {
    OpenRequest {
        access: access::WRITE_DATA,
        overwrites: true,
        ..shared(conn)
    }
}

pub(super) fn breaks(open: OpenId, to: Oplock) -> Event {
    Event::OplockBreak { open, to }
}

/// Opens `second` against the oplock of `holder`. The break offers `to`, and the holder keeps `keeps`.
pub(super) fn open_after_break(
    world: &mut World,
    holder: OpenId,
    second: &OpenRequest,
    to: Oplock,
    keeps: Oplock,
) -> OpenOutcome {
    let conn = world.tables.get(holder).unwrap().request.conn;
    let ticket = world.parked(second);
    assert_eq!(world.events(conn), [breaks(holder, to)]);
    assert_eq!(world.tables.acknowledge(holder, keeps), Ok(keeps));
    assert_eq!(world.events(second.conn), [Event::Retry { ticket }]);
    world.try_open(second)
}

pub(super) fn oplock_of(outcome: OpenOutcome) -> Oplock {
    match outcome {
        OpenOutcome::Granted { oplock, .. } => oplock,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_sharing_violation_does_not_break_an_exclusive_oplock() {
    // exclusive1, exclusive6.
    let mut world = World::new();
    let (one, two) = (world.client(), world.client());
    let (_, oplock) = world.open_with_oplock(&exclusive(request(one)));
    assert_eq!(oplock, Oplock::Exclusive);
    for second in [exclusive(request(two)), unlink(two), rename(two)] {
        assert_eq!(world.try_open(&second), OpenOutcome::SharingViolation);
    }
    assert_eq!(world.events(one), []);
}

#[test]
fn a_second_open_breaks_an_exclusive_oplock_and_both_have_level_two() {
    // exclusive2.
    let mut world = World::new();
    let (one, two) = (world.client(), world.client());
    let first = world.open(&exclusive(shared(one)));
    let second = exclusive(shared(two));
    let outcome = open_after_break(&mut world, first, &second, Oplock::LevelII, Oplock::LevelII);
    assert_eq!(oplock_of(outcome), Oplock::LevelII);
    assert_eq!(world.try_open(&unlink(two)), OpenOutcome::SharingViolation);
    world.close(first);
    assert_eq!(world.try_open(&unlink(two)), OpenOutcome::SharingViolation);
    assert_eq!(
        (world.events(one), world.events(two)),
        ([].into(), [].into())
    );
}

#[test]
fn setting_the_length_by_path_breaks_to_none() {
    // exclusive3, batch11, batch12.
    for first in [exclusive, batch] {
        let mut world = World::new();
        let (one, two) = (world.client(), world.client());
        let open = OpenRequest {
            sharing: Sharing::Nt(share::WRITE),
            ..first(request(one))
        };
        let first = world.open(&open);
        let outcome = open_after_break(
            &mut world,
            first,
            &set_length(two),
            Oplock::None,
            Oplock::None,
        );
        assert!(matches!(outcome, OpenOutcome::Granted { .. }));
        assert_eq!(world.events(one), []);
    }
}

#[test]
fn an_open_for_attributes_breaks_nothing_and_gets_nothing() {
    // exclusive4, batch8, batch15, batch25.
    for first in [exclusive, batch] {
        let mut world = World::new();
        let (one, two) = (world.client(), world.client());
        world.open(&first(request(one)));
        assert_eq!(
            world.open_with_oplock(&first(attributes(request(two)))).1,
            Oplock::None
        );
        assert_eq!(world.events(one), []);
    }
}

#[test]
fn an_open_for_attributes_that_overwrites_breaks_to_none_and_gets_level_two() {
    // exclusive5, batch13, batch14, batch16.
    for first in [exclusive, batch] {
        let mut world = World::new();
        let (one, two) = (world.client(), world.client());
        let open = world.open(&first(shared(one)));
        let second = OpenRequest {
            overwrites: true,
            ..first(attributes(shared(two)))
        };
        let outcome = open_after_break(&mut world, open, &second, Oplock::None, Oplock::None);
        assert_eq!(oplock_of(outcome), Oplock::LevelII);
    }
}

#[test]
fn an_open_to_delete_breaks_an_exclusive_oplock_once() {
    // exclusive8.
    let mut world = World::new();
    let (one, two) = (world.client(), world.client());
    let first = world.open(&exclusive(shared(one)));
    let second = OpenRequest {
        access: access::DELETE,
        ..shared(two)
    };
    open_after_break(&mut world, first, &second, Oplock::LevelII, Oplock::LevelII);
    world.open(&second);
    assert_eq!(world.events(one), []);
}

#[test]
fn the_disposition_decides_what_an_exclusive_oplock_breaks_to() {
    // exclusive9: supersede and overwrite break to none, open breaks to level II; the opener gets level II.
    for (overwrites, to) in [(true, Oplock::None), (false, Oplock::LevelII)] {
        let mut world = World::new();
        let (one, two) = (world.client(), world.client());
        let first = world.open(&exclusive(shared(one)));
        let second = OpenRequest {
            access: access::READ_DATA,
            overwrites,
            ..exclusive(shared(two))
        };
        assert_eq!(
            oplock_of(open_after_break(&mut world, first, &second, to, to)),
            Oplock::LevelII
        );
    }
}

#[test]
fn an_overwriting_open_breaks_level_two_without_waiting() {
    // level_ii_1.
    let mut world = World::new();
    let (one, two) = (world.client(), world.client());
    let first = world.open(&exclusive(shared(one)));
    let second = OpenRequest {
        access: READ | WRITE,
        ..exclusive(shared(two))
    };
    open_after_break(&mut world, first, &second, Oplock::LevelII, Oplock::LevelII);
    let second = world.tables.opens_of(two).next().unwrap().id;
    world.close(second);
    let second = world.open(&OpenRequest {
        overwrites: true,
        ..shared(two)
    });
    assert_eq!(world.events(one), [breaks(first, Oplock::None)]);
    world.tables.before_write(second);
    assert_eq!(world.events(one), []);
}

#[test]
fn unlink_and_rename_break_a_batch_oplock_before_they_fail() {
    // batch1, batch2, batch17, batch18, batch26.
    for second in [unlink, rename] {
        for (sharing, keeps) in [(share::NONE, Oplock::LevelII), (share::ALL, Oplock::None)] {
            let mut world = World::new();
            let (one, two) = (world.client(), world.client());
            let first = OpenRequest {
                sharing: Sharing::Nt(sharing),
                ..batch(request(one))
            };
            let first = world.open(&first);
            let outcome = open_after_break(&mut world, first, &second(two), Oplock::LevelII, keeps);
            assert_eq!(outcome, OpenOutcome::SharingViolation);
            assert_eq!(world.try_open(&second(two)), OpenOutcome::SharingViolation);
            assert_eq!(world.events(one), []);
            // The holder's own write breaks the rest of its oplock.
            world.tables.before_write(first);
            let expected = if keeps == Oplock::None {
                Vec::new()
            } else {
                [breaks(first, Oplock::None)].into()
            };
            assert_eq!(world.events(one), expected);
        }
    }
}

#[test]
fn if_the_holder_closes_instead_of_acknowledging_the_opener_gets_the_oplock() {
    // batch3, batch7.
    let mut world = World::new();
    let (one, two) = (world.client(), world.client());
    let first = world.open(&batch(request(one)));
    let ticket = world.parked(&unlink(two));
    let second = world.parked(&batch(request(two)));
    assert_eq!(world.events(one), [breaks(first, Oplock::LevelII)]);
    world.close(first);
    assert_eq!(
        world.events(two),
        [Event::Retry { ticket }, Event::Retry { ticket: second }]
    );
    assert_eq!(
        world.open_with_oplock(&batch(request(two))).1,
        Oplock::Batch
    );
}

#[test]
fn the_holder_of_an_exclusive_or_batch_oplock_writes_without_a_break() {
    // batch21.
    let mut world = World::new();
    let client = world.client();
    let open = world.open(&batch(request(client)));
    world.tables.before_write(open);
    assert_eq!(world.events(client), []);
    assert_eq!(world.tables.get(open).unwrap().oplock, Oplock::Batch);
}

#[test]
fn a_write_breaks_every_level_two_oplock_the_writers_own_too() {
    // batch6, batch9.
    let mut world = World::new();
    let (one, two) = (world.client(), world.client());
    let first = world.open(&batch(shared(one)));
    open_after_break(
        &mut world,
        first,
        &batch(shared(two)),
        Oplock::LevelII,
        Oplock::LevelII,
    );
    let second = world.tables.opens_of(two).next().unwrap().id;
    world.tables.before_write(first);
    assert_eq!(world.events(one), [breaks(first, Oplock::None)]);
    assert_eq!(world.events(two), [breaks(second, Oplock::None)]);
}

#[test]
fn a_lone_open_for_attributes_holds_an_oplock_that_normal_opens_break() {
    // batch9, batch9a.
    let mut world = World::new();
    let (one, two) = (world.client(), world.client());
    let (first, oplock) = world.open_with_oplock(&batch(attributes(request(one))));
    assert_eq!(oplock, Oplock::Batch);
    assert_eq!(
        world.open_with_oplock(&batch(attributes(request(two)))).1,
        Oplock::None
    );
    assert_eq!(world.events(one), []);
    let outcome = open_after_break(
        &mut world,
        first,
        &batch(shared(two)),
        Oplock::LevelII,
        Oplock::LevelII,
    );
    assert_eq!(oplock_of(outcome), Oplock::LevelII);
    assert_eq!(
        world.open_with_oplock(&batch(shared(two))).1,
        Oplock::LevelII
    );
    assert_eq!(world.events(one), []);
}

#[test]
fn opens_for_attributes_do_not_prevent_an_oplock() {
    let mut world = World::new();
    let (one, two) = (world.client(), world.client());
    world.open(&attributes(request(one)));
    assert_eq!(
        world.open_with_oplock(&batch(request(two))).1,
        Oplock::Batch
    );
}

#[test]
fn an_oplock_asked_for_beside_an_open_without_one_is_level_two() {
    // batch10.
    let mut world = World::new();
    let (one, two) = (world.client(), world.client());
    let first = world.open(&shared(one));
    let (second, oplock) = world.open_with_oplock(&batch(shared(two)));
    assert_eq!(oplock, Oplock::LevelII);
    world.tables.before_write(first);
    assert_eq!(
        (world.events(one), world.events(two)),
        ([].into(), [breaks(second, Oplock::None)].into())
    );
}

#[test]
fn a_holder_that_does_not_answer_loses_its_oplock_at_the_deadline() {
    // batch22: the second open comes from the same client.
    let mut world = World::new();
    let client = world.client();
    let first = world.open(&batch(shared(client)));
    let ticket = world.parked(&batch(shared(client)));
    let deadline = world.tables.next_deadline().unwrap();
    assert_eq!(deadline, T0 + Span::from_secs(35));
    assert_eq!(world.events(client), [breaks(first, Oplock::LevelII)]);
    world.tables.expire(Time(deadline.0 - 1));
    assert_eq!(world.events(client), []);
    world.tables.expire(deadline);
    assert_eq!(world.events(client), [Event::Retry { ticket }]);
    assert_eq!(world.tables.next_deadline(), None);
    assert_eq!(
        world.open_with_oplock(&batch(shared(client))).1,
        Oplock::LevelII
    );
    assert_eq!(
        world.open_with_oplock(&batch(shared(client))).1,
        Oplock::LevelII
    );
    // The late answer has no effect.
    assert_eq!(
        world.tables.acknowledge(first, Oplock::LevelII),
        Ok(Oplock::None)
    );
    assert_eq!(world.events(client), []);
}

#[test]
fn all_waiting_opens_retry_after_one_break_and_the_holder_is_asked_once() {
    let mut world = World::new();
    let (one, two, three) = (world.client(), world.client(), world.client());
    let first = world.open(&exclusive(shared(one)));
    let tickets = [world.parked(&shared(two)), world.parked(&shared(three))];
    let gone = world.parked(&shared(three));
    world.tables.forget_parked(gone);
    assert_eq!(world.events(one), [breaks(first, Oplock::LevelII)]);
    world.tables.acknowledge(first, Oplock::None).unwrap();
    assert_eq!(world.events(two), [Event::Retry { ticket: tickets[0] }]);
    assert_eq!(world.events(three), [Event::Retry { ticket: tickets[1] }]);
    assert_eq!(world.tables.next_deadline(), None);
}

#[test]
fn an_acknowledgement_cannot_keep_more_than_was_offered() {
    let mut world = World::new();
    let (one, two) = (world.client(), world.client());
    let first = world.open(&batch(shared(one)));
    assert_eq!(
        world.tables.acknowledge(first, Oplock::None),
        Ok(Oplock::Batch)
    );
    world.parked(&set_length(two));
    assert_eq!(
        world.tables.acknowledge(first, Oplock::LevelII),
        Ok(Oplock::None)
    );
}

#[test]
fn clients_without_level_two_get_none_and_break_to_none() {
    // batch23, batch24.
    let mut world = World::new();
    let (one, two, old) = (world.client(), world.client(), world.client());
    let first = world.open(&batch(shared(one)));
    let ancient = OpenRequest {
        level2: false,
        ..batch(shared(old))
    };
    let outcome = open_after_break(
        &mut world,
        first,
        &ancient,
        Oplock::LevelII,
        Oplock::LevelII,
    );
    assert_eq!(oplock_of(outcome), Oplock::None);
    assert_eq!(
        world.open_with_oplock(&batch(shared(two))).1,
        Oplock::LevelII
    );

    let mut world = World::new();
    let (one, old) = (world.client(), world.client());
    let first = world.open(&OpenRequest {
        level2: false,
        ..batch(shared(old))
    });
    let outcome = open_after_break(
        &mut world,
        first,
        &batch(shared(one)),
        Oplock::None,
        Oplock::None,
    );
    assert_eq!(oplock_of(outcome), Oplock::LevelII);
}

#[test]
fn a_pending_deletion_is_reported_before_any_oplock_is_broken() {
    // doc1.
    let mut world = World::new();
    let (one, two) = (world.client(), world.client());
    let first = world.open(&batch(shared(one)));
    world.tables.set_delete_pending(first, true).unwrap();
    assert_eq!(world.try_open(&shared(two)), OpenOutcome::DeletePending);
    assert_eq!(world.events(one), []);
}
