//! A scenario by its name or file.

use std::fs;

use anyhow::{Context as _, Result};
use coax_lab::scenario::Scenario;
use coax_report::lab::data;

pub(super) fn named(name: &str) -> Result<Scenario> {
    if data::SCENARIOS.iter().any(|(known, _)| *known == name) {
        return data::scenario(name);
    }
    let text = fs::read_to_string(name).with_context(|| {
        let known: Vec<&str> = data::SCENARIOS.iter().map(|(name, _)| *name).collect();
        format!(
            "{name} cannot be read, and no scenario of the lab has this name; there are {}",
            known.join(", ")
        )
    })?;
    Ok(Scenario::parse(name, &text)?)
}
