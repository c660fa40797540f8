//! Wrong command lines: the exact message of each, in one format. The table is `wrong_usage.txt`.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

const COAX: &str = env!("CARGO_BIN_EXE_coax");
const BLESS: &str = "COAX_BLESS=1 cargo test -p coax --test all wrong_usage::";
/// As many wrong usages as the table has at least.
const CASES_MIN: usize = 60;

/// A command line of the table, and what it prints.
struct Case {
    line: String,
    expected: String,
}

fn table() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wrong_usage.txt")
}

fn cases() -> Vec<Case> {
    let text = fs::read_to_string(table()).unwrap();
    let blocks = text.split("$ coax").skip(1);
    blocks
        .map(|block| {
            let (line, expected) = block.split_once('\n').unwrap();
            let expected = format!("{}\n", expected.trim_end());
            let line = line.trim().to_owned();
            Case { line, expected }
        })
        .collect()
}

/// The words of a command line; blanks within single quotes are kept.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut quoted) = (vec![String::new()], false);
    for c in line.chars() {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            c => words.last_mut().unwrap().push(c),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// A folder with the files that the table's command lines name.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("mine.toml", "titel = \"a typo\"\n"),
        ("inner.toml", "[set]\nlink.dealy = \"3 ms\"\n"),
        ("value.toml", "[set]\nclient.stack.mss = \"big\"\n"),
        (
            "smb.conf",
            "[global]\nnetbois name = X\n[s]\npaht = .\npath = .\n",
        ),
        ("notes.txt", "a = b\n"),
        ("slow.pcap", "no capture"),
    ] {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn coax(folder: &Path, line: &str) -> std::process::Output {
    Command::new(COAX)
        .args(words(line))
        .current_dir(folder)
        .env_remove("COAX_PASSWORD")
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

#[test]
fn each_wrong_usage_has_its_exact_message_and_exit_code_2() {
    let folder = folder();
    let before = files(folder.path());
    let (mut wrong, mut renewed) = (Vec::new(), String::new());
    for case in cases() {
        let done = coax(folder.path(), &case.line);
        let said = String::from_utf8(done.stderr).unwrap();
        renewed.push_str(&format!("$ coax {}\n{said}\n", case.line).replace("coax \n", "coax\n"));
        assert_eq!(done.status.code(), Some(2), "coax {}: {said}", case.line);
        assert!(done.stdout.is_empty(), "coax {}", case.line);
        if said != case.expected {
            wrong.push(format!(
                "coax {}\n{said}instead of\n{}",
                case.line, case.expected
            ));
        }
    }
    if std::env::var_os("COAX_BLESS").is_some() {
        fs::write(table(), format!("{}\n", renewed.trim_end())).unwrap();
        return;
    }
    assert!(
        wrong.is_empty(),
        "{}\n{BLESS} renews the table",
        wrong.join("\n")
    );
    assert_eq!(files(folder.path()), before, "wrong usage changed a file");
}

fn files(folder: &Path) -> BTreeSet<(PathBuf, Vec<u8>)> {
    let entries = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    entries
        .map(|path| (path.clone(), fs::read(&path).unwrap()))
        .collect()
}

/// What is wrong, where, and what to try: each message has all three, whatever wrote it.
#[test]
fn every_message_of_the_table_has_the_same_form() {
    let cases = cases();
    assert!(cases.len() >= CASES_MIN, "{} cases", cases.len());
    let lines: BTreeSet<&str> = cases.iter().map(|case| case.line.as_str()).collect();
    assert_eq!(lines.len(), cases.len(), "a line is twice in the table");
    for Case { line, expected } in &cases {
        let parts: Vec<&str> = expected.lines().collect();
        let [what, place, help] = parts[..] else {
            panic!("coax {line}: {expected}");
        };
        assert!(
            what.len() > "error: ".len() + 8 && what.starts_with("error: "),
            "{what}"
        );
        assert!(!what.ends_with(['.', ':']) && !what.contains('`'), "{what}");
        let verb = place
            .strip_prefix(" --> coax")
            .unwrap_or_else(|| panic!("{place}"));
        let first = verb.split_whitespace().next().unwrap_or_default();
        assert!(
            words(line).contains(&first.to_owned()) || line.is_empty(),
            "{place}"
        );
        assert!(
            help.len() > "  = help: ".len() + 8 && help.starts_with("  = help: "),
            "{help}"
        );
    }
}

/// Passwords of command lines stand in no message.
#[test]
fn no_message_shows_a_password() {
    let folder = folder();
    for line in [
        "get smb://ann:hush%@nas/s/f",
        "get smb://ann:hush@nas/s/f smb://b/s/f",
        "put notes.txt smb://ann:hush%@nas/s/f",
        "mv smb://ann@nas/s/f smb://ann:hush%@nas/s/g",
        "ls smb://ann:hush%@nas/s",
        "bench smb://ann:hush%@nas/s",
        "ls smb://nas/s smb://ann:hush@nas/s",
        "serve . --user ann:hush --user : --check",
        "serve . --user ann:hush --gest --check",
        "serve . --usr ann:hush --check",
        "serve . --usr=ann:hush --check",
        "serve . --user :hush --check",
        "serve . --user=:hush --check",
    ] {
        let done = coax(folder.path(), line);
        let said = String::from_utf8(done.stderr).unwrap();
        assert_eq!(done.status.code(), Some(2), "{line}: {said}");
        assert!(!said.contains("hush"), "{line}: {said}");
    }
}

/// A mistyped parameter is not fatal, because Samba ignores it too; the message names the nearest one and the line.
#[test]
fn a_mistyped_parameter_of_smb_conf_gets_the_nearest_name() {
    let folder = folder();
    let listen = "--nbt 127.0.0.1:0 --check";
    let done = coax(folder.path(), &format!("serve --config smb.conf {listen}"));
    let said = String::from_utf8(done.stderr).unwrap();
    for (place, meant) in [("smb.conf:2", "netbios name"), ("smb.conf:4", "path")] {
        let help = format!(" --> {place}\n");
        let after = said.split_once(&help).unwrap_or_else(|| panic!("{said}")).1;
        let line = after.lines().nth(1).unwrap();
        assert_eq!(line, format!("  = help: did you mean '{meant}'?"), "{said}");
    }
    let done = coax(
        folder.path(),
        &format!("serve . --option 'read rw = no' {listen}"),
    );
    let said = String::from_utf8(done.stderr).unwrap();
    assert!(said.contains("did you mean 'read raw'?"), "{said}");
}

/// A file that cannot be read, or a capture that is none, is a failure and no wrong usage.
#[test]
fn what_cannot_be_read_is_a_failure_with_exit_code_1() {
    let folder = folder();
    for line in [
        "lab run gone.toml",
        "lab import gone.ini",
        "lab sweep gone/mine.toml --grid seed=1,2",
        "explain slow.pcap",
        "serve --config gone.conf --check",
    ] {
        let done = coax(folder.path(), line);
        let said = String::from_utf8(done.stderr).unwrap();
        assert_eq!(done.status.code(), Some(1), "{line}: {said}");
        assert!(said.starts_with("error: "), "{line}: {said}");
    }
}
