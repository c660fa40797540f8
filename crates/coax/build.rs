//! Tells the program which commit and features it was built from: `coax --version`.

use std::process::Command;
use std::{env, fs};

fn main() {
    println!("cargo:rerun-if-env-changed=COAX_COMMIT");
    println!("cargo:rustc-env=COAX_COMMIT={}", commit());
    println!("cargo:rustc-env=COAX_FEATURES={}", features());
}

/// The commit: `COAX_COMMIT`, or what git says. A development build does not ask, or each commit would build it again.
fn commit() -> String {
    if let Ok(given) = env::var("COAX_COMMIT") {
        return given;
    }
    if env::var("PROFILE").as_deref() != Ok("release") {
        return "development build".into();
    }
    watch_head();
    let git = Command::new("git")
        .args(["rev-parse", "--short=12", "HEAD"])
        .output();
    match git {
        Ok(done) if done.status.success() => {
            format!("commit {}", String::from_utf8_lossy(&done.stdout).trim())
        }
        _ => "commit unknown".into(),
    }
}

/// Asks for a new build when another commit is checked out.
fn watch_head() {
    for name in ["HEAD", "logs/HEAD"] {
        let git = Command::new("git")
            .args(["rev-parse", "--git-path", name])
            .output();
        let Ok(done) = git else { return };
        let path = String::from_utf8_lossy(&done.stdout).trim().to_owned();
        if fs::exists(&path).unwrap_or(false) {
            println!("cargo:rerun-if-changed={path}");
        }
    }
}

/// The optional parts that are built in.
fn features() -> String {
    let mut names: Vec<String> = env::vars()
        .filter_map(|(key, _)| key.strip_prefix("CARGO_FEATURE_").map(str::to_lowercase))
        .filter(|name| name != "default")
        .collect();
    names.sort();
    match names.as_slice() {
        [] => "no optional features".into(),
        _ => format!("with {}", names.join(", ")),
    }
}
