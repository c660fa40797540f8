//! Measurements in TOML.

use anyhow::{Context as _, Result, bail, ensure};

use super::contents::{Input, put};
use crate::{
    measured::{Kind, Measured, Setting},
    unknown::Unknown,
};

const TOP: &str = "allowed are scenario, [set], [unknown], [[copy]], [[speed]] and [[predict]]";

/// Adds the file.
pub(super) fn read(input: &mut Input, text: &str) -> Result<()> {
    let file: toml::Table = text.parse().context(TOP)?;
    for (key, value) in file {
        match (key.as_str(), value) {
            ("scenario", toml::Value::String(name)) => input.scenario = Some(name),
            ("set", toml::Value::Table(table)) => input.set.extend(table),
            ("unknown", toml::Value::Table(table)) => unknowns(input, "", &table)?,
            (kind @ ("copy" | "speed" | "predict"), toml::Value::Array(list)) => {
                for (number, entry) in list.into_iter().enumerate() {
                    let place = format!("[[{kind}]] {}", number + 1);
                    let toml::Value::Table(entry) = entry else {
                        bail!("{place} is not a table")
                    };
                    let added = add(input, kind, &place, entry);
                    // an entry without a name is called by its place
                    added.map_err(|error| match error.to_string().starts_with(&place) {
                        true => error,
                        false => error.context(place),
                    })?;
                }
            }
            (key, _) => bail!("'{key}' is unknown or of the wrong kind; {TOP}"),
        }
    }
    Ok(())
}

/// `NAME = "RANGE"`, or `NAME = true` for the usual range.
fn unknowns(input: &mut Input, before: &str, table: &toml::Table) -> Result<()> {
    for (key, value) in table {
        let name = if before.is_empty() {
            key.clone()
        } else {
            format!("{before}.{key}")
        };
        match value {
            toml::Value::Table(inner) => unknowns(input, &name, inner)?,
            toml::Value::String(range) => input.unknowns.push(Unknown::with_range(&name, range)?),
            toml::Value::Boolean(true) => input.unknowns.push(Unknown::usual(&name)?),
            other => bail!(
                "{name} = {other} is not possible; write a range such as \"10 us..5 ms:log\", or true for the usual range"
            ),
        }
    }
    Ok(())
}

fn add(input: &mut Input, kind: &str, place: &str, mut entry: toml::Table) -> Result<()> {
    let name = match entry.remove("name") {
        Some(toml::Value::String(name)) => name,
        Some(other) => bail!("name = {other} is not a text"),
        None => place.to_owned(),
    };
    let times = times(entry.remove("seconds"))?;
    let spread = entry
        .remove("spread")
        .map(|value| number(&value))
        .transpose()?;
    let rate = rate(&mut entry)?;
    let is_stream = match entry.remove("kind") {
        None => kind == "speed",
        Some(value) => match value.as_str() {
            Some("copy") => false,
            Some("speed") => true,
            _ => bail!("kind = {value} is not possible; allowed are \"copy\" and \"speed\""),
        },
    };
    let client = match entry.get("client") {
        Some(toml::Value::String(client)) => Some(client.clone()),
        _ => None,
    };
    if client.is_some() {
        entry.remove("client");
    }
    let setting = Setting {
        name,
        kind: if is_stream { Kind::Stream } else { Kind::Copy },
        client,
        changes: changes(entry, is_stream),
    };
    if kind == "predict" {
        ensure!(
            times.is_empty() && rate.is_none(),
            "a prediction has no measured time; write it as [[copy]]"
        );
        input.wanted.push(setting);
        return Ok(());
    }
    input.measured.push(measured(setting, times, spread, rate)?);
    Ok(())
}

/// From times, or from a rate and the size.
pub(super) fn measured(
    setting: Setting,
    mut times: Vec<f64>,
    spread: Option<f64>,
    rate: Option<f64>,
) -> Result<Measured> {
    if let Some(rate) = rate {
        ensure!(times.is_empty(), "give seconds or a rate, not both");
        ensure!(
            rate > 0.0 && rate.is_finite(),
            "a rate of {rate} bytes/s is not possible"
        );
        let size = size(&setting).context("a rate needs the size of the file")?;
        times.push(size as f64 / rate);
    }
    ensure!(
        !times.is_empty(),
        "there is no time: write seconds = 12.3, or several as a list; or a rate (kb_per_s, mb_per_s, mbit_per_s)"
    );
    Measured::new(setting, &times, spread)
}

fn size(setting: &Setting) -> Option<u64> {
    match setting.changes.get("size")? {
        toml::Value::Integer(bytes) => u64::try_from(*bytes).ok(),
        toml::Value::String(text) => coax_lab::scenario::parse_size(text).ok(),
        _ => None,
    }
}

/// Bytes of a transfer of raw TCP if none are given: SPDTEST's default.
const STREAM_BYTES: i64 = 4 << 20;

/// `set` and the other keys, which are the scenario's.
fn changes(mut entry: toml::Table, is_stream: bool) -> toml::Table {
    let mut changes = match entry.remove("set") {
        Some(toml::Value::Table(set)) => set,
        _ => toml::Table::new(),
    };
    changes.extend(entry);
    // keys in quotes have dots
    let dotted: Vec<String> = changes
        .keys()
        .filter(|key| key.contains('.'))
        .cloned()
        .collect();
    for key in dotted {
        if let Some(value) = changes.remove(&key) {
            put(&mut changes, &key, value);
        }
    }
    if is_stream && !changes.contains_key("size") {
        changes.insert("size".to_owned(), STREAM_BYTES.into());
    }
    changes
}

fn times(value: Option<toml::Value>) -> Result<Vec<f64>> {
    match value {
        None => Ok(Vec::new()),
        Some(toml::Value::Array(list)) => list.iter().map(number).collect(),
        Some(value) => Ok(vec![number(&value)?]),
    }
}

fn number(value: &toml::Value) -> Result<f64> {
    match value {
        toml::Value::Integer(number) => Ok(*number as f64),
        toml::Value::Float(number) => Ok(*number),
        other => bail!("{other} is not a number"),
    }
}

/// Names of rates and their bytes per second.
const RATES: [(&str, f64); 5] = [
    ("bytes_per_s", 1.0),
    ("kb_per_s", 1000.0),
    ("kib_per_s", 1024.0),
    ("mb_per_s", 1e6),
    ("mbit_per_s", 125_000.0),
];

/// The rate of an entry in bytes per second.
fn rate(entry: &mut toml::Table) -> Result<Option<f64>> {
    for (key, bytes) in RATES {
        if let Some(value) = entry.remove(key) {
            return Ok(Some(number(&value)? * bytes));
        }
    }
    Ok(None)
}
