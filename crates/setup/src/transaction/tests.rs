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
        keep: None,
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
            keep: Some(root.join("smb.conf.old")),
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
    run(root.path(), changes).unwrap().commit();
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
