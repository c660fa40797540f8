//! Tables as Arrow batches.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, RecordBatchReader,
    StringArray, StructArray,
    ffi::{FFI_ArrowArray, FFI_ArrowSchema},
    ffi_stream::FFI_ArrowArrayStream,
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use coax_batch::tables::{Column, Kind, TABLES, Table};
use coax_report::nearest;
use pyo3::{
    prelude::*,
    types::{PyCapsule, PyTuple},
};
use serde_json::Value;

use crate::{
    errors::{CoaxError, UnknownNameError},
    work::{Expected, Stop},
};

/// The table of this name.
///
/// # Errors
/// There is none.
pub(crate) fn table(name: &str) -> PyResult<&'static Table> {
    let found = TABLES.iter().find(|table| table.name == name);
    found.ok_or_else(|| {
        UnknownNameError::new_err(nearest::unknown(
            "table",
            name,
            &TABLES.map(|table| table.name),
        ))
    })
}

/// A column of a batch.
pub(crate) fn field(name: &str, kind: &DataType, unit: &str, about: &str) -> Field {
    let about = [("description", about), ("unit", unit)]
        .into_iter()
        .filter(|(_, text)| !text.is_empty())
        .map(|(key, text)| (key.to_owned(), text.to_owned()));
    Field::new(name, kind.clone(), true).with_metadata(about.collect::<HashMap<_, _>>())
}

/// The columns of a table; with `error`, why a capture has no rows.
pub(crate) fn schema(table: &Table, with_error: bool) -> SchemaRef {
    let columns = table.columns.iter().map(|column| {
        let kind = data_type(column.kind);
        field(column.name, &kind, column.unit, column.about)
    });
    let error = "why the capture could not be read; then the other columns are missing";
    let error = with_error.then(|| field("error", &DataType::Utf8, "", error));
    let fields: Vec<Field> = columns.chain(error).collect();
    let about = [
        ("coax.table", table.about),
        ("coax.version", env!("CARGO_PKG_VERSION")),
    ];
    let about = about.map(|(key, text)| (key.to_owned(), text.to_owned()));
    Arc::new(Schema::new_with_metadata(fields, HashMap::from(about)))
}

fn data_type(kind: Kind) -> DataType {
    match kind {
        Kind::Text => DataType::Utf8,
        Kind::Whole => DataType::Int64,
        Kind::Number => DataType::Float64,
        Kind::Flag => DataType::Boolean,
    }
}

/// The rows of a table as a batch. A row may have one value more than the table, the error.
pub(crate) fn batch(
    table: &Table,
    schema: &SchemaRef,
    rows: &[Vec<Value>],
) -> Result<RecordBatch, ArrowError> {
    let kinds = table.columns.iter().map(|column: &Column| column.kind);
    let kinds = kinds.chain([Kind::Text]).take(schema.fields().len());
    let columns = kinds.enumerate().map(|(place, kind)| {
        let values = rows.iter().map(|row| row.get(place));
        array(kind, values)
    });
    RecordBatch::try_new(schema.clone(), columns.collect())
}

fn array<'a>(kind: Kind, values: impl Iterator<Item = Option<&'a Value>>) -> ArrayRef {
    match kind {
        Kind::Text => Arc::new(StringArray::from_iter(
            values.map(|value| value.and_then(Value::as_str)),
        )),
        Kind::Whole => Arc::new(Int64Array::from_iter(
            values.map(|value| value.and_then(whole)),
        )),
        Kind::Number => Arc::new(Float64Array::from_iter(
            values.map(|value| value.and_then(Value::as_f64)),
        )),
        Kind::Flag => Arc::new(BooleanArray::from_iter(
            values.map(|value| value.and_then(Value::as_bool)),
        )),
    }
}

/// A whole number; one beyond 63 bits is the largest, as in Parquet files.
fn whole(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_u64().map(|_| i64::MAX))
}

/// One batch, which other libraries read without copying (`__arrow_c_array__`).
#[pyclass(frozen, module = "coax._coax")]
#[derive(Debug)]
pub(crate) struct Batch(RecordBatch);

#[pymethods]
impl Batch {
    fn __len__(&self) -> usize {
        self.0.num_rows()
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        // a consumer that asks for other types casts itself (Arrow PyCapsule interface)
        drop(requested_schema);
        let array = StructArray::from(self.0.clone()).into_data();
        let schema = FFI_ArrowSchema::try_from(&*self.0.schema()).map_err(of_arrow)?;
        let schema = PyCapsule::new_with_value(py, schema, c"arrow_schema")?;
        let array = PyCapsule::new_with_value(py, FFI_ArrowArray::new(&array), c"arrow_array")?;
        PyTuple::new(py, [schema, array])
    }
}

/// Batches that another thread makes.
pub(crate) type Source = Expected<Result<RecordBatch, ArrowError>>;

/// A stream of batches that can be read once (`__arrow_c_stream__`), or one batch after the other.
#[pyclass(frozen, module = "coax._coax")]
#[derive(Debug)]
pub(crate) struct Batches {
    schema: SchemaRef,
    source: Mutex<Option<Source>>,
}

impl Batches {
    pub(crate) fn new(schema: SchemaRef, source: Source) -> Self {
        Self {
            schema,
            source: Mutex::new(Some(source)),
        }
    }

    pub(crate) fn ready(schema: SchemaRef, batch: Result<RecordBatch, ArrowError>) -> Self {
        let (send, receive) = std::sync::mpsc::sync_channel(1);
        // the receiver is there
        let _ = send.send(batch);
        Self::new(schema, Expected::new(receive, Stop::default()))
    }

    pub(crate) fn of_rows(table: &Table, rows: &[Vec<Value>]) -> Self {
        let schema = schema(table, false);
        let batch = batch(table, &schema, rows);
        Self::ready(schema, batch)
    }

    fn taken(&self) -> PyResult<Source> {
        let mut source = self.source.lock().unwrap_or_else(PoisonError::into_inner);
        let used = "this stream was read already; call the function again for another one";
        source.take().ok_or_else(|| CoaxError::new_err(used))
    }
}

#[pymethods]
impl Batches {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Batch>> {
        // the source is put back even if a signal ends the wait; its work is stopped then
        let source = self.taken()?;
        let next = source.take(py);
        *self.source.lock().unwrap_or_else(PoisonError::into_inner) = Some(source);
        next?
            .transpose()
            .map(|batch| batch.map(Batch))
            .map_err(of_arrow)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(&*self.schema).map_err(of_arrow)?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let reader = Reader {
            schema: self.schema.clone(),
            source: self.taken()?,
        };
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }
}

/// What a C library reads.
struct Reader {
    schema: SchemaRef,
    source: Source,
}

impl Iterator for Reader {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        match self.source.take_detached() {
            Ok(next) => next,
            Err(signal) => Some(Err(ArrowError::ExternalError(signal.into()))),
        }
    }
}

impl RecordBatchReader for Reader {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}

fn of_arrow(error: ArrowError) -> PyErr {
    CoaxError::new_err(error.to_string())
}
