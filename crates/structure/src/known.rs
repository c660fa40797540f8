//! Known violations of a crate: a list that may only shrink.

use std::collections::BTreeSet;
use std::fmt;

use crate::Structure;

/// Known violations: `cycle FILE` for a file on a cycle, `impl FILE TYPE` for a misplaced implementation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known(BTreeSet<String>);

/// The difference between the violations of a crate and its list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// The code violates a rule and the list does not have it.
    New(String),
    /// The list has a violation that is gone: remove the line.
    Gone(String),
}

impl Known {
    /// Reads a list: one violation a line; empty lines and lines with `#` are ignored.
    pub fn parse(text: &str) -> Self {
        Self(
            text.lines()
                .filter(|line| !line.is_empty() && !line.starts_with('#'))
                .map(str::to_owned)
                .collect(),
        )
    }

    /// The list that matches the code.
    pub fn of(structure: &Structure) -> Self {
        let cycles = structure.graph.cycles();
        let cycles = cycles
            .iter()
            .flat_map(|cycle| &cycle.files)
            .map(|file| format!("cycle {file}"));
        let misplaced = structure
            .misplaced
            .iter()
            .map(|found| format!("impl {} {}", found.file, found.type_name));
        Self(cycles.chain(misplaced).collect())
    }

    /// How many violations there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How `found` in the code differs from this list.
    pub fn compare(&self, found: &Self) -> Vec<Mismatch> {
        let new = found.0.difference(&self.0).cloned().map(Mismatch::New);
        new.chain(self.0.difference(&found.0).cloned().map(Mismatch::Gone))
            .collect()
    }
}

impl fmt::Display for Known {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0
            .iter()
            .try_for_each(|line| writeln!(formatter, "{line}"))
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::New(line) => write!(formatter, "new violation: {line}"),
            Self::Gone(line) => write!(formatter, "no longer a violation, remove the line: {line}"),
        }
    }
}
