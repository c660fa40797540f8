//! The table of a sweep as a Parquet file.

use std::path::Path;

use coax_report::lab::sweep::{
    Swept,
    table::{Cell, Column, Kind as Type, table},
};
use serde_json::Value;

use crate::{
    error::BatchError,
    outputs::not_written,
    parquet::{Field, OneTable},
    tables::Kind,
};

/// Writes one row for each run of a sweep; the file gets its name when it is complete.
///
/// # Errors
/// The file cannot be written.
pub fn write_swept(path: &Path, swept: &Swept) -> Result<(), BatchError> {
    if std::fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        // a rename would replace a device or a pipe
        return Err(not_written(path, "it is not an ordinary file"));
    }
    let columns = table(swept);
    let fields = columns.iter().map(Field::from).collect();
    let mut file = OneTable::create(("runs", "one row for each run"), fields, path)?;
    for run in 0..swept.runs.len() {
        let cells = columns.iter().map(|column| column.cells.get(run));
        file.add(vec![
            cells.map(|cell| cell.map_or(Value::Null, value)).collect(),
        ])?;
    }
    file.close()?;
    file.name()
}

impl From<&Column> for Field {
    fn from(column: &Column) -> Self {
        Self {
            name: column.name.clone(),
            kind: match column.kind {
                Type::Text => Kind::Text,
                Type::Whole => Kind::Whole,
                Type::Number => Kind::Number,
            },
            unit: column.unit,
            about: column.about.clone(),
        }
    }
}

fn value(cell: &Cell) -> Value {
    match cell {
        Cell::Missing => Value::Null,
        Cell::Text(text) => text.as_str().into(),
        Cell::Whole(number) => (*number).into(),
        Cell::Number(number) => (*number).into(),
    }
}
