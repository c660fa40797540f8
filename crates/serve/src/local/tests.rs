//! Kernel events on a real folder, and the notifications that a watching client receives.

use std::{fs, path::Path, sync::mpsc};

use coax_server::table::{
    ConnId, Event, NotifyAction, NotifyFilter, NotifyOutcome, OpenId, OpenOutcome, OpenRequest,
    OplockWish, Sharing, WatchOutcome, WatchRequest, access, share,
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::*;
use crate::build;
use coax_smbconf::load::load_text;

#[derive(Debug)]
struct Nobody;

impl Wake for Nobody {
    fn wake(&self) {}
}

/// A server over a folder, and a client that has the folder open.
struct Story {
    server: Arc<Server>,
    changes: Arc<LocalChanges>,
    folder: tempfile::TempDir,
    share: ShareId,
    conn: ConnId,
    open: OpenId,
}

impl Story {
    fn new(options: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("sub")).unwrap();
        let path = folder.path().display();
        let conf = format!("[DATA]\npath = {path}\nguest ok = yes\nread only = no\n{options}\n");
        let settings = load_text("test", &conf).settings;
        let built = build::server(&settings, &mut Vec::new()).unwrap();
        let server = Arc::new(built.server);
        let (tell, _) = mpsc::channel();
        let reporter = Reporter::to(move |told| drop(tell.send(told))).unwrap();
        let inotify = inotify::init(CreateFlags::NONBLOCK).unwrap();
        let changes = LocalChanges::begin(inotify, &server, reporter);
        let share = server.share("DATA").unwrap().id;
        let conn = server.locked(|tables| tables.add_connection(Arc::new(Nobody)));
        let mut story = Self {
            server,
            changes,
            folder,
            share,
            conn,
            open: OpenId(0),
        };
        story.open = story.open("", access::READ_DATA, true);
        story
    }

    fn at(&self, path: &str) -> std::path::PathBuf {
        self.folder.path().join(path)
    }

    fn open(&self, path: &str, access: u32, is_directory: bool) -> OpenId {
        let vfs = watchable(&self.server, self.share, "");
        let file = vfs.map_or_else(Default::default, |(vfs, _)| vfs.stat(path).unwrap().id);
        let request = OpenRequest {
            file,
            conn: self.conn,
            uid: 0,
            pid: 0,
            share: self.share,
            path: path.into(),
            stream: None,
            is_directory,
            access,
            sharing: Sharing::Nt(share::READ | share::WRITE | share::DELETE),
            oplock: OplockWish::None,
            fake_oplocks: false,
            level2: false,
            tree: 0,
            overwrites: false,
            delete_on_close: false,
        };
        let now = coax_wire::time::Time(0);
        match self.server.locked(|tables| tables.open(now, &request)) {
            OpenOutcome::Granted { open, .. } => open,
            other => panic!("{other:?}"),
        }
    }

    /// The client asks for changes; there are none yet.
    fn watch(&self) {
        let request = WatchRequest {
            open: self.open,
            filter: NotifyFilter(0xfff),
            recursive: false,
            buffer_bytes: 4096,
        };
        let outcome = self.server.locked(|tables| tables.watch(&request));
        assert!(matches!(outcome, WatchOutcome::Waiting(_)), "{outcome:?}");
    }

    /// Waits for the kernel's next event and forwards the pending events.
    fn read(&self) {
        let mut ready = [PollFd::new(&self.changes.inotify, PollFlags::IN)];
        let long = Timespec {
            tv_sec: 20,
            tv_nsec: 0,
        };
        assert_eq!(poll(&mut ready, Some(&long)).unwrap(), 1, "no event");
        self.changes.read();
    }

    /// The notifications that the client received since its last request.
    fn told(&self) -> Vec<(NotifyAction, String)> {
        let events = self.server.locked(|tables| tables.take_events(self.conn));
        let outcomes = events.into_iter().filter_map(|event| match event {
            Event::Notify {
                outcome: NotifyOutcome::Changes(changes),
                ..
            } => Some(changes),
            _ => None,
        });
        let records = outcomes.flatten();
        records.map(|record| (record.action, record.path)).collect()
    }

    fn watches(&self) -> usize {
        self.changes.state().watched.len()
    }
}

