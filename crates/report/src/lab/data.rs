//! Embedded data: scenarios, tables and published figures.

use anyhow::{Context, Result, anyhow};
use coax_lab::scenario::Scenario;

pub use coax_catalog::files::{PUBLISHED, SCENARIOS, TABLES};

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
    let text = find(PUBLISHED, "set of published figures", file)?;
    let table: toml::Table =
        toml::from_str(text).with_context(|| format!("data/published/{file}.toml"))?;
    let top = toml::Value::Table(table);
    let found = path.split('.').try_fold(&top, |value, part| {
        part.parse::<usize>()
            .ok()
            .and_then(|index| value.get(index))
            .or_else(|| value.get(part))
    });
    found
        .and_then(figure)
        .ok_or_else(|| anyhow!("data/published/{file}.toml has no figure at {path}"))
}

fn figure(value: &toml::Value) -> Option<f64> {
    match value {
        toml::Value::Integer(n) => Some(*n as f64),
        toml::Value::Float(n) => Some(*n),
        toml::Value::Array(range) => {
            let ends: Option<Vec<f64>> = range.iter().map(figure).collect();
            let ends = ends.filter(|ends| !ends.is_empty())?;
            Some(ends.iter().sum::<f64>() / ends.len() as f64)
        }
        _ => None,
    }
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
