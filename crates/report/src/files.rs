//! Atomic writes of files.

use std::{fs, io::Write as _, path::Path};

use anyhow::{Context as _, Result};

/// Writes a temporary file beside `path` and renames it, so that readers see the old or the new file, never a part.
/// Something other than an ordinary file (`/dev/stdout`, a pipe) is written directly.
///
/// # Errors
/// Writing failed.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    let failed = || format!("{} cannot be written", path.display());
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        let opened = fs::OpenOptions::new().write(true).open(path);
        return opened
            .and_then(|mut file| file.write_all(bytes))
            .with_context(failed);
    }
    // a symbolic link stays one
    let place = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mut name = place.clone().into_os_string();
    name.push(format!(".{}.part", std::process::id()));
    let part = Path::new(&name);
    let written = fs::write(part, bytes).and_then(|()| fs::rename(part, &place));
    if written.is_err() {
        // the first error matters
        let _ = fs::remove_file(part);
    }
    written.with_context(failed)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_whole_and_nothing_stays_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.csv");
        write_whole(&file, b"a longer first text").unwrap();
        write_whole(&file, b"new").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        let error = write_whole(&folder.path().join("no/where.csv"), b"").unwrap_err();
        assert!(
            error.to_string().contains("where.csv cannot be written"),
            "{error}"
        );
    }
}
