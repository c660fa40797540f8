//! Decoded messages as JSON: one object a line.

use serde_json::{Map, Value as Json, json};

use coax_decode::{Field, Value};

use super::{Shown, digits};

/// Bytes of one field that are written out.
const SHOWN: usize = 4096;

/// The object of one message, and a line feed. Offsets and lengths are in bytes, times in seconds.
pub fn line(shown: &Shown<'_>) -> String {
    let fields: Vec<Json> = shown
        .decoded
        .fields
        .iter()
        .map(|one| field(shown.bytes, one))
        .collect();
    let mut object = Map::new();
    if let Some(place) = shown.place {
        object.insert("frame".to_owned(), json!(place.frame));
        object.insert(
            "seconds".to_owned(),
            json!(place.since_start.0 as f64 / 1e9),
        );
        object.insert("from".to_owned(), json!(place.from));
        object.insert("to".to_owned(), json!(place.to));
    }
    object.insert("message".to_owned(), json!(shown.decoded.title));
    object.insert("length".to_owned(), json!(shown.len));
    object.insert("captured".to_owned(), json!(shown.bytes.len()));
    if shown.decoded.is_cut {
        object.insert("cut".to_owned(), json!(true));
    }
    object.insert("fields".to_owned(), json!(fields));
    format!("{}\n", Json::Object(object))
}

fn field(bytes: &[u8], field: &Field) -> Json {
    let mut object = Map::new();
    object.insert("offset".to_owned(), json!(field.at));
    object.insert("length".to_owned(), json!(field.len));
    object.insert("depth".to_owned(), json!(field.depth));
    object.insert("name".to_owned(), json!(field.name));
    let value = match &field.value {
        Value::Group | Value::Secret => Json::Null,
        Value::Number(number) | Value::Hex(number, _) => json!(number),
        Value::Signed(number) => json!(number),
        Value::Id(_, id) => json!(id),
        Value::Time(text) | Value::Text(text) | Value::Address(text) => json!(text),
        Value::Bytes => json!(digits(bytes, field.at, field.len, SHOWN)),
    };
    object.insert("value".to_owned(), value);
    if !field.meaning.is_empty() {
        object.insert("meaning".to_owned(), json!(field.meaning));
    }
    if let Some(problem) = &field.problem {
        object.insert("problem".to_owned(), json!(problem));
    }
    Json::Object(object)
}
