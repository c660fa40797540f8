//! The verbs that copy nothing.

use coax_client::{Entry, FileStat};
use coax_report::digits::grouped;
use coax_server::names::wildcard::Pattern;
use coax_wire::{dialect::Generation, status::Status};
use serde_json::{Map, Value, json};

use super::{
    arguments::{Common, LsArgs, MkdirArgs, PathsArgs, RmArgs, SharesArgs, StatArgs},
    outcome::{Done, Failure, Stop},
    session::Session,
    text,
};
use coax_transfer::client::{
    Error, Location,
    ops::{ShareEntry, is_missing, join, says},
};

/// Folders within folders that are followed: more is a circle.
const DEEPEST: usize = 64;

/// What a folder holds.
pub fn ls(args: &LsArgs) -> Result<Done, Stop> {
    if args.place.share.is_empty() {
        return list_shares(&args.place, &args.common, false);
    }
    let mut session = Session::open(&args.place, &args.common)?;
    let mut listing = Listing {
        recursive: args.recursive,
        ..Listing::default()
    };
    let place = &args.place;
    if place.has_wildcards() {
        listing.folder(&mut session, place.folder(), place.name(), 0);
    } else {
        match session.connection.stat(&place.path) {
            Ok(stat) if !stat.is_directory() => {
                let entry = Entry {
                    name: place.name().into(),
                    short_name: String::new(),
                    stat,
                };
                listing.take(place.folder(), &[entry]);
            }
            Ok(_) => listing.folder(&mut session, &place.path, "*", 0),
            Err(error) => listing.failures.push(session.failure(&place.path, &error)),
        }
    }
    Ok(listing.done(&mut session, place))
}

#[derive(Debug, Default)]
struct Listing {
    recursive: bool,
    lines: Vec<(String, FileStat, String)>,
    entries: Vec<Value>,
    files: usize,
    folders: usize,
    bytes: u64,
    failures: Vec<Failure>,
}

impl Listing {
    fn folder(&mut self, session: &mut Session, folder: &str, pattern: &str, depth: usize) {
        let entries = match session.connection.list(folder, pattern) {
            Ok(mut entries) => {
                entries
                    .sort_by_key(|entry| (!entry.stat.is_directory(), entry.name.to_lowercase()));
                entries
            }
            Err(error) => {
                let failure = session.failure(&join(folder, pattern), &error);
                return self.failures.push(failure);
            }
        };
        self.take(folder, &entries);
        if self.recursive && depth < DEEPEST {
            for entry in entries.iter().filter(|entry| entry.stat.is_directory()) {
                let folder = join(folder, &entry.name);
                self.folder(session, &folder, "*", depth.saturating_add(1));
            }
        }
    }

    fn take(&mut self, folder: &str, entries: &[Entry]) {
        for entry in entries {
            let path = join(folder, &entry.name);
            self.entries
                .push(json(&path, &entry.short_name, &entry.stat));
            let shown = if self.recursive {
                path
            } else {
                entry.name.clone()
            };
            self.lines
                .push((shown, entry.stat, entry.short_name.clone()));
            if entry.stat.is_directory() {
                self.folders = self.folders.saturating_add(1);
            } else {
                self.files = self.files.saturating_add(1);
                self.bytes = self.bytes.saturating_add(entry.stat.size);
            }
        }
    }

    fn done(self, session: &mut Session, place: &Location) -> Done {
        let space = (!session.is_over())
            .then(|| session.connection.disk_space().ok())
            .flatten();
        let mut report = Map::new();
        report.insert("location".into(), json!(place.to_string()));
        report.insert("entries".into(), self.entries.clone().into());
        if let Some(space) = space {
            let disk = json!({"total": space.total, "free": space.free});
            report.insert("disk".into(), disk);
        }
        let mut text = self.table();
        if self.failures.is_empty() {
            let free = space.map_or(String::new(), |space| {
                format!("; {} free", text::size(space.free))
            });
            text.push_str(&format!(
                "{}, {}, {}{free}\n",
                text::count(self.files, "file"),
                text::count(self.folders, "folder"),
                text::size(self.bytes)
            ));
        }
        Done {
            report,
            text,
            failures: self.failures,
        }
    }

    fn table(&self) -> String {
        let sizes = self
            .lines
            .iter()
            .map(|(_, stat, _)| text::size_column(stat).len());
        let width = sizes.max().unwrap_or_default();
        let mut out = String::new();
        for (name, stat, _) in &self.lines {
            out.push_str(&format!(
                "{}  {:>width$}  {:19}  {}\n",
                text::attributes(stat.attributes),
                text::size_column(stat),
                text::local_time(stat.modified),
                legible(name)
            ));
        }
        out
    }
}

