//! The program's own crate is its command line. Decisions are in the crates that own them.

use std::{fs, path::Path};

/// Lines of the program's crate, with its unit tests.
const LINES_MAX: usize = 12_000;

fn lines(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let counts = paths.map(|path| match path.is_dir() {
        true => lines(&path),
        false => fs::read_to_string(path).unwrap().lines().count(),
    });
    counts.sum()
}

#[test]
fn the_program_s_crate_stays_small() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../coax/src");
    let count = lines(&source);
    assert!(
        count > 1000 && count <= LINES_MAX,
        "{count} lines: move what is not a command line to another crate"
    );
}
