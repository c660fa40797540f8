//! Attributes, times, identity.

use alloc::{borrow::ToOwned, vec};

use super::*;
use crate::vfs::{FsTime, Kind, SetTimes, VfsError};

const SECOND: i64 = 1_000_000_000;

pub fn attributes_are_set_read_replaced_and_removed(fs: &dyn Vfs) {
    let file = open(fs, "A", CREATE);
    assert_eq!(file.attribute("user.a"), Err(VfsError::NoAttribute));
    assert_eq!(file.remove_attribute("user.a"), Err(VfsError::NoAttribute));
    file.set_attribute("user.a", b"one").unwrap();
    file.set_attribute("user.a", b"three\0").unwrap();
    file.set_attribute("user.empty", b"").unwrap();
    file.set_attribute("user.long", &vec![7; 2_500]).unwrap();
    assert_eq!(file.attribute("user.a").unwrap(), b"three\0");
    assert_eq!(file.attribute("user.empty").unwrap(), b"");
    assert_eq!(file.attribute("user.long").unwrap(), vec![7; 2_500]);
    let names = file.attribute_names().unwrap();
    for name in ["user.a", "user.empty", "user.long"] {
        assert!(names.contains(&name.to_owned()), "{name} in {names:?}");
    }
    file.remove_attribute("user.a").unwrap();
    assert_eq!(file.attribute("user.a"), Err(VfsError::NoAttribute));
    assert!(
        !file
            .attribute_names()
            .unwrap()
            .contains(&"user.a".to_owned())
    );
}

pub fn attributes_work_on_folders_and_by_path(fs: &dyn Vfs) {
    fs.make_dir("D").unwrap();
    put(fs, "D/A", b"");
    open(fs, "D", OpenHow::default())
        .set_attribute("user.a", b"folder")
        .unwrap();
    open(fs, "D/A", WRITE)
        .set_attribute("user.a", b"file")
        .unwrap();
    assert_eq!(fs.attribute("D", "user.a").unwrap(), b"folder");
    assert_eq!(fs.attribute("D/A", "user.a").unwrap(), b"file");
    assert_eq!(fs.attribute("D/A", "user.b"), Err(VfsError::NoAttribute));
    assert_eq!(fs.attribute("", "user.a"), Err(VfsError::NoAttribute));
}

pub fn listings_tell_who_may_have_attributes(fs: &dyn Vfs) {
    for name in ["KNOWN", "OTHER"] {
        open(fs, name, CREATE)
            .set_attribute("user.known", b"1")
            .unwrap();
    }
    open(fs, "OTHER", WRITE)
        .set_attribute("user.a", b"1")
        .unwrap();
    let dir = fs.open_dir("").unwrap();
    for name in ["KNOWN", "OTHER"] {
        let (stat, _) = dir.entry(name, None).unwrap();
        let opened = open(fs, name, OpenHow::default());
        let others = opened
            .attribute_names()
            .unwrap()
            .iter()
            .any(|n| n != "user.known");
        let told = dir.may_have_attributes(name, &stat, "user.known");
        assert!(told || !others, "{name} has other metadata");
    }
}

pub fn attributes_are_changed_by_what_they_were(fs: &dyn Vfs) {
    put(fs, "A", b"data");
    fs.make_dir("D").unwrap();
    for path in ["A", "D"] {
        let file = open(fs, path, OpenHow::default());
        let mut double = |value: &mut Vec<u8>| {
            value.extend_from_within(..);
            Ok(())
        };
        let none = file.update_attribute("user.x", &mut double);
        assert_eq!(none, Err(VfsError::NoAttribute));
        file.set_attribute("user.x", b"ab").unwrap();
        file.update_attribute("user.x", &mut double).unwrap();
        assert_eq!(file.attribute("user.x").unwrap(), b"abab");
        let mut refuse = |value: &mut Vec<u8>| {
            value.clear();
            Err(VfsError::TooLarge)
        };
        let refused = file.update_attribute("user.x", &mut refuse);
        assert_eq!(refused, Err(VfsError::TooLarge));
        assert_eq!(file.attribute("user.x").unwrap(), b"abab");
    }
}

pub fn times_are_set_one_by_one(fs: &dyn Vfs) {
    put(fs, "A", b"data");
    fs.make_dir("D").unwrap();
    for path in ["A", "D"] {
        let file = open(fs, path, OpenHow::default());
        let modified = FsTime(315_532_800 * SECOND + 250);
        let accessed = FsTime(-86_400 * SECOND);
        file.set_times(SetTimes {
            modified: Some(modified),
            accessed: None,
        })
        .unwrap();
        let before = file.stat().unwrap();
        assert_eq!(before.modified, modified);
        file.set_times(SetTimes {
            modified: None,
            accessed: Some(accessed),
        })
        .unwrap();
        let after = fs.stat(path).unwrap();
        assert_eq!((after.modified, after.accessed), (modified, accessed));
        assert!(after.changed >= before.changed);
    }
}

pub fn the_write_bit_goes_and_comes_back(fs: &dyn Vfs) {
    put(fs, "A", b"data");
    let before = fs.stat("A").unwrap().mode;
    assert_eq!(before & 0o200, 0o200);
    let file = open(fs, "A", READ);
    file.set_writable(false).unwrap();
    assert_eq!(fs.stat("A").unwrap().mode, before & !0o200);
    file.set_writable(false).unwrap();
    file.set_writable(true).unwrap();
    assert_eq!(file.stat().unwrap().mode, before);
}

pub fn space_tells_a_total_and_no_more_free_than_that(fs: &dyn Vfs) {
    let space = fs.space().unwrap();
    assert!(space.total > 0 && space.free <= space.total, "{space:?}");
}

pub fn stat_tells_a_file_from_a_folder(fs: &dyn Vfs) {
    put(fs, "A", b"12345");
    fs.make_dir("D").unwrap();
    put(fs, "D/B", b"123");
    let (file, folder) = (fs.stat("A").unwrap(), fs.stat("D").unwrap());
    assert_eq!((file.kind, file.size, file.links), (Kind::File, 5, 1));
    assert_eq!((folder.kind, folder.size), (Kind::Directory, 0));
    assert_eq!(fs.stat("").unwrap().kind, Kind::Directory);
    assert_eq!(fs.stat("D/B").unwrap().size, 3);
    assert_eq!(
        open(fs, "D/B", READ).stat().unwrap(),
        fs.stat("D/B").unwrap()
    );
    assert_eq!(fs.open_dir("D").unwrap().stat().unwrap().id, folder.id);
}

pub fn ids_tell_objects_apart_and_links_together(fs: &dyn Vfs) {
    put(fs, "A", b"");
    put(fs, "B", b"");
    fs.hard_link("A", "C").unwrap();
    let id = |path| fs.stat(path).unwrap().id;
    assert_ne!(id("A"), id("B"));
    assert_ne!(id("A"), id(""));
    assert_eq!(id("A"), id("C"));
    assert_eq!(fs.stat("A").unwrap().links, 2);
}
