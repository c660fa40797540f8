//! `coax mv`.

use coax_client::FileStat;
use coax_wire::codepage::eq_ignore_case;
use serde_json::{Map, json};

use super::{
    arguments::MvArgs,
    outcome::{Done, Failure, Stop},
    session::Session,
};
use crate::cli::usage::shown;
use coax_transfer::client::{Location, ops::join};

/// The new path that the command line names.
#[derive(Debug, PartialEq, Eq)]
struct Destination {
    path: String,
    /// It ended with a slash, so it means a folder.
    is_folder: bool,
}

/// Gives another name.
pub fn mv(args: &MvArgs) -> Result<Done, Stop> {
    let from = &args.from;
    if from.path.is_empty() || from.has_wildcards() {
        return Err(Stop::Usage(
            "this is not one file or folder: write smb://HOST/SHARE/PATH without * and ?".into(),
        ));
    }
    let destination = destination(from, &args.to)?;
    let mut session = Session::open(from, &args.common)?;
    let to = new_path(&mut session, from, destination)?;
    // Some servers replace what has the name without being asked to.
    if let Some(there) = find(&mut session, &to)?.filter(|_| !eq_ignore_case(&to, &from.path)) {
        check_replaceable(&mut session, from, (&to, &there), args.force)?;
    }
    let outcome = if args.force {
        session.connection.rename_over(&from.path, &to)
    } else {
        session.connection.rename(&from.path, &to)
    };
    outcome.map_err(|error| session.failure(&from.path, &error))?;
    let mut report = Map::new();
    report.insert("from".into(), json!(from.to_string()));
    report.insert("to".into(), json!(from.with_path(to).to_string()));
    Ok(Done {
        report,
        ..Done::default()
    })
}

/// The path to rename to: within the destination if that is an existing folder.
fn new_path(
    session: &mut Session,
    from: &Location,
    destination: Destination,
) -> Result<String, Failure> {
    let Destination { path, is_folder } = destination;
    // A folder cannot move into itself; the user changes the case of its name.
    if eq_ignore_case(&path, &from.path) {
        return Ok(path);
    }
    let why = match find(session, &path)? {
        Some(stat) if stat.is_directory() => return Ok(join(&path, from.name())),
        Some(_) if is_folder => "is not a folder",
        None if is_folder && !is_existing_folder(session, &from.path)? => "there is no such folder",
        _ => return Ok(path),
    };
    Err(Failure::new(from.with_path(path).to_string(), why))
}

/// Checks that a file replaces a file, and only on request.
fn check_replaceable(
    session: &mut Session,
    from: &Location,
    (to, there): (&str, &FileStat),
    force: bool,
) -> Result<(), Failure> {
    let taken = from.with_path(to).to_string();
    if !force {
        let mut failure = Failure::new(taken, "is there already");
        failure
            .hints
            .push("--force replaces it if it is a file".into());
        return Err(failure);
    }
    let source = session.connection.stat(&from.path);
    let source = source.map_err(|error| session.failure(&from.path, &error))?;
    match (source.is_directory(), there.is_directory()) {
        (false, false) => Ok(()),
        (_, true) => Err(Failure::new(
            taken,
            "is a folder: --force replaces only files",
        )),
        (true, false) => Err(Failure::new(
            taken,
            "is a file, which a folder cannot replace",
        )),
    }
}

fn find(session: &mut Session, path: &str) -> Result<Option<FileStat>, Failure> {
    let found = session.connection.find(path);
    found.map_err(|error| session.failure(path, &error))
}

fn is_existing_folder(session: &mut Session, path: &str) -> Result<bool, Failure> {
    Ok(find(session, path)?.is_some_and(|stat| stat.is_directory()))
}

/// The new path: a name in the same folder, a path from the share's root on, or a URL.
fn destination(from: &Location, to: &str) -> Result<Destination, Stop> {
    if Location::is_meant(to) {
        let place: Location = to
            .parse()
            .map_err(|error| Stop::Usage(format!("'{}': {error}", shown(to.as_ref()))))?;
        return if place.same_share(from) {
            Ok(Destination {
                path: place.path,
                is_folder: place.trailing_slash,
            })
        } else {
            Err(Stop::Usage(
                "a file can only move within its share: get it, and put it there".into(),
            ))
        };
    }
    let path = match to.strip_prefix(['/', '\\']) {
        Some(rest) => normal(rest)?,
        None => normal(&join(from.folder(), to))?,
    };
    let is_folder = to.ends_with(['/', '\\']);
    Ok(Destination { path, is_folder })
}

