//! The entries for a driver that watches the disk: watched folders, and this server's own changes in them.

use super::*;
use OwnKind::{Appeared, Modified, Vanished};

/// A client that watches the folder `dir`, and a driver.
fn watched() -> (World, OpenId, Arc<Bell>) {
    let mut world = World::new();
    let client = world.client();
    let driver = Arc::new(Bell::default());
    world.tables.observe(driver.clone());
    let folder = OpenRequest {
        is_directory: true,
        ..path("dir", 7, shared(client))
    };
    let open = world.open(&folder);
    let outcome = world.tables.watch(&WatchRequest {
        open,
        filter: NotifyFilter(0xfff),
        recursive: false,
        buffer_bytes: 1_000,
    });
    assert!(matches!(outcome, WatchOutcome::Waiting(_)));
    (world, open, driver)
}

fn own(tables: &mut Tables) -> Vec<(alloc::string::String, OwnKind)> {
    let changes = tables.take_own_changes();
    let changes = changes.into_iter();
    changes.map(|own| (own.path, own.kind)).collect()
}

fn folders(tables: &mut Tables) -> Vec<(alloc::string::String, bool)> {
    let changes = tables.take_folder_changes();
    let changes = changes.into_iter();
    changes
        .map(|folder| (folder.path, folder.watched))
        .collect()
}

#[test]
fn the_driver_learns_when_a_folder_is_watched_moved_and_left() {
    let (mut world, open, driver) = watched();
    locked_wakes(&mut world);
    assert_eq!(folders(&mut world.tables), [("dir".to_string(), true)]);
    world.tables.rename_paths(SHARE, "dir", "new");
    let moved = [("dir".to_string(), false), ("new".to_string(), true)];
    assert_eq!(folders(&mut world.tables), moved);
    world.tables.close(open).unwrap();
    assert_eq!(folders(&mut world.tables), [("new".to_string(), false)]);
    locked_wakes(&mut world);
    assert_eq!(driver.0.load(Ordering::Relaxed), 4);
}

fn locked_wakes(world: &mut World) {
    world
        .tables
        .take_wakes()
        .iter()
        .for_each(|wake| wake.wake());
}

#[test]
fn a_change_that_was_announced_counts_once() {
    let (mut world, _, _) = watched();
    let tables = &mut world.tables;
    let names = [Some(("old", Vanished)), Some(("new", Appeared))];
    tables.announce(SHARE, "dir", names);
    let both = [
        ("dir/old".to_string(), Vanished),
        ("dir/new".to_string(), Appeared),
    ];
    assert_eq!(
        own(tables),
        both,
        "the change must be reported before the disk changes"
    );
    tables.report_renamed(SHARE, "dir/old", "dir/new", false);
    assert_eq!(own(tables), []);
    tables.report_removed(SHARE, "dir/new", false);
    assert_eq!(own(tables), [("dir/new".to_string(), Vanished)]);
}

#[test]
fn a_failed_change_is_no_longer_announced() {
    let (mut world, _, _) = watched();
    let tables = &mut world.tables;
    let names = [Some(("a", Appeared)), None];
    tables.announce(SHARE, "dir", names);
    tables.retract(SHARE, "dir", names);
    own(tables);
    tables.report_created(SHARE, "dir/a", false);
    assert_eq!(own(tables), [("dir/a".to_string(), Appeared)]);
}

#[test]
fn foreign_changes_and_changes_in_unwatched_folders_are_not_own_changes() {
    let (mut world, _, _) = watched();
    let tables = &mut world.tables;
    tables.report_foreign(|tables| tables.report_created(SHARE, "dir/a", false));
    tables.report_created(SHARE, "elsewhere/a", false);
    tables.report_created(SHARE, "dir/sub/a", false);
    tables.announce(SHARE, "elsewhere", [Some(("b", Appeared)), None]);
    assert_eq!(own(tables), []);
    tables.report_modified(SHARE, "dir/a", NotifyFilter::SIZE);
    assert_eq!(own(tables), [("dir/a".to_string(), Modified)]);
}
