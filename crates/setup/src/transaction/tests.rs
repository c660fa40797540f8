//! Whatever fails, nothing is changed.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use super::*;

/// Every file and folder below `root`, with contents and mode.
fn tree(root: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut all = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let found = fs::symlink_metadata(&path).unwrap();
            let bytes = if found.is_file() {
                fs::read(&path).unwrap()
            } else {
                Vec::new()
            };
            if found.is_dir() {
                open.push(path.clone());
            }
            all.insert(path, (found.mode(), bytes));
        }
    }
    all
}

fn text<'a>(path: PathBuf, text: &'a str) -> Change<'a> {
    Change {
        path,
        new: New::Text(text),
        mode: 0o640,
        owner: None,
        keep: false,
    }
}

fn append(copy: &Path) -> Result<(), String> {
    let mut text = fs::read_to_string(copy).unwrap();
    text.push_str("more");
    fs::write(copy, text).map_err(|error| error.to_string())
}

/// A folder with files of each kind, and what is to become of them.
fn prepared(root: &Path) -> Vec<Change<'static>> {
    fs::write(root.join("smb.conf"), "old").unwrap();
    fs::set_permissions(root.join("smb.conf"), fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(root.join("users"), "some ").unwrap();
    fs::write(root.join("gone"), "going").unwrap();
    vec![
        Change {
            keep: true,
            ..text(root.join("smb.conf"), "new")
        },
        text(root.join("a/b/new"), "fresh"),
        Change {
            new: New::Changed(&append),
            ..text(root.join("users"), "")
        },
        Change {
            new: New::Gone,
            ..text(root.join("gone"), "")
        },
        Change {
            new: New::Gone,
            ..text(root.join("never"), "")
        },
    ]
}

fn run(root: &Path, changes: Vec<Change<'_>>) -> Result<Transaction, Failed> {
    let mut transaction = Transaction::default();
    transaction.folder(&root.join("a/b"), 0o755, None)?;
    transaction.files(changes)?;
    Ok(transaction)
}

#[test]
fn a_transaction_that_is_committed_changes_everything() {
    let root = tempfile::tempdir().unwrap();
    let changes = prepared(root.path());
    let kept = run(root.path(), changes).unwrap().commit();
    assert_eq!(kept, [root.path().join("smb.conf.old")]);
    let all = tree(root.path());
    let read = |name: &str| {
        all.get(&root.path().join(name))
            .map(|(mode, bytes)| (mode & 0o777, String::from_utf8_lossy(bytes)))
    };
    assert_eq!(read("smb.conf"), Some((0o600, "new".into())));
    assert_eq!(read("smb.conf.old"), Some((0o600, "old".into())));
    assert_eq!(read("a/b/new"), Some((0o640, "fresh".into())));
    assert_eq!(
        read("users").map(|(_, text)| text),
        Some("some more".into())
    );
    assert_eq!(read("gone"), None);
    assert_eq!(all.len(), 6, "{all:?}");
}

#[test]
fn a_transaction_that_is_dropped_changes_nothing() {
    let root = tempfile::tempdir().unwrap();
    let changes = prepared(root.path());
    let before = tree(root.path());
    drop(run(root.path(), changes).unwrap());
    assert_eq!(tree(root.path()), before);
}

#[test]
fn each_step_may_fail_and_nothing_is_changed() {
    for step in 0..5 {
        let root = tempfile::tempdir().unwrap();
        let mut changes = prepared(root.path());
        let refuses = |_: &Path| Err("no".to_owned());
        let bad = match step {
            // a folder stands in the way, a folder is missing, the copy cannot be changed
            0 => text(root.path().to_owned(), ""),
            1 => text(root.path().join("missing/x"), ""),
            2 => Change {
                new: New::Changed(&refuses),
                ..text(root.path().join("other"), "")
            },
            // the file comes into being between the steps: two changes for one new file
            3 => text(root.path().join("a/b/new"), "twice"),
            _ => Change {
                owner: Some((0, 0)),
                ..text("/proc/self/x".into(), "")
            },
        };
        changes.push(bad);
        let before = tree(root.path());
        let failed = run(root.path(), changes).map(drop).unwrap_err();
        assert!(!failed.why.is_empty(), "{failed:?}");
        assert_eq!(tree(root.path()), before, "step {step}: {failed:?}");
    }
}