/// A path without empty components.
fn normal(text: &str) -> Result<String, Stop> {
    let parts: Vec<&str> = text
        .split(['/', '\\'])
        .filter(|part| !matches!(*part, "" | "."))
        .collect();
    if parts.contains(&"..") {
        return Err(Stop::Usage(
            "the new path contains \"..\": write it from the share's root on".into(),
        ));
    }
    Ok(parts.join("/"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use clap::Parser;
    use coax_transfer::client::testkit::Served;
    use std::fs;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: MvArgs,
    }

    /// Runs `coax mv` in the share, whose files are the folder's. A failure's text is the error.
    fn run(served: &Served, words: &[&str]) -> Result<(), String> {
        let from = served.location(words.first().unwrap()).to_string();
        let words = words.get(1..).unwrap().iter().copied();
        let line = Line::parse_from(["mv", &from].into_iter().chain(words));
        mv(&line.args).map(drop).map_err(|stop| match stop {
            Stop::Usage(why) => why,
            Stop::Failed(failure) => failure.why,
        })
    }

    #[test]
    fn a_new_name_is_in_the_same_folder_unless_it_is_a_path_or_a_url() {
        let from: Location = "smb://anna@h/s/A/B/c.txt".parse().unwrap();
        let to = |text| {
            let to = destination(&from, text).ok();
            to.map(|to| (to.path, to.is_folder))
        };
        let path = |path: &str| Some((path.to_owned(), false));
        assert_eq!(to("d.txt"), path("A/B/d.txt"));
        assert_eq!(to("/d.txt"), path("d.txt"));
        assert_eq!(to("smb://h/S/x/d.txt"), path("x/d.txt"));
        assert_eq!(to("d/"), Some(("A/B/d".into(), true)));
        assert_eq!(to("smb://h/S/x/"), Some(("x".into(), true)));
        assert_eq!(to("smb://h/other/d.txt"), None);
        assert_eq!(to("../d.txt"), None);
    }

    #[test]
    fn force_replaces_a_file_only_by_an_existing_file() {
        let served = Served::start("", None);
        let keep = served.folder().join("keep.txt");
        fs::write(&keep, "precious").unwrap();
        fs::create_dir(served.folder().join("dir")).unwrap();
        run(&served, &["typo.txt", "keep.txt", "--force"]).unwrap_err();
        let why = run(&served, &["dir", "keep.txt", "--force"]).unwrap_err();
        assert_eq!(why, "is a file, which a folder cannot replace");
        assert_eq!(fs::read(&keep).unwrap(), b"precious");
        fs::write(served.folder().join("new.txt"), "new").unwrap();
        run(&served, &["new.txt", "keep.txt", "--force"]).unwrap();
        assert_eq!(fs::read(&keep).unwrap(), b"new");
    }

    #[test]
    fn a_folder_can_change_the_case_of_its_name() {
        let served = Served::start("", None);
        fs::create_dir(served.folder().join("folder")).unwrap();
        run(&served, &["folder", "Folder"]).unwrap();
        assert!(served.folder().join("Folder").is_dir());
        assert!(!served.folder().join("folder").exists());
    }

    #[test]
    fn a_file_moves_to_a_name_with_a_slash_only_if_it_is_a_folder() {
        let served = Served::start("", None);
        fs::write(served.folder().join("a"), "a").unwrap();
        fs::write(served.folder().join("b"), "b").unwrap();
        let why = run(&served, &["a", "nodir/"]).unwrap_err();
        assert_eq!(why, "there is no such folder");
        assert_eq!(run(&served, &["a", "b/"]).unwrap_err(), "is not a folder");
        fs::create_dir(served.folder().join("dir")).unwrap();
        run(&served, &["a", "dir/"]).unwrap();
        assert!(served.folder().join("dir/a").is_file());
        run(&served, &["dir", "newdir/"]).unwrap();
        assert!(served.folder().join("newdir/a").is_file());
    }
}
