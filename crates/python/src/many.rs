//! Many captures as a stream of batches.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, mpsc::sync_channel},
    thread,
};

use arrow_array::{RecordBatch, StringArray};
use arrow_schema::{ArrowError, DataType, Schema, SchemaRef};
use coax_batch::{Stream, tables::Table};
use coax_report::lab::parallel;
use pyo3::{exceptions::PyValueError, prelude::*};
use serde_json::Value;

use crate::{
    arrow::{Batches, batch, field, schema, table},
    work::{Expected, Stop, attended},
};

/// Batches that wait for the reader.
const WAITING: usize = 4;
/// The table whose rows are whole reports.
const REPORTS: &str = "reports";

/// How results become rows.
enum Rows {
    /// Those of a table.
    Table(&'static Table, SchemaRef),
    /// One for each capture: its object.
    Reports(SchemaRef),
}

/// Explains captures on several threads; the rows of a capture are a batch.
#[pyfunction]
#[pyo3(signature = (paths, jobs=None, table=None, shard=None, batch_rows=1))]
pub(crate) fn explain_many(
    paths: Vec<PathBuf>,
    jobs: Option<usize>,
    table: Option<&str>,
    shard: Option<(u32, u32)>,
    batch_rows: usize,
) -> PyResult<Batches> {
    let rows = Rows::named(table.unwrap_or("copies"))?;
    let (index, count) = shard.unwrap_or((1, 1));
    let shard = format!("{index}/{count}");
    let stream = Stream {
        paths,
        threads: jobs.unwrap_or_else(parallel::processors).max(1),
        shard: shard.parse().map_err(PyValueError::new_err)?,
    };
    let (send, receive) = sync_channel(WAITING);
    let stop = Stop::default();
    let expected = Expected::new(receive, stop.clone());
    let schema = rows.schema().clone();
    let work = move || {
        let mut waiting = Vec::new();
        stream.each(&|| stop.goes_on(), |path, outcome| {
            waiting.extend(rows.of(path, outcome));
            if waiting.len() < batch_rows.max(1) {
                return true;
            }
            send.send(rows.batch(&std::mem::take(&mut waiting))).is_ok()
        });
        if !waiting.is_empty() && stop.goes_on() {
            // the reader may be gone
            let _ = send.send(rows.batch(&waiting));
        }
    };
    thread::Builder::new().name("coax".to_owned()).spawn(work)?;
    Ok(Batches::new(schema, expected))
}

/// The captures among files and folders, with their sizes in bytes; and what cannot be read, with the reason.
#[pyfunction]
pub(crate) fn find(py: Python<'_>, paths: Vec<PathBuf>) -> PyResult<Found> {
    let found = attended(py, move |_: &Stop| coax_batch::find(&paths))?;
    let sized = |path: PathBuf| {
        let bytes = std::fs::metadata(&path).map_or(0, |about| about.len());
        (path, bytes)
    };
    let failures = found.1.into_iter();
    let failures = failures.map(|failure| (failure.path, failure.reason));
    Ok((found.0.into_iter().map(sized).collect(), failures.collect()))
}

/// Captures with their sizes, and failures with their reasons.
type Found = (Vec<(PathBuf, u64)>, Vec<(PathBuf, String)>);

impl Rows {
    fn named(name: &str) -> PyResult<Self> {
        if name == REPORTS {
            let about = "the object of coax explain --json for this capture";
            let error = "why the capture could not be read";
            let fields = vec![
                field("capture", &DataType::Utf8, "", "the capture file"),
                field("report", &DataType::Utf8, "", about),
                field("error", &DataType::Utf8, "", error),
            ];
            return Ok(Self::Reports(Arc::new(Schema::new(fields))));
        }
        let table = table(name)?;
        Ok(Self::Table(table, schema(table, true)))
    }

    fn schema(&self) -> &SchemaRef {
        match self {
            Self::Table(_, schema) | Self::Reports(schema) => schema,
        }
    }

    fn of(&self, path: &Path, outcome: Result<Value, String>) -> Vec<Vec<Value>> {
        let name = || Value::from(path.display().to_string());
        match (self, outcome) {
            (Self::Table(table, _), Ok(capture)) => table.rows(&capture),
            (Self::Table(table, _), Err(reason)) => {
                let mut row = vec![name()];
                row.resize(table.columns.len(), Value::Null);
                row.push(reason.into());
                vec![row]
            }
            (Self::Reports(_), Ok(capture)) => {
                vec![vec![name(), capture.to_string().into(), Value::Null]]
            }
            (Self::Reports(_), Err(reason)) => vec![vec![name(), Value::Null, reason.into()]],
        }
    }

    fn batch(&self, rows: &[Vec<Value>]) -> Result<RecordBatch, ArrowError> {
        match self {
            Self::Table(table, schema) => batch(table, schema, rows),
            Self::Reports(schema) => {
                let columns = (0..schema.fields().len()).map(|place| {
                    let texts = rows
                        .iter()
                        .map(|row| row.get(place).and_then(Value::as_str));
                    Arc::new(StringArray::from_iter(texts)) as _
                });
                RecordBatch::try_new(schema.clone(), columns.collect())
            }
        }
    }
}
