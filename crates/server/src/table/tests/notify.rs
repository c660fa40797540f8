//! Change notification, as raw.notify expects it of Windows.

use super::*;
use NotifyAction::{Added, Modified, Removed, RenamedNewName, RenamedOldName};

const NAMES: NotifyFilter = NotifyFilter::FILE_NAME.or(NotifyFilter::DIR_NAME);
type Report = fn(&mut Tables);

const EVERYTHING: NotifyFilter = NotifyFilter(0xFFF);

struct Watching {
    world: World,
    client: ConnId,
    inode: u64,
}

impl Watching {
    fn new() -> Self {
        let mut world = World::new();
        let client = world.client();
        Self {
            world,
            client,
            inode: 1,
        }
    }

    fn folder(&mut self, name: &str) -> OpenId {
        self.inode += 1;
        let folder = OpenRequest {
            is_directory: true,
            ..path(name, self.inode, shared(self.client))
        };
        self.world.open(&folder)
    }

    fn watch(&mut self, open: OpenId, filter: NotifyFilter, recursive: bool) -> WatchOutcome {
        self.world.tables.watch(&WatchRequest {
            open,
            filter,
            recursive,
            buffer_bytes: 1_000,
        })
    }

    fn wait(&mut self, open: OpenId, filter: NotifyFilter, recursive: bool) -> Ticket {
        match self.watch(open, filter, recursive) {
            WatchOutcome::Waiting(ticket) => ticket,
            other => panic!("must wait: {other:?}"),
        }
    }

    /// Starts to collect, without a waiting request.
    fn collect(&mut self, open: OpenId, filter: NotifyFilter, recursive: bool) {
        let ticket = self.wait(open, filter, recursive);
        assert!(self.world.tables.cancel_watch(open, ticket));
    }

    fn collected(&mut self, open: OpenId) -> Vec<(NotifyAction, alloc::string::String)> {
        match self.watch(open, NotifyFilter(0), false) {
            WatchOutcome::Ready(NotifyOutcome::Changes(changes)) => changes
                .into_iter()
                .map(|change| (change.action, change.path))
                .collect(),
            WatchOutcome::Waiting(_) => Vec::new(),
            other => panic!("{other:?}"),
        }
    }

    fn events(&mut self) -> Vec<Event> {
        self.world.events(self.client)
    }
}

fn changes<const N: usize>(
    changes: [(NotifyAction, &str); N],
) -> Vec<(NotifyAction, alloc::string::String)> {
    changes
        .map(|(action, path)| (action, path.to_string()))
        .into()
}

fn answer<const N: usize>(ticket: Ticket, records: [(NotifyAction, &str); N]) -> Event {
    let records = records.map(|(action, path)| NotifyRecord {
        action,
        path: path.to_string(),
    });
    Event::Notify {
        ticket,
        outcome: NotifyOutcome::Changes(records.into()),
    }
}

#[test]
fn a_waiting_request_gets_the_next_change_and_a_later_one_the_collected_changes() {
    // dir.
    let mut watching = Watching::new();
    let folder = watching.folder("dir");
    let ticket = watching.wait(folder, NAMES, true);
    watching.world.tables.report_created(SHARE, "dir/sub", true);
    assert_eq!(watching.events(), [answer(ticket, [(Added, "sub")])]);
    for _ in 0..2 {
        watching.world.tables.report_removed(SHARE, "dir/sub", true);
        watching.world.tables.report_created(SHARE, "dir/sub", true);
    }
    let expected = changes([
        (Removed, "sub"),
        (Added, "sub"),
        (Removed, "sub"),
        (Added, "sub"),
    ]);
    assert_eq!(watching.collected(folder), expected);
    assert_eq!(watching.events(), []);
}

#[test]
fn each_open_of_a_folder_collects_for_itself_from_its_first_request_on() {
    // dir.
    let mut watching = Watching::new();
    let (early, late) = (watching.folder("dir"), watching.folder("dir"));
    watching.collect(early, NAMES, true);
    watching.world.tables.report_created(SHARE, "dir/a", false);
    let ticket = watching.wait(late, NAMES, true);
    watching.world.tables.report_removed(SHARE, "dir/a", false);
    assert_eq!(watching.events(), [answer(ticket, [(Removed, "a")])]);
    assert_eq!(
        watching.collected(early),
        changes([(Added, "a"), (Removed, "a")])
    );
}

