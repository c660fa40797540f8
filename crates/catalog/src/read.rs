//! Values from TOML.
//!
//! Text and values each have a generic deserializer, and each would compile the code of every type again. Through a trait object the
//! code of a type exists once: the program is 0.3 MB smaller. Reading a file takes microseconds either way.

use alloc::string::{String, ToString};
use erased_serde::{Deserializer, deserialize};
use serde::de::DeserializeOwned;

/// A value from a text.
///
/// # Errors
/// What is malformed, with the line.
pub(crate) fn text<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let parsed = toml::Deserializer::parse(text).map_err(|error| error.to_string())?;
    deserialize(&mut <dyn Deserializer<'_>>::erase(parsed)).map_err(|error| error.to_string())
}

/// The same from values that were read before.
///
/// # Errors
/// What is wrong.
pub(crate) fn value<T: DeserializeOwned>(value: toml::Value) -> Result<T, String> {
    deserialize(&mut <dyn Deserializer<'_>>::erase(value)).map_err(|error| error.to_string())
}
