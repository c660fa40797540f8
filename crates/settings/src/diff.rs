//! Changed lines of files as a unified diff without context.

use crate::{
    file::{Entry, File, Kind},
    table::Setting,
};

/// A change of one line, or a new one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edit {
    /// The line, from 1; a new one comes after it.
    line: usize,
    old: Option<String>,
    new: Vec<String>,
}

/// The edit that gives a setting a value; `None` if it is not known where its line belongs.
pub(crate) fn edit(file: &File, setting: &Setting, value: &str) -> Option<Edit> {
    let fits = |entry: &&Entry| setting.fits(file.kind.name(), &entry.section, &entry.key);
    if let Some(entry) = file.entries.iter().rev().find(fits) {
        let old = file.lines.get(entry.line.checked_sub(1)?)?;
        let new = changed(old, entry, setting, value, file.kind)?;
        return Some(Edit {
            line: entry.line,
            old: Some(old.clone()),
            new: vec![new],
        });
    }
    let text = fresh(file, setting, value)?;
    let heading = file
        .headings()
        .find(|(_, section)| setting.belongs_in(section));
    if file.kind == Kind::Sysctl {
        return Some(Edit {
            line: file.lines.len(),
            old: None,
            new: vec![text],
        });
    }
    Some(match heading {
        Some((line, _)) => Edit {
            line,
            old: None,
            new: vec![text],
        },
        None => {
            let section = setting.own_section()?;
            Edit {
                line: file.lines.len(),
                old: None,
                new: vec![format!("[{section}]"), text],
            }
        }
    })
}

/// The line with another value; what follows it, such as a comment, stays.
fn changed(
    line: &str,
    entry: &Entry,
    setting: &Setting,
    value: &str,
    kind: Kind,
) -> Option<String> {
    let written = written(setting, value, kind);
    if let Some(option) = setting.key().strip_prefix("socket options: ") {
        let words = line.split(' ').map(|word| {
            let name = word.split('=').next().unwrap_or_default();
            if name.eq_ignore_ascii_case(option) {
                format!("{name}={value}")
            } else {
                word.to_owned()
            }
        });
        return Some(words.collect::<Vec<_>>().join(" "));
    }
    let (key, rest) = line.split_once('=')?;
    let blank = if rest.starts_with(' ') { " " } else { "" };
    let comment = match kind {
        Kind::SmbConf | Kind::Sysctl | Kind::Registry => "",
        _ => rest
            .find(';')
            .and_then(|at| rest.get(at..))
            .unwrap_or_default(),
    };
    let gap = if comment.is_empty() { "" } else { " " };
    (!entry.value.is_empty()).then(|| format!("{key}={blank}{written}{gap}{comment}"))
}

fn fresh(file: &File, setting: &Setting, value: &str) -> Option<String> {
    let written = written(setting, value, file.kind);
    if let Some(option) = setting.key().strip_prefix("socket options: ") {
        let option = option.to_uppercase();
        let has_options = file
            .entries
            .iter()
            .any(|entry| entry.key.starts_with("socket options"));
        // a second line would replace the first
        return (!has_options).then(|| format!("    socket options = {option}={value}"));
    }
    Some(match file.kind {
        Kind::Registry => format!("\"{}\"={written}", setting.key()),
        Kind::SmbConf => format!("    {} = {written}", setting.key()),
        Kind::Sysctl => format!("{} = {written}", setting.key()),
        _ => format!("{}={written}", setting.key()),
    })
}

fn written(setting: &Setting, value: &str, kind: Kind) -> String {
    match (kind, value.parse::<u32>()) {
        (Kind::Registry, Ok(number)) if !setting.is_registry_text() => {
            format!("dword:{number:08x}")
        }
        (Kind::Registry, _) => format!("\"{value}\""),
        _ => value.to_owned(),
    }
}

/// The lines of a file that change when these settings get these values; empty if none does. Several settings may stand in one line.
pub(crate) fn diff(file: &File, wanted: &[(&Setting, &str)]) -> String {
    let mut now = file.clone();
    let mut edits: Vec<Edit> = Vec::new();
    for (setting, value) in wanted {
        let Some(edit) = edit(&now, setting, value) else {
            continue;
        };
        let place = edit.line.saturating_sub(1);
        if let (Some(_), [new], Some(line)) =
            (&edit.old, edit.new.as_slice(), now.lines.get_mut(place))
        {
            new.clone_into(line);
            edits.retain(|known| known.old.is_none() || known.line != edit.line);
        }
        edits.push(Edit {
            old: edit.old.and_then(|_| file.lines.get(place).cloned()),
            ..edit
        });
    }
    match edits.is_empty() {
        true => String::new(),
        false => unified(file, edits),
    }
}

fn unified(file: &File, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|edit| edit.line);
    let mut text = format!("--- {0}\n+++ {0}\n", file.name);
    let mut shift = 0_usize;
    for edit in edits {
        let count = edit.new.len();
        let (old, new_line) = match edit.old {
            Some(_) => (format!("{}", edit.line), edit.line.saturating_add(shift)),
            None => (
                format!("{},0", edit.line),
                edit.line.saturating_add(shift).saturating_add(1),
            ),
        };
        let new = if count == 1 {
            format!("{new_line}")
        } else {
            format!("{new_line},{count}")
        };
        text.push_str(&format!("@@ -{old} +{new} @@\n"));
        text.extend(edit.old.iter().map(|line| format!("-{line}\n")));
        text.extend(edit.new.iter().map(|line| format!("+{line}\n")));
        shift = shift
            .saturating_add(count)
            .saturating_sub(usize::from(edit.old.is_some()));
    }
    text
}