#[test]
fn two_requests_on_one_open_get_one_change_each() {
    // double.
    let mut watching = Watching::new();
    let folder = watching.folder("dir");
    let tickets = [(); 2].map(|()| watching.wait(folder, NAMES, true));
    watching.world.tables.report_created(SHARE, "dir/one", true);
    watching.world.tables.report_created(SHARE, "dir/two", true);
    let expected = [
        answer(tickets[0], [(Added, "one")]),
        answer(tickets[1], [(Added, "two")]),
    ];
    assert_eq!(watching.events(), expected);
}

#[test]
fn a_recursive_watch_sees_everything_beneath_the_folder() {
    // recursive: the changes and order of that test, including those of the third and fourth request of the client.
    let mut watching = Watching::new();
    let folder = watching.folder("base");
    watching.collect(
        folder,
        NAMES
            .or(NotifyFilter::ATTRIBUTES)
            .or(NotifyFilter::CREATION),
        true,
    );
    let tables = &mut watching.world.tables;
    tables.report_created(SHARE, "base/sub", true);
    tables.report_created(SHARE, "base/sub/name1", true);
    tables.report_created(SHARE, "base/sub/name2", false);
    tables.report_renamed(SHARE, "base/sub/name1", "base/sub/name1-r", true);
    tables.report_renamed(SHARE, "base/sub/name2", "base/name2-r", false);
    tables.report_renamed(SHARE, "base/name2-r", "base/name3-r", false);
    let expected = changes([
        (Added, "sub"),
        (Added, "sub/name1"),
        (Added, "sub/name2"),
        (RenamedOldName, "sub/name1"),
        (RenamedNewName, "sub/name1-r"),
        (Removed, "sub/name2"),
        (Added, "name2-r"),
        (Modified, "name2-r"),
        (RenamedOldName, "name2-r"),
        (RenamedNewName, "name3-r"),
        (Modified, "name3-r"),
    ]);
    assert_eq!(watching.collected(folder), expected);
}

#[test]
fn a_non_recursive_watch_sees_only_the_folder_itself() {
    // tree.
    let mut watching = Watching::new();
    let flat = watching.folder("a");
    let deep = watching.folder("a");
    let root = watching.folder("");
    let other = watching.folder("ab");
    watching.collect(flat, NAMES, false);
    watching.collect(deep, NAMES, true);
    watching.collect(root, NAMES, true);
    watching.collect(other, NAMES, true);
    watching.world.tables.report_created(SHARE, "a/b/c", true);
    watching.world.tables.report_created(SHARE, "a/x", true);
    watching
        .world
        .tables
        .report_created(ShareId(9), "a/y", true);
    assert_eq!(watching.collected(flat), changes([(Added, "x")]));
    assert_eq!(
        watching.collected(deep),
        changes([(Added, "b/c"), (Added, "x")])
    );
    assert_eq!(
        watching.collected(root),
        changes([(Added, "a/b/c"), (Added, "a/x")])
    );
    assert_eq!(watching.collected(other), []);
}

#[test]
fn a_folder_does_not_see_changes_of_itself() {
    // basedir.
    let mut watching = Watching::new();
    let folder = watching.folder("dir");
    let root = watching.folder("");
    watching.collect(folder, EVERYTHING, true);
    watching.collect(root, EVERYTHING, true);
    watching
        .world
        .tables
        .report_modified(SHARE, "dir", NotifyFilter::ATTRIBUTES);
    watching
        .world
        .tables
        .report_modified(SHARE, "", NotifyFilter::ATTRIBUTES);
    assert_eq!(watching.collected(folder), []);
    assert_eq!(watching.collected(root), changes([(Modified, "dir")]));
}

