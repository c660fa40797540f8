//! Plots of the lab: sequence numbers over time, ladder diagrams, table figures, sweeps, measured and predicted copies.

mod bars;
mod heat;
mod indices;
mod ladder;
mod legend;
mod lines;
mod ranges;
mod scatter;
pub mod sequence;
#[cfg(test)]
mod tests;
mod titles;

use anyhow::{Result, ensure};

pub use bars::bars;
pub use ladder::ladder;
pub use ranges::ranges;

use super::sweep::{Sweep, Swept, grid::Axis};

/// Maximum number of panels in a plot.
const MAX_PANELS: usize = 24;

/// Number of combinations of all keys except the last two.
fn panels(axes: &[Axis]) -> usize {
    let before = axes.iter().rev().skip(2);
    before.map(|axis| axis.values.len()).product()
}

/// Checks before the run whether a sweep can be drawn.
///
/// # Errors
/// Too many combinations for one plot.
pub fn check(sweep: &Sweep) -> Result<()> {
    let axes = sweep.axes();
    if sweep.sample().is_some() {
        return Ok(());
    }
    let panels = panels(axes);
    let before = axes.len().saturating_sub(2);
    let keys: Vec<&str> = axes
        .iter()
        .take(before)
        .map(|axis| axis.key.as_str())
        .collect();
    ensure!(
        panels <= MAX_PANELS,
        "--svg: the {panels} values or combinations of {} are too many for one picture, which has room for {MAX_PANELS}; \
         the last two keys of the grid are drawn against each other: put those with many values last, fix others with \
         --set, or take the table of --csv",
        keys.join(", ")
    );
    Ok(())
}

/// Plots a sweep: one key as a line or bars, two as a heat map, more as one heat map for each combination of the first
/// keys. A sample is plotted against each key, or as sensitivity indices. Replicates are averaged.
pub fn sweep(swept: &Swept) -> String {
    let averaged = swept.averaged();
    match (swept.sensitivity(), averaged.axes.len()) {
        (Some(Ok(found)), _) => indices::indices(&averaged, &found),
        _ if swept.sample.is_some() => scatter::scatter(&averaged),
        (_, 0 | 1) => lines::lines(&averaged),
        _ => heat::heat(&averaged, panels(&averaged.axes)),
    }
}