/// A name that a server gave, without what a terminal would obey.
fn legible(name: &str) -> String {
    name.chars()
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .collect()
}

fn json(path: &str, short_name: &str, stat: &FileStat) -> Value {
    json!({
        "path": path,
        "short_name": (!short_name.is_empty()).then_some(short_name),
        "folder": stat.is_directory(),
        "size": stat.size,
        "modified": text::utc(stat.modified),
        "created": text::utc(stat.created),
        "accessed": text::utc(stat.accessed),
        "attributes": stat.attributes,
    })
}

/// Times, size and attributes; of a share alone, its disk.
pub fn stat(args: &StatArgs) -> Result<Done, Stop> {
    let place = &args.place;
    let mut session = Session::open(place, &args.common)?;
    if place.path.is_empty() {
        return share_stat(&mut session);
    }
    let found = session.connection.stat(&place.path);
    let stat = found.map_err(|error| session.failure(&place.path, &error))?;
    let mut text = format!("{place}\n");
    let mut line = |what: &str, value: String| {
        text.push_str(&format!("  {what:11}{value}\n"));
    };
    if stat.is_directory() {
        line("kind", "folder".into());
    } else {
        line("kind", "file".into());
        line("size", format!("{} bytes", grouped(stat.size)));
    }
    line("attributes", text::attributes(stat.attributes));
    for (what, time) in [
        ("modified", stat.modified),
        ("created", stat.created),
        ("accessed", stat.accessed),
    ] {
        if time.is_some() {
            line(what, text::local_time(time));
        }
    }
    let mut report = Map::new();
    report.insert("location".into(), json!(place.to_string()));
    report.insert("stat".into(), json(&place.path, "", &stat));
    Ok(Done {
        report,
        text,
        failures: Vec::new(),
    })
}

fn share_stat(session: &mut Session) -> Result<Done, Stop> {
    let asked = session.connection.disk_space();
    let space = asked.map_err(|error| session.failure("", &error))?;
    let link = session.connection.link();
    let user = match (link.guest, &session.location.user) {
        (false, Some(user)) => user.clone(),
        _ => "guest".into(),
    };
    let signed = if link.signed {
        ", messages are signed"
    } else {
        ""
    };
    let location = session.location.with_path("").to_string();
    let text = format!(
        "{location}\n  disk       {} free of {}\n  dialect    {}{signed}\n  as         {user}\n  server     {}\n",
        text::size(space.free),
        text::size(space.total),
        link.dialect.name,
        legible(&[link.native_lan_man.as_str(), link.native_os.as_str()].join(", ")),
    );
    let mut report = Map::new();
    report.insert("location".into(), json!(location));
    report.insert(
        "disk".into(),
        json!({"total": space.total, "free": space.free}),
    );
    report.insert("dialect".into(), json!(link.dialect.name));
    report.insert("signed".into(), json!(link.signed));
    report.insert("guest".into(), json!(link.guest));
    report.insert("native_os".into(), json!(link.native_os));
    report.insert("native_lan_man".into(), json!(link.native_lan_man));
    Ok(Done {
        report,
        text,
        failures: Vec::new(),
    })
}

/// What a server shares.
pub fn shares(args: &SharesArgs) -> Result<Done, Stop> {
    list_shares(&args.place, &args.common, args.all)
}

fn list_shares(place: &Location, common: &Common, all: bool) -> Result<Done, Stop> {
    let ipc = place.with_share("IPC$");
    let mut session = Session::open_any(&ipc, common, "IPC")?;
    let asked = session.connection.shares();
    let mut list = asked.map_err(|error| Failure {
        subject: place.with_share("").to_string(),
        ..session.failure("", &error)
    })?;
    list.retain(|share| all || !share.name.ends_with('$'));
    let width = list.iter().map(|share| share.name.chars().count()).max();
    let width = width.unwrap_or_default();
    let mut text = String::new();
    for share in &list {
        let line = format!(
            "{:width$}  {:7}  {}",
            legible(&share.name),
            kind(share),
            legible(&share.comment)
        );
        text.push_str(line.trim_end());
        text.push('\n');
    }
    let entries: Vec<Value> = list
        .iter()
        .map(|share| {
            let hidden = share.name.ends_with('$');
            json!({"name": share.name, "kind": kind(share), "hidden": hidden, "comment": share.comment})
        })
        .collect();
    let mut report = Map::new();
    report.insert("server".into(), json!(place.host));
    report.insert("shares".into(), entries.into());
    Ok(Done {
        report,
        text,
        failures: Vec::new(),
    })
}

