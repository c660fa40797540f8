//! Deleting on close, as base.delete expects it, and paths.
//!
//! Not implemented: deltest16a and 17a, where Windows drops the deletion if another open follows an open of an existing
//! file with delete on close. This server deletes the file, as [MS-FSA] 2.1.5.5 specifies (and as Samba does).

use super::*;

fn doomed(path: &str) -> Option<Doomed> {
    Some(Doomed {
        stream: None,
        file: FILE,
        share: SHARE,
        path: path.to_string(),
        is_directory: false,
    })
}

fn on_close(conn: ConnId) -> OpenRequest {
    OpenRequest {
        delete_on_close: true,
        ..shared(conn)
    }
}

#[test]
fn a_file_opened_with_delete_on_close_is_deleted_at_its_close() {
    // deltest1, 10, 24: the deletion is not pending before the close; clearing the file's mark does not prevent it.
    let mut world = World::new();
    let client = world.client();
    let open = world.open(&on_close(client));
    assert!(!world.tables.is_delete_pending(FILE));
    world.tables.set_delete_pending(open, false).unwrap();
    assert_eq!(world.close(open), doomed("dir/file.dat"));
}

#[test]
fn a_marked_file_is_delete_pending_and_deleted_at_the_last_close() {
    // deltest3, 4, 8.
    let mut world = World::new();
    let (one, two) = (world.client(), world.client());
    let (first, second) = (world.open(&shared(one)), world.open(&shared(two)));
    world.tables.set_delete_pending(first, true).unwrap();
    assert!(world.tables.is_delete_pending(FILE));
    assert_eq!(world.try_open(&shared(one)), OpenOutcome::DeletePending);
    let attributes = OpenRequest {
        access: access::READ_ATTRIBUTES,
        ..shared(two)
    };
    assert_eq!(world.try_open(&attributes), OpenOutcome::DeletePending);
    assert_eq!(world.close(first), None);
    assert!(world.tables.is_delete_pending(FILE));
    assert_eq!(world.close(second), doomed("dir/file.dat"));
}

#[test]
fn any_open_can_clear_the_deletion_mark() {
    // deltest7, 13.
    let mut world = World::new();
    let (one, two) = (world.client(), world.client());
    let (first, second) = (world.open(&shared(one)), world.open(&shared(two)));
    world.tables.set_delete_pending(first, true).unwrap();
    world.tables.set_delete_pending(second, false).unwrap();
    assert!(!world.tables.is_delete_pending(FILE));
    world.open(&shared(one));
    assert_eq!(world.close(first), None);
    assert_eq!(world.close(second), None);
}

#[test]
fn closing_the_deleting_open_first_makes_the_file_pending_for_the_others() {
    // deltest16, 17, 17c, 17e.
    let mut world = World::new();
    let (one, two) = (world.client(), world.client());
    let deleting = world.open(&on_close(one));
    let other = world.open(&shared(two));
    assert_eq!(world.close(deleting), None);
    assert!(world.tables.is_delete_pending(FILE));
    assert_eq!(world.try_open(&shared(one)), OpenOutcome::DeletePending);
    assert_eq!(world.close(other), doomed("dir/file.dat"));
}

#[test]
fn closing_the_deleting_open_last_deletes_the_file() {
    // deltest17b, 17d, 20a.
    let mut world = World::new();
    let (one, two) = (world.client(), world.client());
    let other = world.open(&shared(two));
    let deleting = world.open(&on_close(one));
    assert_eq!(world.close(other), None);
    assert!(!world.tables.is_delete_pending(FILE));
    assert_eq!(world.close(deleting), doomed("dir/file.dat"));
}

#[test]
fn every_deleting_open_marks_the_file_again_at_its_close() {
    // deltest17f.
    let mut world = World::new();
    let client = world.client();
    let opens =
        [on_close(client), on_close(client), on_close(client)].map(|request| world.open(&request));
    world.close(opens[0]);
    assert!(world.tables.is_delete_pending(FILE));
    world.tables.set_delete_pending(opens[1], false).unwrap();
    assert!(!world.tables.is_delete_pending(FILE));
    world.close(opens[1]);
    assert!(world.tables.is_delete_pending(FILE));
    assert_eq!(world.close(opens[2]), doomed("dir/file.dat"));
}

