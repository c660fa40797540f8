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
    out.push_str(&tables(&tour.tables));
    let _ = writeln!(out, "\n3. {}", explained(tour));
    for (slow, capture) in tour.slow.iter().zip(&tour.explained) {
        let verdict = explain_text::in_one_line(capture);
        let _ = writeln!(out, "\n   {}", slow.title);
        let _ = writeln!(out, "   {verdict}\n   {}", account(slow));
        let _ = writeln!(out, "   {}", slow.command());
    }
    out
}

/// Each table in two lines, and those of published copies row by row.
fn tables(tables: &[Filled]) -> String {
    let mut out = String::new();
    for table in tables {
        let _ = writeln!(out, "   {:<12} {}", table.name, table.title);
        let _ = writeln!(out, "   {:<12} {}", "", near(table));
        if is_unfolded(table) {
            let _ = writeln!(out, "\n{}", predictions::rows(table));
        }
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

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests {
    use coax_catalog::scenario::Scenario;
    use coax_report::lab::tables as lab_tables;

    use super::*;

    /// The tables of the published copies, as the tour shows them.
    const UNFOLDED: [&str; 4] = ["copy-times", "pc-8088", "samba-speed", "wan-copy"];

    /// The row of a cell.
    fn row<'a>(text: &'a str, id: &str) -> Vec<&'a str> {
        let is_of = |line: &&str| line.trim_start().starts_with(&format!("{id} "));
        let line = text.lines().find(is_of);
        let line = line.unwrap_or_else(|| panic!("no row of {id} in {text}"));
        let rest = line.trim_start().strip_prefix(id).unwrap_or_default();
        rest.split_whitespace().collect()
    }

    #[test]
    fn published_copies_are_shown_row_by_row_with_label_and_figure_without_the_cell() {
        let filled = lab_tables::fill(&["wan-copy", "loss", "pc-8088"]).unwrap();
        let text = tables(&filled);
        for table in filled.iter().filter(|table| is_unfolded(table)) {
            for cell in &table.cells {
                let row = row(&text, &cell.id);
                let [published, model, unit, ratio, label, without] = row.as_slice() else {
                    panic!("{}: {row:?}", cell.id);
                };
                assert_eq!(*published == "-", cell.published.is_none(), "{row:?}");
                assert_eq!(*ratio == "-", cell.ratio.is_none(), "{row:?}");
                assert_eq!((*unit, *label), (cell.unit, cell.kind.name()), "{row:?}");
                assert_eq!(*without == "-", cell.kind == Kind::Predicted, "{row:?}");
                let shown: f64 = model.parse().unwrap();
                assert!((shown / cell.model - 1.0).abs() < 0.01, "{row:?}");
            }
        }
        assert!(text.contains("loss         One packet in a thousand lost"));
        assert!(!text.contains("mtcp"), "{text}");
    }

    #[test]
    fn the_shown_tables_have_the_copies_before_and_after_their_cures() {
        for name in UNFOLDED {
            let table = lab_tables::table(name).unwrap();
            let published = table.cells.iter().filter(|cell| cell.published.is_some());
            assert!(published.count() >= 2, "{name}");
        }
        let ids = |name: &str| -> Vec<String> {
            let cells = lab_tables::table(name).unwrap().cells;
            cells.into_iter().map(|cell| cell.id).collect()
        };
        for (name, before, after) in [
            (
                "copy-times",
                "ms-net-full/to-server",
                "ms-net-basic/to-server",
            ),
            (
                "copy-times",
                "dls-5.0-predir/to-client",
                "dls-5.0-full/to-client",
            ),
            ("wan-copy", "2000-to-nt/wan", "2000-to-nt-changed/wan"),
            ("samba-speed", "386sx/lanman2", "386sx/coreplus"),
            ("samba-speed", "before-updates/read", "p166/read"),
        ] {
            let ids = ids(name);
            for id in [before, after] {
                assert!(ids.iter().any(|known| known == id), "{name}/{id}");
            }
        }
    }

    #[test]
    fn no_value_of_a_shown_row_is_set_in_code_or_without_a_source() {
        for name in UNFOLDED {
            let table = lab_tables::table(name).unwrap();
            for spec in &table.cells {
                let scenario = spec.scenario(&table.sources, false).unwrap();
                for basis in scenario.evidence().unwrap() {
                    let is_changed = basis.instead_of.is_some();
                    assert!(!is_changed || !basis.source.is_empty(), "{name}: {basis:?}");
                }
            }
        }
        // what a row shows is what its command runs
        let (name, table, spec) = lab_tables::find("wan-copy/2000-to-nt-changed/lan").unwrap();
        let cell = lab_tables::cell(&name, &table, &spec).unwrap();
        let scenario = spec.scenario(&table.sources, false).unwrap();
        let run = coax_report::lab::run::run(&scenario).unwrap();
        assert_eq!(cell.model, run.rate() * 8e-6);
    }

    #[test]
    fn a_slow_copy_names_the_command_that_simulates_it_with_all_changes() {
        let slow = Slow {
            scenario: "dos-dls-5.0-predir",
            title: String::new(),
            changes: &[("size", "4MB"), ("link.delay", "200 us")],
            truth: ("round-trips", 0.5),
        };
        let command = slow.command();
        assert_eq!(
            command,
            r#"coax lab run dos-dls-5.0-predir --set "size=4MB" --set "link.delay=200 us""#
        );
        let mut scenario = Scenario::built_in(slow.scenario).unwrap();
        for (key, value) in slow.changes {
            scenario.set_text(&format!("{key}={value}")).unwrap();
        }
        assert!(scenario.resolve().is_ok());
    }
}
