//! `coax serve` as a stranger meets it: what it prints where, and its exit codes.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::expect_used,
    clippy::panic
)]

use std::process::Command;

/// Exit code, standard output, standard error.
fn coax(arguments: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_coax"))
        .args(arguments)
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (
        output.status.code().unwrap(),
        text(output.stdout),
        text(output.stderr),
    )
}

fn conf(text: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("smb.conf");
    std::fs::write(&path, text).unwrap();
    (folder, path.to_str().unwrap().to_string())
}

#[test]
fn wrong_usage_ends_with_2_and_says_how() {
    let (code, out, err) = coax(&["serve"]);
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(err.contains("coax serve DIR"), "{err}");
    assert_eq!(coax(&[]).0, 2);
    assert_eq!(coax(&["serve", "/", "--no-such-thing"]).0, 2);
}

#[test]
fn what_cannot_be_done_ends_with_1_and_names_the_line() {
    let (_folder, path) = conf("[x]\npath = /\nread only = maybe\n");
    let (code, out, err) = coax(&["serve", "--config", &path, "--check"]);
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(
        err.contains(&format!("{path}:3")) && err.contains("read only = maybe"),
        "{err}"
    );
    let (code, _, err) = coax(&["serve", "/nonexistent/folder", "--check"]);
    assert!(code == 1 && err.contains("/nonexistent/folder"), "{err}");
}

#[test]
fn a_check_prints_what_to_type_and_says_what_has_no_effect() {
    let (_folder, path) = conf(
        "[global]\nnetbios name = attic\nkernel oplocks = yes\n[DATA]\npath = /\nguest ok = yes\n",
    );
    let (code, out, err) = coax(&["serve", "--config", &path, "--check"]);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains(r"NET USE X: \\ATTIC\DATA"), "{out}");
    assert!(
        err.contains("warning: coax does not honour 'kernel oplocks'")
            && err.contains(&format!("{path}:3")),
        "{err}"
    );
}

#[test]
fn explain_config_documents_every_parameter_or_every_line() {
    let (code, all, _) = coax(&["serve", "--explain-config"]);
    assert_eq!(code, 0);
    for part in [
        "read raw = yes or no; default yes",
        "read size\n",
        "Met in another way:",
        "Not honoured:",
        "Samba 4.0 dropped it.",
    ] {
        assert!(all.contains(part), "{part}");
    }
    let (_folder, path) = conf("[DATA]\npath = /\n");
    let (code, lines, _) = coax(&["serve", "--config", &path, "--explain-config"]);
    assert_eq!(code, 0);
    assert!(
        lines.contains(&format!("path ({path}:2)")) && lines.contains("1 line(s): 1 honoured"),
        "{lines}"
    );
}

#[test]
fn a_password_never_appears_in_what_is_printed() {
    let (code, out, err) = coax(&["serve", "/", "--user", "anna:swordfish", "--check"]);
    assert_eq!(code, 0);
    assert!(!out.contains("swordfish") && !err.contains("swordfish"));
}
