//! Values from TOML.
//!
//! Text and tables each have a generic deserializer. Types are read from tables only, so that their code is compiled once.

use alloc::{
    collections::BTreeMap,
    string::{String, ToString},
    sync::Arc,
};

use serde::de::DeserializeOwned;
use spin::Mutex;

/// What was read from built-in texts, each once: a sweep or a fit resolves thousands of scenarios, and to parse their files took
/// longer than to simulate a short copy.
pub(crate) struct Kept<T>(Mutex<BTreeMap<(usize, usize), Arc<T>>>);

impl<T> Kept<T> {
    /// None yet.
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(BTreeMap::new()))
    }

    /// What `read` makes of the text, or made of it before. Errors are not kept.
    pub(crate) fn of<E>(
        &self,
        text: &'static str,
        read: impl FnOnce(&str) -> Result<T, E>,
    ) -> Result<Arc<T>, E> {
        let place = (text.as_ptr() as usize, text.len());
        if let Some(known) = self.0.lock().get(&place) {
            return Ok(known.clone());
        }
        let made = Arc::new(read(text)?);
        self.0.lock().insert(place, made.clone());
        Ok(made)
    }
}

/// A value from a text.
///
/// # Errors
/// What is malformed: the line if the text is no TOML, else the key.
pub(crate) fn text<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let table = table(text)?;
    let read: Result<T, toml::de::Error> = table.try_into();
    read.map_err(|error| error.to_string())
}

/// The keys and values of a text.
///
/// # Errors
/// The line with what is no TOML.
pub(crate) fn table(text: &str) -> Result<toml::Table, String> {
    toml::from_str(text).map_err(|error| error.to_string())
}

/// The same from values that were read before.
///
/// # Errors
/// What is wrong.
pub(crate) fn value<T: DeserializeOwned>(value: toml::Value) -> Result<T, String> {
    let read: Result<T, toml::de::Error> = value.try_into();
    read.map_err(|error| error.message().to_string())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use core::cell::Cell;

    use super::*;

    #[test]
    fn a_built_in_text_is_read_once_and_an_error_is_not_kept() {
        let (kept, reads) = (Kept::new(), Cell::new(0));
        let read = |text: &str| {
            reads.set(reads.get() + 1);
            table(text)
        };
        let one = kept.of("a = 1", read).unwrap();
        assert!(Arc::ptr_eq(&one, &kept.of("a = 1", read).unwrap()));
        assert_eq!(reads.get(), 1);
        assert_ne!(*kept.of("b = 2", read).unwrap(), *one);
        assert!(kept.of("a", read).is_err() && kept.of("a", read).is_err());
        assert_eq!(reads.get(), 4);
    }
}
