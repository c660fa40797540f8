//! `coax get` from a server in this process.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

use clap::Parser;
use coax_transfer::client::testkit::Served;

use super::*;

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    args: GetArgs,
}

/// The arguments of `coax get` with these options, files of the server, and folder.
fn arguments(served: &Served, options: &[&str], paths: &[&str], to: &Path) -> GetArgs {
    let urls = paths.iter().map(|path| served.location(path).to_string());
    let words = ["get"].iter().chain(options).map(ToString::to_string);
    let line = words.chain(urls).chain([to.display().to_string()]);
    Line::parse_from(line).args
}

fn messages(done: &Done) -> Vec<String> {
    done.failures.iter().map(ToString::to_string).collect()
}

#[test]
fn two_files_for_one_local_name_are_noticed_however_the_name_is_written() {
    let mut targets = Targets::default();
    assert_eq!(targets.add(Path::new("x"), "1/x"), Ok(()));
    assert_eq!(targets.add(Path::new("y"), "1/y"), Ok(()));
    assert_eq!(targets.add(Path::new("./x"), "2/x"), Err("1/x"));
    assert_eq!(targets.paths().len(), 2);
}

#[test]
fn the_second_file_for_one_local_name_is_a_failure_that_names_both() {
    let served = Served::start("", None);
    for (folder, text) in [("1", "first"), ("2", "second")] {
        fs::create_dir(served.folder().join(folder)).unwrap();
        fs::write(served.folder().join(folder).join("x"), text).unwrap();
    }
    let to = tempfile::tempdir().unwrap();
    let done = get(&arguments(&served, &[], &["1/x", "2/x"], to.path())).unwrap();
    let failures = messages(&done);
    assert!(
        failures.len() == 1 && failures[0].contains("/2/x: ") && failures[0].contains("/1/x is"),
        "{failures:?}"
    );
    assert_eq!(fs::read(to.path().join("x")).unwrap(), b"first");
}

#[test]
fn a_file_and_another_with_its_partial_files_name_are_both_copied() {
    let served = Served::start("", None);
    for name in ["x", "x.part"] {
        fs::write(served.folder().join(name), name).unwrap();
    }
    for paths in [&["x.part", "x"][..], &["x", "x.part"], &["*"]] {
        let to = tempfile::tempdir().unwrap();
        let done = get(&arguments(&served, &[], paths, to.path())).unwrap();
        assert_eq!(messages(&done), [""; 0]);
        for name in ["x", "x.part"] {
            assert_eq!(fs::read(to.path().join(name)).unwrap(), name.as_bytes());
        }
    }
}

fn planned(args: &GetArgs) -> (Session, Vec<Item>, RunOptions<'_>) {
    let (places, local) = split(&args.places).unwrap();
    let mut session = Session::open(places.first().unwrap(), &args.common).unwrap();
    let mut tally = Tally::default();
    let (items, targets) =
        plan(&mut session, &places, Path::new(&local), args, &mut tally).unwrap();
    let targets = targets.paths();
    (session, items, RunOptions { args, targets })
}

fn set_time(path: &Path, seconds: u64) {
    let file = fs::File::options().write(true).open(path).unwrap();
    file.set_modified(UNIX_EPOCH + Duration::from_secs(seconds))
        .unwrap();
}

fn seconds(path: &Path) -> u64 {
    let modified = fs::metadata(path).unwrap().modified().unwrap();
    modified.duration_since(UNIX_EPOCH).unwrap().as_secs()
}

#[test]
fn a_file_that_changed_since_the_list_is_copied_with_its_new_date() {
    let served = Served::start("", None);
    let remote = served.folder().join("F.TXT");
    fs::write(&remote, "old").unwrap();
    set_time(&remote, 800_000_000);
    let to = tempfile::tempdir().unwrap();
    let args = arguments(&served, &[], &["*"], to.path());
    let (mut session, items, options) = planned(&args);
    fs::write(&remote, "new and longer").unwrap();
    set_time(&remote, 900_000_000);
    let mut tally = Tally::default();
    copy_all(&mut session, items, &options, &mut tally);
    let local = to.path().join("F.TXT");
    assert!(tally.failures.is_empty(), "{:?}", tally.failures);
    assert_eq!(fs::read(&local).unwrap(), b"new and longer");
    assert_eq!(seconds(&local), 900_000_000);
}

#[test]
fn a_pattern_copies_large_files_with_odd_seconds_in_every_dialect() {
    let served = Served::start("", None);
    let remote = served.folder().join("F.BIN");
    fs::write(&remote, [7; 70_000]).unwrap();
    set_time(&remote, 800_000_001);
    for dialect in ["core", "coreplus", "lanman1", "lanman2", "nt1"] {
        let to = tempfile::tempdir().unwrap();
        let args = arguments(&served, &["--dialect", dialect], &["*.*"], to.path());
        let done = get(&args).unwrap();
        assert_eq!(messages(&done), [""; 0], "{dialect}");
        let local = to.path().join("F.BIN");
        assert!(seconds(&local).abs_diff(800_000_001) < 2, "{dialect}");
    }
}

#[test]
fn a_missing_local_folder_is_named() {
    let served = Served::start("", None);
    fs::write(served.folder().join("F.TXT"), "text").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let why = |to: &str| {
        let to = folder.path().join(to);
        let done = get(&arguments(&served, &[], &["F.TXT"], &to)).unwrap();
        messages(&done).concat()
    };
    let new = folder.path().join("new").display().to_string();
    assert_eq!(
        why("new/"),
        format!("error: {new}/: this folder does not exist")
    );
    assert!(why("new/f").ends_with(&format!("the folder {new} does not exist")));
}
