//! `coax get` from a server in this process.
#![allow(clippy::unwrap_used, clippy::panic)]

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