#[test]
fn opens_fail_while_the_engine_removes_the_name() {
    let mut world = World::new();
    let client = world.client();
    let open = world.open(&on_close(client));
    assert!(world.close(open).is_some());
    assert_eq!(world.try_open(&shared(client)), OpenOutcome::DeletePending);
    world.tables.finish_delete(FILE);
    let again = world.open(&shared(client));
    // A second report must not close what was opened since.
    world.tables.finish_delete(FILE);
    assert_eq!(world.tables.opens_of_file(FILE).count(), 1);
    assert_eq!(world.close(again), None);
}

#[test]
fn a_marked_file_is_deleted_under_its_new_name_after_a_rename() {
    // deltest15, 20b.
    let mut world = World::new();
    let (one, two) = (world.client(), world.client());
    let deleting = world.open(&on_close(one));
    world
        .tables
        .rename_paths(SHARE, "dir/file.dat", "dir/new.dat");
    let other = world.open(&OpenRequest {
        path: "dir/new.dat".to_string(),
        ..shared(two)
    });
    assert_eq!(world.close(deleting), None);
    world.tables.rename_paths(SHARE, "dir", "moved");
    assert_eq!(world.close(other), doomed("moved/new.dat"));
}

#[test]
fn only_the_marked_name_of_a_hard_linked_file_is_deleted() {
    let mut world = World::new();
    let client = world.client();
    let marked = world.open(&on_close(client));
    let linked = world.open(&OpenRequest {
        path: "link".to_string(),
        ..shared(client)
    });
    assert_eq!(world.close(marked), None);
    world
        .tables
        .rename_paths(SHARE, "dir/file.dat", "dir/renamed.dat");
    assert_eq!(world.close(linked), doomed("dir/renamed.dat"));
}

#[test]
fn open_paths_follow_renames_of_folders() {
    let mut world = World::new();
    let client = world.client();
    let inside = world.open(&path("dir/sub/file", 1, shared(client)));
    let beside = world.open(&path("dir/subtle", 2, shared(client)));
    let elsewhere = world.open(&OpenRequest {
        share: ShareId(2),
        ..path("dir/sub/file", 3, shared(client))
    });
    assert!(world.tables.is_open_path(SHARE, "dir/sub/file"));
    assert!(!world.tables.is_open_path(SHARE, "dir/sub"));
    assert!(
        world.tables.is_open_beneath(SHARE, "dir/sub") && world.tables.is_open_beneath(SHARE, "")
    );
    assert_eq!(world.tables.opens_beneath(SHARE, "dir/sub"), [inside]);

    world.tables.rename_paths(SHARE, "dir/sub", "other");
    assert_eq!(world.tables.get(inside).unwrap().request.path, "other/file");
    assert_eq!(world.tables.get(beside).unwrap().request.path, "dir/subtle");
    assert_eq!(
        world.tables.get(elsewhere).unwrap().request.path,
        "dir/sub/file"
    );
    assert_eq!(world.tables.opens_at(SHARE, "other/file"), [inside]);
    assert!(!world.tables.is_open_beneath(SHARE, "dir/sub"));
    for open in [inside, beside, elsewhere] {
        world.close(open);
    }
    assert!(
        !world.tables.is_open_beneath(SHARE, "") && !world.tables.is_open_beneath(ShareId(2), "")
    );
}

#[test]
fn a_second_close_is_an_error() {
    let mut world = World::new();
    let client = world.client();
    let open = world.open(&shared(client));
    world.close(open);
    assert_eq!(world.tables.close(open), Err(Refusal::UnknownOpen));
    assert_eq!(
        world.tables.set_delete_pending(open, true),
        Err(Refusal::UnknownOpen)
    );
    assert!(!world.tables.is_delete_pending(FILE));
}
