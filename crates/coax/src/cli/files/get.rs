//! `coax get`.

use std::{
    collections::{HashMap, HashSet, hash_map::Entry},
    fs::{self, FileTimes},
    io,
    path::{Path, PathBuf},
    time::{Duration, Instant, UNIX_EPOCH},
};

use coax_client::{CopySpec, FileStat, Operation};
use serde_json::{Value, json};

use super::{
    arguments::GetArgs,
    outcome::{Done, Failure, Stop},
    progress::Progress,
    session::Session,
    text,
};
use crate::cli::usage::shown;
use coax_transfer::client::{
    Location,
    copy::{Copied, Fetch, fetch, final_path},
    local::InOrder,
    ops::join,
};

/// Folders within folders that are followed: more is a circle.
const DEEPEST: usize = 64;

/// A file to copy, or a folder to make.
#[derive(Debug)]
struct Item {
    remote: String,
    stat: FileStat,
    to: PathBuf,
}

/// The local files that a run creates, and the file on the server that each one comes from.
#[derive(Debug, Default)]
struct Targets(HashMap<PathBuf, String>);

impl Targets {
    /// Records a copy.
    ///
    /// # Errors
    /// The path of the file that is already copied to the same place.
    fn add(&mut self, to: &Path, remote: &str) -> Result<(), &str> {
        match self.0.entry(final_path(to)) {
            Entry::Vacant(entry) => {
                entry.insert(remote.into());
                Ok(())
            }
            Entry::Occupied(entry) => Err(entry.into_mut()),
        }
    }

    fn paths(self) -> HashSet<PathBuf> {
        self.0.into_keys().collect()
    }
}

/// What a run of copies came to.
#[derive(Debug, Default)]
pub struct Tally {
    pub copies: Vec<Value>,
    pub bytes: u64,
    pub verified: usize,
    pub skipped: Vec<String>,
    pub failures: Vec<Failure>,
}

impl Tally {
    /// Another copy is done.
    pub fn copied(&mut self, copied: &Copied, from: &str, to: &str, began: Instant) {
        self.bytes = self.bytes.saturating_add(copied.bytes);
        self.verified = self.verified.saturating_add(usize::from(copied.verified));
        self.copies.push(json!({
            "from": from,
            "to": to,
            "bytes": copied.bytes,
            "seconds": began.elapsed().as_secs_f64(),
            "resumed_from": copied.resumed_from,
            "verified": copied.verified,
        }));
    }

    /// The report; text only for a person, or about what was asked for.
    pub fn done(self, began: Instant, shown: bool) -> Done {
        let elapsed = began.elapsed();
        let mut text = String::new();
        let files = text::count(self.copies.len(), "file");
        if shown && !self.copies.is_empty() {
            text = format!(
                "{files}, {} in {}, {}\n",
                text::size(self.bytes),
                text::span(elapsed),
                text::rate(self.bytes, elapsed)
            );
        }
        if self.verified > 0 {
            text.push_str(&format!(
                "{} read back and compared: the same, byte by byte\n",
                text::count(self.verified, "file")
            ));
        }
        let mut report = serde_json::Map::new();
        report.insert("files".into(), json!(self.copies.len()));
        report.insert("bytes".into(), json!(self.bytes));
        report.insert("seconds".into(), json!(elapsed.as_secs_f64()));
        report.insert("skipped".into(), json!(self.skipped));
        report.insert("copies".into(), self.copies.into());
        Done {
            report,
            text,
            failures: self.failures,
        }
    }
}

/// Copies from the server.
pub fn get(args: &GetArgs) -> Result<Done, Stop> {
    let (places, local) = split(&args.places)?;
    let first = places.first().ok_or_else(|| {
        Stop::Usage(
            "there is no file of a server: write coax get smb://HOST/SHARE/PATH [LOCAL]".into(),
        )
    })?;
    if places.iter().any(|place| !place.same_share(first)) {
        return Err(Stop::Usage(
            "the URLs name several shares: write those of one share in one command".into(),
        ));
    }
    if local == "-" && (args.options.verify || args.common.json) {
        return Err(Stop::Usage(
            "standard output is the copy, so --verify and --json are impossible: write a file name in place of -".into(),
        ));
    }
    let began = Instant::now();
    let mut session = Session::open(first, &args.common)?;
    if local == "-" {
        return to_stdout(&mut session, &places);
    }
    let mut tally = Tally::default();
    let (items, targets) = plan(&mut session, &places, Path::new(&local), args, &mut tally)?;
    let options = RunOptions {
        args,
        targets: targets.paths(),
    };
    let shown = copy_all(&mut session, items, &options, &mut tally);
    Ok(tally.done(began, shown))
}

