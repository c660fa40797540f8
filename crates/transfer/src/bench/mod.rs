//! `coax bench`: one file there and back with each redirector, timed, verified, and told apart by its requests.
//!
//! [`run`] is the whole of it. The data lies in memory ([`data`]); what is timed is the copy alone, from its first request
//! to its last reply, with the requests that the redirector makes around it.

pub mod data;
pub mod figures;
mod one;

use std::{fs::File, io, sync::Arc, time::Duration};

use coax_client::profile::Profile;

use crate::{
    client::{Error, Location, Options},
    speed::{
        SpeedError, Stop,
        ceiling::{Ceiling, CeilingTarget, ceiling},
    },
};

use data::Hash;
use figures::Row;

/// What is to be measured.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Server, share, and a folder in it if one is named.
    pub place: Location,
    /// The redirectors, in the order of the rows.
    pub profiles: Vec<Arc<Profile>>,
    /// Length of the file, bytes.
    pub size: u64,
    /// How often each copy is made.
    pub runs: u32,
    /// How to connect.
    pub options: Options,
    /// Where raw TCP is measured first.
    pub ceiling: Option<CeilingTarget>,
}

/// What came of it.
#[derive(Debug)]
pub struct Report {
    /// Length of the file, bytes.
    pub size: u64,
    /// How often each copy was to be made.
    pub runs: u32,
    /// Raw TCP on the same path.
    pub ceiling: Option<Ceiling>,
    /// A row for each profile, in the plan's order.
    pub rows: Vec<Row>,
    /// What a person should know besides: files that are left on the server.
    pub notes: Vec<String>,
    /// Somebody wished to stop before the end.
    pub stopped: bool,
}

impl Report {
    /// Whether a copy was possible, and none came back with other contents.
    pub fn is_good(&self) -> bool {
        let differ = |row: &Row| row.contents == figures::Contents::Differ;
        self.rows.iter().any(Row::was_possible) && !self.rows.iter().any(differ)
    }
}

/// Progress that the benchmark reports.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// Raw TCP is being measured.
    Ceiling,
    /// A copy begins: number of the run, profile, whether to the server.
    Copying(u32, &'a str, bool),
}

/// Why nothing was measured.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// No room on this machine for the file.
    #[error("no room on this machine for two files of that size: {0}")]
    NoRoom(#[from] io::Error),
    /// The ceiling's ports do not answer.
    #[error("raw TCP: {0}")]
    Ceiling(#[from] SpeedError),
    /// The server cannot be reached at all.
    #[error(transparent)]
    Unreachable(Error),
}

/// The data of one bench: what is sent, and room for what comes back.
struct Bench<'a> {
    plan: &'a Plan,
    stop: &'a Stop,
    original: File,
    hash: Hash,
    room: File,
    notes: Vec<String>,
}

/// How long raw TCP is measured, each way.
const CEILING_TIME: Duration = Duration::from_secs(3);
/// Where the data begins; any number would do.
const SEED: u64 = 42;

/// Measures. Runs go round the profiles, so that what else happens on the machines meets all of them alike. Once `stop` is
/// set the copy under way is broken off, the file on the server removed, and what was measured is reported.
///
/// # Errors
/// [`BenchError`]. What went wrong with single profiles stands in their rows.
pub fn run(
    plan: &Plan,
    stop: &Stop,
    told: &mut dyn FnMut(Event<'_>),
) -> Result<Report, BenchError> {
    let original = data::generated(plan.size, SEED)?;
    let mut bench = Bench {
        plan,
        stop,
        hash: data::hash(&original, plan.size)?,
        original,
        room: data::room(plan.size)?,
        notes: Vec::new(),
    };
    let ceiling = match &plan.ceiling {
        Some(target) => {
            told(Event::Ceiling);
            Some(ceiling(target, CEILING_TIME, stop)?)
        }
        None => None,
    };
    let names = plan.profiles.iter().map(|profile| &profile.name);
    let mut rows: Vec<Row> = names.map(|name| Row::new(name)).collect();
    for number in 1..=plan.runs {
        bench.round(number, &mut rows, told)?;
    }
    Ok(Report {
        size: plan.size,
        runs: plan.runs,
        ceiling,
        rows,
        notes: bench.notes,
        stopped: stop.is_set(),
    })
}

impl Bench<'_> {
    /// One run of every profile that is still possible.
    fn round(
        &mut self,
        number: u32,
        rows: &mut [Row],
        told: &mut dyn FnMut(Event<'_>),
    ) -> Result<(), BenchError> {
        for (place, profile) in self.plan.profiles.iter().enumerate() {
            if self.stop.is_set() {
                return Ok(());
            }
            let first = !rows.iter().any(Row::was_possible);
            let Some(row) = rows.get_mut(place).filter(|row| row.error.is_none()) else {
                continue;
            };
            let mut copying = |to_server| told(Event::Copying(number, &profile.name, to_server));
            match self.there_and_back(profile, row, &mut copying) {
                Ok(()) => {}
                // every further profile would wait for the same nobody
                Err(error @ (Error::Unreachable { .. } | Error::Unknown { .. })) if first => {
                    return Err(BenchError::Unreachable(error));
                }
                Err(_) if self.stop.is_set() => row.error = Some("stopped".into()),
                Err(error) => row.error = Some(error.to_string()),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
