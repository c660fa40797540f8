//! Shares whose folders lie in one another.

use super::*;

const INNER: ShareId = ShareId(2);
const OTHER: ShareId = ShareId(3);

/// The folder of INNER is `data/old` of SHARE; OTHER has a folder elsewhere.
fn nested() -> World {
    let mut world = World::new();
    world.tables.join_space(SHARE, [SHARE].into_iter());
    world.tables.nest_space(INNER, SHARE, "data/old");
    world.tables.join_space(OTHER, [OTHER].into_iter());
    world
}

fn on(share: ShareId, name: &str, inode: u64, client: ConnId) -> OpenRequest {
    OpenRequest {
        share,
        ..path(name, inode, shared(client))
    }
}

#[test]
fn a_folder_around_an_open_file_of_an_inner_share_is_in_use() {
    let mut world = nested();
    let client = world.client();
    let open = world.open(&on(INNER, "sub/file", 1, client));
    let tables = &world.tables;
    for folder in ["", "data", "data/old", "data/old/sub"] {
        assert!(tables.is_open_beneath(SHARE, folder), "{folder}");
    }
    assert!(!tables.is_open_beneath(SHARE, "sub"));
    assert!(!tables.is_open_beneath(OTHER, "") && !tables.is_open_beneath(SHARE, "data/ol"));
    assert!(tables.is_open_path(SHARE, "data/old/sub/file"));
    let outer = world.open(&on(SHARE, "data/old/other", 2, client));
    assert_eq!(world.tables.opens_beneath(INNER, ""), [outer, open]);
    assert_eq!(world.close(open), None);
    assert!(!world.tables.is_open_beneath(SHARE, "data/old/sub"));
}

#[test]
fn a_file_renamed_through_the_outer_share_has_its_new_path_in_the_inner_one() {
    let mut world = nested();
    let client = world.client();
    let open = world.open(&on(INNER, "file", 1, client));
    let now_at = |world: &World| world.tables.get(open).unwrap().request.path.clone();
    let tables = &mut world.tables;
    tables.rename_paths(SHARE, "data/old/file", "data/old/new");
    assert_eq!(now_at(&world), "new");
    // In the inner share it has no path any more.
    world.tables.rename_paths(SHARE, "data/old/new", "away");
    assert_eq!(now_at(&world), "new");
    assert_eq!(world.close(open), None);
    assert!(!world.tables.is_open_beneath(SHARE, "") && world.tables.paths.0.is_empty());
}

#[test]
fn a_marked_file_that_leaves_the_inner_share_is_deleted_where_it_is() {
    let mut world = nested();
    let client = world.client();
    let open = world.open(&on(INNER, "file", 1, client));
    world.tables.set_delete_pending(open, true).unwrap();
    world.tables.rename_paths(SHARE, "data/old/file", "away");
    let doomed = world.close(open).unwrap();
    assert_eq!((doomed.share, doomed.path.as_str()), (SHARE, "away"));
}

#[test]
fn a_creation_and_a_folder_marked_for_deletion_concern_both() {
    let mut world = nested();
    let client = world.client();
    let created = on(INNER, "new", 1, client);
    assert!(matches!(
        world.tables.reserve(T0, &created),
        OpenOutcome::Granted { .. }
    ));
    assert!(world.tables.is_being_created(SHARE, "DATA/OLD/NEW"));
    assert!(!world.tables.is_being_created(OTHER, "new"));
    let folder = OpenRequest {
        is_directory: true,
        ..on(SHARE, "data/old/gone", 2, client)
    };
    let folder = world.open(&folder);
    world.tables.set_delete_pending(folder, true).unwrap();
    assert!(world.tables.is_folder_doomed(INNER, "gone"));
    assert!(!world.tables.is_folder_doomed(SHARE, "gone"));
}

#[test]
fn changes_through_either_share_are_reported_in_both() {
    let mut world = nested();
    let client = world.client();
    let watch = |world: &mut World, request: OpenRequest, recursive| {
        let open = world.open(&OpenRequest {
            is_directory: true,
            ..request
        });
        let request = WatchRequest {
            open,
            filter: NotifyFilter::name_of(false),
            recursive,
            buffer_bytes: 1000,
        };
        let WatchOutcome::Waiting(ticket) = world.tables.watch(&request) else {
            panic!("must wait")
        };
        assert!(world.tables.cancel_watch(open, ticket));
        request
    };
    let inner = watch(&mut world, on(INNER, "", 1, client), false);
    let outer = watch(&mut world, on(SHARE, "", 2, client), true);
    world.tables.report_created(SHARE, "data/old/a", false);
    world.tables.report_created(INNER, "b", false);
    world.tables.report_created(OTHER, "c", false);
    let mut seen = |request| match world.tables.watch(request) {
        WatchOutcome::Ready(NotifyOutcome::Changes(changes)) => {
            changes.into_iter().map(|change| change.path).collect()
        }
        _ => Vec::new(),
    };
    assert_eq!(seen(&inner), ["a", "b"]);
    assert_eq!(seen(&outer), ["data/old/a", "data/old/b"]);
    assert!(world.tables.is_watched(INNER, "") && world.tables.is_watched(SHARE, "data/old"));
}

