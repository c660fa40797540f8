//! What files contain.

use anyhow::Result;

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
