//! `coax serve` as a stranger meets it: what it prints where, and its exit codes.

use std::{os::unix::fs::PermissionsExt, process::Command};

use serde_json::Value;

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

/// As [`coax`], of a check that takes no port which another program may hold.
fn check(arguments: &[&str]) -> (i32, String, String) {
    let here = ["--nbt", "127.0.0.1:0", "--direct", "127.0.0.1:0"];
    coax(&[&["serve", "--check"], arguments, &here].concat())
}

/// The one JSON object that a check prints, and its exit code.
fn check_json(arguments: &[&str]) -> (i32, Value) {
    let (code, out, _) = check(&[arguments, &["--json"]].concat());
    assert_eq!(out.lines().count(), 1, "{out}");
    (code, serde_json::from_str(&out).unwrap())
}

/// The messages of a severity.
fn messages<'a>(report: &'a Value, severity: &str) -> Vec<&'a str> {
    let said = report["diagnostics"].as_array().unwrap().iter();
    said.filter(|d| d["severity"] == severity)
        .map(|d| d["message"].as_str().unwrap())
        .collect()
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
    let (code, out, err) = check(&["--config", &path]);
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
        "Not needed:",
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
    let (code, out, err) = check(&["/", "--user", "anna:swordfish"]);
    assert_eq!(code, 0, "{err}");
    assert!(!out.contains("swordfish") && !err.contains("swordfish"));
}

#[test]
fn a_check_fails_where_a_start_would_and_says_all_reasons_at_once() {
    let (folder, path) = conf("");
    let missing = folder.path().join("smbpasswd");
    let text = format!(
        "[global]\nsmb passwd file = {}\ndos charset = 999\n[A]\npath = /no/such/folder\n[B]\npath = /no/such/other\n",
        missing.display()
    );
    std::fs::write(&path, text).unwrap();
    let (code, report) = check_json(&["--config", &path]);
    assert_eq!(
        (code, &report["ok"], &report["serves"]),
        (1, &Value::Bool(false), &Value::Null)
    );
    let errors = messages(&report, "error");
    for part in ["smbpasswd", "999", "share A", "share B"] {
        assert_eq!(
            errors.iter().filter(|e| e.contains(part)).count(),
            1,
            "{part}: {errors:?}"
        );
    }
    assert_eq!(errors.len(), 4, "{errors:?}");
}

#[test]
fn a_check_reads_the_password_file_and_says_who_else_can() {
    let (folder, path) = conf("");
    let users = folder.path().join("smbpasswd");
    let text = format!(
        "[global]\nsmb passwd file = {}\n[A]\npath = /\nvalid users = bob, joe\n",
        users.display()
    );
    std::fs::write(&path, text).unwrap();
    let x = "X".repeat(32);
    let line = format!("bob:1:{x}:a4f49c406510bdcab6824ee7c30fd852:[U ]:LCT-0:\n");
    std::fs::write(&users, &line).unwrap();
    let mode = |bits| std::fs::set_permissions(&users, PermissionsExt::from_mode(bits)).unwrap();
    mode(0o644);
    let (code, report) = check_json(&["--config", &path]);
    assert_eq!((code, &report["ok"]), (0, &Value::Bool(true)));
    assert_eq!(report["serves"]["users"], serde_json::json!(["bob"]));
    let warnings = messages(&report, "warning");
    assert!(
        warnings[0].contains("every user of this machine can read"),
        "{warnings:?}"
    );
    assert!(
        warnings[1].contains("'valid users' names joe, which is not a user"),
        "{warnings:?}"
    );
    mode(0o600);
    let (_, report) = check_json(&["--config", &path]);
    assert_eq!(messages(&report, "warning").len(), 1);
    std::fs::write(&users, format!("# users\n{line}eve:1:{x}:nonsense\n")).unwrap();
    let (code, report) = check_json(&["--config", &path]);
    let errors = messages(&report, "error");
    assert!(
        code == 1 && errors.len() == 1 && errors[0].contains("line 3"),
        "{errors:?}"
    );
}

#[test]
fn a_check_names_the_holder_of_a_port() {
    let held = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = held.local_addr().unwrap().to_string();
    let (code, report) = check_json(&["/", "--direct", &address]);
    let errors = messages(&report, "error");
    let us = format!("(process {}) holds this port", std::process::id());
    assert!(
        code == 1 && errors.len() == 1 && errors[0].contains(&us),
        "{errors:?}"
    );
}

#[test]
fn a_check_of_a_broken_configuration_is_one_object_that_names_the_line() {
    let (_folder, path) = conf("[x]\npath = /\nread only = maybe\n");
    let (code, report) = check_json(&["--config", &path]);
    assert_eq!((code, &report["ok"]), (1, &Value::Bool(false)));
    let said = &report["diagnostics"][0];
    assert_eq!(
        (said["line"].as_u64(), said["file"].as_str()),
        (Some(3), Some(path.as_str()))
    );
}

#[test]
fn a_check_leaves_no_log_file_behind_and_warns_of_one_that_cannot_be_written() {
    let (folder, path) = conf("");
    let log = folder.path().join("log");
    let with_log =
        |log: &str| format!("[global]\nlog file = {log}\n[A]\npath = /\nguest ok = yes\n");
    std::fs::write(&path, with_log(log.to_str().unwrap())).unwrap();
    let (code, report) = check_json(&["--config", &path]);
    assert_eq!((code, messages(&report, "warning")), (0, Vec::new()));
    assert!(!log.exists());
    std::fs::write(&path, with_log("/no/such/folder/log")).unwrap();
    let (code, report) = check_json(&["--config", &path]);
    let warnings = messages(&report, "warning");
    assert!(
        code == 0 && warnings[0].contains("/no/such/folder/log"),
        "{warnings:?}"
    );
}
