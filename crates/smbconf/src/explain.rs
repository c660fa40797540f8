//! The output of `--explain-config`, and docs/smb-conf.md.

use std::fmt::Write;

use super::load::{Line, Loaded, Outcome};
use super::macros::MACROS;
use super::table::families::FAMILIES;
use super::table::{Effect, Parameter, Scope, groups};

/// The effect of every line of a configuration.
pub fn lines(loaded: &Loaded) -> String {
    let mut out = String::new();
    let mut section = None;
    for line in &loaded.lines {
        if section != Some(&line.section) {
            let heading = if line.section.is_empty() {
                "global"
            } else {
                &line.section
            };
            let _ = writeln!(out, "[{heading}]");
            section = Some(&line.section);
        }
        let _ = writeln!(
            out,
            "  {} ({})\n      {}",
            line.key,
            line.at,
            effect_text(line)
        );
    }
    let count =
        |wanted: fn(&Outcome) -> bool| loaded.lines.iter().filter(|l| wanted(&l.outcome)).count();
    let _ = writeln!(
        out,
        "{} line(s): {} honoured, {} not needed, {} without effect, {} wrong.",
        loaded.lines.len(),
        count(|o| matches!(o, Outcome::Set(_) | Outcome::Adjusted(..) | Outcome::Read)),
        count(|o| matches!(o, Outcome::Met(_))),
        count(|o| matches!(o, Outcome::Ignored(_))),
        count(|o| matches!(o, Outcome::Wrong(_))),
    );
    out
}

fn effect_text(line: &Line) -> String {
    let doc = line.parameter.map_or("", |p| p.doc);
    match &line.outcome {
        Outcome::Set(value) => {
            let name = line.parameter.map_or("", |p| p.name);
            format!("{name} is '{value}'. {doc}")
        }
        Outcome::Adjusted(value, why) => {
            let name = line.parameter.map_or("", |p| p.name);
            format!("{name} is '{value}': {why}. {doc}")
        }
        Outcome::Read => doc.to_string(),
        Outcome::Met(how) => format!("Not needed: {how}."),
        Outcome::Ignored(why) => format!("No effect: {why}."),
        Outcome::Wrong(why) => format!("Wrong: {why}."),
    }
}

/// Every parameter as text.
pub fn reference() -> String {
    let mut out = String::new();
    for (title, list) in groups() {
        let _ = writeln!(out, "{title}\n{}\n", "-".repeat(title.len()));
        for parameter in list {
            let _ = writeln!(
                out,
                "{}{}\n    {}",
                parameter.name,
                value_note(parameter),
                parameter.doc
            );
            for note in notes(parameter) {
                let _ = writeln!(out, "    {note}");
            }
        }
        out.push('\n');
    }
    out
}

fn value_note(parameter: &Parameter) -> String {
    match (parameter.kind(), parameter.default_value()) {
        ("", _) => String::new(),
        (kind, default) if default.is_empty() => format!(" = {kind}"),
        (kind, default) => format!(" = {kind}; default {default}"),
    }
}

fn notes(parameter: &Parameter) -> Vec<String> {
    let mut notes = Vec::new();
    match parameter.effect {
        Effect::MetOtherwise(how) => notes.push(format!("Not needed: {how}.")),
        Effect::NotHonoured(why) => notes.push(format!("Not honoured: {why}.")),
        _ => {}
    }
    if !parameter.synonyms.is_empty() {
        notes.push(format!("Also written: {}.", parameter.synonyms.join(", ")));
    }
    if !parameter.opposites.is_empty() {
        notes.push(format!("The opposite: {}.", parameter.opposites.join(", ")));
    }
    if parameter.at_start {
        notes.push("A change needs a restart.".into());
    }
    if let Some(release) = parameter.gone_in {
        notes.push(format!("Samba {release} dropped it."));
    }
    notes
}

/// The contents of docs/smb-conf.md.
pub fn markdown() -> String {
    let mut out = String::from(
        "# smb.conf\n\n\
         <!-- Made from crates/smbconf/src/table; COAX_BLESS=1 cargo test -p coax-smbconf docs_smb_conf renews it. -->\n\n\
         `coax serve --config smb.conf` reads Samba's configuration file. The tables list the parameters that coax \
         honours, those that it does not need, and those without effect, with the reason. Other parameters are reported \
         at start with their line. `--explain-config` explains each line of a file.\n\n\
         A line is a comment (`#` or `;` first), a section (`[name]`) or `key = value`. A backslash at its end joins the \
         next line. Case and blanks in keys do not matter. Share parameters in `[global]` are the defaults of the shares \
         below. Paths after `include` are relative to the including file. `[homes]` is the template of a share \
         for each user ([users](users.md#home-folders)).\n",
    );
    for (title, list) in groups() {
        let _ = write!(out, "\n## {title}\n\n");
        let plain = list.iter().all(|p| p.kind().is_empty());
        out.push_str(if plain {
            "| parameter | where | what it does |\n|---|---|---|\n"
        } else {
            "| parameter | where | value | default | what it does |\n|---|---|---|---|---|\n"
        });
        for parameter in list {
            out.push_str(&row(parameter, plain));
        }
    }
    out.push_str(&families());
    out.push_str("\n## Macros\n\nMacros work in texts, paths and commands. Text from a client cannot select another folder.\n\n| macro | stands for |\n|---|---|\n");
    for (letter, meaning) in MACROS {
        let _ = writeln!(out, "| `%{letter}` | {meaning} |");
    }
    out
}

/// The parameters that are not listed individually.
fn families() -> String {
    let mut out = String::from(
        "\n## Families that have no effect\n\n| names that begin with (blanks do not count) | why |\n|---|---|\n",
    );
    for family in FAMILIES {
        let names = family
            .begin
            .iter()
            .map(|b| format!("`{b}`"))
            .collect::<Vec<_>>()
            .join(", ");
        let _ = writeln!(out, "| {names} | {} |", family.why);
    }
    out
}

fn row(parameter: &Parameter, plain: bool) -> String {
    let scope = match parameter.scope {
        Scope::Global => "global",
        Scope::Share => "share",
    };
    let text = std::iter::once(parameter.doc.to_string())
        .chain(notes(parameter))
        .collect::<Vec<_>>()
        .join(" ");
    let name = format!("`{}`", parameter.name);
    let cells = if plain {
        vec![name, scope.into(), text]
    } else {
        vec![
            name,
            scope.into(),
            parameter.kind().into(),
            code(&parameter.default_value()),
            text,
        ]
    };
    format!("| {} |\n", cells.join(" | ").replace('\n', " "))
}

fn code(text: &str) -> String {
    if text.is_empty() {
        String::new()
    } else {
        format!("`{text}`")
    }
}
