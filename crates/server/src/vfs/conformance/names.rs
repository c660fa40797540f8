//! Folders, renames, links, listings and unusual names.

use alloc::{borrow::ToOwned, collections::BTreeSet, format, string::String};

use super::*;
use crate::vfs::{Kind, VfsError};

fn listing(fs: &dyn Vfs, path: &str) -> Vec<String> {
    let mut names = fs.open_dir(path).unwrap().names().unwrap();
    names.sort();
    names
}

pub fn folders_are_made_once_and_removed_when_empty(fs: &dyn Vfs) {
    fs.make_dir("D").unwrap();
    assert_eq!(fs.make_dir("D"), Err(VfsError::Exists));
    put(fs, "D/A", b"");
    assert_eq!(fs.make_dir("D/A"), Err(VfsError::Exists));
    assert_eq!(fs.remove_dir("D"), Err(VfsError::NotEmpty));
    fs.remove_file("D/A").unwrap();
    fs.remove_dir("D").unwrap();
    assert_eq!(fs.stat("D").err(), Some(VfsError::NotFound));
}

pub fn files_and_folders_are_removed_by_their_own_calls(fs: &dyn Vfs) {
    put(fs, "A", b"");
    fs.make_dir("D").unwrap();
    assert_eq!(fs.remove_dir("A"), Err(VfsError::NotADirectory));
    assert_eq!(fs.remove_file("D"), Err(VfsError::IsADirectory));
    assert_eq!(listing(fs, ""), ["A", "D"]);
}

pub fn the_root_stays(fs: &dyn Vfs) {
    assert_eq!(fs.remove_dir(""), Err(VfsError::Busy));
    assert_eq!(fs.remove_file(""), Err(VfsError::IsADirectory));
    assert_eq!(fs.make_dir(""), Err(VfsError::Exists));
    assert_eq!(fs.rename("", "A", false), Err(VfsError::Busy));
    put(fs, "A", b"");
    assert_eq!(fs.rename("A", "", true), Err(VfsError::Busy));
    assert_eq!(fs.hard_link("A", ""), Err(VfsError::Exists));
    assert_eq!(listing(fs, ""), ["A"]);
}

pub fn rename_refuses_to_replace_unless_told(fs: &dyn Vfs) {
    put(fs, "A", b"a");
    put(fs, "B", b"b");
    assert_eq!(fs.rename("A", "B", false), Err(VfsError::Exists));
    assert_eq!(
        (contents(fs, "A"), contents(fs, "B")),
        (b"a".to_vec(), b"b".to_vec())
    );
    fs.rename("A", "B", true).unwrap();
    assert_eq!(contents(fs, "B"), b"a");
    assert_eq!(listing(fs, ""), ["B"]);
    fs.rename("B", "C", false).unwrap();
    fs.rename("C", "D", true).unwrap();
    assert_eq!(listing(fs, ""), ["D"]);
}

pub fn rename_replaces_files_only_and_by_files_only(fs: &dyn Vfs) {
    put(fs, "A", b"a");
    fs.make_dir("D").unwrap();
    fs.make_dir("E").unwrap();
    assert_eq!(fs.rename("A", "D", true), Err(VfsError::IsADirectory));
    assert_eq!(fs.rename("A", "D", false), Err(VfsError::Exists));
    assert_eq!(fs.rename("D", "A", true), Err(VfsError::Exists));
    assert_eq!(fs.rename("D", "E", true), Err(VfsError::Exists));
    assert_eq!(listing(fs, ""), ["A", "D", "E"]);
}

pub fn a_folder_cannot_move_into_itself(fs: &dyn Vfs) {
    fs.make_dir("D").unwrap();
    fs.make_dir("D/E").unwrap();
    assert_eq!(fs.rename("D", "D/F", false), Err(VfsError::Denied));
    assert_eq!(fs.rename("D", "D/E/F", true), Err(VfsError::Denied));
    assert_eq!(listing(fs, "D"), ["E"]);
}

pub fn rename_to_itself_changes_nothing(fs: &dyn Vfs) {
    put(fs, "A", b"a");
    fs.make_dir("D").unwrap();
    for path in ["A", "D"] {
        fs.rename(path, path, true).unwrap();
        assert_eq!(fs.rename(path, path, false), Err(VfsError::Exists));
    }
    fs.hard_link("A", "B").unwrap();
    fs.rename("A", "B", true).unwrap();
    assert_eq!(contents(fs, "B"), b"a");
}

pub fn a_folder_moves_with_what_is_in_it(fs: &dyn Vfs) {
    fs.make_dir("D").unwrap();
    fs.make_dir("D/E").unwrap();
    fs.make_dir("F").unwrap();
    put(fs, "D/E/A", b"deep");
    fs.rename("D/E", "F/G", false).unwrap();
    assert_eq!(contents(fs, "F/G/A"), b"deep");
    assert_eq!(fs.stat("D/E").err(), Some(VfsError::NotFound));
    fs.rename("D", "F/G/D", false).unwrap();
    assert_eq!(listing(fs, "F/G"), ["A", "D"]);
}