fn kind(share: &ShareEntry) -> &'static str {
    match share.kind & 0xff {
        0 => "disk",
        1 => "printer",
        2 => "device",
        3 => "ipc",
        _ => "unknown",
    }
}

/// Several places of one share, one after the other.
fn each(
    places: &[Location],
    common: &Common,
    what: &str,
    mut act: impl FnMut(&mut Session, &Location, &mut Vec<Failure>, &mut Vec<Value>),
) -> Result<Done, Stop> {
    let first = places
        .first()
        .ok_or_else(|| Stop::Usage("the URL is missing: write smb://HOST/SHARE/PATH".into()))?;
    if places.iter().any(|place| !place.same_share(first)) {
        return Err(Stop::Usage(
            "the URLs name several shares: write those of one share in one command".into(),
        ));
    }
    if let Some(place) = places.iter().find(|place| place.path.is_empty()) {
        return Err(Stop::Usage(format!(
            "{place} is a whole share: write smb://HOST/SHARE/PATH"
        )));
    }
    let mut session = Session::open(first, common)?;
    let (mut failures, mut did) = (Vec::new(), Vec::new());
    for place in places {
        if session.is_over() {
            break;
        }
        act(&mut session, place, &mut failures, &mut did);
    }
    let mut report = Map::new();
    report.insert(what.into(), did.into());
    Ok(Done {
        report,
        text: String::new(),
        failures,
    })
}

/// Deletes.
pub fn rm(args: &RmArgs) -> Result<Done, Stop> {
    each(
        &args.places,
        &args.common,
        "removed",
        |session, place, failures, did| {
            let mut removal = Removal {
                args,
                failures,
                did,
            };
            removal.place(session, place);
        },
    )
}

struct Removal<'a> {
    args: &'a RmArgs,
    failures: &'a mut Vec<Failure>,
    did: &'a mut Vec<Value>,
}

impl Removal<'_> {
    fn place(&mut self, session: &mut Session, place: &Location) {
        if !place.has_wildcards() {
            return match session.connection.stat(&place.path) {
                Ok(stat) => self.one(session, &place.path, &stat, 0),
                Err(error) if self.args.force && is_missing(&error) => {}
                Err(error) => self.failures.push(session.failure(&place.path, &error)),
            };
        }
        match session.connection.list(place.folder(), place.name()) {
            Ok(mut entries) => {
                let generation = session.connection.link().generation();
                let pattern = long_names(place.name(), generation);
                entries.retain(|entry| pattern.matches(&entry.name));
                if entries.is_empty() && !self.args.force {
                    let nothing = Failure::new(place.to_string(), "nothing matches");
                    self.failures.push(nothing);
                }
                for entry in entries {
                    let path = join(place.folder(), &entry.name);
                    self.one(session, &path, &entry.stat, 0);
                }
            }
            Err(error) => self.failures.push(session.failure(&place.path, &error)),
        }
    }

    fn one(&mut self, session: &mut Session, path: &str, stat: &FileStat, depth: usize) {
        if session.is_over() {
            return;
        }
        let place = session.location.with_path(path).to_string();
        if stat.is_directory() && !self.args.recursive {
            let why =
                "is a folder: -r removes it with all that is in it, 'coax rmdir' if it is empty";
            return self.failures.push(Failure::new(place, why));
        }
        let outcome = if stat.is_directory() {
            self.folder(session, path, depth)
        } else {
            session.connection.delete(path)
        };
        match outcome {
            Ok(()) => self.did.push(json!(place)),
            Err(error) => self.failures.push(session.failure(path, &error)),
        }
    }

    /// Removes a folder, and before that its contents if the server requires it. Of a symbolic link, which looks like a
    /// folder, the server removes only the link.
    fn folder(&mut self, session: &mut Session, path: &str, depth: usize) -> Result<(), Error> {
        let Err(error) = session.connection.remove_folder(path) else {
            return Ok(());
        };
        // Servers without NTSTATUS use several codes for a folder that is not empty.
        let not_empty =
            !session.connection.link().nt_status || says(&error, &[Status::DIRECTORY_NOT_EMPTY]);
        if session.is_over() || !not_empty {
            return Err(error);
        }
        self.within(session, path, depth)?;
        session.connection.remove_folder(path)
    }

    fn within(&mut self, session: &mut Session, path: &str, depth: usize) -> Result<(), Error> {
        if depth >= DEEPEST {
            return Ok(());
        }
        for entry in session.connection.list(path, "*")? {
            let path = join(path, &entry.name);
            self.one(session, &path, &entry.stat, depth.saturating_add(1));
        }
        Ok(())
    }
}

