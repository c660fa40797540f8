//! Stacks, machines, cards and links as data: values, their sources, and assumptions.
//!
//! A file names its sources once and gives each value with one of them:
//!
//! ```toml
//! title = "…"
//! [sources]
//! manual = "which one, where"
//! guess = "why this value"
//! [values]
//! mss = { value = 1450, source = "manual" }
//! rto_min = { value = "300 ms", source = "guess", assumed = true }
//! ```

use alloc::{
    collections::BTreeMap,
    format,
    string::{String, ToString},
    vec::Vec,
};

use serde::{Deserialize, de::DeserializeOwned};

use crate::{
    files::{self, Files},
    read,
    tuned::{Sources, Tuned},
};

/// An error in a profile, with file and key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProfileError {
    /// The text is no TOML, or not of a profile's shape.
    #[error("{file}: {reason}")]
    Malformed {
        /// The file.
        file: String,
        /// The parser's message.
        reason: String,
    },
    /// A key is unknown, or its value is not allowed.
    #[error("{file}: {key}: {reason}")]
    Value {
        /// The file.
        file: String,
        /// Which.
        key: String,
        /// The problem and the allowed values.
        reason: String,
    },
    /// A value names a source that the file does not have.
    #[error("{file}: {key}: source `{source_name}` is not among [sources]")]
    Source {
        /// The file.
        file: String,
        /// Which.
        key: String,
        /// The name.
        source_name: String,
    },
    /// No profile has this name.
    #[error("no {kind} is called `{name}`; there are {known}")]
    Unknown {
        /// Stack, machine, card or link.
        kind: &'static str,
        /// The requested name.
        name: String,
        /// The available names.
        known: String,
    },
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    title: String,
    #[serde(default)]
    sources: Sources,
    #[serde(default)]
    values: BTreeMap<String, Entry>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    value: toml::Value,
    source: String,
    #[serde(default)]
    assumed: bool,
}

/// The source of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// The key.
    pub key: String,
    /// The value as the file has it.
    pub value: String,
    /// The source, whole.
    pub source: String,
    /// It is a reading of the evidence, not the evidence.
    pub assumed: bool,
    /// The cells because of which it was set.
    pub tuned: Tuned,
}

/// A profile that was read: the parameters, and what each rests on.
#[derive(Clone, Debug)]
pub struct Profile<T> {
    /// The file's name without folder and ending.
    pub name: String,
    /// The title.
    pub title: String,
    /// The parameters for the model.
    pub params: T,
    /// The evidence of the values in the file. Other values are defaults.
    pub evidence: Vec<Evidence>,
}

/// Parameters that profiles describe.
pub trait Described: DeserializeOwned {
    /// The kind of profile in messages.
    const KIND: &'static str;
    /// Name and text of those that come with the lab.
    const BUILT_IN: Files;

    /// Checks the values: a run must be possible with them.
    ///
    /// # Errors
    /// The first key with an invalid value, and the allowed values.
    fn check(&self) -> Result<(), (&'static str, String)> {
        Ok(())
    }
}

/// Reads a profile. `name` is its file's, for messages.
///
/// # Errors
/// The file, the invalid key and the allowed values.
pub fn parse<T: Described>(name: &str, text: &str) -> Result<Profile<T>, ProfileError> {
    parse_with(name, text, &[])
}

/// Reads a profile with some values changed.
///
/// # Errors
/// The file, the invalid key and the allowed values.
pub fn parse_with<T: Described>(
    name: &str,
    text: &str,
    changes: &[(&str, toml::Value)],
) -> Result<Profile<T>, ProfileError> {
    let file = File::parse(name, text)?;
    let mut evidence = Vec::new();
    for (key, entry) in &file.values {
        evidence.push(evidence_of(name, key, entry, &file.sources)?);
    }
    evidence.retain(|known| changes.iter().all(|(key, _)| known.key != *key));
    Ok(Profile {
        name: name.to_string(),
        params: file.params(name, changes)?,
        title: file.title,
        evidence,
    })
}

/// The files of built-in profiles.
static FILES: read::Kept<File> = read::Kept::new();

