//! The advice about a copy as lines of the user's configuration files.

use std::{fs, path::Path};

use coax_explain::recognise::{Change, Place};
use coax_report::explain::{
    Explained, FileAdvice, FileChanges, FileState, Suggestion, ranked_advice, together,
};
use coax_settings::{Changes, Effect, File, Import, Outcome, Role, WantedChange, WantedLine};

use super::arguments::ExplainArgs;
use crate::cli::output::WrongUsage;

/// Reads the files; `None` if there are none.
///
/// # Errors
/// A file cannot be read, or is none of the known ones.
pub(super) fn read(args: &ExplainArgs) -> Result<Option<Import>, WrongUsage> {
    if args.config.is_empty() && args.server_config.is_empty() {
        return Ok(None);
    }
    let mut import = Import::default();
    let own = args.config.iter().map(|path| (path, None));
    let servers = args.server_config.iter();
    for (path, role) in own.chain(servers.map(|path| (path, Some(Role::Server)))) {
        import.add_as(&parsed(path)?, role);
    }
    Ok(Some(import))
}

fn parsed(path: &Path) -> Result<File, WrongUsage> {
    let name = path.display().to_string();
    let wrong = |message: String| WrongUsage::new("explain", message).at(&name);
    let bytes = fs::read(path).map_err(|error| wrong(format!("cannot read {name}: {error}")))?;
    File::parse(&name, &bytes).map_err(|error| wrong(error.to_string()))
}

/// The changes of these files for the longest copy of a capture.
pub(super) fn changes(import: &Import, explained: &Explained) -> FileChanges {
    let mut found = FileChanges {
        files: import.names().map(str::to_owned).collect(),
        notes: wrong_lines(import),
        ..FileChanges::default()
    };
    let Some((copy, advice)) = explained.longest() else {
        return found;
    };
    let share = copy
        .share
        .as_deref()
        .and_then(|share| share.rsplit('\\').next());
    let mut changes = Changes::of(import, share);
    let [worth, without] = ranked_advice(copy, advice);
    let mut made = Vec::new();
    for suggestion in worth {
        let wanted: Vec<WantedChange> = suggestion.advice.changes.iter().map(wanted).collect();
        let outcome = changes.add(&wanted);
        made.extend(matches!(outcome, Outcome::Changed { .. }).then_some(suggestion));
        found.advice.push(told(suggestion, outcome));
    }
    found.predicted = together(&explained.capture, copy, &made);
    let no_effect = |one: &Suggestion| FileAdvice {
        state: FileState::NoEffect,
        ..told(one, Outcome::NotHeld(Vec::new()))
    };
    found.advice.extend(without.into_iter().map(no_effect));
    found.diff = changes.diff();
    found.notes.extend(changes.notes());
    found
}

fn wanted(change: &Change) -> WantedChange {
    let lines = change.edits.iter().map(|edit| WantedLine {
        file: edit.file.clone(),
        key: edit.key.clone(),
        value: edit.value.clone(),
    });
    WantedChange {
        role: match change.on {
            Place::Client => Some(Role::Client),
            Place::Server => Some(Role::Server),
            Place::Network => None,
        },
        lines: lines.collect(),
        words: format!(
            "on the {}, {} → {}",
            change.on.name(),
            change.where_,
            change.to
        ),
    }
}

fn told(suggestion: &Suggestion, outcome: Outcome) -> FileAdvice {
    let (state, details, notes) = match outcome {
        Outcome::Changed { lines, notes } => (FileState::Changed, lines, notes),
        Outcome::Already(lines) => (FileState::Already, lines, Vec::new()),
        Outcome::Included => (FileState::Included, Vec::new(), Vec::new()),
        Outcome::Superseded(line) => (FileState::Superseded, vec![line], Vec::new()),
        Outcome::NotHeld(reasons) => (FileState::NotHeld, reasons, Vec::new()),
    };
    FileAdvice {
        id: suggestion.advice.id.clone(),
        title: suggestion.advice.title.clone(),
        predicted: suggestion.predicted,
        state,
        details,
        notes: notes.into_iter().map(str::to_owned).collect(),
    }
}

fn wrong_lines(import: &Import) -> Vec<String> {
    let lines = import.lines().iter();
    let wrong = lines.filter_map(|line| match &line.effect {
        Effect::Wrong(why) => Some(format!("{}: {}: {why}", line.place, line.text)),
        _ => None,
    });
    wrong.collect()
}
