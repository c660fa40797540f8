//! `coax put`.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    fs,
    path::{Path, PathBuf},
    time::Instant,
};

use coax_wire::{codepage::fold, dialect::Generation};

use super::{
    arguments::PutArgs,
    get::Tally,
    outcome::{Done, Failure, Stop},
    progress::Progress,
    session::Session,
};
use crate::cli::usage::shown;
use coax_transfer::client::{
    Location,
    copy::{Store, store},
    ops::join,
};

/// Folders within folders that are followed.
const DEEPEST: usize = 64;

/// A file to copy; `None` is standard input.
#[derive(Debug)]
struct Item {
    from: Option<PathBuf>,
    size: Option<u64>,
    to: String,
}

impl Item {
    fn shown(&self) -> String {
        self.from
            .as_ref()
            .map_or("standard input".into(), |path| path.display().to_string())
    }
}

/// Copies to the server.
pub fn put(args: &PutArgs) -> Result<Done, Stop> {
    let (place, locals) = split(&args.places)?;
    if args.options.verify && locals.iter().any(|local| local == "-") {
        return Err(Stop::Usage(
            "--verify needs a file to compare with, not standard input".into(),
        ));
    }
    let missing = missing(&locals);
    if missing.len() == locals.len() {
        return Ok(Done {
            failures: missing,
            ..Done::default()
        });
    }
    let began = Instant::now();
    let mut session = Session::open(&place, &args.common)?;
    let mut tally = Tally::default();
    let items = plan(&mut session, &place, &locals, args, &mut tally)?;
    let total = items.iter().map(|item| item.size).sum::<Option<u64>>();
    let mut progress = Progress::new(total, args.common.json);
    for item in items {
        if session.is_over() {
            break;
        }
        copy_one(&mut session, &item, args, &mut progress, &mut tally);
    }
    progress.clear();
    let shown = progress.is_shown();
    Ok(tally.done(began, shown))
}

/// What is not there of what is to be copied: known before anything is asked of the network.
fn missing(locals: &[String]) -> Vec<Failure> {
    let missing = locals.iter().filter(|local| *local != "-");
    missing
        .filter_map(|local| {
            let error = fs::metadata(local).err()?;
            Some(Failure::new(local, coax_transfer::client::plain(&error)))
        })
        .collect()
}

/// The one argument that is on a server, and the others.
fn split(arguments: &[String]) -> Result<(Location, Vec<String>), Stop> {
    let (places, locals): (Vec<String>, Vec<String>) = arguments
        .iter()
        .cloned()
        .partition(|text| Location::is_meant(text));
    match places.as_slice() {
        [place] if !locals.is_empty() => {
            let place = place
                .parse()
                .map_err(|error| Stop::Usage(format!("'{}': {error}", shown(place.as_ref()))))?;
            Ok((place, locals))
        }
        _ => Err(Stop::Usage(
            "name local files and one URL: write coax put LOCAL... smb://HOST/SHARE/PATH".into(),
        )),
    }
}

fn plan(
    session: &mut Session,
    place: &Location,
    locals: &[String],
    args: &PutArgs,
    tally: &mut Tally,
) -> Result<Vec<Item>, Stop> {
    let there = match session.connection.find(&place.path) {
        Ok(there) => there,
        Err(error) => return Err(session.failure(&place.path, &error).into()),
    };
    let into_folder = there.is_some_and(|stat| stat.is_directory());
    if locals.len() > 1 && !into_folder {
        return Err(Stop::Usage(format!(
            "{place} is not a folder, but several files are to be copied to it"
        )));
    }
    // A folder that is copied gets this name; a file would lie in the folder.
    let copies_folder = locals.iter().all(|local| Path::new(local).is_dir());
    if place.trailing_slash && !into_folder && (there.is_some() || !copies_folder) {
        let why = match there {
            Some(_) => "is not a folder",
            None => "there is no such folder",
        };
        return Err(Failure::new(place.to_string(), why).into());
    }
    let mut walk = Walk {
        session,
        args,
        items: Vec::new(),
        targets: BTreeMap::new(),
        tally,
    };
    for local in locals {
        walk.begin(local, place, into_folder)?;
    }
    Ok(walk.items)
}

/// What a file or folder of this run is copied to.
struct Target {
    from: PathBuf,
    to: String,
    is_folder: bool,
}

struct Walk<'a> {
    session: &'a mut Session,
    args: &'a PutArgs,
    items: Vec<Item>,
    /// By the path on the server without regard to case, because servers compare names so.
    targets: BTreeMap<String, Target>,
    tally: &'a mut Tally,
}

