//! Reports of `coax lab fit`.

mod json;
mod text;

pub use json::json;
pub use text::text;

use coax_fit::{Run, seconds};

use super::parallel;

/// Runs all on all processors: `coax_fit::estimate` asks for it.
pub fn simulate(runs: &[Run], cap: u64) -> Vec<Option<f64>> {
    let threads = parallel::processors();
    parallel::each(runs, threads, |run| seconds(run, cap), |_| ())
}
