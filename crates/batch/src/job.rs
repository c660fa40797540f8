//! A run over many captures.

use std::path::PathBuf;

use serde_json::Value;

#[cfg(not(feature = "parquet"))]
use crate::no_parquet::Tables;
#[cfg(feature = "parquet")]
use crate::parquet::Tables;
use crate::{
    captures,
    error::{BatchError, Failure},
    folder,
    input::{Found, Input},
    ordered,
    outputs::Lines,
    shard::Shard,
};

/// What to do.
#[derive(Clone, Debug)]
pub struct Job {
    /// Captures, and folders to search for captures.
    pub paths: Vec<PathBuf>,
    /// Threads.
    pub threads: usize,
    /// The part of the captures that is explained.
    pub shard: Shard,
    /// The folder for a JSON file of each capture.
    pub out: Option<PathBuf>,
    /// The file for one line of JSON for each capture; `-` is standard output.
    pub ndjson: Option<PathBuf>,
    /// The folder for tables as Parquet files.
    pub parquet: Option<PathBuf>,
}

/// How far a run is.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// Captures that are done,
    pub done: usize,
    /// of so many.
    pub all: usize,
    /// The one that was done last.
    pub capture: &'a Value,
}

/// How a run ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Captures that were explained.
    pub explained: usize,
    /// Captures whose results were there from an earlier run.
    pub known: usize,
    /// Files in folders that are no captures.
    pub others: usize,
    /// What could not be read.
    pub failures: Vec<Failure>,
}

/// A capture's result.
struct Outcome {
    capture: Result<Value, String>,
    is_known: bool,
    written: Result<(), BatchError>,
}

impl Job {
    /// Explains the captures. `tell` hears of each result, in order.
    ///
    /// # Errors
    /// A result cannot be written. Files of captures that are done stay; a line or table file is not begun to be seen.
    pub fn run(&self, mut tell: impl FnMut(Progress<'_>)) -> Result<Totals, BatchError> {
        let found = Found::search(&self.paths);
        let mut inputs = found.inputs;
        inputs.retain(|input| self.shard.has(&input.place));
        let mut totals = Totals {
            others: found.others,
            failures: found.failures,
            ..Totals::default()
        };
        let mut lines = self.ndjson.as_deref().map(Lines::create).transpose()?;
        let mut tables = self.tables()?;
        let mut done = 0;
        let act = |input: &Input| self.one(input);
        ordered::each(&inputs, self.threads, act, |input, outcome| {
            done += 1;
            outcome.written?;
            let capture = match outcome.capture {
                Ok(capture) => capture,
                Err(reason) => {
                    let path = input.path.clone();
                    totals.failures.push(Failure { path, reason });
                    return Ok(());
                }
            };
            match outcome.is_known {
                true => totals.known += 1,
                false => totals.explained += 1,
            }
            if let Some(lines) = &mut lines {
                lines.add(&capture)?;
            }
            if let Some(tables) = &mut tables {
                tables.add(&capture)?;
            }
            tell(Progress {
                done,
                all: inputs.len(),
                capture: &capture,
            });
            Ok(())
        })?;
        lines.map_or(Ok(()), Lines::finish)?;
        tables.map_or(Ok(()), Tables::finish)?;
        Ok(totals)
    }

    /// Explains one capture, unless its result is known.
    fn one(&self, input: &Input) -> Outcome {
        let known = self
            .out
            .as_deref()
            .and_then(|out| folder::known(out, input));
        let is_known = known.is_some();
        let capture = known.map_or_else(|| captures::explain(input, &|| true), Ok);
        let written = match (&self.out, &capture) {
            (Some(out), Ok(capture)) if !is_known => folder::write(out, input, capture),
            _ => Ok(()),
        };
        Outcome {
            capture,
            is_known,
            written,
        }
    }

    fn tables(&self) -> Result<Option<Tables>, BatchError> {
        let folder = self.parquet.as_deref();
        folder
            .map(|folder| Tables::create(folder, self.shard))
            .transpose()
    }
}
