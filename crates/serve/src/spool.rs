//! Print jobs that nobody took from the folder of a printer.

use std::{
    path::Path,
    time::{Duration, SystemTime},
};

use super::problem::Problem;
use coax_smbconf::settings::ShareSettings;

/// Finished jobs in the folder from which on the server says so. A program that takes them may be late with a few.
const MANY: usize = 100;
/// Entries of the folder that are looked at.
const ENTRIES_MAX: usize = 20_000;
/// An unfinished job that was not written for as long belongs to no client any more.
const FORGOTTEN: Duration = Duration::from_secs(86_400);

/// Files of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Files {
    count: usize,
    bytes: u64,
}

impl Files {
    fn add(&mut self, bytes: u64) {
        self.count = self.count.saturating_add(1);
        self.bytes = self.bytes.saturating_add(bytes);
    }

    fn told(self) -> String {
        format!("{} print jobs ({} MiB)", self.count, self.bytes >> 20)
    }
}

/// What has piled up in the folder of a printer; nothing for other shares.
pub(super) fn problems(share: &ShareSettings, path: &Path) -> Vec<Problem> {
    if !share.printable {
        return Vec::new();
    }
    let (finished, unfinished) = count(path);
    let (name, folder) = (&share.name, path.display());
    let mut found = Vec::new();
    if finished.count >= MANY {
        let (why, remedy) = match share.print_command.is_empty() {
            true => (
                "no 'print command' takes them",
                format!("[{name}] print command = lpr %s; rm %s, or delete {folder}/*.prn"),
            ),
            false => (
                "their 'print command' failed or does not delete its file",
                format!("print {folder}/*.prn and delete them; end 'print command' with rm %s"),
            ),
        };
        found.push(Problem {
            text: format!("{} are left in {folder}: {why}", finished.told()),
            remedy,
        });
    }
    if unfinished.count > 0 {
        found.push(Problem {
            text: format!(
                "{} in {folder} were never finished: the server or the machine stopped",
                unfinished.told()
            ),
            remedy: format!("delete {folder}/.coax-*.spool"),
        });
    }
    found
}

/// Finished jobs, and unfinished ones that no client writes any more.
fn count(path: &Path) -> (Files, Files) {
    let (mut finished, mut unfinished) = (Files::default(), Files::default());
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    for entry in entries.take(ENTRIES_MAX) {
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        let is_unfinished = name.starts_with(".coax-") && name.ends_with(".spool");
        if !is_unfinished && !name.ends_with(".prn") {
            continue;
        }
        let Ok(found) = entry.metadata() else {
            continue;
        };
        let age = found.modified().ok();
        let age = age.and_then(|at| SystemTime::now().duration_since(at).ok());
        match is_unfinished {
            false => finished.add(found.len()),
            true if age.is_some_and(|age| age >= FORGOTTEN) => unfinished.add(found.len()),
            true => {}
        }
    }
    (finished, unfinished)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn told(share: &ShareSettings, path: &Path) -> Vec<String> {
        let found = problems(share, path).into_iter();
        found.map(|problem| problem.text).collect()
    }

    #[test]
    fn jobs_that_nobody_takes_are_told_of_with_what_takes_them() {
        let folder = tempfile::tempdir().unwrap();
        let (path, mut printer) = (folder.path(), ShareSettings::default());
        printer.printable = true;
        for n in 1..MANY {
            std::fs::write(path.join(format!("job-{n:03}.prn")), b"page").unwrap();
        }
        std::fs::write(path.join("notes.txt"), b"").unwrap();
        assert_eq!(told(&printer, path), Vec::<String>::new());
        std::fs::write(path.join("job-100.prn"), b"page").unwrap();
        let text = told(&printer, path).concat();
        assert!(
            text.contains("100 print jobs") && text.contains("no 'print command'"),
            "{text}"
        );
        printer.print_command = "lpr %s".into();
        let text = told(&printer, path).concat();
        assert!(text.contains("does not delete its file"), "{text}");
        printer.printable = false;
        assert_eq!(told(&printer, path), Vec::<String>::new());
    }

    #[test]
    fn a_job_that_a_crash_left_unfinished_is_told_of_after_a_day() {
        let folder = tempfile::tempdir().unwrap();
        let printer = ShareSettings {
            printable: true,
            ..ShareSettings::default()
        };
        let file = std::fs::File::create(folder.path().join(".coax-7.spool")).unwrap();
        assert_eq!(told(&printer, folder.path()), Vec::<String>::new());
        let long_ago = SystemTime::now() - FORGOTTEN;
        file.set_modified(long_ago).unwrap();
        let text = told(&printer, folder.path()).concat();
        assert!(
            text.contains("1 print jobs") && text.contains("never finished"),
            "{text}"
        );
    }
}
