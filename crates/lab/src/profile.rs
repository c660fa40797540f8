//! Stacks, machines, cards and links as data: what is known of each, from where, and what is assumed.
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
    link::{LinkParams, NicParams},
    machine::MachineParams,
    tcp::StackParams,
};

/// What is wrong with a profile, naming the file and the key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProfileError {
    /// The text is no TOML, or not of a profile's shape.
    #[error("{file}: {reason}")]
    Malformed {
        /// Where.
        file: String,
        /// What the parser says.
        reason: String,
    },
    /// A key is unknown, or its value is not allowed.
    #[error("{file}: {key}: {reason}")]
    Value {
        /// Where.
        file: String,
        /// Which.
        key: String,
        /// What is wrong and what is allowed.
        reason: String,
    },
    /// A value names a source that the file does not have.
    #[error("{file}: {key}: source `{source_name}` is not among [sources]")]
    Source {
        /// Where.
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
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    title: String,
    #[serde(default)]
    sources: BTreeMap<String, String>,
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

/// Where a value comes from.
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
}

/// A profile that was read: the parameters, and what each rests on.
#[derive(Clone, Debug)]
pub struct Profile<T> {
    /// The file's name without folder and ending.
    pub name: String,
    /// What it is of.
    pub title: String,
    /// What the model takes.
    pub params: T,
    /// What the values given rest on. What is not given is the default.
    pub evidence: Vec<Evidence>,
}

/// Parameters that profiles describe.
pub trait Described: DeserializeOwned {
    /// What a profile of it is called in messages.
    const KIND: &'static str;
    /// Name and text of those that come with the lab.
    const BUILT_IN: &'static [(&'static str, &'static str)];

    /// What no run can be made with: the key and what is allowed.
    ///
    /// # Errors
    /// The first key with an impossible value, and what is allowed.
    fn check(&self) -> Result<(), (&'static str, String)> {
        Ok(())
    }
}

/// Reads a profile. `name` is its file's, for messages.
///
/// # Errors
/// The file and the key that is wrong, and what is allowed.
pub fn parse<T: Described>(name: &str, text: &str) -> Result<Profile<T>, ProfileError> {
    parse_with(name, text, &[])
}

/// Reads a profile with some values changed.
///
/// # Errors
/// The file and the key that is wrong, and what is allowed.
pub fn parse_with<T: Described>(
    name: &str,
    text: &str,
    changes: &[(&str, toml::Value)],
) -> Result<Profile<T>, ProfileError> {
    let malformed = |e: toml::de::Error| ProfileError::Malformed {
        file: name.to_string(),
        reason: e.to_string(),
    };
    let file: File = toml::from_str(text).map_err(malformed)?;
    let mut table = toml::Table::new();
    let mut evidence = Vec::new();
    for (key, entry) in &file.values {
        table.insert(key.clone(), entry.value.clone());
        evidence.push(evidence_of(name, key, entry, &file.sources)?);
    }
    for (key, value) in changes {
        table.insert((*key).to_string(), value.clone());
        evidence.retain(|known| known.key != *key);
    }
    try_each::<T>(name, &table)?;
    let params = T::deserialize(toml::Value::Table(table)).map_err(malformed)?;
    params
        .check()
        .map_err(|(key, reason)| ProfileError::Value {
            file: name.to_string(),
            key: key.to_string(),
            reason,
        })?;
    Ok(Profile {
        name: name.to_string(),
        title: file.title,
        params,
        evidence,
    })
}

/// A profile that comes with the lab.
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
    match T::BUILT_IN.iter().find(|(known, _)| *known == name) {
        Some((name, text)) => parse_with(name, text, changes),
        None => Err(ProfileError::Unknown {
            kind: T::KIND,
            name: name.to_string(),
            known: T::BUILT_IN
                .iter()
                .map(|(name, _)| *name)
                .collect::<Vec<_>>()
                .join(", "),
        }),
    }
}

/// Takes one key at a time, so that a message can name it.
fn try_each<T: Described>(file: &str, table: &toml::Table) -> Result<(), ProfileError> {
    for (key, value) in table {
        let mut alone = toml::Table::new();
        alone.insert(key.clone(), value.clone());
        T::deserialize(toml::Value::Table(alone)).map_err(|e| value_error(file, key, &e))?;
    }
    Ok(())
}

fn value_error(file: &str, key: &str, error: &toml::de::Error) -> ProfileError {
    ProfileError::Value {
        file: file.to_string(),
        key: key.to_string(),
        reason: error.message().to_string(),
    }
}

fn evidence_of(
    file: &str,
    key: &str,
    entry: &Entry,
    sources: &BTreeMap<String, String>,
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
        source: source.clone(),
        assumed: entry.assumed,
    })
}

macro_rules! files {
    ($folder:literal: $($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../data/", $folder, "/", $name, ".toml")))),*]
    };
}

impl Described for StackParams {
    const KIND: &'static str = "stack";
    const BUILT_IN: &'static [(&'static str, &'static str)] = files!("stacks":
        "ms-tcpip-1.0a", "ibm-tcpip-2.1.1", "nts-3.18", "wfw-tcpip-32", "windows-95", "windows-98", "nt-4",
        "windows-2000", "mtcp", "linux", "linux-2.0", "linux-6", "bsd-4.4");

    fn check(&self) -> Result<(), (&'static str, String)> {
        let rules = [
            ("mss", (64..=9000).contains(&self.mss), "64 to 9000 bytes"),
            (
                "receive_window",
                (64..=1 << 30).contains(&self.receive_window),
                "64 bytes to 1 GiB",
            ),
            ("ack_every", self.ack_every > 0, "at least 1"),
            ("rto_min", self.rto_min.0 > 0, "more than nothing"),
            ("rto_initial", self.rto_initial.0 > 0, "more than nothing"),
            ("rto_max", self.rto_max >= self.rto_min, "at least rto_min"),
            ("persist_min", self.persist_min.0 > 0, "more than nothing"),
            (
                "window_scale",
                self.window_scale.is_none_or(|shift| shift <= 14),
                "0 to 14 (RFC 7323 2.2)",
            ),
        ];
        broken(&rules)
    }
}

