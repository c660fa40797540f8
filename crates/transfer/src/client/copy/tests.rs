//! Complete and interrupted copies against a server in this process.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

use std::{
    collections::HashSet,
    fs,
    path::{Path, PathBuf},
    time::{Duration, UNIX_EPOCH},
};

use super::*;
use crate::client::{
    Connection,
    testkit::{Served, noise},
};

pub(super) const SIZE: usize = 5_000_003;

pub(super) fn set_time(path: &Path, seconds: u64) {
    let file = fs::File::options().write(true).open(path).unwrap();
    file.set_modified(UNIX_EPOCH + Duration::from_secs(seconds))
        .unwrap();
}

pub(super) fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

pub(super) fn get(
    connection: &mut Connection,
    to: &Path,
    verify: bool,
) -> Result<Copied, CopyError> {
    get_among(connection, to, verify, &HashSet::new())
}

/// The same, in a run that creates `targets`.
pub(super) fn get_among(
    connection: &mut Connection,
    to: &Path,
    verify: bool,
    targets: &HashSet<PathBuf>,
) -> Result<Copied, CopyError> {
    let order = Fetch {
        path: "A.BIN",
        to,
        targets,
        resume: false,
        verify,
    };
    fetch(connection, &order, &mut |_| {})
}

fn put(connection: &mut Connection, from: &Path) -> Result<Copied, CopyError> {
    let order = Store {
        from: Some(from),
        to: "B.BIN",
        resume: false,
        verify: true,
        replace: true,
    };
    store(connection, &order, &mut |_| {})
}

pub(super) fn local_folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.bin");
    (folder, file)
}

#[test]
fn a_fetched_file_has_the_servers_time_and_leaves_no_partial_file() {
    let served = Served::start("", None);
    let remote = served.folder().join("A.BIN");
    fs::write(&remote, noise(SIZE)).unwrap();
    set_time(&remote, 800_000_000);
    let (folder, to) = local_folder();
    fs::write(&to, "what was there").unwrap();
    let copied = get(&mut served.connect().unwrap(), &to, true).unwrap();
    assert_eq!((copied.bytes, copied.resumed_from), (SIZE as u64, 0));
    assert!(copied.verified && fs::read(&to).unwrap() == noise(SIZE));
    let modified = fs::metadata(&to).unwrap().modified().unwrap();
    assert_eq!(modified, UNIX_EPOCH + Duration::from_secs(800_000_000));
    assert_eq!(names(folder.path()), ["a.bin"]);
}

#[test]
fn a_partial_file_is_resumed_only_for_the_same_source() {
    let served = Served::start("", None);
    let remote = served.folder().join("A.BIN");
    fs::write(&remote, noise(SIZE)).unwrap();
    let (_folder, to) = local_folder();
    let part = to.with_extension("bin.part");
    let mut connection = served.connect().unwrap();
    let cut_off = |connection: &mut Connection| {
        let stat = connection.stat("A.BIN").unwrap();
        fs::write(&part, &noise(SIZE)[..4_000_000]).unwrap();
        let value = format!("{} {} {}", stat.size, stat.modified.unwrap(), 4_000_000);
        let file = fs::File::open(&part).unwrap();
        rustix::fs::fsetxattr(
            file,
            "user.coax.source",
            value.as_bytes(),
            rustix::fs::XattrFlags::empty(),
        )
    };
    if cut_off(&mut connection).is_err() {
        eprintln!("skipped: the file system for temporary files keeps no extended attributes");
        return;
    }
    let copied = get(&mut connection, &to, false).unwrap();
    assert_eq!(copied.resumed_from, 4_000_000);
    assert!(fs::read(&to).unwrap() == noise(SIZE));
    cut_off(&mut connection).unwrap();
    set_time(&remote, 1_000_000_000);
    let copied = get(&mut connection, &to, false).unwrap();
    assert_eq!(copied.resumed_from, 0);
    assert!(fs::read(&to).unwrap() == noise(SIZE));
}

#[test]
fn a_stored_file_replaces_the_old_one_and_keeps_its_time() {
    let served = Served::start("", None);
    fs::write(served.folder().join("B.BIN"), "old").unwrap();
    let (_folder, from) = local_folder();
    fs::write(&from, noise(SIZE)).unwrap();
    set_time(&from, 800_000_001);
    put(&mut served.connect().unwrap(), &from).unwrap();
    assert_eq!(names(served.folder()), ["B.BIN"]);
    let there = served.folder().join("B.BIN");
    assert!(fs::read(&there).unwrap() == noise(SIZE));
    let modified = fs::metadata(&there).unwrap().modified().unwrap();
    assert_eq!(modified, UNIX_EPOCH + Duration::from_secs(800_000_001));
}

#[test]
fn an_interrupted_store_is_resumed() {
    let served = Served::start("", None);
    let (_folder, from) = local_folder();
    fs::write(&from, noise(SIZE)).unwrap();
    set_time(&from, 800_000_001);
    let temporary = store::temporary_for_tests("B.BIN", SIZE as u64, 800_000_001_000_000_000);
    fs::write(served.folder().join(temporary), &noise(SIZE)[..4_000_000]).unwrap();
    let copied = put(&mut served.connect().unwrap(), &from).unwrap();
    assert!(copied.resumed_from > 1_000_000 && copied.resumed_from <= 4_000_000);
    assert!(fs::read(served.folder().join("B.BIN")).unwrap() == noise(SIZE));
    assert_eq!(names(served.folder()), ["B.BIN"]);
}

#[test]
fn a_refused_store_leaves_no_temporary_file() {
    let served = Served::start("", None);
    fs::create_dir(served.folder().join("B.BIN")).unwrap();
    let (_folder, from) = local_folder();
    fs::write(&from, noise(300_000)).unwrap();
    let error = put(&mut served.connect().unwrap(), &from).unwrap_err();
    assert!(error.kept.is_none(), "{error}");
    assert_eq!(names(served.folder()), ["B.BIN"]);
    assert!(served.folder().join("B.BIN").is_dir());
}

#[test]
fn a_store_that_must_not_replace_keeps_the_old_file_and_leaves_no_other() {
    let served = Served::start("", None);
    fs::write(served.folder().join("B.BIN"), "old").unwrap();
    let (_folder, from) = local_folder();
    fs::write(&from, "new").unwrap();
    let order = Store {
        from: Some(&from),
        to: "B.BIN",
        resume: false,
        verify: false,
        replace: false,
    };
    store(&mut served.connect().unwrap(), &order, &mut |_| {}).unwrap_err();
    assert_eq!(names(served.folder()), ["B.BIN"]);
    assert_eq!(fs::read(served.folder().join("B.BIN")).unwrap(), b"old");
}