/// What holds for all copies of a run.
struct RunOptions<'a> {
    args: &'a GetArgs,
    /// All local files that the run creates.
    targets: HashSet<PathBuf>,
}

/// Which arguments are on a server, and the one that is not.
fn split(arguments: &[String]) -> Result<(Vec<Location>, String), Stop> {
    let mut places = Vec::new();
    let mut local = None;
    for text in arguments {
        if Location::is_meant(text) {
            let place = text
                .parse::<Location>()
                .map_err(|error| Stop::Usage(format!("'{}': {error}", shown(text.as_ref()))))?;
            places.push(place);
        } else if local.replace(text.clone()).is_some() {
            return Err(Stop::Usage(
                "there are two local files or folders to copy to: write one, and URLs as smb://HOST/SHARE/PATH".into(),
            ));
        }
    }
    Ok((places, local.unwrap_or_else(|| ".".into())))
}

fn to_stdout(session: &mut Session, places: &[Location]) -> Result<Done, Stop> {
    let mut failures = Vec::new();
    let mut out = Output::default();
    for place in places {
        let run = stream(session, place, &mut out);
        if out.closed {
            // The reader has what it wanted.
            break;
        }
        if let Err(error) = run {
            failures.push(session.failure(&place.path, &error));
        }
    }
    Ok(Done {
        failures,
        ..Done::default()
    })
}

fn stream(
    session: &mut Session,
    place: &Location,
    out: &mut Output,
) -> Result<(), coax_transfer::client::Error> {
    let mut end = InOrder::new(out, "standard output");
    let operation = Operation::Copy(CopySpec {
        checks_end: true,
        ..CopySpec::get(place.path.as_str())
    });
    session.connection.run(operation, &mut end)?;
    end.finish().map_err(coax_client::Error::Local)?;
    Ok(())
}

/// Standard output, and whether its reader has closed it.
#[derive(Debug)]
struct Output {
    to: io::Stdout,
    closed: bool,
}

impl Default for Output {
    fn default() -> Self {
        Self {
            to: io::stdout(),
            closed: false,
        }
    }
}

impl Output {
    fn note<T>(&mut self, written: io::Result<T>) -> io::Result<T> {
        let error = written.as_ref().err();
        self.closed |= error.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe);
        written
    }
}

impl io::Write for Output {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let written = self.to.write(data);
        self.note(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.to.flush();
        self.note(flushed)
    }
}

/// All files that are to be copied; folders are made on the way.
fn plan(
    session: &mut Session,
    places: &[Location],
    local: &Path,
    args: &GetArgs,
    tally: &mut Tally,
) -> Result<(Vec<Item>, Targets), Stop> {
    let into_folder = local.is_dir();
    let several = places.len() > 1 || places.iter().any(Location::has_wildcards);
    if several && !into_folder {
        return Err(Stop::Usage(format!(
            "cannot copy several files to {}: it is not a folder",
            local.display()
        )));
    }
    let (mut items, mut targets) = (Vec::new(), Targets::default());
    for place in places {
        let mut walk = Walk {
            session,
            args,
            items: &mut items,
            targets: &mut targets,
            tally,
        };
        if place.has_wildcards() {
            walk.pattern(place, local);
        } else {
            walk.single(place, local, into_folder);
        }
    }
    Ok((items, targets))
}

struct Walk<'a> {
    session: &'a mut Session,
    args: &'a GetArgs,
    items: &'a mut Vec<Item>,
    targets: &'a mut Targets,
    tally: &'a mut Tally,
}

