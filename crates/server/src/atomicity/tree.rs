//! Snapshots of disks, for comparison.

use crate::{
    names::attributes::DosAttrib,
    vfs::{Kind, OpenHow, Vfs, VfsError},
};
use alloc::{
    collections::BTreeMap,
    format,
    string::{String, ToString},
    sync::Arc,
    vec,
    vec::Vec,
};

/// One file or folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// `None` for folders.
    contents: Option<Vec<u8>>,
    /// Extended attributes. The DOS attributes are without the creation time, which depends on the clock.
    attributes: BTreeMap<String, Vec<u8>>,
    writable: bool,
}

impl Entry {
    fn at(fs: &dyn Vfs, path: &str) -> Self {
        let stat = fs.stat(path).unwrap();
        let how = OpenHow {
            read: true,
            ..OpenHow::default()
        };
        let file = fs.open(path, how).unwrap().0;
        let names = match file.attribute_names() {
            Err(VfsError::Unsupported) => Vec::new(),
            names => names.unwrap(),
        };
        let attributes = names.into_iter().map(|name| {
            let value = file.attribute(&name).unwrap();
            let plain = DosAttrib::decode(&value).filter(|_| name == DosAttrib::NAME);
            let value = match plain {
                Some(kept) => kept.attributes.0.to_le_bytes().to_vec(),
                None => value,
            };
            (name, value)
        });
        let contents = (stat.kind == Kind::File).then(|| {
            let mut bytes = vec![0; stat.size as usize];
            file.read_at(0, &mut bytes).unwrap();
            bytes
        });
        Self {
            contents,
            attributes: attributes.collect(),
            writable: stat.mode & 0o200 != 0,
        }
    }

    /// Whether both have the same contents.
    pub(super) fn holds(&self, other: &Self) -> bool {
        self.contents == other.contents
    }

    /// Whether contents and each attribute equal those of `before` or of `after`.
    fn is_jumble_of(&self, before: &Self, after: &Self) -> bool {
        let trees = [self, before, after];
        let mut names = trees.iter().flat_map(|entry| entry.attributes.keys());
        let contents = self.holds(before) || self.holds(after);
        contents
            && names.all(|name| {
                let [now, old, new] = trees.map(|entry| entry.attributes.get(name));
                now == old || now == new
            })
    }

    /// Whether each byte equals that of `before` or of `after`.
    fn is_mixed_of(&self, before: &Self, after: &Self) -> bool {
        let (Some(now), Some(old), Some(new)) = (&self.contents, &before.contents, &after.contents)
        else {
            return false;
        };
        let fits =
            |(at, byte): (usize, &u8)| old.get(at) == Some(byte) || new.get(at) == Some(byte);
        now.len() >= old.len().min(new.len()) && now.iter().enumerate().all(fits)
    }
}

/// The files and folders on several disks, by number and path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tree(pub(super) BTreeMap<String, Entry>);

impl Tree {
    pub(super) fn of(disks: &[Arc<dyn Vfs>]) -> Self {
        let mut entries = BTreeMap::new();
        for (number, fs) in disks.iter().enumerate() {
            let mut folders = vec![String::new()];
            while let Some(folder) = folders.pop() {
                for name in fs.open_dir(&folder).unwrap().names().unwrap() {
                    let path = match folder.as_str() {
                        "" => name,
                        folder => format!("{folder}/{name}"),
                    };
                    let entry = Entry::at(&**fs, &path);
                    if entry.contents.is_none() {
                        folders.push(path.clone());
                    }
                    entries.insert(format!("{number}:{path}"), entry);
                }
            }
        }
        Self(entries)
    }

    /// Whether each entry equals that of `before` or of `after`.
    pub(super) fn is_part_way(&self, before: &Self, after: &Self) -> bool {
        self.compare(before, after, |_, _, _| false)
    }

    /// Like `is_part_way`, for each attribute of an entry.
    pub(super) fn is_jumble_of(&self, before: &Self, after: &Self) -> bool {
        self.compare(before, after, Entry::is_jumble_of)
    }

    /// Whether each entry equals that of `before` or of `after`, where contents may mix both.
    pub(super) fn is_mixed_of(&self, before: &Self, after: &Self) -> bool {
        self.compare(before, after, Entry::is_mixed_of)
    }

    fn compare(
        &self,
        before: &Self,
        after: &Self,
        fits: impl Fn(&Entry, &Entry, &Entry) -> bool,
    ) -> bool {
        let paths = [self, before, after]
            .into_iter()
            .flat_map(|tree| tree.0.keys());
        paths.into_iter().all(|path| {
            let [now, old, new] = [self, before, after].map(|tree| tree.0.get(path));
            now == old
                || now == new
                || matches!((now, old, new), (Some(now), Some(old), Some(new)) if fits(now, old, new))
        })
    }

    /// The entries that equal neither `before` nor `after`, or else those that differ from `before`.
    pub(super) fn differences(&self, before: &Self, after: &Self) -> String {
        let mut found = Vec::new();
        let keys = [self, before, after]
            .into_iter()
            .flat_map(|tree| tree.0.keys());
        let mut keys: Vec<_> = keys.collect();
        keys.sort();
        keys.dedup();
        for path in keys {
            let [now, old, new] = [self, before, after].map(|tree| tree.0.get(path));
            let is = match (now == old, now == new) {
                (true, true) => continue,
                (true, false) => "as before".to_string(),
                (false, true) => "as after".to_string(),
                (false, false) => match now {
                    None => "missing".to_string(),
                    Some(entry) => format!("{entry:?}"),
                },
            };
            found.push(format!("{path} {is}"));
        }
        found.join(", ")
    }
}

/// Puts the common files of all cases on the disk.
pub(super) fn furnish(fs: &dyn Vfs, streams: bool) {
    for folder in ["DIR", "DIR/SUB", "EMPTY"] {
        fs.make_dir(folder).unwrap();
    }
    let files: &[(&str, &[u8])] = &[
        ("F", b"the old contents of the file"),
        ("G", b"another file, longer than the one before it"),
        ("TEXT", b"one\x1a"),
        ("A long name.text", b"long"),
        ("DIR/A", b"a"),
        ("DIR/B", b"bb"),
        ("DIR/SUB/C", b"ccc"),
    ];
    let how = OpenHow {
        read: true,
        write: true,
        create: true,
        exclusive: true,
        truncate: false,
    };
    for (path, contents) in files {
        let file = fs.open(path, how).unwrap().0;
        file.write_at(0, contents).unwrap();
    }
    let file = fs
        .open(
            "F",
            OpenHow {
                create: false,
                exclusive: false,
                ..how
            },
        )
        .unwrap()
        .0;
    let given = file.set_attribute("user.COMMENT", b"old comment");
    if streams && given.is_ok() {
        for name in ["s", "t"] {
            let name = format!("user.DosStream.{name}:$DATA");
            file.set_attribute(&name, b"stream\0").unwrap();
        }
    }
}
