//! Tables as Parquet files, read back.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

use std::{fs::File, path::Path};

use coax_batch::{Job, Shard, tables::TABLES};
use parquet::{
    file::reader::{FileReader, SerializedFileReader},
    record::{Field, Row},
};
use serde_json::Value;

fn labelled() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/captures/labelled")
}

fn job(folder: &Path) -> Job {
    Job {
        paths: vec![labelled()],
        threads: 2,
        shard: Shard::ALL,
        out: None,
        ndjson: Some(folder.join("lines")),
        parquet: Some(folder.join("tables")),
    }
}

/// The values of a row, in the order of the columns.
fn values(row: &Row) -> Vec<Value> {
    let fields = row.get_column_iter();
    fields
        .map(|(_, field)| match field {
            Field::Null => Value::Null,
            Field::Str(text) => text.as_str().into(),
            Field::Long(number) => (*number).into(),
            Field::Double(number) => (*number).into(),
            Field::Bool(flag) => (*flag).into(),
            other => panic!("{other:?}"),
        })
        .collect()
}

/// Whole numbers may be written as doubles.
fn same(one: &Value, other: &Value) -> bool {
    one == other || (one.is_number() && one.as_f64() == other.as_f64())
}

#[test]
fn every_row_of_every_table_is_in_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let totals = job(folder.path()).run(|_| ()).unwrap();
    assert!(
        totals.explained > 10 && totals.failures.is_empty(),
        "{totals:?}"
    );
    let lines = std::fs::read_to_string(folder.path().join("lines")).unwrap();
    let captures: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    for table in TABLES {
        let expected: Vec<Vec<Value>> = captures
            .iter()
            .flat_map(|capture| table.rows(capture))
            .collect();
        assert!(!expected.is_empty(), "{}", table.name);
        let path = folder
            .path()
            .join("tables")
            .join(format!("{}.parquet", table.name));
        let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
        let rows: Vec<Vec<Value>> = reader
            .get_row_iter(None)
            .unwrap()
            .map(|row| values(&row.unwrap()))
            .collect();
        assert_eq!(rows.len(), expected.len(), "{}", table.name);
        for (row, expected) in rows.iter().zip(&expected) {
            let equal = row
                .iter()
                .zip(expected)
                .all(|(one, other)| same(one, other));
            assert!(equal, "{}: {row:?} {expected:?}", table.name);
        }
    }
}

#[test]
fn every_column_has_a_value_somewhere_a_unit_and_a_meaning() {
    let folder = tempfile::tempdir().unwrap();
    job(folder.path()).run(|_| ()).unwrap();
    let lines = std::fs::read_to_string(folder.path().join("lines")).unwrap();
    for table in TABLES {
        let rows = lines
            .lines()
            .flat_map(|line| table.rows(&serde_json::from_str(line).unwrap()));
        let rows: Vec<Vec<Value>> = rows.collect();
        for (place, column) in table.columns.iter().enumerate() {
            let known = rows.iter().any(|row| !row[place].is_null());
            assert!(known, "{}.{} is always missing", table.name, column.name);
            assert!(!column.about.is_empty());
        }
        let path = folder
            .path()
            .join("tables")
            .join(format!("{}.parquet", table.name));
        let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
        let about = reader
            .metadata()
            .file_metadata()
            .key_value_metadata()
            .unwrap();
        let columns = about.iter().find(|it| it.key == "coax.columns").unwrap();
        let columns: Value = serde_json::from_str(columns.value.as_ref().unwrap()).unwrap();
        assert_eq!(columns.as_object().unwrap().len(), table.columns.len());
    }
}

#[test]
fn the_causes_of_a_copy_add_up_to_its_time() {
    let folder = tempfile::tempdir().unwrap();
    job(folder.path()).run(|_| ()).unwrap();
    let lines = std::fs::read_to_string(folder.path().join("lines")).unwrap();
    let place = |table: usize, name: &str| {
        TABLES[table]
            .columns
            .iter()
            .position(|it| it.name == name)
            .unwrap()
    };
    for line in lines.lines() {
        let capture: Value = serde_json::from_str(line).unwrap();
        let causes = TABLES[1].rows(&capture);
        for copy in TABLES[0].rows(&capture) {
            let number = &copy[place(0, "copy")];
            let of_it = causes.iter().filter(|row| &row[place(1, "copy")] == number);
            let sum: f64 = of_it
                .filter_map(|row| row[place(1, "seconds")].as_f64())
                .sum();
            let wall = copy[place(0, "seconds")].as_f64().unwrap();
            assert!((sum - wall).abs() < 1e-6 * wall.max(1.0), "{sum} {wall}");
        }
    }
}

#[test]
fn a_file_that_cannot_get_its_name_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let tables = folder.path().join("tables");
    std::fs::create_dir_all(tables.join("copies.parquet/in the way")).unwrap();
    let error = job(folder.path()).run(|_| ()).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("copies.parquet cannot be written"),
        "{error}"
    );
    let left: Vec<_> = std::fs::read_dir(&tables)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left, ["copies.parquet"]);
}