impl Described for MachineParams {
    const KIND: &'static str = "machine";
    const BUILT_IN: &'static [(&'static str, &'static str)] = files!("machines": "fast", "virtual-dos", "nas", "nt-4-server", "windows-2000-server", "wfw-486sx33", "dos-386sx16",
        "samba-dx2-66");
}

impl Described for NicParams {
    const KIND: &'static str = "card";
    const BUILT_IN: &'static [(&'static str, &'static str)] =
        files!("cards": "plain", "dos-short-ring", "two-frames-in");
}

impl Described for LinkParams {
    const KIND: &'static str = "link";
    const BUILT_IN: &'static [(&'static str, &'static str)] =
        files!("links": "ethernet-10", "ethernet-100", "ethernet-1000", "ds3-62ms");

    fn check(&self) -> Result<(), (&'static str, String)> {
        let rules = [
            (
                "rate",
                (1000..=100_000_000_000).contains(&self.rate),
                "1 kbit/s to 100 Gbit/s",
            ),
            (
                "access_rate",
                self.access_rate.is_none_or(|access| access >= self.rate),
                "at least the link's rate",
            ),
            (
                "reorder",
                (0.0..=1.0).contains(&self.reorder.probability),
                "a probability of 0 to 1",
            ),
        ];
        broken(&rules)?;
        for (key, loss) in [
            ("loss_to_server", &self.loss_to_server),
            ("loss_to_client", &self.loss_to_client),
        ] {
            if !loss.rule.is_possible() {
                return Err((
                    key,
                    "probabilities are 0 to 1, and something must get through".to_string(),
                ));
            }
        }
        Ok(())
    }
}

fn broken(rules: &[(&'static str, bool, &str)]) -> Result<(), (&'static str, String)> {
    match rules.iter().find(|(_, holds, _)| !holds) {
        Some((key, _, allowed)) => Err((key, format!("not possible; allowed is {allowed}"))),
        None => Ok(()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn all<T: Described>() -> usize {
        for (name, _) in T::BUILT_IN {
            built_in::<T>(name).unwrap();
        }
        T::BUILT_IN.len()
    }

    #[test]
    fn everything_that_comes_with_the_lab_can_be_read_and_names_its_sources() {
        let files = |folder: &str| {
            let data = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data");
            std::fs::read_dir(data.join(folder)).unwrap().count()
        };
        assert_eq!(all::<StackParams>(), files("stacks"));
        assert_eq!(all::<MachineParams>(), files("machines"));
        assert_eq!(all::<NicParams>(), files("cards"));
        assert_eq!(all::<LinkParams>(), files("links"));
        assert_eq!(all::<crate::smb::ServerParams>(), files("servers"));
        for (name, _) in StackParams::BUILT_IN {
            let stack = built_in::<StackParams>(name).unwrap();
            assert!(
                stack.evidence.iter().all(|known| !known.source.is_empty()),
                "{name}"
            );
            assert!(
                stack
                    .evidence
                    .iter()
                    .any(|known| known.key == "receive_window"),
                "{name}"
            );
        }
    }

    #[test]
    fn a_bad_file_is_told_of_with_its_name_its_key_and_what_is_allowed() {
        let read = |values: &str| {
            let text = format!("title = \"t\"\n[sources]\ns = \"somewhere\"\n[values]\n{values}");
            parse::<StackParams>("bad", &text).unwrap_err().to_string()
        };
        let unknown = read("windows = { value = 1, source = \"s\" }");
        assert!(
            unknown.contains("bad: windows: unknown field") && unknown.contains("receive_window"),
            "{unknown}"
        );
        let impossible = read("ack_every = { value = 0, source = \"s\" }");
        assert!(
            impossible.contains("bad: ack_every") && impossible.contains("at least 1"),
            "{impossible}"
        );
        let unit = read("rto_min = { value = 300, source = \"s\" }");
        assert!(unit.contains("bad: rto_min"), "{unit}");
        let choice = read("nagle = { value = \"sometimes\", source = \"s\" }");
        assert!(choice.contains("minshall"), "{choice}");
        let source = read("mss = { value = 1460, source = \"elsewhere\" }");
        assert!(source.contains("`elsewhere` is not among"), "{source}");
        assert!(read("mss = 1460").contains("bad: "));
    }

    #[test]
    fn impossible_links_and_unknown_names_are_refused() {
        let zero = toml::Value::String("0 Mbit/s".to_string());
        let refused = built_in_with::<LinkParams>("ethernet-10", &[("rate", zero)]).unwrap_err();
        assert!(
            refused.to_string().contains("ethernet-10: rate"),
            "{refused}"
        );
        let unknown = built_in::<StackParams>("os-9").unwrap_err().to_string();
        assert!(
            unknown.contains("no stack is called `os-9`") && unknown.contains("windows-95"),
            "{unknown}"
        );
    }

    #[test]
    fn a_changed_value_loses_its_evidence() {
        let changed = built_in_with::<StackParams>(
            "windows-95",
            &[("receive_window", toml::Value::Integer(3072))],
        );
        let changed = changed.unwrap();
        assert_eq!(changed.params.receive_window, 3072);
        assert!(
            changed
                .evidence
                .iter()
                .all(|known| known.key != "receive_window")
        );
    }
}
