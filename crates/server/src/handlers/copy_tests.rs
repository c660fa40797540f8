//! Copies and moves on the server.

use super::*;
use crate::{
    memfs::MemFs,
    share::{Share, ShareKind},
    vfs::{Space, Stat, VfsDir, VfsFile, VfsResult},
};
use alloc::{collections::BTreeMap, sync::Arc};

/// COPY or MOVE within the tree; paths have no buffer formats.
fn copy(
    client: &mut TestClient,
    command: u8,
    open_function: u16,
    flags: u16,
    (from, to): (&str, &str),
) -> Answer {
    let bytes = format!("{from}\0{to}\0");
    client.request(command, &[0xffff, open_function, flags], bytes.as_bytes())
}

#[test]
fn a_file_is_copied_with_its_time_and_attributes_if_it_may_be_created() {
    let server = with_files(&["A.TXT"]);
    set_attributes(&server, "A.TXT", 0x23);
    let mut client = server.client(LANMAN);
    copy(&mut client, c::COPY, 0, 0, ("\\A.TXT", "\\B.TXT")).refused(Status::OBJECT_NAME_NOT_FOUND);
    let reply = copy(&mut client, c::COPY, 0x10, 0, ("\\A.TXT", "\\B.TXT")).ok();
    assert_eq!(reply.word(0), 1);
    assert_eq!(server.fs.contents("B.TXT").unwrap(), b"A.TXT");
    let blob = server.fs.attribute("B.TXT", DosAttrib::NAME).unwrap();
    assert_eq!(DosAttrib::decode(&blob).unwrap().attributes.0, 0x23);
    let times = |path: &str| server.fs.stat(path).unwrap().modified;
    assert_eq!(times("A.TXT"), times("B.TXT"));
}

#[test]
fn copy_keeps_appends_to_or_replaces_an_existing_file_as_requested() {
    let server = with_files(&["A", "B"]);
    let mut client = server.client(LANMAN);
    copy(&mut client, c::COPY, 0x10, 0, ("A", "B")).refused(Status::OBJECT_NAME_COLLISION);
    copy(&mut client, c::COPY, 0x11, 0, ("A", "B")).ok();
    assert_eq!(server.fs.contents("B").unwrap(), b"BA");
    copy(&mut client, c::COPY, 0x12, 0, ("A", "B")).ok();
    assert_eq!(server.fs.contents("B").unwrap(), b"A");
    copy(&mut client, c::COPY, 0x12, 0, ("A", "a")).refused(Status::SHARING_VIOLATION);
    assert_eq!(server.fs.contents("A").unwrap(), b"A");
}

#[test]
fn a_pattern_is_copied_into_a_folder_or_gathered_in_one_file() {
    let server = with_files(&["1.C", "2.C", "3.H", "OUT/X"]);
    let mut client = server.client(LANMAN);
    let reply = copy(&mut client, c::COPY, 0x10, 0, ("\\*.C", "\\OUT")).ok();
    assert_eq!(
        (reply.word(0), names(&server, "OUT")),
        (2, vec!["1.C".into(), "2.C".into(), "X".into()])
    );
    copy(&mut client, c::COPY, 0x12, 1, ("\\*.C", "\\ALL")).ok();
    assert_eq!(server.fs.contents("ALL").unwrap(), b"1.C2.C");
    copy(&mut client, c::COPY, 0x12, 1, ("\\*.C", "\\ALL")).ok();
    assert_eq!(
        server.fs.contents("ALL").unwrap(),
        b"1.C2.C",
        "truncated before the first file"
    );
    copy(&mut client, c::COPY, 0x12, 2, ("\\*.C", "\\ALL")).refused(Status::NOT_A_DIRECTORY);
    copy(&mut client, c::COPY, 0x12, 1, ("\\*.C", "\\OUT")).refused(Status::FILE_IS_A_DIRECTORY);
    copy(&mut client, c::COPY, 0x12, 0, ("\\*.Z", "\\OUT")).refused(Status::NO_SUCH_FILE);
}

