//! `coax lab fit`: from arguments to an estimate and its reports.

mod given;
mod json;
mod text;

pub use given::{Fit, Given};
use json::json;
use text::text;

use coax_fit::{Run, seconds};

use super::parallel;

/// Runs all on all processors, as `coax_fit::estimate` asks, until `goes_on` says no; `None` if it did.
fn simulate_while(
    runs: &[Run],
    cap: u64,
    goes_on: &(impl Fn() -> bool + Sync),
) -> Option<Vec<Option<f64>>> {
    let threads = parallel::processors();
    parallel::each_while(runs, threads, |run| seconds(run, cap), |_| goes_on())
}
