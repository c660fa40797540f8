//! The runs of a sweep as a table: one row for each run, with types and units.
//!
//! Names, types and units of the columns depend on the whole sweep, not on the runs of a part, so the tables of all parts have the same
//! columns.

use coax_lab::Cause;

use super::{
    Run, Swept,
    quantity::{self, Quantity},
};
use crate::lab::run::Summary;

/// The type of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text, UTF-8.
    Text,
    /// A whole number.
    Whole,
    /// A number.
    Number,
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// The run has none.
    Missing,
    /// Text.
    Text(String),
    /// A whole number.
    Whole(u64),
    /// A number.
    Number(f64),
}

/// A column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name, which ends with the unit.
    pub name: String,
    /// The type of its values.
    pub kind: Kind,
    /// The unit; empty for text, counts and shares.
    pub unit: &'static str,
    /// What it is.
    pub about: String,
    /// A value for each run.
    pub cells: Vec<Cell>,
}

/// All columns of a sweep.
pub fn table(swept: &Swept) -> Vec<Column> {
    let replicates = swept.replicates.max(1);
    let point = |run| Cell::Whole((swept.first + run / replicates) as u64);
    let mut columns = vec![Column {
        name: "point".to_owned(),
        kind: Kind::Whole,
        unit: "",
        about: "the number of the point in the sweep, from 0; replicates have the same".to_owned(),
        cells: (0..swept.runs.len()).map(point).collect(),
    }];
    for (at, axis) in swept.axes.iter().enumerate() {
        let text = |run: &Run| run.values.get(at).cloned();
        columns.push(of_key(swept, &axis.key, axis.unit(), text));
    }
    for (key, texts) in &swept.fixed {
        let unit = super::range::unit_of(key, texts);
        let text = |run: &Run| {
            let found = run.parameters.iter().find(|(known, _)| known == key);
            found.map(|(_, text)| text.clone())
        };
        columns.push(of_key(swept, key, unit, text));
    }
    columns.extend(results(swept));
    columns
}

/// The column of a key, of numbers if it has a unit, even an empty one.
fn of_key(
    swept: &Swept,
    key: &str,
    unit: Option<&'static str>,
    text: impl Fn(&Run) -> Option<String>,
) -> Column {
    let kind = match unit {
        Some(_) if key == "seed" => Kind::Whole,
        Some(_) => Kind::Number,
        None => Kind::Text,
    };
    let cell = |run: &Run| match (text(run), kind) {
        (None, _) => Cell::Missing,
        (Some(text), Kind::Text) => Cell::Text(text),
        (Some(text), Kind::Whole) => text.parse().map_or(Cell::Missing, Cell::Whole),
        (Some(text), Kind::Number) => {
            let value = Quantity::of(key, &text).map(|quantity| Cell::Number(quantity.value));
            value.unwrap_or(Cell::Missing)
        }
    };
    Column {
        name: quantity::column_name(key, unit.unwrap_or_default()),
        kind,
        unit: unit.unwrap_or_default(),
        about: format!("the parameter {key}"),
        cells: swept.runs.iter().map(cell).collect(),
    }
}

/// A column's name, unit, meaning and the function for its cells.
type Figure = (
    &'static str,
    &'static str,
    &'static str,
    fn(&Summary) -> Cell,
);

const FIGURES: [Figure; 11] = [
    ("seconds", "s", "time of the copy", |s| {
        Cell::Number(s.seconds)
    }),
    ("megabytes_per_s", "MB/s", "its rate, 10^6 bytes", |s| {
        Cell::Number(s.rate() / 1e6)
    }),
    ("dialect", "", "the negotiated dialect", |s| {
        Cell::Text(s.dialect.to_owned())
    }),
    ("requests", "", "SMB requests", |s| {
        Cell::Whole(s.requests.iter().map(|r| r.requests).sum())
    }),
    ("frames_to_server", "", "frames of the client's card", |s| {
        Cell::Whole(s.to_server.frames)
    }),
    ("frames_to_client", "", "frames of the server's card", |s| {
        Cell::Whole(s.to_client.frames)
    }),
    (
        "sent_again_to_server",
        "",
        "segments that the client sent again",
        |s| Cell::Whole(s.to_server.sent_again()),
    ),
    (
        "sent_again_to_client",
        "",
        "segments that the server sent again",
        |s| Cell::Whole(s.to_client.sent_again()),
    ),
    ("dropped_to_server", "", "lost frames of the client", |s| {
        Cell::Whole(s.to_server.dropped.total())
    }),
    ("dropped_to_client", "", "lost frames of the server", |s| {
        Cell::Whole(s.to_client.dropped.total())
    }),
    ("timeouts", "", "retransmission timeouts of both", |s| {
        Cell::Whole(s.to_server.timeouts + s.to_client.timeouts)
    }),
];

fn results(swept: &Swept) -> Vec<Column> {
    let of = |figure: &dyn Fn(&Summary) -> Cell| -> Vec<Cell> {
        let outcomes = swept.runs.iter().map(|run| run.outcome.as_ref());
        outcomes
            .map(|outcome| outcome.map_or(Cell::Missing, figure))
            .collect()
    };
    let figures = FIGURES.iter().map(|(name, unit, about, figure)| Column {
        name: (*name).to_owned(),
        kind: match *name {
            "dialect" => Kind::Text,
            "seconds" | "megabytes_per_s" => Kind::Number,
            _ => Kind::Whole,
        },
        unit,
        about: (*about).to_owned(),
        cells: of(figure),
    });
    let shares = Cause::ALL.into_iter().map(|cause| Column {
        name: format!("share.{}", cause.name()),
        kind: Kind::Number,
        unit: "",
        about: format!("the share of the time that was spent on {}", cause.name()),
        cells: of(&|summary| Cell::Number(share(summary, cause))),
    });
    let error = |run: &Run| match &run.outcome {
        Ok(_) => Cell::Missing,
        Err(error) => Cell::Text(error.clone()),
    };
    let errors = Column {
        name: "error".to_owned(),
        kind: Kind::Text,
        unit: "",
        about: "why the run failed".to_owned(),
        cells: swept.runs.iter().map(error).collect(),
    };
    figures.chain(shares).chain([errors]).collect()
}

/// The share of a cause in the copy's time.
fn share(summary: &Summary, cause: Cause) -> f64 {
    let spent = summary.causes_ns.get(cause.name()).copied().unwrap_or(0);
    let total: u64 = summary.causes_ns.values().sum();
    spent as f64 / total.max(1) as f64
}