pub fn hard_links_share_one_file(fs: &dyn Vfs) {
    put(fs, "A", b"one");
    fs.make_dir("D").unwrap();
    fs.hard_link("A", "D/B").unwrap();
    open(fs, "D/B", WRITE).write_at(3, b"two").unwrap();
    assert_eq!(contents(fs, "A"), b"onetwo");
    assert_eq!(fs.hard_link("A", "D/B"), Err(VfsError::Exists));
    assert_eq!(fs.hard_link("D", "E"), Err(VfsError::IsADirectory));
    fs.remove_file("A").unwrap();
    assert_eq!(contents(fs, "D/B"), b"onetwo");
    assert_eq!(fs.stat("D/B").unwrap().links, 1);
}

pub fn paths_that_climb_are_refused_everywhere(fs: &dyn Vfs) {
    put(fs, "A", b"");
    fs.make_dir("D").unwrap();
    for path in [
        "..",
        "../A",
        "D/..",
        "D/../A",
        "D/../../etc/passwd",
        "../../../../etc",
    ] {
        let refused = Some(VfsError::Escapes);
        assert_eq!(fs.open(path, READ).err(), refused, "{path}");
        assert_eq!(fs.open(path, CREATE).err(), refused, "{path}");
        assert_eq!(fs.open_dir(path).err(), refused, "{path}");
        assert_eq!(fs.stat(path).err(), refused, "{path}");
        assert_eq!(fs.make_dir(path).err(), refused, "{path}");
        assert_eq!(fs.remove_file(path).err(), refused, "{path}");
        assert_eq!(fs.remove_dir(path).err(), refused, "{path}");
        assert_eq!(fs.rename("A", path, true).err(), refused, "{path}");
        assert_eq!(fs.rename(path, "B", true).err(), refused, "{path}");
        assert_eq!(fs.hard_link("A", path).err(), refused, "{path}");
        assert_eq!(fs.hard_link(path, "B").err(), refused, "{path}");
        assert_eq!(fs.attribute(path, "user.a").err(), refused, "{path}");
    }
    let root = fs.open_dir("").unwrap();
    assert_eq!(root.entry("..", None).err(), Some(VfsError::Escapes));
    assert_eq!(root.entry("D/A", None).err(), Some(VfsError::InvalidName));
}

pub fn malformed_paths_are_refused(fs: &dyn Vfs) {
    fs.make_dir("D").unwrap();
    for path in [
        "/", "/etc", "D/", "D//A", ".", "D/.", "D/./A", "A\0B", "D/A\0",
    ] {
        let refused = Some(VfsError::InvalidName);
        assert_eq!(fs.open(path, CREATE).err(), refused, "{path:?}");
        assert_eq!(fs.stat(path).err(), refused, "{path:?}");
        assert_eq!(fs.make_dir(path).err(), refused, "{path:?}");
        assert_eq!(fs.rename("D", path, false).err(), refused, "{path:?}");
    }
    assert_eq!(listing(fs, ""), ["D"]);
}

pub fn upper_and_lower_case_are_different_names(fs: &dyn Vfs) {
    put(fs, "readme", b"lower");
    put(fs, "README", b"upper");
    assert_eq!(contents(fs, "readme"), b"lower");
    assert_eq!(listing(fs, ""), ["README", "readme"]);
}

pub fn odd_names_survive_listing(fs: &dyn Vfs) {
    let names = [
        " ",
        "...",
        "a\\b",
        "a:b",
        "*?<>|\"",
        "trailing. ",
        "\n\t\x01\x7f",
        "Größe",
        "日本語",
        "\u{1F4BE}",
        "\u{EFF6}\u{EFDF}",
        "a\u{EF80}",
        "\u{EF2F}",
        "\u{E000}",
        "-rf",
    ];
    for name in names {
        put(fs, name, name.as_bytes());
    }
    let listed: BTreeSet<String> = listing(fs, "").into_iter().collect();
    assert_eq!(listed, names.iter().map(|n| (*n).to_owned()).collect());
    let root = fs.open_dir("").unwrap();
    for name in listed {
        assert_eq!(
            root.entry(&name, None).unwrap().0.size,
            name.len() as u64,
            "{name:?}"
        );
        assert_eq!(contents(fs, &name), name.as_bytes());
        fs.remove_file(&name).unwrap();
    }
}

pub fn overlong_names_are_refused(fs: &dyn Vfs) {
    let (longest, overlong) = ("n".repeat(255), "n".repeat(256));
    put(fs, &longest, b"");
    assert_eq!(listing(fs, ""), [longest.as_str()]);
    assert_eq!(
        fs.open(&overlong, CREATE).err(),
        Some(VfsError::NameTooLong)
    );
    assert_eq!(fs.make_dir(&overlong), Err(VfsError::NameTooLong));
    assert_eq!(
        fs.rename(&longest, &overlong, false),
        Err(VfsError::NameTooLong)
    );
    assert_eq!(fs.stat(&overlong).err(), Some(VfsError::NameTooLong));
}