/// The values of a built-in profile with some changed, without the evidence. `changes` has them from the values of the file.
///
/// # Errors
/// The name, or a key, is unknown or not allowed.
pub(crate) fn built_in_params<T: Described>(
    name: &str,
    changes: impl FnOnce(&dyn Fn(&str) -> Option<toml::Value>) -> Vec<(String, toml::Value)>,
) -> Result<T, ProfileError> {
    let text = text_of::<T>(name)?;
    let file = FILES.of(text, |text| File::parse(name, text))?;
    let changes = changes(&|key| file.values.get(key).map(|entry| entry.value.clone()));
    let changes: Vec<(&str, toml::Value)> = changes
        .iter()
        .map(|(key, value)| (key.as_str(), value.clone()))
        .collect();
    file.params(name, &changes)
}

impl File {
    fn parse(name: &str, text: &str) -> Result<Self, ProfileError> {
        read::text(text).map_err(|reason| malformed(name, reason))
    }

    /// The parameters, with some values changed.
    fn params<T: Described>(
        &self,
        name: &str,
        changes: &[(&str, toml::Value)],
    ) -> Result<T, ProfileError> {
        let own = |(key, entry): (&String, &Entry)| (key.clone(), entry.value.clone());
        let mut table: toml::Table = self.values.iter().map(own).collect();
        for (key, value) in changes {
            table.insert((*key).to_string(), value.clone());
        }
        let whole = toml::Value::Table(table.clone());
        let params: T = read::value(whole).or_else(|error| {
            try_each::<T>(name, &table)?;
            Err(malformed(name, error))
        })?;
        match params.check() {
            Err((key, reason)) => Err(value_error(name, key, reason)),
            Ok(()) => Ok(params),
        }
    }
}

fn malformed(file: &str, reason: String) -> ProfileError {
    ProfileError::Malformed {
        file: file.to_string(),
        reason,
    }
}

/// A built-in profile.
///
/// # Errors
/// The name is unknown: those that there are.
pub fn built_in<T: Described>(name: &str) -> Result<Profile<T>, ProfileError> {
    built_in_with(name, &[])
}

/// The same with some values changed.
///
/// # Errors
/// The name, or a key, is unknown or not allowed.
pub fn built_in_with<T: Described>(
    name: &str,
    changes: &[(&str, toml::Value)],
) -> Result<Profile<T>, ProfileError> {
    parse_with(name, text_of::<T>(name)?, changes)
}

fn text_of<T: Described>(name: &str) -> Result<&'static str, ProfileError> {
    files::find(T::BUILT_IN, name).ok_or_else(|| ProfileError::Unknown {
        kind: T::KIND,
        name: name.to_string(),
        known: files::names(T::BUILT_IN),
    })
}

/// Takes one key at a time, so that a message can name it.
fn try_each<T: Described>(file: &str, table: &toml::Table) -> Result<(), ProfileError> {
    for (key, value) in table {
        let mut alone = toml::Table::new();
        alone.insert(key.clone(), value.clone());
        read::value::<T>(toml::Value::Table(alone))
            .map_err(|reason| value_error(file, key, reason))?;
    }
    Ok(())
}

fn value_error(file: &str, key: &str, reason: String) -> ProfileError {
    ProfileError::Value {
        file: file.to_string(),
        key: key.to_string(),
        reason,
    }
}

fn evidence_of(
    file: &str,
    key: &str,
    entry: &Entry,
    sources: &Sources,
) -> Result<Evidence, ProfileError> {
    let source = sources
        .get(&entry.source)
        .ok_or_else(|| ProfileError::Source {
            file: file.to_string(),
            key: key.to_string(),
            source_name: entry.source.clone(),
        })?;
    Ok(Evidence {
        key: key.to_string(),
        value: entry.value.to_string(),
        source: source.text.clone(),
        assumed: entry.assumed,
        tuned: source.tuned.clone(),
    })
}

/// The first violated rule as an error.
pub(crate) fn broken(rules: &[(&'static str, bool, &str)]) -> Result<(), (&'static str, String)> {
    match rules.iter().find(|(_, holds, _)| !holds) {
        Some((key, _, allowed)) => Err((key, format!("not possible; allowed is {allowed}"))),
        None => Ok(()),
    }
}
