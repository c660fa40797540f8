//! `coax explain` of many captures.

use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use serde_json::Value;

fn coax(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_coax"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn labelled() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/captures/labelled");
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.retain(|path| path.to_string_lossy().contains(".pcap"));
    files.sort();
    files
}

/// A folder with six captures in two folders, two of the same name, and much else.
fn site() -> tempfile::TempDir {
    let site = tempfile::tempdir().unwrap();
    let at = |name: &str| site.path().join(name);
    fs::create_dir_all(at("in/deep")).unwrap();
    let captures = labelled();
    for (number, capture) in captures.iter().take(4).enumerate() {
        fs::copy(capture, at(&format!("in/{number}.pcapng.gz"))).unwrap();
    }
    fs::copy(&captures[4], at("in/deep/0.pcapng.gz")).unwrap();
    // its beginning, without an ending that says so
    let whole = fs::read(&captures[5]).unwrap();
    fs::write(at("in/deep/cut"), &whole[..whole.len() / 2]).unwrap();
    fs::write(at("in/notes.txt"), "notes").unwrap();
    fs::write(at("in/empty.pcap"), "").unwrap();
    symlink("nowhere", at("in/gone.pcap")).unwrap();
    symlink(".", at("in/loop")).unwrap();
    site
}

fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn files(lines: &[Value]) -> Vec<&str> {
    lines
        .iter()
        .map(|line| line["file"].as_str().unwrap())
        .collect()
}

#[test]
fn folders_are_searched_and_what_cannot_be_read_is_named() {
    let site = site();
    let done = coax(site.path(), &["explain", "in", "--ndjson", "lines"]);
    assert_eq!(done.status.code(), Some(1));
    let said = said(&done);
    assert!(
        said.contains("error: in/empty.pcap: the file is empty"),
        "{said}"
    );
    assert!(
        said.contains("6 captures explained, 3 other files left out, 1 failed"),
        "{said}"
    );
    let lines = lines(&site.path().join("lines"));
    let expected = [
        "in/0.pcapng.gz",
        "in/1.pcapng.gz",
        "in/2.pcapng.gz",
        "in/3.pcapng.gz",
        "in/deep/0.pcapng.gz",
        "in/deep/cut",
    ];
    assert_eq!(files(&lines), expected);
    let shown = String::from_utf8_lossy(&done.stdout).into_owned();
    assert_eq!(shown.lines().count(), 6, "{shown}");
    assert!(shown.starts_with("in/0.pcapng.gz: "), "{shown}");
}

#[test]
fn the_lines_do_not_depend_on_the_number_of_threads_and_are_those_of_json() {
    let site = site();
    for jobs in ["1", "2", "9"] {
        coax(
            site.path(),
            &["explain", "in", "--jobs", jobs, "--ndjson", jobs],
        );
    }
    let text = |name: &str| fs::read(site.path().join(name)).unwrap();
    assert!(text("1") == text("2"));
    assert!(text("1") == text("9"));
    let alone = coax(site.path(), &["explain", "--json", "in/2.pcapng.gz"]);
    let alone: Value = serde_json::from_slice(&alone.stdout).unwrap();
    assert!(lines(&site.path().join("1"))[2] == alone["captures"][0]);
}

#[test]
fn the_parts_together_are_everything() {
    let site = site();
    coax(site.path(), &["explain", "in", "--ndjson", "all"]);
    let mut parts = BTreeSet::new();
    let mut count = 0;
    for part in ["1/3", "2/3", "3/3"] {
        coax(
            site.path(),
            &[
                "explain",
                "in",
                "--shard",
                part,
                "--ndjson",
                "part",
                "--parquet",
                "tables",
            ],
        );
        for line in lines(&site.path().join("part")) {
            count += 1;
            parts.insert(line.to_string());
        }
    }
    let all: BTreeSet<String> = lines(&site.path().join("all"))
        .iter()
        .map(Value::to_string)
        .collect();
    assert!(parts == all && count == 6, "{count} lines");
    assert!(site.path().join("tables/causes-2-of-3.parquet").exists());
}

#[test]
fn a_second_run_explains_only_what_is_new_or_changed() {
    let site = site();
    let run = || {
        coax(
            site.path(),
            &["explain", "in", "--out", "out", "--ndjson", "lines"],
        )
    };
    run();
    let first = fs::read(site.path().join("lines")).unwrap();
    assert!(site.path().join("out/in/deep/0.pcapng.gz.json").exists());
    let again = run();
    assert!(
        said(&again).contains("0 captures explained, 6 known from an earlier run"),
        "{}",
        said(&again)
    );
    assert!(fs::read(site.path().join("lines")).unwrap() == first);
    fs::remove_file(site.path().join("out/in/1.pcapng.gz.json")).unwrap();
    fs::write(site.path().join("out/in/2.pcapng.gz.json"), "{ damaged").unwrap();
    fs::copy(&labelled()[7], site.path().join("in/3.pcapng.gz")).unwrap();
    let third = run();
    assert!(
        said(&third).contains("3 captures explained, 3 known"),
        "{}",
        said(&third)
    );
    let object = fs::read(site.path().join("out/in/2.pcapng.gz.json")).unwrap();
    let object: Value = serde_json::from_slice(&object).unwrap();
    assert!(object["captures"][0] == lines(&site.path().join("lines"))[2]);
}

#[test]
fn a_full_disk_is_an_error_and_leaves_no_part() {
    let site = site();
    let done = coax(site.path(), &["explain", "in", "--ndjson", "/dev/full"]);
    assert_eq!(done.status.code(), Some(1));
    assert!(
        said(&done).contains("/dev/full cannot be written: No space left"),
        "{}",
        said(&done)
    );
    fs::create_dir_all(site.path().join("tables/causes.parquet/in the way")).unwrap();
    let done = coax(site.path(), &["explain", "in", "--parquet", "tables"]);
    assert_eq!(done.status.code(), Some(1));
    let left = fs::read_dir(site.path().join("tables")).unwrap();
    let parts = left.filter(|entry| {
        entry
            .as_ref()
            .unwrap()
            .file_name()
            .to_string_lossy()
            .ends_with(".part")
    });
    assert_eq!(parts.count(), 0);
}

#[test]
fn options_that_make_no_sense_are_refused_before_anything_is_read() {
    let site = site();
    for (arguments, words) in [
        (&["in", "--json"][..], "--json is for single captures"),
        (&["in", "--html", "page"], "--html is for single captures"),
        (&["-", "--jobs", "2"], "standard input is one capture"),
        (
            &["in", "--ndjson", "no/where"],
            "--ndjson: no/where cannot be written",
        ),
        (
            &["in", "--out", "in/notes.txt"],
            "--out: the folder in/notes.txt cannot be used",
        ),
        (&["in", "--shard", "4/3"], "'4/3' is not a part"),
        (&["in", "--jobs", "0"], "--jobs"),
    ] {
        let done = coax(site.path(), &[&["explain"], arguments].concat());
        assert_eq!(done.status.code(), Some(2), "{arguments:?}");
        assert!(
            said(&done).contains(words),
            "{arguments:?}: {}",
            said(&done)
        );
    }
    assert!(!site.path().join("page").exists());
}
