//! Advice as changes of the user's own configuration files: the section of the report, and JSON.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{
    file_advice::{FileAdvice, FileChanges, FileState},
    gain,
    paper::Paper,
    words::harmless,
};

/// The section of the report.
pub(super) fn section(out: &mut Paper, changes: Option<&FileChanges>) -> std::fmt::Result {
    let Some(changes) = changes else {
        return Ok(());
    };
    let names: Vec<String> = changes.files.iter().map(|name| harmless(name)).collect();
    writeln!(out, "\nAdvice for {}:", names.join(", "))?;
    if changes.advice.is_empty() {
        writeln!(out, "  There is no advice about a copy of this capture.")?;
    }
    for state in [
        FileState::Changed,
        FileState::Included,
        FileState::Already,
        FileState::Superseded,
        FileState::NotHeld,
        FileState::NoEffect,
    ] {
        let mut of_state = changes
            .advice
            .iter()
            .filter(|one| one.state == state)
            .peekable();
        if of_state.peek().is_some() {
            out.prose("  ", &format!("{}:", state.title()))?;
        }
        of_state.try_for_each(|one| one_advice(out, one))?;
    }
    whole_diff(out, changes)?;
    for note in &changes.notes {
        out.prose("  note: ", &harmless(note))?;
    }
    if !changes.diff.is_empty() {
        // lines are printed as they are, but for characters that a terminal obeys
        let lines = changes.diff.split_inclusive('\n').map(printable);
        writeln!(
            out,
            "\n{}",
            lines.collect::<String>().trim_end_matches('\n')
        )?;
    }
    Ok(())
}

fn one_advice(out: &mut Paper, one: &FileAdvice) -> std::fmt::Result {
    let gain = match (&one.predicted, one.state) {
        (Some(range), _) => format!(": would take about {}", gain::seconds(range)),
        (None, FileState::Changed) => ": gain not simulated".to_owned(),
        (None, _) => String::new(),
    };
    out.prose("    ", &format!("{} ({}){gain}", one.title, one.id))?;
    for detail in &one.details {
        out.prose("      - ", &harmless(detail))?;
    }
    for note in &one.notes {
        out.prose("      usual advice: ", note)?;
    }
    Ok(())
}

/// The time with all changes, if there are several.
fn whole_diff(out: &mut Paper, changes: &FileChanges) -> std::fmt::Result {
    let of_diff = |one: &&FileAdvice| one.state == FileState::Changed;
    let made: Vec<&FileAdvice> = changes.advice.iter().filter(of_diff).collect();
    let Some(range) = changes.predicted.filter(|_| made.len() > 1) else {
        return Ok(());
    };
    let without = made.iter().filter(|one| one.predicted.is_none());
    let without: Vec<&str> = without.map(|one| one.id.as_str()).collect();
    let without = match without.as_slice() {
        [] => String::new(),
        ids => format!(" (without {}, not simulated)", ids.join(", ")),
    };
    let time = gain::seconds(&range);
    out.prose(
        "  ",
        &format!("With the whole diff: would take about {time}{without}"),
    )
}

/// A line without control characters, but with the carriage return of DOS.
fn printable(line: &str) -> String {
    let keep = |c: char| !c.is_control() || matches!(c, '\n' | '\r' | '\t');
    line.chars().filter(|c| keep(*c)).collect()
}

/// The same as JSON; null without files.
pub(super) fn as_json(changes: Option<&FileChanges>) -> Value {
    let Some(changes) = changes else {
        return Value::Null;
    };
    let one = |one: &FileAdvice| {
        json!({
            "id": one.id,
            "title": one.title,
            "predicted_s": one.predicted.map(|range| [range.low, range.mid, range.high]),
            "state": one.state.name(),
            "details": one.details,
            "notes": one.notes,
        })
    };
    json!({
        "files": changes.files,
        "advice": changes.advice.iter().map(one).collect::<Vec<_>>(),
        "diff": changes.diff,
        "predicted_s": changes.predicted.map(|range| [range.low, range.mid, range.high]),
        "notes": changes.notes,
    })
}
