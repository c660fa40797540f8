//! docs/evidence/accuracy.md.

use std::fmt::Write;

use coax_explain::Cause;

use super::{
    families::FAMILIES,
    run::{Half, Outcome, TAPS, Truth},
    tally::{Confusion, Figures, figures, verdict},
};

const HEAD: &str = include_str!("head.md");
/// Cases of the list of the worst.
const WORST: usize = 25;

/// The whole page.
pub fn page(outcomes: &[Outcome]) -> String {
    let mut out = HEAD.to_string();
    let _ = write!(out, "\n## All\n\n");
    let _ = summary(&mut out, outcomes, Truth::Link);
    let _ = agreement(&mut out, outcomes);
    let _ = write!(out, "\n## All, by the chain of causes\n\n");
    let _ = summary(&mut out, outcomes, Truth::Chain);
    let _ = by_family(&mut out, outcomes);
    let _ = confusion(&mut out, outcomes);
    let _ = worst(&mut out, outcomes);
    out
}

fn line(out: &mut String, name: &str, figures: &Figures) -> std::fmt::Result {
    writeln!(
        out,
        "| {name} | {} of {} | {:.1} % | {:.1} | {:.1} | {:.1} |",
        figures.right,
        figures.cases,
        figures.right_share(),
        figures.error(),
        figures.distance(),
        figures.unattributed_median()
    )
}

const COLUMNS: &str = "| dominant cause right | | mean error of a share | wrongly charged | unattributed, median |\n|---|---|---|---|---|---|\n";

fn summary(out: &mut String, outcomes: &[Outcome], truth: Truth) -> std::fmt::Result {
    write!(out, "| {COLUMNS}")?;
    for (half, name) in [(Half::Tuned, "tuned on"), (Half::HeldOut, "held out")] {
        for (place, (_, tap)) in TAPS.iter().enumerate() {
            let found = figures(outcomes, truth, |o, p| o.case.half == half && p == place);
            line(out, &format!("{name}, {tap}"), &found)?;
        }
        let all = figures(outcomes, truth, |o, _| o.case.half == half);
        line(out, &format!("**{name}, all**"), &all)?;
    }
    Ok(())
}

fn agreement(out: &mut String, outcomes: &[Outcome]) -> std::fmt::Result {
    let both = outcomes.iter().filter(|outcome| {
        let causes = outcome
            .said
            .map(|said| said.map(|said| said.account.dominant()));
        causes[0] == causes[1]
    });
    writeln!(
        out,
        "\nClient's and server's capture name the same dominant cause in {} of {} copies.",
        both.count(),
        outcomes.len()
    )
}

fn by_family(out: &mut String, outcomes: &[Outcome]) -> std::fmt::Result {
    write!(out, "\n## By family, all captures\n\n| family {COLUMNS}")?;
    for family in FAMILIES {
        let found = figures(outcomes, Truth::Link, |o, _| {
            o.case.family.name == family.name
        });
        line(out, family.name, &found)?;
    }
    Ok(())
}

fn confusion(out: &mut String, outcomes: &[Outcome]) -> std::fmt::Result {
    let mut table = Confusion::default();
    for outcome in outcomes {
        for said in outcome.said.iter().flatten() {
            table.add(said.truth(Truth::Link), &said.account);
        }
    }
    writeln!(
        out,
        "\n## What the time of a cause was reported as\n\nPoints of each true cause (rows); every copy counts the same. Empty: less than 0.5.\n"
    )?;
    let reported: Vec<Cause> = Cause::ALL
        .into_iter()
        .filter(|to| {
            Cause::ALL
                .iter()
                .any(|from| table.row(*from).is_some_and(|row| row[*to as usize] >= 0.5))
        })
        .collect();
    let names: Vec<&str> = reported.iter().map(|cause| cause.name()).collect();
    writeln!(out, "| | {} |", names.join(" | "))?;
    writeln!(out, "|---|{}", "---|".repeat(names.len()))?;
    for cause in Cause::ALL {
        let Some(row) = table.row(cause) else {
            continue;
        };
        let cells: Vec<String> = reported
            .iter()
            .map(|to| match row[*to as usize] {
                cell if cell < 0.5 => String::new(),
                cell => format!("{cell:.0}"),
            })
            .collect();
        writeln!(out, "| **{}** | {} |", cause.name(), cells.join(" | "))?;
    }
    Ok(())
}

fn worst(out: &mut String, outcomes: &[Outcome]) -> std::fmt::Result {
    writeln!(
        out,
        "\n## The worst\n\n| copy | capture | wrongly charged | is | said |\n|---|---|---|---|---|"
    )?;
    let mut all: Vec<_> = outcomes
        .iter()
        .flat_map(|outcome| {
            (0..TAPS.len()).filter_map(move |place| {
                let said = outcome.said[place].as_ref()?;
                let verdict = verdict(said.truth(Truth::Link), &said.account);
                Some((verdict, outcome, place))
            })
        })
        .collect();
    all.sort_by(|a, b| b.0.distance.total_cmp(&a.0.distance));
    for (verdict, outcome, place) in all.iter().take(WORST) {
        writeln!(
            out,
            "| {} | {} | {:.0} | {} | {} |",
            outcome.case.name(),
            TAPS[*place].1,
            verdict.distance,
            verdict.largest.name(),
            verdict.said.name()
        )?;
    }
    Ok(())
}
