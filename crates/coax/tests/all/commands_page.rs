//! docs/commands.md shows the help of every verb as the program prints it.

use std::{fmt::Write as _, fs, path::Path, process::Command};

const COAX: &str = env!("CARGO_BIN_EXE_coax");
const START: &str = "# All commands

`coax COMMAND --help` and `coax help COMMAND` print this text; `coax help TOPIC` explains a topic. The manual pages have the same contents.

This page is made from the program: `COAX_BLESS=1 cargo test -p coax --test all commands_page::` renews it.
";

fn help(words: &[&str]) -> String {
    let done = Command::new(COAX).arg("help").args(words).output().unwrap();
    assert!(done.status.success(), "coax help {words:?}");
    String::from_utf8(done.stdout).unwrap()
}

/// The names in the list of verbs that a help text contains.
fn verbs(help: &str) -> Vec<String> {
    let Some((_, list)) = help.split_once("Commands:\n") else {
        return Vec::new();
    };
    list.lines()
        .take_while(|line| !line.is_empty())
        .filter(|line| !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .map(ToOwned::to_owned)
        .collect()
}

fn section(page: &mut String, level: &str, words: &[&str]) {
    let text = help(words);
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let text = lines.join("\n");
    write!(
        page,
        "\n{level} {}\n\n```text\n{}\n```\n",
        words.join(" "),
        text.trim()
    )
    .unwrap();
    for verb in verbs(&text) {
        section(
            page,
            &format!("{level}#"),
            &[words, &[verb.as_str()]].concat(),
        );
    }
}

fn page() -> String {
    let all = help(&[]);
    let mut page = START.to_owned();
    let verbs = verbs(&all);
    assert!(verbs.len() > 15, "{verbs:?}");
    for verb in &verbs {
        section(&mut page, "##", &[verb.as_str()]);
    }
    let topics = all.split_once("Topics: ").unwrap().1.trim();
    page.push_str("\n## Topics\n");
    for topic in topics.split(", ") {
        let text = help(&[topic]);
        write!(page, "\n### {topic}\n\n```text\n{}\n```\n", text.trim()).unwrap();
    }
    page
}

#[test]
fn the_page_of_verbs_is_what_the_program_prints() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/commands.md");
    let page = page();
    if std::env::var_os("COAX_BLESS").is_some() {
        fs::write(&path, &page).unwrap();
    }
    let message = "docs/commands.md is out of date: run COAX_BLESS=1 cargo test -p coax --test all commands_page::";
    assert!(
        fs::read_to_string(&path).unwrap_or_default() == page,
        "{message}"
    );
}
