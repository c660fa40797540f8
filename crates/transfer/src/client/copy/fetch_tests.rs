//! What a copy from the server does to local files, against a server in this process.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

use std::{collections::HashSet, fs, os::unix::fs::PermissionsExt};

use coax_catalog::clients;

use super::{
    tests::{SIZE, get, local_folder, names, set_time},
    *,
};
use crate::client::{
    Connection, Options, open,
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

#[test]
fn a_symbolic_link_stays_and_the_file_behind_it_is_replaced() {
    let served = Served::start("", None);
    fs::write(served.folder().join("A.BIN"), noise(70_000)).unwrap();
    let (folder, to) = local_folder();
    let real = folder.path().join("real");
    fs::write(&real, "old").unwrap();
    std::os::unix::fs::symlink("real", &to).unwrap();
    get(&mut served.connect().unwrap(), &to, false).unwrap();
    assert!(to.is_symlink());
    assert!(fs::read(&real).unwrap() == noise(70_000));
    assert_eq!(names(folder.path()), ["a.bin", "real"]);
}

#[test]
fn a_replaced_file_keeps_its_mode() {
    let served = Served::start("", None);
    fs::write(served.folder().join("A.BIN"), "new").unwrap();
    let (_folder, to) = local_folder();
    fs::write(&to, "old").unwrap();
    for mode in [0o751, 0o400] {
        fs::set_permissions(&to, fs::Permissions::from_mode(mode)).unwrap();
        get(&mut served.connect().unwrap(), &to, false).unwrap();
        let found = fs::metadata(&to).unwrap().permissions().mode();
        assert_eq!(found & 0o7777, mode);
        assert_eq!(fs::read(&to).unwrap(), b"new");
    }
}

#[test]
fn a_pipe_a_folder_and_a_link_to_nothing_are_refused_as_targets() {
    let served = Served::start("", None);
    fs::write(served.folder().join("A.BIN"), "new").unwrap();
    let (folder, to) = local_folder();
    let at = |name: &str| folder.path().join(name);
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, &to, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    fs::create_dir(at("folder")).unwrap();
    std::os::unix::fs::symlink("nothing", at("link")).unwrap();
    let mut connection = served.connect().unwrap();
    let mut refused = |to: &Path| get(&mut connection, to, false).unwrap_err().to_string();
    assert!(refused(&to).contains("write - to copy to standard output"));
    assert!(refused(&at("folder")).ends_with("is a folder"));
    assert!(refused(&at("link")).contains("does not exist"));
    assert_eq!(names(folder.path()), ["a.bin", "folder", "link"]);
}

#[test]
fn a_file_whose_size_does_not_fit_is_refused_in_dialects_before_nt_and_by_old_redirectors() {
    let served = Served::start("", None);
    let remote = fs::File::create(served.folder().join("A.BIN")).unwrap();
    remote.set_len((4 << 30) + 100).unwrap();
    let (folder, to) = local_folder();
    let lanman = |dialect| Options {
        dialect: Some(dialect),
        ..Options::default()
    };
    let ways = [
        (clients::DEFAULT, lanman("PC NETWORK PROGRAM 1.0")),
        (clients::DEFAULT, lanman("LANMAN1.0")),
        (clients::DEFAULT, lanman("LM1.2X002")),
        ("windows-98", Options::default()),
    ];
    for (name, options) in ways {
        let profile = clients::by_name(name).unwrap();
        let mut connection = open(&served.location(""), &profile, &options).unwrap();
        let error = get(&mut connection, &to, false).unwrap_err();
        assert!(error.to_string().contains("has 4 GiB or more"), "{error}");
        assert!(error.kept.is_none());
        assert_eq!(names(folder.path()), [""; 0]);
    }
}

#[test]
fn a_file_that_changes_after_the_copy_began_is_refused_whatever_its_size() {
    let served = Served::start("", None);
    let remote = served.folder().join("A.BIN");
    for size in [3, SIZE] {
        fs::write(&remote, noise(size)).unwrap();
        set_time(&remote, 800_000_000);
        let (folder, to) = local_folder();
        let order = Fetch {
            path: "A.BIN",
            to: &to,
            targets: &HashSet::new(),
            resume: false,
            verify: false,
        };
        let mut connection = served.connect().unwrap();
        let error = fetch(&mut connection, &order, &mut |_| {
            set_time(&remote, 900_000_000);
        });
        assert!(matches!(error.unwrap_err().fault, Fault::Changed), "{size}");
        assert_eq!(names(folder.path()), [""; 0]);
    }
}
