//! Measurements from files: TOML, CSV, and the JSON of `coax bench`, `coax explain` and `coax speed`.

mod contents;
mod csv;
mod json;
mod table;
#[cfg(test)]
mod tests;

use anyhow::{Context as _, Result};

pub use contents::{Input, put, usual};

/// Adds a file to `input`. `name` is for messages; the format follows from the contents.
///
/// # Errors
/// The file is none of the formats, or a value in it is invalid.
pub fn add(input: &mut Input, name: &str, text: &str) -> Result<()> {
    let text = text.trim_start_matches('\u{feff}');
    let added = if text.trim_start().starts_with('{') {
        json::read(input, text)
    } else if csv::is_csv(text) {
        csv::read(input, text)
    } else {
        table::read(input, text)
    };
    added.with_context(|| name.to_owned())
}