fn touch(path: &Path) {
    fs::write(path, b"x").unwrap();
}

#[test]
fn a_client_that_watches_a_folder_is_notified_of_local_changes() {
    let story = Story::new("");
    story.watch();
    touch(&story.at("new"));
    story.read();
    assert_eq!(story.told()[0], (NotifyAction::Added, "new".into()));
    let rest = WatchRequest {
        open: story.open,
        filter: NotifyFilter(0),
        recursive: false,
        buffer_bytes: 0,
    };
    // Events of the file's creation are collected for the next request.
    let outcome = story.server.locked(|tables| tables.watch(&rest));
    assert!(matches!(outcome, WatchOutcome::Ready(_)), "{outcome:?}");
    story.watch();
    fs::rename(story.at("new"), story.at("newer")).unwrap();
    story.read();
    let told = story.told();
    let names = [
        (NotifyAction::RenamedOldName, "new".to_owned()),
        (NotifyAction::RenamedNewName, "newer".to_owned()),
    ];
    assert!(told.starts_with(&names), "{told:?}");
}

#[test]
fn a_change_by_a_client_is_reported_once() {
    let story = Story::new("");
    story.watch();
    touch(&story.at("F"));
    story
        .server
        .locked(|tables| tables.report_created(story.share, "F", false));
    assert_eq!(story.told(), [(NotifyAction::Added, "F".to_owned())]);
    story.watch();
    story.read();
    assert_eq!(story.told(), []);
    // While a client has the file open for writing, the server treats kernel events of it as the client's writes.
    let open = story.open("F", access::WRITE_DATA, false);
    fs::write(story.at("F"), b"longer").unwrap();
    story.read();
    assert_eq!(story.told(), []);
    story.server.locked(|tables| tables.close(open)).unwrap();
    fs::remove_file(story.at("F")).unwrap();
    story.read();
    assert_eq!(story.told(), [(NotifyAction::Removed, "F".to_owned())]);
}

#[test]
fn only_watched_folders_are_watched_and_not_their_subfolders() {
    let story = Story::new("");
    assert_eq!(story.watches(), 0);
    story.watch();
    assert_eq!(story.watches(), 1);
    touch(&story.at("sub/inner"));
    touch(&story.at("outer"));
    story.read();
    assert_eq!(story.told(), [(NotifyAction::Added, "outer".to_owned())]);
    let open = story.open;
    story.server.locked(|tables| tables.close(open)).unwrap();
    assert_eq!(story.watches(), 0);
    assert!(story.changes.state().folders.is_empty());
}

#[test]
fn the_setting_kernel_change_notify_disables_local_notification() {
    let story = Story::new("kernel change notify = no");
    story.watch();
    assert_eq!(story.watches(), 0);
}

#[test]
fn lost_kernel_events_make_clients_list_the_folder_again() {
    let story = Story::new("");
    story.watch();
    story.server.locked(|tables| tables.report_lost());
    let events = story.server.locked(|tables| tables.take_events(story.conn));
    let told = |event: &Event| matches!(event, Event::Notify { outcome, .. } if *outcome == NotifyOutcome::Changes(vec![]));
    assert_eq!(events.iter().filter(|event| told(event)).count(), 1);
}

#[test]
fn a_folder_that_is_removed_loses_its_watch() {
    let mut story = Story::new("");
    story.open = story.open("sub", access::READ_DATA, true);
    story.watch();
    assert_eq!(story.watches(), 1);
    fs::remove_dir(story.at("sub")).unwrap();
    story.read();
    assert_eq!(story.watches(), 0);
}
