//! What the lab's scenarios and copies can name: `coax lab list`.

use coax_catalog::files::{self, Files, title};
use serde_json::{Map, Value, json};

use crate::nearest::unknown;

/// Each kind: its name, the option or argument that takes it, and its files.
const KINDS: [(&str, &str, Files); 8] = [
    ("scenarios", "coax lab run NAME", files::SCENARIOS),
    ("clients", "--client", files::CLIENTS),
    ("servers", "--server", files::SERVERS),
    ("stacks", "--stack, --server-stack", files::STACKS),
    ("machines", "--machine, --server-machine", files::MACHINES),
    ("cards", "--card", files::CARDS),
    ("links", "--link", files::LINKS),
    ("tables", "coax lab tables NAME", files::TABLES),
];

/// Lists one kind, or all, with the title of each entry; as text, or as one JSON object.
///
/// # Errors
/// There is no such kind; the error lists those that exist.
pub fn list(kind: Option<&str>, as_json: bool) -> Result<String, String> {
    let wanted = |name: &&str| kind.is_none_or(|kind| kind == *name);
    let chosen: Vec<_> = KINDS.iter().filter(|(name, ..)| wanted(name)).collect();
    if let (Some(kind), true) = (kind, chosen.is_empty()) {
        let names: Vec<&str> = KINDS.iter().map(|(name, ..)| *name).collect();
        return Err(unknown("kind", kind, &names));
    }
    if as_json {
        let object: Map<String, Value> = chosen
            .into_iter()
            .map(|(name, _, files)| ((*name).to_owned(), titles(files)))
            .collect();
        return Ok(Value::Object(object).to_string() + "\n");
    }
    let parts: Vec<String> = chosen.into_iter().map(part).collect();
    Ok(parts.join("\n"))
}

fn titles(files: Files) -> Value {
    files
        .iter()
        .map(|(name, text)| json!({"name": name, "title": title(text)}))
        .collect()
}

/// A kind as text: a heading, and a line for each entry.
fn part((kind, option, files): &(&str, &str, Files)) -> String {
    let width = files.iter().map(|(name, _)| name.len()).max();
    let width = width.unwrap_or_default();
    let lines = files
        .iter()
        .map(|(name, text)| format!("  {name:width$}  {}\n", title(text)));
    format!("{kind} ({option}):\n{}", lines.collect::<String>())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;

    #[test]
    fn every_entry_of_every_kind_has_a_title() {
        let all: Value = serde_json::from_str(&list(None, true).unwrap()).unwrap();
        assert_eq!(all.as_object().unwrap().len(), KINDS.len());
        for (kind, entries) in all.as_object().unwrap() {
            assert!(!entries.as_array().unwrap().is_empty(), "{kind}");
            for entry in entries.as_array().unwrap() {
                assert_ne!(entry["title"], "", "{kind}: {}", entry["name"]);
            }
        }
    }

    #[test]
    fn one_kind_is_listed_alone_and_an_unknown_one_is_refused_with_the_kinds() {
        let links = list(Some("links"), false).unwrap();
        assert!(links.starts_with("links (--link):\n"), "{links}");
        assert!(links.contains("\n  ethernet-10 ") && !links.contains("clients"));
        let refused = list(Some("link"), false).unwrap_err();
        assert!(
            refused.contains("links") && refused.contains("machines"),
            "{refused}"
        );
    }
}
