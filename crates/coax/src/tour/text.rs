//! The tour as text.

use coax_report::digits::grouped;
use std::fmt::Write as _;

use super::{Tour, slow::Slow};
use coax_report::{
    bench::text as bench_text,
    explain::text as explain_text,
    lab::{
        predictions,
        tables::{Filled, Kind},
    },
};

/// All of it.
pub fn report(tour: &Tour) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "1. {}\n", copied(tour));
    out.push_str(&bench_text::copies(&tour.copies));
    let _ = writeln!(out, "\n2. {}\n", predicted(tour));
    for table in &tour.tables {
        let _ = writeln!(out, "   {:<12} {}", table.name, table.title);
        let _ = writeln!(out, "   {:<12} {}", "", near(table));
        if is_unfolded(table) {
            let _ = writeln!(out, "\n{}", predictions::rows(table));
        }
    }
    let _ = writeln!(out, "\n3. {}", explained(tour));
    for (slow, capture) in tour.slow.iter().zip(&tour.explained) {
        let verdict = explain_text::in_one_line(capture);
        let _ = writeln!(out, "\n   {}", slow.title);
        let _ = writeln!(out, "   {verdict}\n   {}", account(slow));
    }
    out
}

/// Tables of published copies are shown row by row; SpdTest and the claim about loss in one line.
pub(super) fn is_unfolded(table: &Filled) -> bool {
    ["copy-times", "pc-8088", "samba-speed", "wan-copy"].contains(&table.name.as_str())
}

/// What the first part did.
pub(super) fn copied(tour: &Tour) -> String {
    format!(
        "coax served a folder at {} and copied a file of {} bytes to it and back as every redirector: {:.1} s. On one machine \
         and without the old ones' cards and stacks they differ by their requests alone.",
        tour.place,
        grouped(tour.copies.size),
        tour.took[0].as_secs_f64()
    )
}

/// What the second part did.
pub(super) fn predicted(tour: &Tour) -> String {
    let cells = tour.tables.iter().flat_map(|table| &table.cells);
    let published = cells.filter(|cell| cell.published.is_some());
    format!(
        "The lab ran the same engines over old stacks, cards and links in virtual time, beside {} published figures: {:.1} s. \
         Each figure is a scenario: coax lab run TABLE/CELL --explain prints every value with its source. Labels: fitted, a value \
         was tuned to this figure; chosen, the figure suggested a whole number or a structure; predicted, all values have other \
         sources. \"Without it\" is what the lab gives if the figure is not used.",
        published.count(),
        tour.took[1].as_secs_f64()
    )
}

/// What the third part did.
pub(super) fn explained(tour: &Tour) -> String {
    format!(
        "The lab simulated {} slow copies and captured them at the client. coax explain used only these captures: {:.1} s.",
        tour.slow.len(),
        tour.took[2].as_secs_f64()
    )
}

/// What the lab itself knows of a slow copy.
pub(super) fn account(slow: &Slow) -> String {
    let (cause, share) = slow.truth;
    format!("Ground truth: {:.0} % {cause}.", share * 100.0)
}

/// How near a table's figures come to the published ones, by how much of them is a prediction.
pub(super) fn near(table: &Filled) -> String {
    let of = |kind: Kind| {
        let cells = table.cells.iter().filter(|cell| cell.kind == kind);
        let ratios: Vec<f64> = cells.filter_map(|cell| cell.ratio).collect();
        let near = ratios.iter().filter(|ratio| (**ratio - 1.0).abs() <= 0.15);
        (!ratios.is_empty())
            .then(|| format!("{} of {} {}", near.count(), ratios.len(), kind.name()))
    };
    let kinds = [Kind::Predicted, Kind::Chosen, Kind::Fitted].into_iter();
    let told: Vec<String> = kinds.filter_map(of).collect();
    if told.is_empty() {
        return "no published figures to compare with".into();
    }
    format!("within 15 % of the published figure: {}", told.join(", "))
}