#[test]
fn a_symbolic_link_stays_and_its_target_changes() {
    let root = tempfile::tempdir().unwrap();
    let (real, link) = (root.path().join("real"), root.path().join("link"));
    fs::write(&real, "old").unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    let mut transaction = Transaction::default();
    transaction.files(vec![text(link.clone(), "new")]).unwrap();
    transaction.commit();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&real).unwrap(), "new");
}

#[test]
fn a_folder_that_something_else_uses_by_then_stays() {
    let root = tempfile::tempdir().unwrap();
    let mut transaction = Transaction::default();
    transaction
        .folder(&root.path().join("a/b"), 0o755, None)
        .unwrap();
    fs::write(root.path().join("a/b/theirs"), "x").unwrap();
    drop(transaction);
    assert!(root.path().join("a/b/theirs").exists());
}

/// Replaces `path` by "new" and keeps the old file.
fn replaced(path: &Path) -> Result<Transaction, Failed> {
    let mut transaction = Transaction::default();
    let change = Change {
        keep: true,
        ..text(path.to_owned(), "new")
    };
    transaction.files(vec![change])?;
    Ok(transaction)
}

#[test]
fn the_copy_of_a_linked_file_lies_beside_the_file() {
    let (root, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (real, link) = (other.path().join("real"), root.path().join("smb.conf"));
    fs::write(&real, "old").unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    let name = other.path().canonicalize().unwrap().join("real.old");
    assert_eq!(kept_as(&link).as_ref(), Some(&name));
    assert_eq!(
        replaced(&link).unwrap().commit(),
        std::slice::from_ref(&name)
    );
    assert_eq!(fs::read_to_string(&name).unwrap(), "old");
    assert_eq!(fs::read_to_string(&link).unwrap(), "new");
    assert_eq!(tree(root.path()).len(), 1);
}

#[test]
fn no_copy_replaces_another() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("smb.conf");
    let name = |end: &str| root.path().join(format!("smb.conf.old{end}"));
    // a link to nowhere has a name too
    std::os::unix::fs::symlink("nowhere", name(".1")).unwrap();
    for (end, old) in [("", "by hand"), (".2", "second"), (".3", "third")] {
        fs::write(&path, old).unwrap();
        assert_eq!(replaced(&path).unwrap().commit(), [name(end)]);
    }
    for (end, old) in [("", "by hand"), (".2", "second"), (".3", "third")] {
        assert_eq!(fs::read_to_string(name(end)).unwrap(), old);
    }
}

#[test]
fn nothing_is_replaced_if_no_copy_can_be_kept() {
    let root = tempfile::tempdir().unwrap();
    // 255 bytes are the longest name (NAME_MAX of limits.h)
    let path = root.path().join("x".repeat(252));
    fs::write(&path, "old").unwrap();
    let before = tree(root.path());
    let failed = replaced(&path).map(drop).unwrap_err();
    assert_eq!(failed.what, "keep a copy of");
    assert_eq!(tree(root.path()), before);
}

#[test]
fn after_a_crash_the_copy_undoes_the_replacement() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("smb.conf");
    fs::write(&path, "old").unwrap();
    let before = tree(root.path());
    std::mem::forget(replaced(&path).unwrap());
    assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    fs::rename(root.path().join("smb.conf.old"), &path).unwrap();
    assert_eq!(tree(root.path()), before);
}

#[test]
fn a_copy_without_hard_links_has_owner_mode_and_contents() {
    let root = tempfile::tempdir().unwrap();
    let (from, to) = (root.path().join("a"), root.path().join("b"));
    fs::write(&from, "old").unwrap();
    fs::set_permissions(&from, fs::Permissions::from_mode(0o640)).unwrap();
    copy(&from, &to).unwrap();
    let all = tree(root.path());
    assert_eq!(all.get(&from), all.get(&to));
    fs::write(&to, "other").unwrap();
    let refused = copy(&from, &to).unwrap_err();
    assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
    assert_eq!(fs::read_to_string(&to).unwrap(), "other");
}
