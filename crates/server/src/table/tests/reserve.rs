//! Rows of files that do not exist yet.

use super::*;

fn reserved(world: &mut World, request: &OpenRequest) -> OpenId {
    match world.tables.reserve(world.now, request) {
        OpenOutcome::Granted { open, oplock, .. } => {
            assert_eq!(oplock, Oplock::None, "must fail before the file exists");
            open
        }
        other => panic!("not reserved: {other:?}"),
    }
}

fn retries(events: &[Event]) -> Vec<Ticket> {
    let ticket = |event: &Event| match event {
        Event::Retry { ticket } => Some(*ticket),
        _ => None,
    };
    events.iter().filter_map(ticket).collect()
}

#[test]
fn opens_of_a_path_wait_until_its_file_is_created() {
    let mut world = World::new();
    let (one, two) = (world.client(), world.client());
    let wished = OpenRequest {
        oplock: OplockWish::Batch,
        ..request(one)
    };
    let open = reserved(&mut world, &wished);
    let ticket = world.parked(&shared(two));
    assert!(world.tables.is_being_created(SHARE, "dir/file.dat"));
    assert_eq!(
        world.tables.created(open, FILE, None),
        Some(Oplock::Batch),
        "no other open may exist"
    );
    assert_eq!(retries(&world.events(two)), [ticket]);
    assert!(!world.tables.is_being_created(SHARE, "dir/file.dat"));
    assert_eq!(world.tables.get(open).unwrap().request.file, FILE);
    assert!(matches!(
        world.try_open(&shared(two)),
        OpenOutcome::BreakFirst { .. }
    ));
    world.close(open);
    world.open(&shared(two));
}

#[test]
fn a_second_creation_of_a_path_waits_for_the_first_to_fail() {
    let mut world = World::new();
    let (one, two) = (world.client(), world.client());
    let open = reserved(&mut world, &request(one));
    let OpenOutcome::BreakFirst { ticket, .. } = world.tables.reserve(world.now, &request(two))
    else {
        panic!("not parked");
    };
    assert_eq!(world.tables.withdraw(open), Ok(Closed::default()));
    assert_eq!(retries(&world.events(two)), [ticket]);
    let second = reserved(&mut world, &request(two));
    world.tables.withdraw(second).unwrap();
    world.tables.drop_connection(one);
    world.tables.drop_connection(two);
    assert_eq!(world.tables.census(), Census::default());
}

#[test]
fn a_creation_of_the_same_name_in_another_case_waits() {
    let mut world = World::new();
    let (one, two) = (world.client(), world.client());
    let open = reserved(&mut world, &request(one));
    let upper = OpenRequest {
        path: "DIR/File.DAT".into(),
        ..request(two)
    };
    let outcome = world.tables.reserve(world.now, &upper);
    assert!(matches!(outcome, OpenOutcome::BreakFirst { .. }));
    assert!(world.tables.is_being_created(SHARE, "DIR/FILE.DAT"));
    assert!(!world.tables.is_being_created(SHARE, "DIR/FILE.DA"));
    world.tables.withdraw(open).unwrap();
    assert_eq!(retries(&world.events(two)).len(), 1);
    reserved(&mut world, &upper);
}

#[test]
fn a_reserved_row_counts_towards_the_limit_and_keeps_its_folder_in_place() {
    let mut world = World::with(Config {
        limits: Limits {
            opens: 1,
            ..Limits::default()
        },
        ..Config::default()
    });
    let client = world.client();
    let open = reserved(&mut world, &request(client));
    assert!(world.tables.is_open_beneath(SHARE, "dir"));
    assert_eq!(
        world
            .tables
            .reserve(world.now, &path("other", 7, request(client))),
        OpenOutcome::Refused(Refusal::TooManyOpens)
    );
    world.tables.withdraw(open).unwrap();
    assert!(!world.tables.is_open_beneath(SHARE, "dir"));
}

#[test]
fn nothing_is_created_in_a_folder_that_is_marked_for_deletion() {
    let mut world = World::new();
    let client = world.client();
    let folder = OpenRequest {
        is_directory: true,
        ..path("dir", 9, shared(client))
    };
    let folder = world.open(&folder);
    world.tables.set_delete_pending(folder, true).unwrap();
    assert_eq!(
        world.tables.reserve(world.now, &request(client)),
        OpenOutcome::DeletePending
    );
}

#[test]
fn a_withdrawn_open_deletes_nothing() {
    let mut world = World::new();
    let (one, two) = (world.client(), world.client());
    let on_close = OpenRequest {
        delete_on_close: true,
        ..shared(one)
    };
    let open = world.open(&on_close);
    let other = world.open(&shared(two));
    assert_eq!(world.tables.withdraw(open), Ok(Closed::default()));
    assert_eq!(world.close(other), None);
    assert!(!world.tables.is_delete_pending(FILE));
}

#[test]
fn an_open_by_another_path_keeps_the_new_file() {
    let mut world = World::new();
    let (one, two) = (world.client(), world.client());
    let open = reserved(&mut world, &request(one));
    world.open(&path("link", FILE.inode, request(two)));
    assert_eq!(world.tables.created(open, FILE, None), None);
    assert_eq!(world.tables.withdraw(open), Ok(Closed::default()));
}
