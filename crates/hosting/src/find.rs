//! Where the page's file is.

use std::{
    fmt, fs,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

/// The file's name.
const NAME: &str = "index.html";
/// Most bytes of the file. scripts/package makes one of 2.4 MB.
const MAX_BYTES: u64 = 32 << 20;
/// What the document of the page contains, and hardly another one.
const MARKS: [&str; 2] = ["<title>coax</title>", "wasm-unsafe-eval"];

/// The page.
#[derive(Clone, PartialEq, Eq)]
pub struct Page {
    /// Its file.
    pub path: PathBuf,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

impl fmt::Debug for Page {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let length = self.bytes.len();
        write!(f, "Page({}, {length} bytes)", self.path.display())
    }
}

/// Why there is no page.
#[derive(Debug)]
pub enum Refusal {
    /// None of these files exists.
    Missing(Vec<PathBuf>),
    /// This file cannot be read.
    Unreadable(PathBuf, io::Error),
    /// This file is something else.
    Other(PathBuf),
}

/// Paths where the page may be: beside `program` (the executable), then the folders of the packages.
pub fn candidates(program: Option<&Path>) -> Vec<PathBuf> {
    let beside = program.and_then(Path::parent).into_iter();
    let beside = beside.flat_map(|folder| {
        let shared = folder.parent().map(|above| above.join("share/coax/web"));
        [Some(folder.join("web")), shared]
    });
    let system = [
        Some(PathBuf::from("/usr/local/share/coax/web")),
        Some(PathBuf::from("/usr/share/coax/web")),
    ];
    let mut all: Vec<PathBuf> = Vec::new();
    for folder in beside.chain(system).flatten() {
        let file = folder.join(NAME);
        if !all.contains(&file) {
            all.push(file);
        }
    }
    all
}

/// Reads the page in `folder`, else the first one of `candidates`.
///
/// # Errors
/// There is none, or the first one cannot be served.
pub fn find(folder: Option<&Path>, candidates: &[PathBuf]) -> Result<Page, Refusal> {
    let given = folder.map(|folder| vec![folder.join(NAME)]);
    let places = given.as_deref().unwrap_or(candidates);
    for path in places {
        match read(path) {
            Err(error) if is_missing(&error) => {}
            Err(error) => return Err(Refusal::Unreadable(path.clone(), error)),
            Ok(bytes) => return page(path, bytes),
        }
    }
    Err(Refusal::Missing(places.to_vec()))
}

fn is_missing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// At most one byte too many is read.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = fs::File::open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn page(path: &Path, bytes: Vec<u8>) -> Result<Page, Refusal> {
    let fits = bytes.len() as u64 <= MAX_BYTES;
    // the marks are in the first part, before the styles
    let start = String::from_utf8_lossy(bytes.get(..4096).unwrap_or(&bytes)).into_owned();
    let path = path.to_owned();
    match fits && MARKS.iter().all(|mark| start.contains(mark)) {
        true => Ok(Page { path, bytes }),
        false => Err(Refusal::Other(path)),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const DOCUMENT: &str = include_str!("../../web/page/index.html");

    #[test]
    fn the_page_is_sought_beside_the_program_and_in_the_system() {
        let places = candidates(Some(Path::new("/opt/coax/bin/coax")));
        let places: Vec<_> = places.iter().map(|path| path.to_str().unwrap()).collect();
        let expected = [
            "/opt/coax/bin/web/index.html",
            "/opt/coax/share/coax/web/index.html",
            "/usr/local/share/coax/web/index.html",
            "/usr/share/coax/web/index.html",
        ];
        assert_eq!(places, expected);
        let installed = candidates(Some(Path::new("/usr/bin/coax")));
        let share = Path::new("/usr/share/coax/web/index.html");
        assert_eq!(installed.iter().filter(|path| *path == share).count(), 1);
        assert_eq!(candidates(None).len(), 2);
    }

    #[test]
    fn the_first_page_is_taken_and_a_folder_is_the_only_place() {
        let folder = tempfile::tempdir().unwrap();
        let (first, second) = (folder.path().join("a"), folder.path().join("b"));
        for place in [&first, &second] {
            fs::create_dir(place).unwrap();
        }
        let places = [first.join(NAME), second.join(NAME)];
        assert!(matches!(find(None, &places), Err(Refusal::Missing(all)) if all == places));
        fs::write(&places[1], DOCUMENT).unwrap();
        assert_eq!(find(None, &places).unwrap().path, places[1]);
        fs::write(&places[0], DOCUMENT).unwrap();
        assert_eq!(find(None, &places).unwrap().path, places[0]);
        assert_eq!(find(Some(&second), &places).unwrap().path, places[1]);
        let missing = find(Some(folder.path()), &places);
        assert!(matches!(missing, Err(Refusal::Missing(all)) if all == [folder.path().join(NAME)]));
    }

    #[test]
    fn another_document_a_folder_and_a_huge_file_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(NAME);
        fs::write(&file, "<html><title>other</title>").unwrap();
        assert!(
            matches!(find(Some(folder.path()), &[]), Err(Refusal::Other(path)) if path == file)
        );
        let huge = fs::File::create(&file).unwrap();
        huge.set_len(MAX_BYTES + 1).unwrap();
        assert!(matches!(
            find(Some(folder.path()), &[]),
            Err(Refusal::Other(_))
        ));
        fs::remove_file(&file).unwrap();
        fs::create_dir(&file).unwrap();
        let refused = find(Some(folder.path()), &[]);
        assert!(matches!(refused, Err(Refusal::Unreadable(path, _)) if path == file));
        // what is no folder contains no page
        fs::remove_dir(&file).unwrap();
        fs::write(&file, DOCUMENT).unwrap();
        assert!(matches!(find(Some(&file), &[]), Err(Refusal::Missing(_))));
    }
}
