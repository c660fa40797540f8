//! Client profiles: which redirectors can be imitated, and how each value is known.

use serde_json::{Map, Value, json};

use crate::nearest::unknown;
use coax_catalog::clients;

/// A value of a profile: section, key, value, and how it is known.
#[derive(Debug)]
struct Known<'a> {
    key: &'a str,
    value: &'a toml::Value,
    ground: Result<&'a str, &'a str>,
}

/// All values of a profile, with their sources; as text, or as one JSON object in a line.
///
/// # Errors
/// There is no such profile; the error lists those that exist.
pub fn named(name: &str, as_json: bool) -> Result<String, String> {
    let known = coax_catalog::files::CLIENTS
        .iter()
        .find(|(known, _)| known.eq_ignore_ascii_case(name));
    match known {
        Some((_, text)) => Ok(one(text, as_json)),
        None => {
            let known = coax_catalog::files::CLIENTS.iter();
            let names: Vec<&str> = known.map(|(name, _)| *name).collect();
            Err(unknown("profile", name, &names))
        }
    }
}

/// All profiles; as text, or as one JSON object in a line.
pub fn list(as_json: bool) -> String {
    let all = clients::all();
    if as_json {
        let rows: Vec<Value> = all
            .iter()
            .map(|p| json!({"name": p.name, "title": p.title}))
            .collect();
        return format!("{}\n", json!({"profiles": rows}));
    }
    let width = all.iter().map(|p| p.name.len()).max().unwrap_or_default();
    let mut out: String = all
        .iter()
        .map(|p| format!("{:width$}  {}\n", p.name, p.title))
        .collect();
    out.push_str(
        "\n'coax profiles NAME' shows what one does and how that is known; --as NAME uses it.\n",
    );
    out
}

fn one(text: &str, as_json: bool) -> String {
    let Ok(table) = text.parse::<toml::Table>() else {
        return String::new();
    };
    let plain = |key: &str| {
        table
            .get(key)
            .and_then(toml::Value::as_str)
            .unwrap_or_default()
    };
    let sections: Vec<(&String, Vec<Known<'_>>)> = table
        .iter()
        .filter_map(|(name, section)| Some((name, values(section.as_table()?))))
        .collect();
    if as_json {
        return one_json(plain, &sections);
    }
    let mut out = format!("{}: {}\n", plain("name"), plain("title"));
    if !plain("about").is_empty() {
        out.push_str(&format!("{}\n", plain("about").trim()));
    }
    let assumed = sections
        .iter()
        .flat_map(|(_, values)| values)
        .filter(|value| value.ground.is_err())
        .count();
    for (name, values) in &sections {
        out.push_str(&format!("\n{name}\n"));
        values.iter().for_each(|value| out.push_str(&line(value)));
    }
    let all: usize = sections.iter().map(|(_, values)| values.len()).sum();
    out.push_str(&format!(
        "\n{} of {all} values have a source; {assumed} are assumed (marked ?).\n",
        all.saturating_sub(assumed)
    ));
    out
}

fn one_json<'a>(plain: impl Fn(&str) -> &'a str, sections: &[(&String, Vec<Known<'_>>)]) -> String {
    let mut report = Map::new();
    for key in ["name", "title", "about"] {
        report.insert(key.into(), json!(plain(key)));
    }
    for (name, values) in sections {
        report.insert((*name).clone(), section_json(values));
    }
    format!("{}\n", Value::Object(report))
}

fn values(section: &toml::Table) -> Vec<Known<'_>> {
    let of = |(key, fact)| -> Option<Known<'_>> {
        let (key, fact): (&String, &toml::Value) = (key, fact);
        let text = |name| fact.get(name).and_then(toml::Value::as_str);
        let ground = match (text("source"), text("assumed")) {
            (Some(source), _) => Ok(source),
            (None, why) => Err(why.unwrap_or_default()),
        };
        Some(Known {
            key,
            value: fact.get("value")?,
            ground,
        })
    };
    section.iter().filter_map(of).collect()
}

fn line(value: &Known<'_>) -> String {
    let (mark, why) = match value.ground {
        Ok(source) => (' ', source),
        Err(why) => ('?', why),
    };
    format!("{mark} {:22} {}\n      {why}\n", value.key, value.value)
}

fn section_json(values: &[Known<'_>]) -> Value {
    let entry = |value: &Known<'_>| {
        let (ground, why) = match value.ground {
            Ok(source) => ("source", source),
            Err(why) => ("assumed", why),
        };
        let plain = serde_json::to_value(value.value).unwrap_or(Value::Null);
        (value.key.to_owned(), json!({"value": plain, ground: why}))
    };
    Value::Object(values.iter().map(entry).collect())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn every_value_of_every_profile_is_shown_with_its_ground() {
        for (name, text) in coax_catalog::files::CLIENTS {
            let shown = one(text, false);
            let facts = text.matches("value =").count();
            let told = shown
                .lines()
                .filter(|line| line.starts_with("      "))
                .count();
            assert_eq!(told, facts, "{name}");
            let json: Value = serde_json::from_str(&one(text, true)).unwrap();
            assert_eq!(json["name"].as_str(), Some(*name));
            assert!(json["read"]["method"]["value"].is_string());
        }
    }

    #[test]
    fn the_list_names_every_profile() {
        let shown = list(false);
        assert!(
            coax_catalog::files::CLIENTS
                .iter()
                .all(|(name, _)| shown.contains(name))
        );
    }
}
