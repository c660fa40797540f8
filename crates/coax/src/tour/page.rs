//! The tour as one page: pictures of what was measured and predicted, and behind them the report on the slow copies as
//! `coax explain --html` shows it.

use std::{fmt::Write as _, path::Path};

use anyhow::Result;

use super::{Tour, bars, text};
use coax_report::{
    explain::html::{self, escaped},
    files::write_whole,
    lab::{plots, predictions},
};

/// Writes it.
///
/// # Errors
/// The file cannot be written.
pub fn write(path: &Path, tour: &Tour) -> Result<()> {
    write_whole(path, page(tour).as_bytes())
}

fn page(tour: &Tour) -> String {
    let mut before = String::from("<section class=\"tour\">\n<h1>One tour of coax</h1>\n");
    let _ = part(
        &mut before,
        "Every redirector on this machine",
        &text::copied(tour),
    );
    before.push_str(&figure(&bars::bars(&tour.copies)));
    let _ = part(
        &mut before,
        "What was published, predicted",
        &text::predicted(tour),
    );
    for table in &tour.tables {
        let about = format!("{}: {}; {}", table.name, table.title, text::near(table));
        let picture = figure(&plots::bars(table));
        let _ = writeln!(
            before,
            "<details{}><summary>{}</summary><pre>{}</pre>{picture}</details>",
            if text::is_unfolded(table) {
                " open"
            } else {
                ""
            },
            escaped(&about),
            escaped(&predictions::rows(table)),
        );
    }
    let _ = part(
        &mut before,
        "Slow copies, explained",
        &text::explained(tour),
    );
    before.push_str("<ul>\n");
    for (slow, capture) in tour.slow.iter().zip(&tour.explained) {
        let (title, account) = (escaped(&slow.title), escaped(&text::account(slow)));
        let (file, command) = (escaped(&capture.name), escaped(&slow.command()));
        let _ = writeln!(
            before,
            "<li>{title} ({file}). {account} <code>{command}</code></li>"
        );
    }
    before.push_str("</ul>\n</section>\n");
    html::page_after("coax tour", &before, &tour.explained)
}

fn part(out: &mut String, head: &str, about: &str) -> std::fmt::Result {
    writeln!(out, "<h2>{}</h2>\n<p>{}</p>", escaped(head), escaped(about))
}

/// A picture of ours, which can be scrolled where it is wider than the page.
fn figure(svg: &str) -> String {
    format!("<figure class=\"wide\">{svg}</figure>\n")
}
