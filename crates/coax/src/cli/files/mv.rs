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
fn new_path(session: &mut Session, from: &Location, to: String) -> Result<String, Failure> {
    // A folder cannot move into itself; the user changes the case of its name.
    if eq_ignore_case(&to, &from.path) {
        return Ok(to);
    }
    Ok(match find(session, &to)? {
        Some(stat) if stat.is_directory() => join(&to, from.name()),
        _ => to,
    })
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

/// The new path: a name in the same folder, a path from the share's root on, or a URL.
fn destination(from: &Location, to: &str) -> Result<String, Stop> {
    if Location::is_meant(to) {
        let place: Location = to
            .parse()
            .map_err(|error| Stop::Usage(format!("'{}': {error}", shown(to.as_ref()))))?;
        return if place.same_share(from) {
            Ok(place.path)
        } else {
            Err(Stop::Usage(
                "a file can only move within its share: get it, and put it there".into(),
            ))
        };
    }
    match to.strip_prefix(['/', '\\']) {
        Some(rest) => normal(rest),
        None => normal(&join(from.folder(), to)),
    }
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
        let to = |text| destination(&from, text).ok();
        assert_eq!(to("d.txt").as_deref(), Some("A/B/d.txt"));
        assert_eq!(to("/d.txt").as_deref(), Some("d.txt"));
        assert_eq!(to("smb://h/S/x/d.txt").as_deref(), Some("x/d.txt"));
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
}
