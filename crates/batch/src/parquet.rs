//! Tables as Parquet files: one file for each table, which gets its name when it is complete.

use std::{
    fs::{self, File},
    io::BufWriter,
    path::{Path, PathBuf},
    sync::Arc,
};

use parquet::{
    basic::{Compression, LogicalType, Repetition, Type as Physical},
    data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type},
    errors::ParquetError,
    file::{metadata::KeyValue, properties::WriterProperties, writer::SerializedFileWriter},
    schema::types::{Type, TypePtr},
};
use serde_json::{Value, json};

use crate::{
    error::BatchError,
    outputs::{not_written, part_name},
    shard::Shard,
    tables::{Column, Kind, TABLES, Table},
};

/// Rows that are kept until they are written as one group.
const GROUP: usize = 50_000;

/// All tables of a run.
#[derive(Debug)]
pub(crate) struct Tables(Vec<(&'static Table, OneTable)>);

/// A column of a file.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) unit: &'static str,
    pub(crate) about: String,
}

/// A file.
pub(crate) struct OneTable {
    fields: Vec<Field>,
    writer: Option<SerializedFileWriter<BufWriter<File>>>,
    rows: Vec<Vec<Value>>,
    path: PathBuf,
    part: PathBuf,
}

impl std::fmt::Debug for OneTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("OneTable").field(&self.path).finish()
    }
}

impl From<&Column> for Field {
    fn from(column: &Column) -> Self {
        Self {
            name: column.name.to_owned(),
            kind: column.kind,
            unit: column.unit,
            about: column.about.to_owned(),
        }
    }
}

impl Tables {
    pub(crate) fn create(folder: &Path, shard: Shard) -> Result<Self, BatchError> {
        fs::create_dir_all(folder).map_err(|error| not_written(folder, error))?;
        let tables = TABLES.iter().map(|table| {
            let name = match shard.is_all() {
                true => format!("{}.parquet", table.name),
                false => format!("{}-{shard}.parquet", table.name),
            };
            let fields = table.columns.iter().map(Field::from).collect();
            let file = OneTable::create((table.name, table.about), fields, &folder.join(name))?;
            Ok((table, file))
        });
        tables.collect::<Result<_, _>>().map(Self)
    }

    /// Adds the rows of a capture.
    pub(crate) fn add(&mut self, capture: &Value) -> Result<(), BatchError> {
        let mut tables = self.0.iter_mut();
        tables.try_for_each(|(table, file)| file.add(table.rows(capture)))
    }

    /// Completes the files; either all of them get their names or, if one cannot be written, none.
    pub(crate) fn finish(mut self) -> Result<(), BatchError> {
        let mut files = self.0.iter_mut();
        files.try_for_each(|(_, file)| file.close())?;
        self.0.iter().try_for_each(|(_, file)| file.name())
    }
}

impl OneTable {
    /// Begins a file beside its final name.
    pub(crate) fn create(
        (name, about_rows): (&str, &str),
        fields: Vec<Field>,
        path: &Path,
    ) -> Result<Self, BatchError> {
        let part = part_name(path);
        let file = File::create(&part).map_err(|error| not_written(path, error))?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_key_value_metadata(Some(about(about_rows, &fields)))
            .build();
        let writer = schema(name, &fields)
            .and_then(|schema| {
                SerializedFileWriter::new(BufWriter::new(file), schema, Arc::new(properties))
            })
            .map_err(|error| not_written(path, error))?;
        Ok(Self {
            fields,
            writer: Some(writer),
            rows: Vec::new(),
            path: path.to_owned(),
            part,
        })
    }

    /// Adds rows: a value for each column, `Null` where it is missing.
    pub(crate) fn add(&mut self, rows: Vec<Vec<Value>>) -> Result<(), BatchError> {
        self.rows.extend(rows);
        match self.rows.len() >= GROUP {
            true => self.write_group(),
            false => Ok(()),
        }
    }

    /// Gives a complete file its name.
    pub(crate) fn name(&self) -> Result<(), BatchError> {
        fs::rename(&self.part, &self.path).map_err(|error| not_written(&self.path, error))
    }

