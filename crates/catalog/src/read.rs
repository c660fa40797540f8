//! Values from TOML.
//!
//! Text and tables each have a generic deserializer. Types are read from tables only, so that their code is compiled once.

use alloc::string::{String, ToString};
use serde::de::DeserializeOwned;

/// A value from a text.
///
/// # Errors
/// What is malformed: the line if the text is no TOML, else the key.
pub(crate) fn text<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let table: toml::Table = toml::from_str(text).map_err(|error| error.to_string())?;
    let read: Result<T, toml::de::Error> = table.try_into();
    read.map_err(|error| error.to_string())
}

/// The same from values that were read before.
///
/// # Errors
/// What is wrong.
pub(crate) fn value<T: DeserializeOwned>(value: toml::Value) -> Result<T, String> {
    let read: Result<T, toml::de::Error> = value.try_into();
    read.map_err(|error| error.message().to_string())
}
