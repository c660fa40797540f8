//! Profiles with changes.

use alloc::{
    collections::BTreeMap,
    format,
    string::{String, ToString},
    sync::Arc,
    vec::Vec,
};

use crate::{
    component::{Described, ProfileError, built_in_params},
    files,
    profile::Profile,
    read::{self, Kept},
};

/// Changes by their path beneath the profile.
pub(super) type Changes<'a> = [(&'a str, &'a toml::Value)];

/// A built-in profile with changes. A change of a nested value keeps its siblings.
pub(super) fn described<T: Described>(
    name: &str,
    changes: &Changes<'_>,
) -> Result<T, ProfileError> {
    built_in_params::<T>(name, |in_file| {
        let mut values: BTreeMap<&str, toml::Value> = BTreeMap::new();
        for (path, value) in changes {
            let mut parts = path.split('.');
            let key = parts.next().unwrap_or_default();
            let place = values
                .entry(key)
                .or_insert_with(|| in_file(key).unwrap_or_else(empty));
            *deepest(place, parts) = (*value).clone();
        }
        let owned = |(key, value): (&str, _)| (key.to_string(), value);
        values.into_iter().map(owned).collect()
    })
}

/// A value as a profile's file has it, or one deep within it.
pub(super) fn in_file<T: Described>(name: &str, path: &str) -> Option<String> {
    let file = file_of::<T>(name)?;
    let mut parts = path.split('.');
    let entry = file.get("values")?.get(parts.next()?)?;
    let value = parts.try_fold(entry.get("value")?, |value, part| value.get(part))?;
    Some(shown(value))
}

fn file_of<T: Described>(name: &str) -> Option<toml::Table> {
    files::find(T::BUILT_IN, name).and_then(|text| toml::from_str(text).ok())
}

/// A value as reports show it.
pub(super) fn shown(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        toml::Value::Float(_) => brief(&value.to_string()),
        other => other.to_string(),
    }
}

/// The text with numbers of many digits in scientific notation: `1e308` has 309 of them.
pub(super) fn brief(text: &str) -> String {
    const MAX_DIGITS: usize = 24;
    let is_other = |c: char| !c.is_ascii_digit() && !matches!(c, '.' | '-');
    let mut out = String::new();
    for piece in text.split_inclusive(is_other) {
        let number = piece.trim_end_matches(is_other);
        match number.parse::<f64>() {
            Ok(value) if number.len() > MAX_DIGITS => out.push_str(&format!("{value:e}")),
            _ => out.push_str(number),
        }
        out.push_str(piece.get(number.len()..).unwrap_or_default());
    }
    out
}

fn empty() -> toml::Value {
    toml::Value::Table(toml::Table::new())
}

/// The place at the end of a path, made if it is not there.
fn deepest<'a, 'b>(
    place: &'a mut toml::Value,
    parts: impl Iterator<Item = &'b str>,
) -> &'a mut toml::Value {
    parts.fold(place, |place, part| {
        if !place.is_table() {
            *place = empty();
        }
        match place {
            toml::Value::Table(table) => table.entry(part.to_string()).or_insert_with(empty),
            other => other,
        }
    })
}

/// The files of built-in clients, and their profiles without changes.
static TABLES: Kept<toml::Table> = Kept::new();
static PROFILES: Kept<Profile> = Kept::new();

/// A client's profile, changed. A changed value is assumed, whatever its source was.
pub(super) fn client_profile(
    text: &'static str,
    changes: &Changes<'_>,
) -> Result<Arc<Profile>, (String, String)> {
    match changes {
        [] => PROFILES.of(text, |_| changed_profile(text, changes)),
        _ => changed_profile(text, changes).map(Arc::new),
    }
}

fn changed_profile(text: &'static str, changes: &Changes<'_>) -> Result<Profile, (String, String)> {
    let table = TABLES.of(text, read::table);
    let table = table.map_err(|reason| (String::new(), reason))?;
    let mut table = (*table).clone();
    for (path, value) in changes {
        let path = path.replace('_', "-");
        let elsewhere = elsewhere(&table, &path);
        let problem = |allowed: String| {
            let reason = match &elsewhere {
                Some(meant) => format!("there is no such key; did you mean {meant}?"),
                None => format!("there is no such key; there are {allowed}"),
            };
            (path.clone(), reason)
        };
        let (section, key) = path.split_once('.').unwrap_or((&path, ""));
        let sections = keys(&table, |value| value.is_table());
        let inner = table.get_mut(section).and_then(toml::Value::as_table_mut);
        let inner = inner.ok_or_else(|| problem(sections))?;
        let known = keys(inner, |_| true);
        let fact = inner.get_mut(key).ok_or_else(|| problem(known))?;
        let mut changed = toml::Table::new();
        changed.insert("value".to_string(), (*value).clone());
        changed.insert(
            "assumed".to_string(),
            toml::Value::String("set for this run".to_string()),
        );
        *fact = toml::Value::Table(changed);
    }
    finish(table, changes)
}

/// The keys of other sections with the same last part, as a scenario names them.
fn elsewhere(profile: &toml::Table, path: &str) -> Option<String> {
    let last = path.rsplit('.').next().unwrap_or_default();
    let has_it = |(_, section): &(&String, &toml::Value)| section.get(last).is_some();
    let found = profile.iter().filter(has_it);
    let keys: Vec<String> = found
        .map(|(section, _)| format!("client.profile.{section}.{last}"))
        .collect();
    (!keys.is_empty()).then(|| keys.join(" or "))
}

fn finish(table: toml::Table, changes: &Changes<'_>) -> Result<Profile, (String, String)> {
    let keys = || {
        let paths: Vec<&str> = changes.iter().map(|(path, _)| *path).collect();
        paths.join(", ")
    };
    let profile: Profile =
        read::value(toml::Value::Table(table)).map_err(|reason| (keys(), reason))?;
    match profile.fault() {
        Some(fault) => Err((keys(), fault.to_string())),
        None => Ok(profile),
    }
}

fn keys(table: &toml::Table, of: impl Fn(&toml::Value) -> bool) -> String {
    let names: Vec<&str> = table
        .iter()
        .filter(|(_, value)| of(value))
        .map(|(key, _)| key.as_str())
        .collect();
    names.join(", ")
}
