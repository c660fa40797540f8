//! Published figures: `data/published`.

use alloc::{
    collections::BTreeMap,
    format,
    string::{String, ToString},
    vec::Vec,
};

use serde::{Deserialize, de::DeserializeOwned};

use crate::{
    component::ProfileError,
    files::{self, PUBLISHED},
    read,
};

/// A row of `spdtest`: a machine with a card, and the rates that SpdTest measured.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct SpeedRow {
    /// The machine.
    pub machine: String,
    /// Its network adapter.
    pub adapter: String,
    /// Processor type.
    pub cpu: String,
    /// Clock frequency, MHz.
    pub mhz: f64,
    /// Type of card.
    pub family: String,
    /// KB/s sent.
    pub send: f64,
    /// KB/s received.
    pub receive: f64,
    /// Time in which the processor moves a word, microseconds.
    #[serde(skip)]
    pub word_us: f64,
}

/// A packet of a published trace: its number, its time in seconds, and what it is.
pub type TracePacket = (u32, f64, String);

#[derive(Deserialize)]
struct Speeds {
    word_clocks: BTreeMap<String, f64>,
    rate: Vec<SpeedRow>,
}

#[derive(Deserialize)]
struct Traces {
    #[serde(default)]
    trace: Vec<Excerpt>,
}

#[derive(Deserialize)]
struct Excerpt {
    rows: Vec<TracePacket>,
}

/// One figure. `path` consists of keys and indexes, such as `copy.0.to_client_s`. Of a range it is the middle.
///
/// # Errors
/// There is no such file, or no figure at `path`.
pub fn figure(name: &str, path: &str) -> Result<f64, ProfileError> {
    let top = toml::Value::Table(read_set(name)?);
    let found = path.split('.').try_fold(&top, |value, part| {
        part.parse::<usize>()
            .ok()
            .and_then(|index| value.get(index))
            .or_else(|| value.get(part))
    });
    found
        .and_then(number)
        .ok_or_else(|| wrong(name, path, "there is no figure".to_string()))
}

fn number(value: &toml::Value) -> Option<f64> {
    match value {
        toml::Value::Integer(n) => Some(*n as f64),
        toml::Value::Float(n) => Some(*n),
        toml::Value::Array(range) => {
            let ends: Option<Vec<f64>> = range.iter().map(number).collect();
            let ends = ends.filter(|ends| !ends.is_empty())?;
            Some(ends.iter().sum::<f64>() / ends.len() as f64)
        }
        _ => None,
    }
}

/// The packets of a file's first trace.
///
/// # Errors
/// There is no such file, or it has no trace.
pub fn trace(name: &str) -> Result<Vec<TracePacket>, ProfileError> {
    let file: Traces = read_set(name)?;
    let first = file.trace.into_iter().next();
    first
        .map(|excerpt| excerpt.rows)
        .ok_or_else(|| wrong(name, "trace", "there is no trace".to_string()))
}

/// The rates of SpdTest, sorted by machine and adapter.
///
/// # Errors
/// The file names a processor of which it has no clocks.
pub fn speeds() -> Result<Vec<SpeedRow>, ProfileError> {
    let mut all: Speeds = read_set("spdtest")?;
    for row in &mut all.rate {
        let clocks = all.word_clocks.get(&row.cpu).ok_or_else(|| {
            let reason = format!("processor `{}` is not in [word_clocks]", row.cpu);
            wrong("spdtest", &row.machine, reason)
        })?;
        row.word_us = clocks / row.mhz;
    }
    all.rate
        .sort_by(|a, b| (&a.machine, &a.adapter).cmp(&(&b.machine, &b.adapter)));
    Ok(all.rate)
}

fn read_set<T: DeserializeOwned>(name: &str) -> Result<T, ProfileError> {
    let text = files::find(PUBLISHED, name).ok_or_else(|| ProfileError::Unknown {
        kind: "set of published figures",
        name: name.to_string(),
        known: files::names(PUBLISHED),
    })?;
    read::text(text).map_err(|reason| ProfileError::Malformed {
        file: file(name),
        reason,
    })
}

fn wrong(name: &str, key: &str, reason: String) -> ProfileError {
    ProfileError::Value {
        file: file(name),
        key: key.to_string(),
        reason,
    }
}

fn file(name: &str) -> String {
    format!("data/published/{name}.toml")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn every_file_parses_and_a_missing_figure_is_named() {
        for (name, _) in PUBLISHED {
            assert!(read_set::<toml::Table>(name).is_ok(), "{name}");
        }
        assert!(speeds().unwrap().iter().all(|row| row.word_us > 0.0));
        let error = figure("wan-copy", "copy.999.x").unwrap_err().to_string();
        assert!(error.contains("wan-copy.toml: copy.999.x"), "{error}");
        assert!(trace("spdtest").is_err());
    }
}
