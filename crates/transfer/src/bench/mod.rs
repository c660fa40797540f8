//! `coax bench`: copies one file to the server and back with each redirector, measures the time and verifies the
//! contents.
//!
//! [`run`] is the entry point. The data is in memory ([`data`]), so the measured time includes only the copy: from its
//! first request to its last reply, with the other requests that the redirector sends for a copy.

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

/// The benchmark's parameters.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Server, share, and optionally a folder in the share.
    pub place: Location,
    /// The redirectors, in the order of the rows.
    pub profiles: Vec<Arc<Profile>>,
    /// Length of the file, bytes.
    pub size: u64,
    /// Number of runs of each copy.
    pub runs: u32,
    /// Connection options.
    pub options: Options,
    /// Where to measure raw TCP before the copies.
    pub ceiling: Option<CeilingTarget>,
}

/// The benchmark's results.
#[derive(Debug)]
pub struct Report {
    /// Length of the file, bytes.
    pub size: u64,
    /// Number of requested runs of each copy.
    pub runs: u32,
    /// Raw TCP on the same path.
    pub ceiling: Option<Ceiling>,
    /// A row for each profile, in the plan's order.
    pub rows: Vec<Row>,
    /// Further information for the user, for example files left on the server.
    pub notes: Vec<String>,
    /// The user stopped the benchmark before the end.
    pub stopped: bool,
}

impl Report {
    /// Whether at least one copy succeeded and no copy changed the contents.
    pub fn is_good(&self) -> bool {
        let differ = |row: &Row| row.contents == figures::Contents::Differ;
        self.rows.iter().any(Row::was_possible) && !self.rows.iter().any(differ)
    }
}

/// Progress that the benchmark reports.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// The measurement of raw TCP starts.
    Ceiling,
    /// A copy starts: number of the run, profile, whether the direction is to the server.
    Copying(u32, &'a str, bool),
}

/// Why the benchmark could not start.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// Not enough local space for the file.
    #[error("not enough space on this machine for two files of that size: {0}")]
    NoRoom(#[from] io::Error),
    /// The ports for raw TCP do not answer.
    #[error("raw TCP: {0}")]
    Ceiling(#[from] SpeedError),
    /// The server cannot be reached.
    #[error(transparent)]
    Unreachable(Error),
}

/// The data to send, and space for the data received.
struct Bench<'a> {
    plan: &'a Plan,
    stop: &'a Stop,
    original: File,
    hash: Hash,
    received: File,
    notes: Vec<String>,
}

/// Duration of the raw TCP measurement in each direction.
const CEILING_TIME: Duration = Duration::from_secs(3);
/// Seed of the generated data; the value is arbitrary.
const SEED: u64 = 42;

/// Runs the benchmark. Each run copies with every profile once, so that other load on the machines affects all profiles
/// alike. When `stop` is set, it interrupts the current copy, removes the file from the server and returns the results
/// so far.
///
/// # Errors
/// [`BenchError`]. Errors of single profiles are in their rows.
pub fn run(
    plan: &Plan,
    stop: &Stop,
    on_event: &mut dyn FnMut(Event<'_>),
) -> Result<Report, BenchError> {
    let original = data::generated(plan.size, SEED)?;
    let mut bench = Bench {
        plan,
        stop,
        hash: data::hash(&original, plan.size)?,
        original,
        received: data::preallocated(plan.size)?,
        notes: Vec::new(),
    };
    let ceiling = match &plan.ceiling {
        Some(target) => {
            on_event(Event::Ceiling);
            Some(ceiling(target, CEILING_TIME, stop)?)
        }
        None => None,
    };
    let names = plan.profiles.iter().map(|profile| &profile.name);
    let mut rows: Vec<Row> = names.map(|name| Row::new(name)).collect();
    for number in 1..=plan.runs {
        bench.round(number, &mut rows, on_event)?;
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
    /// One run of every profile that has not failed.
    fn round(
        &mut self,
        number: u32,
        rows: &mut [Row],
        on_event: &mut dyn FnMut(Event<'_>),
    ) -> Result<(), BenchError> {
        for (place, profile) in self.plan.profiles.iter().enumerate() {
            if self.stop.is_set() {
                return Ok(());
            }
            let first = !rows.iter().any(Row::was_possible);
            let Some(row) = rows.get_mut(place).filter(|row| row.error.is_none()) else {
                continue;
            };
            let mut copying =
                |to_server| on_event(Event::Copying(number, &profile.name, to_server));
            match self.there_and_back(profile, row, &mut copying) {
                Ok(()) => {}
                // every further profile would time out as well
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
