//! The report as one page that needs nothing else: no other file, no network.
//!
//! The page holds the same object that `--json` prints, and for the longest copies what graphs are drawn of; a little
//! script of our own shows it. Names in captures come from strangers: the script sets text only, never markup, and the
//! object is written so that nothing in it can end the element that holds it.

use std::path::Path;

use anyhow::Result;

use serde_json::{Value, json};

use super::{breakdown, explained::Explained, json, text};
use crate::files::write_whole;

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPTS: [&str; 7] = [
    include_str!("dom.js"),
    include_str!("causes.js"),
    include_str!("graph.js"),
    include_str!("ladders.js"),
    include_str!("scatter.js"),
    include_str!("tables.js"),
    include_str!("page.js"),
];

/// The page about all captures.
pub fn page(all: &[Explained]) -> String {
    page_after("coax explain", "", all)
}

/// The same after something else, which is HTML of ours; `name` stands at the head of it all.
pub fn page_after(name: &str, before: &str, all: &[Explained]) -> String {
    let told: Vec<String> = all
        .iter()
        .map(|one| escaped(&text::report(one, None)))
        .collect();
    let parts = [
        ("/*STYLE*/", STYLE.to_owned()),
        ("<!--NAME-->", escaped(name)),
        ("<!--BEFORE-->", before.to_owned()),
        ("/*SCRIPT*/", SCRIPTS.concat()),
        ("<!--TEXT-->", told.join("\n\n")),
        ("\"REPORT\"", embedded(&object(all))),
    ];
    fill(PAGE, &parts)
}

/// The object that the page shows.
fn object(all: &[Explained]) -> Value {
    let mut report = json::report(all);
    let captures = report.get_mut("captures").and_then(Value::as_array_mut);
    for (value, explained) in captures.into_iter().flatten().zip(all) {
        let copies = value.get_mut("copies").and_then(Value::as_array_mut);
        let pairs = copies.into_iter().flatten().zip(&explained.capture.copies);
        for (value, copy) in pairs {
            if let (Some(fields), Some(graph)) = (value.as_object_mut(), breakdown::graph(copy)) {
                fields.insert("graph".to_owned(), graph);
            }
        }
    }
    if let Some(fields) = report.as_object_mut() {
        fields.insert("causes".to_owned(), breakdown::names());
        fields.insert("version".to_owned(), json!(env!("CARGO_PKG_VERSION")));
    }
    report
}

/// JSON that holds nothing that means something to HTML: as text in it, `<` is the same as `\u003c`.
fn embedded(value: &Value) -> String {
    let mut out = String::new();
    for c in value.to_string().chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                out.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out
}

/// Text as HTML.
pub fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            c => out.push(c),
        }
    }
    out
}

/// Puts parts where the page has their marks, each once, and looks for no marks in what it put there.
fn fill(page: &str, parts: &[(&str, String)]) -> String {
    let (mut out, mut rest) = (String::new(), page);
    for (mark, part) in parts {
        let (before, after) = rest.split_once(mark).unwrap_or((rest, ""));
        out.push_str(before);
        out.push_str(part);
        rest = after;
    }
    out + rest
}

/// Writes the page: under its name there is never half of one.
///
/// # Errors
/// It cannot be written.
pub fn write(path: &Path, all: &[Explained]) -> Result<()> {
    write_whole(path, page(all).as_bytes())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
