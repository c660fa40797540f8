//! The report as one self-contained HTML page that loads no other file.
//!
//! The page contains the object that `--json` prints, and the data of graphs for the longest copies. A small script
//! shows them. Names in captures are untrusted: the script sets text only, never markup, and the object is escaped so
//! that it cannot end its element.

mod causes;

use std::path::Path;

use anyhow::Result;

use serde_json::{Value, json};

use super::{breakdown, explained::Explained, json, text};
use crate::files::write_whole;

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPTS: [&str; 9] = [
    include_str!("dom.js"),
    include_str!("causes.js"),
    include_str!("graph.js"),
    include_str!("lanes.js"),
    include_str!("ladders.js"),
    include_str!("scatter.js"),
    include_str!("tables.js"),
    include_str!("overview.js"),
    include_str!("page.js"),
];

/// The page for all captures.
pub fn page(all: &[Explained]) -> String {
    page_after("coax explain", "", all)
}

/// The page for all captures after other trusted HTML; `name` is the title.
pub fn page_after(name: &str, before: &str, all: &[Explained]) -> String {
    let output: Vec<String> = all
        .iter()
        .map(|one| escaped(&text::report(one, None)))
        .collect();
    let parts = [
        ("/*STYLE*/", causes::style() + STYLE),
        ("<!--NAME-->", escaped(name)),
        ("<!--BEFORE-->", before.to_owned()),
        ("/*SCRIPT*/", causes::script() + &SCRIPTS.concat()),
        ("<!--TEXT-->", output.join("\n\n")),
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
        fields.insert("causes".to_owned(), breakdown::names(all));
        fields.insert("version".to_owned(), json!(env!("CARGO_PKG_VERSION")));
    }
    report
}

/// JSON without characters that are special in HTML: in JSON strings, `<` equals `\u003c`.
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

/// Escapes text for HTML.
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

/// Replaces each placeholder of the page once. Does not search the inserted text for placeholders.
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

/// Writes the page atomically.
///
/// # Errors
/// Writing failed.
pub fn write(path: &Path, all: &[Explained]) -> Result<()> {
    write_whole(path, page(all).as_bytes())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