#[test]
fn filter_and_depth_of_the_first_request_stay() {
    // mask_change.
    let mut watching = Watching::new();
    let folder = watching.folder("dir");
    watching.collect(folder, NotifyFilter::ATTRIBUTES, true);
    let tickets = [true, false].map(|recursive| watching.wait(folder, EVERYTHING, recursive));
    let tables = &mut watching.world.tables;
    tables.report_created(SHARE, "dir/sub", true);
    tables.report_created(SHARE, "dir/sub/name2", false);
    tables.report_renamed(SHARE, "dir/sub/name1", "dir/sub/name1-r", true);
    tables.report_renamed(SHARE, "dir/sub/name2", "dir/name2-r", false);
    tables.report_renamed(SHARE, "dir/name2-r", "dir/name3-r", false);
    tables.report_removed(SHARE, "dir/name3-r", false);
    let expected = [
        answer(tickets[0], [(Modified, "name2-r")]),
        answer(tickets[1], [(Modified, "name3-r")]),
    ];
    assert_eq!(watching.events(), expected);
}

// mask.
#[test]
fn each_change_is_seen_through_the_filters_it_belongs_to() {
    let (file, folder) = (NotifyFilter::FILE_NAME, NotifyFilter::DIR_NAME);
    let written = NotifyFilter::LAST_WRITE;
    let renamed = file.or(NotifyFilter::ATTRIBUTES).or(NotifyFilter::CREATION);
    let table: [(Report, NotifyFilter); 7] = [
        (|tables| tables.report_created(SHARE, "d/n", true), folder),
        (|tables| tables.report_created(SHARE, "d/n", false), file),
        (|tables| tables.report_removed(SHARE, "d/n", false), file),
        (|tables| tables.report_removed(SHARE, "d/n", true), folder),
        (
            |tables| tables.report_renamed(SHARE, "d/n", "d/m", false),
            renamed,
        ),
        (
            |tables| tables.report_renamed(SHARE, "d/n", "d/m", true),
            folder,
        ),
        (
            |tables| tables.report_modified(SHARE, "d/n", NotifyFilter::LAST_WRITE),
            written,
        ),
    ];
    for (row, (report, expected)) in table.into_iter().enumerate() {
        let bits = (0..32).map(|bit| NotifyFilter(1 << bit));
        let seen = bits
            .filter(|bit| is_seen(report, *bit))
            .fold(NotifyFilter(0), NotifyFilter::or);
        assert_eq!(seen, expected, "row {row}");
    }
}

fn is_seen(report: Report, filter: NotifyFilter) -> bool {
    let mut watching = Watching::new();
    let folder = watching.folder("d");
    watching.wait(folder, filter, true);
    report(&mut watching.world.tables);
    !watching.events().is_empty()
}

#[test]
fn both_names_of_a_rename_come_in_one_answer() {
    // mask.
    let mut watching = Watching::new();
    let folder = watching.folder("d");
    let ticket = watching.wait(folder, NotifyFilter::FILE_NAME, false);
    watching
        .world
        .tables
        .report_renamed(SHARE, "d/old", "d/new", false);
    assert_eq!(
        watching.events(),
        [answer(
            ticket,
            [(RenamedOldName, "old"), (RenamedNewName, "new")]
        )]
    );
}

#[test]
fn more_changes_than_the_buffer_takes_are_answered_with_none() {
    // overflow: 32 bytes a record in this test.
    let mut watching = Watching::new();
    let folder = watching.folder("dir");
    watching.collect(folder, NAMES, true);
    let fill = |watching: &mut Watching, count| {
        for number in 10..10 + count {
            watching.world.tables.report_created(
                SHARE,
                &alloc::format!("dir/test{number}.txt"),
                false,
            );
        }
    };
    fill(&mut watching, 31);
    assert_eq!(watching.collected(folder).len(), 31);
    fill(&mut watching, 32);
    let nothing = WatchOutcome::Ready(NotifyOutcome::Changes(Vec::new()));
    assert_eq!(watching.watch(folder, NAMES, true), nothing);
    // Afterwards the folder collects again.
    fill(&mut watching, 2);
    assert_eq!(watching.collected(folder).len(), 2);
}

