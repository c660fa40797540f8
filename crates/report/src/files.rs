//! Atomic writes of files.

use std::{
    ffi::OsString,
    fs,
    io::{self, Write as _},
    path::Path,
};

use anyhow::{Context as _, Result, anyhow};

/// Whether an output's name means standard output.
pub fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Tries whether [`write_whole`] will be able to write `path`, before the work whose result goes there.
///
/// # Errors
/// It will not: the folder is missing or may not be written, or `path` is a folder.
pub fn check_writable(path: &Path) -> Result<()> {
    if is_stdout(path) {
        return Ok(());
    }
    let failed = || format!("{} cannot be written", path.display());
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => Err(anyhow!("it is a folder")).with_context(failed),
        Ok(found) if !found.is_file() => Ok(()),
        _ => {
            let name = part_name(&fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()));
            let part = Path::new(&name);
            fs::write(part, b"")
                .and_then(|()| fs::remove_file(part))
                .with_context(failed)
        }
    }
}

fn part_name(place: &Path) -> OsString {
    let mut name = place.as_os_str().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    name
}

/// Writes a temporary file beside `path` and renames it, so that readers see the old or the new file, never a part.
/// Something other than an ordinary file (`/dev/stdout`, a pipe) is written directly;
/// `-` is standard output.
///
/// # Errors
/// Writing failed.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    let failed = || format!("{} cannot be written", path.display());
    if is_stdout(path) {
        let mut out = io::stdout().lock();
        return match out.write_all(bytes).and_then(|()| out.flush()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Err(error).context("standard output cannot be written")
            }
            _ => Ok(()),
        };
    }
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        let opened = fs::OpenOptions::new().write(true).open(path);
        return opened
            .and_then(|mut file| file.write_all(bytes))
            .with_context(failed);
    }
    // a symbolic link stays one
    let place = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let name = part_name(&place);
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

    #[test]
    fn an_output_is_tried_before_the_work_and_the_trial_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.csv");
        check_writable(&file).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        fs::write(&file, b"kept").unwrap();
        check_writable(&file).unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"kept");
        check_writable(Path::new("-")).unwrap();
        check_writable(Path::new("/dev/null")).unwrap();
        for wrong in [folder.path(), &folder.path().join("no/where.csv")] {
            let error = check_writable(wrong).unwrap_err();
            assert!(error.to_string().ends_with("cannot be written"), "{error}");
        }
    }
}