#[test]
fn a_share_in_an_inner_share_has_the_outermost_space_and_keeps_it() {
    let mut world = nested();
    let tables = &mut world.tables;
    let innermost = ShareId(4);
    tables.nest_space(innermost, INNER, "deep");
    assert_eq!(tables.space(innermost), (SHARE, "data/old/deep"));
    tables.nest_space(innermost, OTHER, "elsewhere");
    tables.join_space(INNER, [OTHER].into_iter());
    assert_eq!(tables.space(innermost), (SHARE, "data/old/deep"));
    assert_eq!(tables.space(INNER), (SHARE, "data/old"));
}

/// INNER is served alone first, with this file open; then a share around it is added.
fn surrounded(name: &str) -> (World, OpenId, ConnId) {
    let mut world = World::new();
    world.tables.join_space(INNER, [INNER].into_iter());
    let client = world.client();
    let open = world.open(&on(INNER, name, 1, client));
    world.tables.join_space(SHARE, [SHARE].into_iter());
    world.tables.nest_space(INNER, SHARE, "data/old");
    (world, open, client)
}

#[test]
fn a_share_that_is_added_around_open_files_has_one_path_space_with_them() {
    let (mut world, open, _) = surrounded("sub/file");
    assert_eq!(world.tables.space(INNER), (SHARE, "data/old"));
    for folder in ["", "data", "data/old", "data/old/sub"] {
        assert!(world.tables.is_open_beneath(SHARE, folder), "{folder}");
    }
    assert!(world.tables.is_open_path(INNER, "sub/file"));
    world
        .tables
        .rename_paths(SHARE, "data/old/sub", "data/old/new");
    let path = &world.tables.get(open).unwrap().request.path;
    assert_eq!(path, "new/file");
    assert_eq!(world.close(open), None);
    assert!(world.tables.paths.0.is_empty());
}

#[test]
fn a_file_opened_alone_stays_alone_when_a_share_around_it_is_added() {
    let mut world = World::new();
    world.tables.join_space(INNER, [INNER].into_iter());
    let client = world.client();
    let alone = OpenRequest {
        sharing: Sharing::Nt(0),
        ..on(INNER, "file", 1, client)
    };
    world.open(&alone);
    world.tables.join_space(SHARE, [SHARE].into_iter());
    world.tables.nest_space(INNER, SHARE, "data/old");
    let again = on(SHARE, "data/old/file", 1, client);
    let outcome = world.tables.open(T0, &again);
    assert!(
        !matches!(outcome, OpenOutcome::Granted { .. }),
        "{outcome:?}"
    );
}

#[test]
fn a_creation_and_a_mark_for_deletion_stay_when_a_share_around_them_is_added() {
    let mut world = World::new();
    world.tables.join_space(INNER, [INNER].into_iter());
    let client = world.client();
    let created = on(INNER, "new", 1, client);
    assert!(matches!(
        world.tables.reserve(T0, &created),
        OpenOutcome::Granted { .. }
    ));
    let gone = OpenRequest {
        is_directory: true,
        ..on(INNER, "gone", 2, client)
    };
    let gone = world.open(&gone);
    world.tables.set_delete_pending(gone, true).unwrap();
    world.tables.join_space(SHARE, [SHARE].into_iter());
    world.tables.nest_space(INNER, SHARE, "data/old");
    assert!(world.tables.is_being_created(SHARE, "data/old/new"));
    assert!(world.tables.is_folder_doomed(SHARE, "data/old/gone"));
    let doomed = world.close(gone).unwrap();
    assert_eq!((doomed.share, doomed.path.as_str()), (INNER, "gone"));
}

#[test]
fn a_watch_goes_on_and_sees_changes_through_a_share_that_is_added_around_it() {
    let mut world = World::new();
    world.tables.join_space(INNER, [INNER].into_iter());
    let client = world.client();
    let open = world.open(&OpenRequest {
        is_directory: true,
        ..on(INNER, "", 1, client)
    });
    let request = WatchRequest {
        open,
        filter: NotifyFilter::name_of(false),
        recursive: false,
        buffer_bytes: 1000,
    };
    let WatchOutcome::Waiting(ticket) = world.tables.watch(&request) else {
        panic!("must wait")
    };
    assert!(world.tables.cancel_watch(open, ticket));
    world.tables.join_space(SHARE, [SHARE].into_iter());
    world.tables.nest_space(INNER, SHARE, "data/old");
    world.tables.report_created(SHARE, "data/old/a", false);
    let WatchOutcome::Ready(NotifyOutcome::Changes(changes)) = world.tables.watch(&request) else {
        panic!("must be ready")
    };
    assert_eq!(changes.len(), 1);
    assert_eq!(changes[0].path, "a");
    assert!(world.tables.is_watched(SHARE, "data/old"));
    assert_eq!(world.close(open), None);
    assert!(world.tables.watches.is_empty());
}

#[test]
fn the_space_of_a_removed_share_becomes_part_of_one_around_it() {
    let mut world = nested();
    let outermost = ShareId(5);
    world.tables.join_space(outermost, [outermost].into_iter());
    world.tables.nest_space(INNER, outermost, "all/data/old");
    let tables = &world.tables;
    assert_eq!(tables.space(INNER), (outermost, "all/data/old"));
    assert_eq!(tables.space(SHARE), (outermost, "all"));
}
