//! `coax tour`: everything once, on this machine. A folder is served and copied to and from as every redirector, the
//! published tables are predicted, and slow copies are made in the lab, captured, and explained.

mod bars;
pub mod copies;
mod event;
pub mod json;
pub mod page;
pub mod slow;
pub mod text;

use std::time::{Duration, Instant};

use anyhow::Result;

pub use event::Event;

use coax_report::{
    explain::Explained,
    lab::tables::{self, Filled},
};
use coax_transfer::{bench, speed::Stop};

/// Length of the file that is copied over loopback, bytes: that of the published tables.
pub const SIZE: u64 = 42_000_000;

/// What came of it, and how long each part took.
#[derive(Debug)]
pub struct Tour {
    /// Every redirector to a server on this machine.
    pub copies: bench::Report,
    /// Where that server listened.
    pub place: String,
    /// The published tables.
    pub tables: Vec<Filled>,
    /// Slow copies in the lab.
    pub slow: Vec<slow::Slow>,
    /// What their captures say, in the same order.
    pub explained: Vec<Explained>,
    /// How long the three parts took.
    pub took: [Duration; 3],
}

impl Tour {
    /// Whether every part of it succeeded.
    pub fn is_good(&self) -> bool {
        let every = self.copies.rows.iter();
        let every = every
            .map(|row| row.contents)
            .all(|contents| contents == bench::figures::Contents::Same);
        let found = |explained: &Explained| !explained.capture.copies.is_empty();
        every && !self.copies.stopped && self.explained.iter().all(found)
    }
}

/// Goes round.
///
/// # Errors
/// The server does not start, the lab's files are wrong, or there is no room for a capture.
pub fn run(size: u64, stop: &Stop, told: &mut dyn FnMut(Event<'_>)) -> Result<Tour> {
    let begin = Instant::now();
    let (place, copies) = copies::all(size, stop, told)?;
    let copied = Instant::now();
    told(Event::Predicting);
    let names: Vec<&str> = tables::names().collect();
    let tables = tables::fill(&names)?;
    let predicted = Instant::now();
    let (slow, explained) = slow::all(told)?;
    Ok(Tour {
        copies,
        place,
        tables,
        slow,
        explained,
        took: [copied - begin, predicted - copied, predicted.elapsed()],
    })
}
