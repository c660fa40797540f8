//! What a copy from the server does to local files, against a server in this process.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

use std::{collections::HashSet, fs};

use super::{
    tests::{SIZE, get, local_folder, names},
    *,
};
use crate::client::{
    Connection,
    testkit::{Served, noise},
};

#[test]
fn a_foreign_file_with_the_partial_files_name_stays_as_it_is() {
    let served = Served::start("", None);
    fs::write(served.folder().join("A.BIN"), noise(SIZE)).unwrap();
    let (folder, to) = local_folder();
    let foreign = to.with_extension("bin.part");
    fs::write(&foreign, "important").unwrap();
    get(&mut served.connect().unwrap(), &to, false).unwrap();
    assert!(fs::read(&to).unwrap() == noise(SIZE));
    assert_eq!(fs::read(&foreign).unwrap(), b"important");
    assert_eq!(names(folder.path()), ["a.bin", "a.bin.part"]);
}

#[test]
fn a_symbolic_link_with_the_partial_files_name_is_not_followed() {
    let served = Served::start("", None);
    fs::write(served.folder().join("A.BIN"), noise(SIZE)).unwrap();
    let (folder, to) = local_folder();
    let victim = folder.path().join("victim");
    fs::write(&victim, "important").unwrap();
    let link = to.with_extension("bin.part");
    std::os::unix::fs::symlink("victim", &link).unwrap();
    get(&mut served.connect().unwrap(), &to, false).unwrap();
    assert!(fs::read(&to).unwrap() == noise(SIZE));
    assert_eq!(fs::read(&victim).unwrap(), b"important");
    assert!(link.is_symlink());
}

#[test]
fn a_target_of_the_same_run_is_no_partial_file() {
    let served = Served::start("", None);
    fs::write(served.folder().join("A.BIN"), noise(SIZE)).unwrap();
    let (_folder, to) = local_folder();
    let other = to.with_extension("bin.part");
    let targets = HashSet::from([final_path(&other)]);
    let watch_for_it = |connection: &mut Connection| {
        let order = Fetch {
            path: "A.BIN",
            stat: connection.stat("A.BIN").unwrap(),
            to: &to,
            targets: &targets,
            resume: true,
            verify: false,
        };
        let mut seen = false;
        fetch(connection, &order, &mut |_| seen |= other.exists()).unwrap();
        seen
    };
    assert!(!watch_for_it(&mut served.connect().unwrap()));
}