#[test]
fn copied_text_ends_at_control_z_and_gets_one_on_request() {
    let server = TestServer::new();
    server.fs.add_file("A", b"one\x1arest").unwrap();
    let mut client = server.client(LANMAN);
    copy(&mut client, c::COPY, 0x10, 0x0c, ("A", "B")).ok();
    assert_eq!(server.fs.contents("B").unwrap(), b"one\x1a");
    copy(&mut client, c::COPY, 0x11, 0x0c, ("A", "B")).ok();
    assert_eq!(server.fs.contents("B").unwrap(), b"oneone\x1a");
    copy(&mut client, c::COPY, 0x10, 0, ("A", "C")).ok();
    assert_eq!(server.fs.contents("C").unwrap(), b"one\x1arest");
}

#[test]
fn a_failed_copy_names_its_file_and_leaves_no_partial_copy() {
    let server = with_files(&["IN/1", "IN/2", "IN/3"]);
    server.fs.add_dir("OUT").unwrap();
    let mut client = server.client(LANMAN);
    server.fs.inject(Fault {
        skip: 1,
        ..Fault::next(Call::WriteAt, VfsError::NoSpace)
    });
    let reply = copy(&mut client, c::COPY, 0x10, 0, ("\\IN\\*.*", "\\OUT"));
    reply.refused(Status::DISK_FULL);
    let failed = format!(
        "\\IN\\{}\0",
        if names(&server, "OUT") == ["1"] {
            "2"
        } else {
            "?"
        }
    );
    assert_eq!((reply.word(0), reply.bytes()), (1, failed.into_bytes()));
}

#[test]
fn an_append_that_fails_is_undone() {
    let server = with_files(&["A", "B"]);
    let mut client = server.client(LANMAN);
    server.fs.inject(Fault {
        written: 1,
        ..Fault::next(Call::WriteAt, VfsError::NoSpace)
    });
    copy(&mut client, c::COPY, 0x11, 0, ("A", "B")).refused(Status::DISK_FULL);
    assert_eq!(server.fs.contents("B").unwrap(), b"B");
}

#[test]
fn a_folder_tree_is_copied_but_not_into_itself() {
    let server = with_files(&["SRC/1", "SRC/SUB/2", "SRC/SUB/DEEP/3"]);
    let mut client = server.client("LM1.2X002");
    copy(&mut client, c::COPY, 0x10, 0x20, ("\\SRC", "\\SRC\\SUB\\X"))
        .refused(Status::ACCESS_DENIED);
    copy(&mut client, c::COPY, 0x10, 0x20, ("\\SRC", "\\DST")).ok();
    assert_eq!(
        server.fs.contents("DST/SUB/DEEP/3").unwrap(),
        b"SRC/SUB/DEEP/3"
    );
    assert_eq!(names(&server, "DST"), ["1", "SUB"]);
    copy(&mut client, c::COPY, 0x10, 0x28, ("\\SRC", "\\D2")).refused(Status::INVALID_PARAMETER);
    copy(&mut client, c::COPY, 0x10, 0x20, ("\\SRC\\1", "\\D2")).refused(Status::NOT_A_DIRECTORY);
    copy(&mut client, c::COPY, 0x10, 0, ("\\SRC", "\\D2")).refused(Status::FILE_IS_A_DIRECTORY);
}

#[test]
fn files_are_moved_into_a_folder_and_over_others_only_on_request() {
    let server = with_files(&["A.1", "B.1", "OUT/B.1"]);
    let mut client = server.client(LANMAN);
    let reply = copy(&mut client, c::MOVE, 0, 0, ("\\*.1", "\\OUT"));
    reply.refused(Status::OBJECT_NAME_COLLISION);
    assert_eq!((reply.word(0), reply.bytes()), (1, b"\\B.1\0".to_vec()));
    copy(&mut client, c::MOVE, 2, 0, ("\\B.1", "\\OUT")).ok();
    assert_eq!(names(&server, "OUT"), ["A.1", "B.1"]);
    assert_eq!(server.fs.contents("OUT/B.1").unwrap(), b"B.1");
    copy(&mut client, c::MOVE, 2, 0, ("\\OUT\\*.*", "\\NONE"))
        .refused(Status::OBJECT_PATH_NOT_FOUND);
    copy(&mut client, c::MOVE, 0, 0, ("\\OUT", "\\IN")).ok();
    assert_eq!(names(&server, "IN"), ["A.1", "B.1"]);
}

