//! Manual pages and completions know every verb.

use std::{fs, process::Command};

const COAX: &str = env!("CARGO_BIN_EXE_coax");

fn coax(words: &[&str]) -> std::process::Output {
    Command::new(COAX).args(words).output().unwrap()
}

#[test]
fn each_verb_of_the_help_has_a_manual_page_with_its_options() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    assert!(coax(&["man", path]).status.success());
    let help = String::from_utf8(coax(&["--help"]).stdout).unwrap();
    let commands = help.split("Commands:").nth(1).unwrap();
    let commands = commands.split("Options:").next().unwrap();
    let verbs: Vec<&str> = commands
        .lines()
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(verbs.len() > 15, "{verbs:?}");
    for verb in verbs {
        let page = folder.path().join(format!("coax-{verb}.1"));
        assert!(page.exists(), "{}", page.display());
    }
    let serve = fs::read_to_string(folder.path().join("coax-serve.1")).unwrap();
    assert!(serve.contains("\\-\\-workgroup"), "{serve}");
    assert!(
        !folder.path().join("coax-man.1").exists(),
        "hidden verbs stay hidden"
    );
}

#[test]
fn completions_know_the_options_in_every_shell() {
    for shell in ["bash", "zsh", "fish", "powershell"] {
        let done = coax(&["completions", shell]);
        assert!(done.status.success(), "{shell}");
        let script = String::from_utf8(done.stdout).unwrap();
        assert!(script.contains("workgroup"), "{shell}");
    }
}

#[test]
fn pages_that_cannot_be_written_are_an_error_with_the_folder() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let below = file.path().join("below");
    let done = coax(&["man", below.to_str().unwrap()]);
    assert_eq!(done.status.code(), Some(1));
    let said = String::from_utf8(done.stderr).unwrap();
    assert!(said.contains(below.to_str().unwrap()), "{said}");
}
