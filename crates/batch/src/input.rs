//! Finds the captures among files and folders.

use std::{
    collections::HashSet,
    fs::{self, File},
    io::{self, Read as _},
    path::{Component, Path, PathBuf},
};

use crate::error::Failure;

/// First bytes of capture files: pcap of both byte orders and units, a patched libpcap, pcapng, and gzip.
const MAGICS: [&[u8]; 8] = [
    &[0xd4, 0xc3, 0xb2, 0xa1],
    &[0xa1, 0xb2, 0xc3, 0xd4],
    &[0x4d, 0x3c, 0xb2, 0xa1],
    &[0xa1, 0xb2, 0x3c, 0x4d],
    &[0x34, 0xcd, 0xb2, 0xa1],
    &[0xa1, 0xb2, 0xcd, 0x34],
    &[0x0a, 0x0d, 0x0d, 0x0a],
    &[0x1f, 0x8b],
];
const ENDINGS: [&str; 4] = ["pcap", "pcapng", "cap", "dmp"];

/// A capture to explain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Input {
    /// Where it is; reports name it so.
    pub(crate) path: PathBuf,
    /// Its place below the folder of results, without an ending.
    pub(crate) place: PathBuf,
}

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) inputs: Vec<Input>,
    pub(crate) failures: Vec<Failure>,
    /// Files in folders that are no captures.
    pub(crate) others: usize,
    known: HashSet<PathBuf>,
    places: HashSet<PathBuf>,
}

impl Found {
    /// Searches the folders. A file that is named is taken whatever it is.
    pub(crate) fn search(paths: &[PathBuf]) -> Self {
        let mut found = Self::default();
        for path in paths {
            match fs::metadata(path) {
                Ok(about) if about.is_dir() => found.folder(path),
                Ok(_) => found.add(path),
                Err(error) => found.fail(path, &error),
            }
        }
        found
    }

    fn folder(&mut self, folder: &Path) {
        let mut entries =
            match fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>) {
                Ok(entries) => entries,
                Err(error) => return self.fail(folder, &error),
            };
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let path = entry.path();
            // a symbolic link to a folder could lead back
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => self.folder(&path),
                Ok(_) if !path.is_file() => self.others += 1,
                Ok(_) => match is_capture(&path) {
                    Ok(true) => self.add(&path),
                    Ok(false) => self.others += 1,
                    Err(error) => self.fail(&path, &error),
                },
                Err(error) => self.fail(&path, &error),
            }
        }
    }

    fn add(&mut self, path: &Path) {
        let whole = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        if !self.known.insert(whole) {
            return;
        }
        let place = place(path);
        if !self.places.insert(place.clone()) {
            let reason =
                "another capture's result has the same name; explain it in a run of its own";
            return self.failures.push(Failure {
                path: path.to_owned(),
                reason: reason.into(),
            });
        }
        self.inputs.push(Input {
            path: path.to_owned(),
            place,
        });
    }

    fn fail(&mut self, path: &Path, error: &io::Error) {
        self.failures.push(Failure {
            path: path.to_owned(),
            reason: error.to_string(),
        });
    }
}

/// The path without what leads out of a folder.
fn place(path: &Path) -> PathBuf {
    path.components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_owned()),
            Component::ParentDir => Some("__".into()),
            Component::Prefix(_) | Component::RootDir | Component::CurDir => None,
        })
        .collect()
}

/// By its ending (`.pcap`, `.pcap.gz`) or by its first bytes.
fn is_capture(path: &Path) -> io::Result<bool> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    let ending = name
        .rsplit_once('.')
        .map(|(_, ending)| ending.to_ascii_lowercase());
    if ending.is_some_and(|ending| ENDINGS.contains(&ending.as_str())) {
        return Ok(true);
    }
    let mut first = Vec::new();
    File::open(path)?.take(4).read_to_end(&mut first)?;
    Ok(MAGICS.iter().any(|magic| first.starts_with(magic)))
}