#[test]
fn a_file_of_a_tree_replaces_one_whose_name_differs_in_case() {
    let server = with_files(&["src/README.TXT", "dst/readme.txt"]);
    let mut client = server.client(LANMAN);
    copy(&mut client, c::COPY, 0x10, 0x20, ("src", "dst")).refused(Status::OBJECT_NAME_COLLISION);
    copy(&mut client, c::COPY, 0x12, 0x20, ("src", "dst")).ok();
    assert_eq!(
        server.fs.contents("dst/readme.txt").unwrap(),
        b"src/README.TXT"
    );
    assert!(server.fs.contents("dst/README.TXT").is_err());
}

#[test]
fn an_unknown_second_tree_is_refused() {
    let server = with_files(&["A"]);
    let mut client = server.client(LANMAN);
    client
        .request(c::COPY, &[4711, 0x10, 0], b"A\0B\0")
        .refused(Status::BAD_TID);
}

/// A file system in which some folders, given by path, are symbolic links to others.
#[derive(Debug)]
struct Linked {
    inner: Arc<MemFs>,
    links: BTreeMap<String, String>,
}

impl Linked {
    fn target(&self, path: &str) -> String {
        let mut at = String::new();
        for name in path.split('/') {
            at = crate::vfs::path::join(&at, name);
            at = self.links.get(&at).cloned().unwrap_or(at);
        }
        at
    }
}

impl Vfs for Linked {
    fn open(&self, path: &str, how: OpenHow) -> VfsResult<(Arc<dyn VfsFile>, bool)> {
        self.inner.open(&self.target(path), how)
    }

    fn open_dir(&self, path: &str) -> VfsResult<Arc<dyn VfsDir>> {
        self.inner.open_dir(&self.target(path))
    }

    fn stat(&self, path: &str) -> VfsResult<Stat> {
        self.inner.stat(&self.target(path))
    }

    fn make_dir(&self, path: &str) -> VfsResult<()> {
        self.inner.make_dir(&self.target(path))
    }

    fn remove_file(&self, path: &str) -> VfsResult<()> {
        self.inner.remove_file(&self.target(path))
    }

    fn remove_dir(&self, path: &str) -> VfsResult<()> {
        self.inner.remove_dir(&self.target(path))
    }

    fn is_link(&self, path: &str) -> bool {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let path = crate::vfs::path::join(&self.target(folder), name);
        self.links.contains_key(&path)
    }

    fn rename(&self, from: &str, to: &str, replace: bool) -> VfsResult<()> {
        self.inner
            .rename(&self.target(from), &self.target(to), replace)
    }

    fn hard_link(&self, from: &str, to: &str) -> VfsResult<()> {
        self.inner.hard_link(&self.target(from), &self.target(to))
    }

    fn attribute(&self, path: &str, name: &str) -> VfsResult<Vec<u8>> {
        self.inner.attribute(&self.target(path), name)
    }

    fn space(&self) -> VfsResult<Space> {
        self.inner.space()
    }
}

/// A server with `count` folders in SRC, each with one file and links to all others.
fn with_linked_siblings(count: usize) -> TestServer {
    let mut server = TestServer::new();
    let mut links = BTreeMap::new();
    for own in 0..count {
        server.fs.add_file(&format!("SRC/{own}/F"), b"x").unwrap();
        for other in (0..count).filter(|other| *other != own) {
            // A folder stands for the link in listings.
            let link = format!("SRC/{own}/{other}");
            server.fs.add_dir(&link).unwrap();
            links.insert(link, format!("SRC/{other}"));
        }
    }
    let inner = server.fs.clone();
    server.edit(|server| {
        let disk = ShareKind::Disk(Arc::new(Linked { inner, links }));
        server.shares[0] = Arc::new(Share::for_guests(1, "DISK", disk));
    });
    server
}

#[test]
fn a_tree_copy_follows_links_to_sibling_folders_but_a_limited_number_of_times() {
    let server = with_linked_siblings(3);
    let mut client = server.client(LANMAN);
    let tree = ("\\SRC", "\\DST");
    let reply = copy(&mut client, c::COPY, 0x10, 0x20, tree).ok();
    assert_eq!(reply.word(0), 15, "5 ways to each of 3 folders");
    assert_eq!(server.fs.contents("DST/0/1/2/F").unwrap(), b"x");
    let server = with_linked_siblings(6);
    let mut client = server.client(LANMAN);
    let reply = copy(&mut client, c::COPY, 0x10, 0x20, tree);
    reply.refused(Status::OBJECT_NAME_INVALID);
    assert!(reply.word(0) <= 6 * 17, "{} files", reply.word(0));
}
