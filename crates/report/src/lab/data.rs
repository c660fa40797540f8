//! Embedded data: scenarios, tables and published figures.

use anyhow::{Result, anyhow};
use coax_lab::scenario::Scenario;

pub use coax_catalog::files::SCENARIOS;

/// A built-in scenario.
///
/// # Errors
/// The name is unknown; the error lists the known names.
pub fn scenario(name: &str) -> Result<Scenario> {
    let text = find(SCENARIOS, "scenario", name)?;
    Ok(Scenario::parse(
        &format!("data/scenarios/{name}.toml"),
        text,
    )?)
}

/// One published figure. `path` consists of keys and indexes, such as `copy.0.to_client_s`. For a range it returns the
/// middle.
///
/// # Errors
/// The figure does not exist.
pub fn published(file: &str, path: &str) -> Result<f64> {
    Ok(coax_catalog::published::figure(file, path)?)
}

/// A built-in text by its name.
///
/// # Errors
/// The name is unknown; the error lists the known names.
pub fn find(
    texts: &'static [(&'static str, &'static str)],
    kind: &str,
    name: &str,
) -> Result<&'static str> {
    let found = texts.iter().find(|(known, _)| *known == name);
    found.map(|(_, text)| *text).ok_or_else(|| {
        let known: Vec<&str> = texts.iter().map(|(name, _)| *name).collect();
        anyhow!("no {kind} is called {name}; there are {}", known.join(", "))
    })
}