impl Walk<'_> {
    /// One of the command line's arguments.
    fn begin(&mut self, local: &str, place: &Location, into_folder: bool) -> Result<(), Stop> {
        if local == "-" && into_folder {
            return Err(Stop::Usage(
                "standard input has no name: write the file's name into the URL".into(),
            ));
        }
        if local == "-" {
            self.items.push(Item {
                from: None,
                size: None,
                to: place.path.clone(),
            });
            return Ok(());
        }
        let path = Path::new(local);
        let name = if into_folder { self.name(path) } else { None };
        match (into_folder, name) {
            (true, Some(name)) => self.take(path, join(&place.path, &name), 0),
            // Why it has no name is said already.
            (true, None) => {}
            (false, _) => self.take(path, place.path.clone(), 0),
        }
        Ok(())
    }

    /// The name a local file has on the server.
    fn name(&mut self, path: &Path) -> Option<String> {
        let whole = path.canonicalize().ok();
        let name = path
            .file_name()
            .or_else(|| whole.as_deref().and_then(Path::file_name))
            .and_then(|name| name.to_str());
        let Some(name) = name else {
            self.failed(path, "this name cannot be one on the server");
            return None;
        };
        if let Some(c) = name.chars().find(|c| is_illegal(*c)) {
            let why = format!(
                "its name contains '{}', which no name on a server may contain: rename it first",
                if c.is_control() { '\u{fffd}' } else { c }
            );
            self.failed(path, &why);
            return None;
        }
        Some(name.into())
    }

    fn take(&mut self, path: &Path, to: String, depth: usize) {
        let metadata = match fs::metadata(path) {
            Ok(metadata) => metadata,
            Err(error) => return self.failed(path, &coax_transfer::client::plain(&error)),
        };
        if let Some(why) = self.too_long(&to) {
            return self.failed(path, &why);
        }
        if let Some(why) = self.taken(path, &to, metadata.is_dir()) {
            return self.failed(path, &why);
        }
        if metadata.is_dir() {
            self.folder(path, to, depth);
        } else if metadata.is_file() {
            self.items.push(Item {
                from: Some(path.into()),
                size: Some(metadata.len()),
                to,
            });
        } else {
            self.failed(path, "is neither a file nor a folder; it is left out");
        }
    }

    fn folder(&mut self, path: &Path, to: String, depth: usize) {
        if !self.args.options.recursive {
            return self.failed(path, "is a folder: -r copies it with all that is in it");
        }
        if depth >= DEEPEST {
            return self.failed(
                path,
                "lies too deep: folders within one another in a circle?",
            );
        }
        let entries = match fs::read_dir(path) {
            Ok(entries) => entries,
            Err(error) => return self.failed(path, &coax_transfer::client::plain(&error)),
        };
        if let Err(error) = make_folder(self.session, &to) {
            return self.tally.failures.push(error);
        }
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        for path in paths {
            // A link to a folder may lead back up.
            let link_to_folder = path.is_symlink() && path.is_dir();
            if link_to_folder {
                self.failed(&path, "is a symbolic link to a folder; it is left out");
            } else if let Some(name) = self.name(&path) {
                self.take(&path, join(&to, &name), depth.saturating_add(1));
            }
        }
    }

    /// Why something cannot have this path on the server: something else of this run has it. Two folders become one.
    fn taken(&mut self, from: &Path, to: &str, is_folder: bool) -> Option<String> {
        let other = match self.targets.entry(fold(to)) {
            Entry::Occupied(other) => other.into_mut(),
            Entry::Vacant(free) => {
                free.insert(Target {
                    from: from.into(),
                    to: to.into(),
                    is_folder,
                });
                return None;
            }
        };
        let first = other.from.display();
        if other.to != to {
            Some(format!(
                "differs from {first} only in case, which the server does not keep apart"
            ))
        } else if other.from == from || other.is_folder && is_folder {
            None
        } else {
            Some(format!(
                "would replace {first} on the server: copy one of them to another name"
            ))
        }
    }

    /// Dialects without long names take 8.3 names only, and it is better said before the copy than after it.
    fn too_long(&self, to: &str) -> Option<String> {
        let link = self.session.connection.link();
        let name = to.rsplit('/').next().unwrap_or_default();
        let short = link.generation() < Generation::Lanman2 && !is_8_3(name);
        short.then(|| {
            format!(
                "{name:?} is not an 8.3 name, and {} supports no others: write a short name into the URL",
                link.dialect.name
            )
        })
    }

    fn failed(&mut self, path: &Path, why: &str) {
        let subject = path.display().to_string();
        self.tally.failures.push(Failure::new(subject, why));
    }
}

/// Characters that a file name must not contain ([MS-CIFS] 2.2.1.1.2). Some are wildcards: a server would expand them.
fn is_illegal(c: char) -> bool {
    c.is_control() || "*?<>\"|:\\".contains(c)
}

fn is_8_3(name: &str) -> bool {
    let (stem, extension) = name.split_once('.').unwrap_or((name, ""));
    let legal = |part: &str| !part.contains(|c: char| " .+,;=[]\"*?<>|:".contains(c));
    name.is_empty()
        || (1..=8).contains(&stem.chars().count())
            && extension.chars().count() <= 3
            && legal(stem)
            && legal(extension)
}

/// Makes a folder that may be there already.
fn make_folder(session: &mut Session, path: &str) -> Result<(), Failure> {
    if path.is_empty() {
        return Ok(());
    }
    let Err(error) = session.connection.make_folder(path) else {
        return Ok(());
    };
    match session.connection.find(path) {
        Ok(Some(stat)) if stat.is_directory() => Ok(()),
        _ => Err(session.failure(path, &error)),
    }
}