pub fn a_listing_holds_every_name_once(fs: &dyn Vfs) {
    fs.make_dir("D").unwrap();
    let wanted: BTreeSet<String> = (0..3_000)
        .map(|i| format!("a rather long file name {i:05}"))
        .collect();
    for name in &wanted {
        put(fs, &format!("D/{name}"), b"");
    }
    let dir = fs.open_dir("D").unwrap();
    for _ in 0..2 {
        let names = dir.names().unwrap();
        assert_eq!(names.len(), wanted.len());
        assert!(names.into_iter().collect::<BTreeSet<_>>() == wanted);
    }
    assert_eq!(listing(fs, ""), ["D"]);
}

pub fn an_entry_brings_its_attribute(fs: &dyn Vfs) {
    fs.make_dir("D").unwrap();
    fs.make_dir("D/E").unwrap();
    put(fs, "D/A", b"12345");
    open(fs, "D/A", WRITE)
        .set_attribute("user.a", b"value")
        .unwrap();
    let dir = fs.open_dir("D").unwrap();
    let (stat, value) = dir.entry("A", Some("user.a")).unwrap();
    assert_eq!(
        (stat.kind, stat.size, value),
        (Kind::File, 5, Some(b"value".to_vec()))
    );
    assert_eq!(stat, fs.stat("D/A").unwrap());
    assert_eq!(dir.entry("A", Some("user.b")).unwrap().1, None);
    assert_eq!(dir.entry("A", None).unwrap().1, None);
    assert_eq!(
        dir.entry("E", Some("user.a")).unwrap().0.kind,
        Kind::Directory
    );
    assert_eq!(dir.entry("F", None).err(), Some(VfsError::NotFound));
}

pub fn a_listing_shows_what_changed_since_the_last(fs: &dyn Vfs) {
    for i in 0..200 {
        put(fs, &format!("{i:03}"), b"");
    }
    let dir = fs.open_dir("").unwrap();
    let first = dir.names().unwrap();
    assert_eq!(first.len(), 200);
    for name in first.iter().step_by(2) {
        fs.remove_file(name).unwrap();
        assert_eq!(dir.entry(name, None).err(), Some(VfsError::NotFound));
    }
    fs.rename(&first[1], "renamed", false).unwrap();
    put(fs, "new", b"");
    let second: BTreeSet<String> = dir.names().unwrap().into_iter().collect();
    let kept = first.iter().skip(3).step_by(2).cloned();
    let wanted: BTreeSet<String> = kept
        .chain(["renamed".to_owned(), "new".to_owned()])
        .collect();
    assert_eq!(second, wanted);
}

pub fn a_folder_tells_when_its_names_changed(fs: &dyn Vfs) {
    fs.make_dir("D").unwrap();
    put(fs, "D/A", b"");
    let dir = fs.open_dir("D").unwrap();
    let stamp = || {
        let stat = dir.stat().unwrap();
        let settled = (0..100_000_000).any(|_| dir.tells_changes_after(&stat));
        assert!(settled, "{stat:?} does not become stable");
        (stat.modified, stat.changed)
    };
    let quiet = stamp();
    dir.names().unwrap();
    open(fs, "D/A", WRITE)
        .write_at(0, b"contents are not names")
        .unwrap();
    assert_eq!(stamp(), quiet);
    let mut seen = Vec::from([quiet]);
    for round in 0..5 {
        put(fs, "D/B", b"");
        seen.push(stamp());
        fs.rename("D/B", "D/C", false).unwrap();
        seen.push(stamp());
        fs.make_dir("D/E").unwrap();
        seen.push(stamp());
        fs.remove_file("D/C").unwrap();
        seen.push(stamp());
        fs.remove_dir("D/E").unwrap();
        seen.push(stamp());
        fs.hard_link("D/A", "D/F").unwrap();
        seen.push(stamp());
        put(fs, "D/G", b"");
        fs.rename("D/G", "D/F", true).unwrap();
        seen.push(stamp());
        fs.rename("D/F", &format!("{round}"), false).unwrap();
        seen.push(stamp());
    }
    for pair in seen.windows(2) {
        assert!(pair[0] < pair[1], "{seen:?}");
    }
}

pub fn a_removed_folder_lists_nothing(fs: &dyn Vfs) {
    fs.make_dir("D").unwrap();
    let dir = fs.open_dir("D").unwrap();
    fs.remove_dir("D").unwrap();
    assert_eq!(dir.names().unwrap(), [""; 0]);
    assert_eq!(dir.entry("A", None).err(), Some(VfsError::NotFound));
    dir.stat().unwrap();
}