/// A pattern as the user sees it. Servers compare it with 8.3 names too, so their matches of `*.htm` include page.html.
fn long_names(pattern: &str, generation: Generation) -> Pattern {
    if generation == Generation::Nt {
        Pattern::nt(pattern)
    } else {
        Pattern::dos(pattern)
    }
}

/// Makes folders.
pub fn mkdir(args: &MkdirArgs) -> Result<Done, Stop> {
    each(
        &args.places,
        &args.common,
        "made",
        |session, place, failures, did| {
            let paths: Vec<&str> = if args.parents {
                let ends = place.path.match_indices('/').map(|(at, _)| at);
                let ends = ends.chain([place.path.len()]);
                ends.filter_map(|at| place.path.get(..at)).collect()
            } else {
                vec![place.path.as_str()]
            };
            for path in paths {
                match session.connection.make_folder(path) {
                    Ok(()) => did.push(json!(session.location.with_path(path).to_string())),
                    Err(_) if args.parents && is_folder(session, path) => {}
                    Err(error) => {
                        let mut failure = taken(session, path, &error);
                        if !args.parents && is_missing(&error) {
                            failure
                                .hints
                                .push("--parents makes the folders on the way, too".into());
                        }
                        return failures.push(failure);
                    }
                }
            }
        },
    )
}

fn is_folder(session: &mut Session, path: &str) -> bool {
    let found = session.connection.find(path);
    found.is_ok_and(|stat| stat.is_some_and(|stat| stat.is_directory()))
}

/// A failure of something that needs a free name.
fn taken(session: &mut Session, path: &str, error: &Error) -> Failure {
    let mut failure = session.failure(path, error);
    if says(error, &[Status::OBJECT_NAME_COLLISION]) {
        failure.hints = vec!["there is something of that name already".into()];
    }
    failure
}

/// Removes empty folders.
pub fn rmdir(args: &PathsArgs) -> Result<Done, Stop> {
    each(
        &args.places,
        &args.common,
        "removed",
        |session, place, failures, did| match session.connection.remove_folder(&place.path) {
            Ok(()) => did.push(json!(place.to_string())),
            Err(error) => failures.push(session.failure(&place.path, &error)),
        },
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use clap::Parser;
    use coax_transfer::client::testkit::Served;
    use std::{fs, os::unix::fs::symlink};

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: RmArgs,
    }

    /// Runs `coax rm` for this path of the share and returns the failures.
    fn run_rm(served: &Served, path: &str, options: &[&str]) -> Vec<Failure> {
        let url = served.location(path).to_string();
        let options = options.iter().copied();
        let line = Line::parse_from(["rm", &url].into_iter().chain(options));
        rm(&line.args).unwrap().failures
    }

    #[test]
    fn a_pattern_removes_only_files_whose_visible_names_match() {
        let served = Served::start("", None);
        let there = |name: &str| served.folder().join(name).exists();
        for dialect in ["nt1", "lanman2"] {
            for name in ["page.html", "page.htm", "longer name.HTM"] {
                fs::write(served.folder().join(name), name).unwrap();
            }
            assert_eq!(run_rm(&served, "*.htm", &["--dialect", dialect]), []);
            assert!(there("page.html"), "{dialect}");
            assert!(!there("page.htm") && !there("longer name.HTM"), "{dialect}");
        }
        let failures = run_rm(&served, "*~1.*", &[]);
        assert_eq!(
            failures.first().map(|failure| failure.why.as_str()),
            Some("nothing matches")
        );
        assert!(there("page.html"));
        assert_eq!(run_rm(&served, "*.*", &[]), []);
        assert!(!there("page.html"));
    }

    #[test]
    fn removing_a_link_to_a_folder_keeps_the_folders_contents() {
        let served = Served::start("", None);
        let folder = served.folder().join("target");
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("precious"), "precious").unwrap();
        symlink("target", served.folder().join("link")).unwrap();
        assert_eq!(run_rm(&served, "link", &["-r"]), []);
        assert!(!served.folder().join("link").exists());
        assert_eq!(fs::read(folder.join("precious")).unwrap(), b"precious");
        assert_eq!(run_rm(&served, "target", &["-r"]), []);
        assert!(!folder.exists());
    }

    #[test]
    fn a_servers_names_cannot_command_the_terminal() {
        assert_eq!(legible("a\x1b[2Jb"), "a\u{fffd}[2Jb");
    }
}