fn copy_one(
    session: &mut Session,
    item: &Item,
    args: &PutArgs,
    progress: &mut Progress,
    tally: &mut Tally,
) {
    let to = session.location.with_path(item.to.as_str()).to_string();
    if args.options.no_clobber {
        match session.connection.find(&item.to) {
            Ok(None) => {}
            Ok(Some(_)) => return tally.skipped.push(to),
            Err(error) => return tally.failures.push(session.failure(&item.to, &error)),
        }
    }
    progress.file(item.to.rsplit('/').next().unwrap_or_default());
    let order = Store {
        from: item.from.as_deref(),
        to: &item.to,
        resume: args.options.resume,
        verify: args.options.verify,
        replace: !args.options.no_clobber,
    };
    let began = Instant::now();
    match store(&mut session.connection, &order, &mut |bytes| {
        progress.at(bytes);
    }) {
        Ok(copied) => tally.copied(&copied, &item.shown(), &to, began),
        Err(error) => {
            progress.clear();
            let failure = session.copy_failure(&item.to, &to, &error);
            tally.failures.push(failure);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]
    use super::*;
    use clap::Parser;
    use coax_transfer::client::testkit::Served;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: PutArgs,
    }

    /// Runs `coax put -r` with local files of this folder. A failure of the whole run is the error.
    fn run(
        served: &Served,
        local: &Path,
        files: &[&str],
        to: &str,
    ) -> Result<Vec<Failure>, Failure> {
        let files = files
            .iter()
            .map(|file| local.join(file).display().to_string());
        let mut to_url = served.location(to).to_string();
        to_url.extend(to.ends_with('/').then_some('/'));
        let words = ["put", "-r"].map(String::from).into_iter();
        let line = Line::parse_from(words.chain(files).chain([to_url]));
        match put(&line.args) {
            Ok(done) => Ok(done.failures),
            Err(Stop::Failed(failure)) => Err(*failure),
            Err(Stop::Usage(why)) => Err(Failure::new("usage", why)),
        }
    }

    fn local(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, file).unwrap();
        }
        folder
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn of_two_names_that_differ_in_case_the_second_is_a_failure_that_names_both() {
        let served = Served::start("", None);
        let local = local(&["in/README", "in/readme"]);
        let failures = run(&served, local.path(), &["in"], "").unwrap();
        let [failure] = failures.as_slice() else {
            panic!("{failures:?}")
        };
        assert!(failure.subject.ends_with("in/readme"), "{failure:?}");
        let first = local.path().join("in/README").display().to_string();
        let why =
            format!("differs from {first} only in case, which the server does not keep apart");
        assert_eq!(failure.why, why);
        let there = served.folder().join("in");
        assert_eq!(names(&there), ["README"]);
        assert_eq!(fs::read(there.join("README")).unwrap(), b"in/README");
    }

    #[test]
    fn of_two_files_with_one_name_the_second_is_a_failure() {
        let served = Served::start("", None);
        let local = local(&["1/x", "2/x"]);
        let failures = run(&served, local.path(), &["1/x", "2/x"], "").unwrap();
        let [failure] = failures.as_slice() else {
            panic!("{failures:?}")
        };
        assert!(
            failure.subject.ends_with("2/x") && failure.why.contains("1/x"),
            "{failure:?}"
        );
        assert_eq!(fs::read(served.folder().join("x")).unwrap(), b"1/x");
    }

    #[test]
    fn a_name_that_no_server_can_have_is_refused_and_nothing_is_stored() {
        let served = Served::start("", None);
        let names_here = ["a*", "b?", "c<", "d>", "e\"", "f|", "g:h", "i\\j", "k\nl"];
        let local = local(&names_here);
        let failures = run(&served, local.path(), &names_here, "").unwrap();
        assert_eq!(failures.len(), names_here.len());
        let first = failures.first().unwrap();
        assert!(first.why.starts_with("its name contains '*'"), "{first:?}");
        assert_eq!(names(served.folder()), [""; 0]);
    }

    #[test]
    fn a_name_with_a_slash_must_be_a_folder() {
        let served = Served::start("", None);
        let local = local(&["q", "dir/r"]);
        let failure = run(&served, local.path(), &["q"], "newdir/").unwrap_err();
        assert_eq!(failure.why, "there is no such folder");
        assert_eq!(names(served.folder()), [""; 0]);
        assert_eq!(run(&served, local.path(), &["q"], "file").unwrap(), []);
        let failure = run(&served, local.path(), &["q"], "file/").unwrap_err();
        assert_eq!(failure.why, "is not a folder");
        assert_eq!(run(&served, local.path(), &["dir"], "newdir/").unwrap(), []);
        assert!(served.folder().join("newdir/r").is_file());
    }

    #[test]
    fn names_of_dos_are_told_from_longer_ones() {
        for name in ["DOOM.WAD", "README", "A.B", "ÄÖÜ.TXT", "12345678.123"] {
            assert!(is_8_3(name), "{name}");
        }
        for name in ["123456789", "A.HTML", "a.b.c", "with space", ".profile"] {
            assert!(!is_8_3(name), "{name}");
        }
    }
}
