//! Embedded data: scenarios, tables and published figures.

use anyhow::Result;
use coax_lab::scenario::Scenario;

pub use coax_catalog::files::SCENARIOS;

/// A built-in scenario.
///
/// # Errors
/// The name is unknown; the error lists the known names.
pub fn scenario(name: &str) -> Result<Scenario> {
    Ok(Scenario::built_in(name)?)
}

/// One published figure. `path` consists of keys and indexes, such as `copy.0.to_client_s`. For a range it returns the
/// middle.
///
/// # Errors
/// The figure does not exist.
pub fn published(file: &str, path: &str) -> Result<f64> {
    Ok(coax_catalog::published::figure(file, path)?)
}