impl Walk<'_> {
    fn pattern(&mut self, place: &Location, local: &Path) {
        match self.session.connection.list(place.folder(), place.name()) {
            Ok(entries) if entries.is_empty() => self
                .tally
                .failures
                .push(Failure::new(place.to_string(), "nothing matches")),
            Ok(entries) => {
                for entry in entries {
                    let remote = join(place.folder(), &entry.name);
                    self.take(&remote, &entry.name, entry.stat, local, 0);
                }
            }
            Err(error) => self.failed(&place.path, &error),
        }
    }

    fn single(&mut self, place: &Location, local: &Path, into_folder: bool) {
        let stat = match self.session.connection.stat(&place.path) {
            Ok(stat) => stat,
            Err(error) => return self.failed(&place.path, &error),
        };
        let name = if place.path.is_empty() {
            place.share.clone()
        } else {
            place.name().to_owned()
        };
        if into_folder {
            return self.take(&place.path, &name, stat, local, 0);
        }
        let names_folder = local.as_os_str().as_encoded_bytes().ends_with(b"/");
        if names_folder && !stat.is_directory() {
            let failure = Failure::new(local.display().to_string(), "this folder does not exist");
            return self.tally.failures.push(failure);
        }
        self.place(&place.path, stat, local.to_path_buf(), 0);
    }

    /// Takes what the server calls `name` into a local folder.
    fn take(&mut self, remote: &str, name: &str, stat: FileStat, folder: &Path, depth: usize) {
        // A server could name a file so that it is written elsewhere.
        if matches!(name, "" | "." | "..") || name.contains(['/', '\0']) {
            let why = format!("the server's name {name:?} cannot be one here");
            self.tally.failures.push(Failure::new(remote, why));
            return;
        }
        self.place(remote, stat, folder.join(name), depth);
    }

    fn place(&mut self, remote: &str, stat: FileStat, to: PathBuf, depth: usize) {
        let remote = remote.to_owned();
        if !stat.is_directory() {
            return self.file(Item { remote, stat, to });
        }
        let place = self.session.location.with_path(remote.as_str());
        if !self.args.options.recursive {
            let why = "is a folder: -r copies it with all that is in it";
            self.tally
                .failures
                .push(Failure::new(place.to_string(), why));
            return;
        }
        if depth >= DEEPEST {
            let why = format!("more than {DEEPEST} folders within one another are not followed");
            self.tally
                .failures
                .push(Failure::new(place.to_string(), why));
            return;
        }
        if let Err(error) = fs::create_dir_all(&to) {
            let subject = to.display().to_string();
            self.tally
                .failures
                .push(Failure::new(subject, error.to_string()));
            return;
        }
        match self.session.connection.list(&remote, "*") {
            Ok(entries) => {
                for entry in entries {
                    let path = join(&remote, &entry.name);
                    self.take(&path, &entry.name, entry.stat, &to, depth.saturating_add(1));
                }
                // The folder's time comes after what is put into it.
                self.items.push(Item { remote, stat, to });
            }
            Err(error) => self.failed(&remote, &error),
        }
    }

    /// Of two files for one local name, the second would silently replace the first.
    fn file(&mut self, item: Item) {
        let url = |path: &str| self.session.location.with_path(path).to_string();
        match self.targets.add(&item.to, &item.remote) {
            Ok(()) => self.items.push(item),
            Err(first) => {
                let why = format!(
                    "{} is already copied to {}: copy them one by one, or into different folders",
                    url(first),
                    item.to.display()
                );
                let failure = Failure::new(url(&item.remote), why);
                self.tally.failures.push(failure);
            }
        }
    }

    fn failed(&mut self, path: &str, error: &coax_transfer::client::Error) {
        let failure = self.session.failure(path, error);
        self.tally.failures.push(failure);
    }
}

/// Copies what was planned; whether a person watched.
fn copy_all(
    session: &mut Session,
    items: Vec<Item>,
    options: &RunOptions<'_>,
    tally: &mut Tally,
) -> bool {
    let total = items
        .iter()
        .filter(|item| !item.stat.is_directory())
        .map(|item| item.stat.size)
        .sum();
    let mut progress = Progress::new(Some(total), options.args.common.json);
    for item in items {
        if session.is_over() {
            break;
        }
        if item.stat.is_directory() {
            set_folder_time(&item);
        } else {
            copy_one(session, &item, options, &mut progress, tally);
        }
    }
    progress.clear();
    progress.is_shown()
}

fn copy_one(
    session: &mut Session,
    item: &Item,
    options: &RunOptions<'_>,
    progress: &mut Progress,
    tally: &mut Tally,
) {
    let shown = item.to.display().to_string();
    let choices = &options.args.options;
    if choices.no_clobber && item.to.exists() {
        tally.skipped.push(shown);
        return;
    }
    progress.file(item.remote.rsplit('/').next().unwrap_or_default());
    let order = Fetch {
        path: &item.remote,
        to: &item.to,
        targets: &options.targets,
        resume: choices.resume,
        verify: choices.verify,
    };
    let from = session.location.with_path(item.remote.as_str()).to_string();
    let began = Instant::now();
    match fetch(&mut session.connection, &order, &mut |bytes| {
        progress.at(bytes);
    }) {
        Ok(copied) => tally.copied(&copied, &from, &shown, began),
        Err(error) => {
            progress.clear();
            let failure = session.copy_failure(&item.remote, &from, &error);
            tally.failures.push(failure);
        }
    }
}

fn set_folder_time(item: &Item) {
    let time = item.stat.modified.and_then(|ns| u64::try_from(ns).ok());
    if let Some(time) = time.map(|ns| UNIX_EPOCH + Duration::from_nanos(ns)) {
        // A folder's date is a nicety.
        let _ = fs::File::open(&item.to)
            .and_then(|folder| folder.set_times(FileTimes::new().set_modified(time)));
    }
}

#[cfg(test)]
mod tests;