    fn write_group(&mut self) -> Result<(), BatchError> {
        let rows = std::mem::take(&mut self.rows);
        let Some(writer) = self.writer.as_mut().filter(|_| !rows.is_empty()) else {
            return Ok(());
        };
        group(writer, &self.fields, &rows).map_err(|error| not_written(&self.path, error))
    }

    /// Writes what is left.
    pub(crate) fn close(&mut self) -> Result<(), BatchError> {
        self.write_group()?;
        let Some(writer) = self.writer.take() else {
            return Ok(());
        };
        // into_inner reports what the buffer could not write
        let file = writer
            .into_inner()
            .map_err(|error| not_written(&self.path, error))?;
        let file = file
            .into_inner()
            .map_err(|error| not_written(&self.path, error.error()))?;
        file.sync_all()
            .map_err(|error| not_written(&self.path, error))
    }
}

impl Drop for OneTable {
    fn drop(&mut self) {
        // after a success it has another name
        let _ = fs::remove_file(&self.part);
    }
}

fn schema(name: &str, fields: &[Field]) -> Result<TypePtr, ParquetError> {
    let fields = fields.iter().map(|column| {
        let (physical, logical) = match column.kind {
            Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            Kind::Whole => (Physical::INT64, None),
            Kind::Number => (Physical::DOUBLE, None),
            Kind::Flag => (Physical::BOOLEAN, None),
        };
        let field = Type::primitive_type_builder(&column.name, physical);
        let field = field
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(logical);
        field.build().map(Arc::new)
    });
    let fields = fields.collect::<Result<Vec<_>, _>>()?;
    let schema = Type::group_type_builder(name).with_fields(fields).build()?;
    Ok(Arc::new(schema))
}

/// What the file says of itself: the table, and each column's unit and meaning.
fn about(rows: &str, fields: &[Field]) -> Vec<KeyValue> {
    let columns: serde_json::Map<String, Value> = fields
        .iter()
        .map(|column| {
            let about = json!({ "unit": column.unit, "description": column.about });
            (column.name.clone(), about)
        })
        .collect();
    vec![
        KeyValue::new(
            "coax.version".to_owned(),
            env!("CARGO_PKG_VERSION").to_owned(),
        ),
        KeyValue::new("coax.table".to_owned(), rows.to_owned()),
        KeyValue::new(
            "coax.columns".to_owned(),
            Value::Object(columns).to_string(),
        ),
    ]
}

fn group(
    writer: &mut SerializedFileWriter<BufWriter<File>>,
    fields: &[Field],
    rows: &[Vec<Value>],
) -> Result<(), ParquetError> {
    let mut group = writer.next_row_group()?;
    for (place, column) in fields.iter().enumerate() {
        let values = rows.iter().filter_map(|row| row.get(place));
        match column.kind {
            Kind::Text => write::<ByteArrayType>(&mut group, column, values, |value| {
                value.as_str().map(ByteArray::from)
            })?,
            Kind::Whole => write::<Int64Type>(&mut group, column, values, whole)?,
            Kind::Number => write::<DoubleType>(&mut group, column, values, Value::as_f64)?,
            Kind::Flag => write::<BoolType>(&mut group, column, values, Value::as_bool)?,
        }
    }
    group.close().map(|_| ())
}

/// A whole number; one beyond 63 bits is the largest.
fn whole(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_u64().map(|_| i64::MAX))
}

fn write<'a, T: DataType>(
    group: &mut parquet::file::writer::SerializedRowGroupWriter<'_, BufWriter<File>>,
    column: &Field,
    values: impl Iterator<Item = &'a Value>,
    of: impl Fn(&Value) -> Option<T::T>,
) -> Result<(), ParquetError> {
    let (mut present, mut levels) = (Vec::new(), Vec::new());
    for value in values {
        let value = of(value);
        levels.push(i16::from(value.is_some()));
        present.extend(value);
    }
    let missing = || ParquetError::General(format!("no column {}", column.name));
    let mut writer = group.next_column()?.ok_or_else(missing)?;
    writer
        .typed::<T>()
        .write_batch(&present, Some(&levels), None)?;
    writer.close()
}
