//! Measurements from files: TOML, CSV, and the JSON of `coax bench`, `coax explain` and `coax speed`.

mod csv;
mod json;
mod table;
#[cfg(test)]
mod tests;

use anyhow::{Context as _, Result};

use crate::{
    measured::{Measured, Setting},
    unknown::{DEFAULT, Unknown},
};

/// What files contain.
#[derive(Clone, Debug, Default)]
pub struct Input {
    /// The name of the scenario, if a file gives one.
    pub scenario: Option<String>,
    /// Known values.
    pub set: toml::Table,
    /// Unknown values.
    pub unknowns: Vec<Unknown>,
    /// Measurements.
    pub measured: Vec<Measured>,
    /// What to predict.
    pub wanted: Vec<Setting>,
    /// What a file contains that is not used, and why.
    pub left_out: Vec<String>,
}

impl Input {
    /// Adds a file. `name` is for messages; the format follows from the contents.
    ///
    /// # Errors
    /// The file is none of the formats, or a value in it is invalid.
    pub fn add(&mut self, name: &str, text: &str) -> Result<()> {
        let text = text.trim_start_matches('\u{feff}');
        let added = if text.trim_start().starts_with('{') {
            json::read(self, text)
        } else if csv::is_csv(text) {
            csv::read(self, text)
        } else {
            table::read(self, text)
        };
        added.with_context(|| name.to_owned())
    }
}

/// The values that are unknown if nobody says which.
///
/// # Errors
/// None.
pub fn usual() -> Result<Vec<Unknown>> {
    DEFAULT.iter().map(|name| Unknown::usual(name)).collect()
}

/// Puts a value at a path of keys separated by dots.
pub fn put(table: &mut toml::Table, path: &str, value: toml::Value) {
    match path.split_once('.') {
        None => {
            table.insert(path.to_owned(), value);
        }
        Some((first, rest)) => {
            let inner = table
                .entry(first)
                .or_insert_with(|| toml::Table::new().into());
            if let Some(inner) = inner.as_table_mut() {
                put(inner, rest, value);
            }
        }
    }
}