#[test]
fn repeated_modifications_of_one_file_are_collected_once() {
    let mut watching = Watching::new();
    let folder = watching.folder("dir");
    watching.collect(folder, EVERYTHING, true);
    for name in ["dir/a", "dir/a", "dir/b", "dir/a"] {
        watching
            .world
            .tables
            .report_modified(SHARE, name, NotifyFilter::SIZE);
    }
    assert_eq!(
        watching.collected(folder),
        changes([(Modified, "a"), (Modified, "b"), (Modified, "a")])
    );
}

#[test]
fn closing_the_folder_ends_its_waiting_requests() {
    // dir, tdis, exit, ulogoff.
    let mut watching = Watching::new();
    let folder = watching.folder("dir");
    let ticket = watching.wait(folder, NAMES, true);
    watching.world.close(folder);
    assert_eq!(
        watching.events(),
        [Event::Notify {
            ticket,
            outcome: NotifyOutcome::Closed
        }]
    );
    watching
        .world
        .tables
        .report_created(SHARE, "dir/late", false);
    assert_eq!(watching.events(), []);
    assert!(watching.world.tables.watches.is_empty());
}

#[test]
fn marking_the_folder_for_deletion_ends_its_waiting_requests() {
    let mut watching = Watching::new();
    let folder = watching.folder("dir");
    let ticket = watching.wait(folder, NAMES, true);
    watching
        .world
        .tables
        .set_delete_pending(folder, true)
        .unwrap();
    assert_eq!(
        watching.events(),
        [Event::Notify {
            ticket,
            outcome: NotifyOutcome::DeletePending
        }]
    );
}

#[test]
fn a_cancelled_request_gets_no_answer_and_others_do() {
    let mut watching = Watching::new();
    let folder = watching.folder("dir");
    let (first, second) = (
        watching.wait(folder, NAMES, true),
        watching.wait(folder, NAMES, true),
    );
    assert!(watching.world.tables.cancel_watch(folder, first));
    assert!(!watching.world.tables.cancel_watch(folder, first));
    watching.world.tables.report_created(SHARE, "dir/a", false);
    assert_eq!(watching.events(), [answer(second, [(Added, "a")])]);
}

#[test]
fn a_watched_folder_that_is_renamed_is_watched_where_it_is_now() {
    let mut watching = Watching::new();
    let folder = watching.folder("top/dir");
    watching.collect(folder, NAMES, true);
    watching.world.tables.rename_paths(SHARE, "top", "other");
    watching
        .world
        .tables
        .report_created(SHARE, "top/dir/a", false);
    watching
        .world
        .tables
        .report_created(SHARE, "other/dir/b", false);
    assert_eq!(watching.collected(folder), changes([(Added, "b")]));
}

#[test]
fn waiting_requests_are_limited_and_answered_ones_do_not_count() {
    let limits = Limits {
        waits: 1,
        ..Limits::default()
    };
    let mut world = World::with(Config {
        limits,
        ..Config::default()
    });
    let client = world.client();
    let mut watching = Watching {
        world,
        client,
        inode: 1,
    };
    let folder = watching.folder("dir");
    for round in 0..3 {
        watching.wait(folder, NAMES, true);
        let refused = WatchOutcome::Refused(Refusal::TooManyWaits);
        assert_eq!(watching.watch(folder, NAMES, true), refused);
        watching
            .world
            .tables
            .report_created(SHARE, &alloc::format!("dir/{round}"), false);
        assert_eq!(watching.events().len(), 1);
    }
}

#[test]
fn a_change_through_another_share_of_the_folder_is_reported() {
    let mut watching = Watching::new();
    let (again, elsewhere) = (ShareId(2), ShareId(3));
    for (share, same) in [(SHARE, SHARE), (again, SHARE), (elsewhere, elsewhere)] {
        let tables = &mut watching.world.tables;
        tables.join_space(share, [same].into_iter());
    }
    let folder = watching.folder("dir");
    watching.collect(folder, EVERYTHING, false);
    let tables = &mut watching.world.tables;
    tables.report_created(again, "dir/new", false);
    tables.report_created(elsewhere, "dir/other", false);
    assert!(tables.is_watched(again, "dir"));
    assert_eq!(watching.collected(folder), [(Added, "new".into())]);
}
