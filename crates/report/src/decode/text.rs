//! Decoded messages as text.

use core::fmt::Write as _;

use coax_decode::{Decoded, Field, Value};

use super::{Shown, digits};
use crate::explain::words::harmless;

/// Bytes without a meaning that are shown of a field.
const SHOWN: usize = 16;
/// Where values begin: after offset, length and name.
const NAME_WIDTH: usize = 36;

/// One line: frame, time, ends and name of the message.
pub fn heading(shown: &Shown<'_>) -> String {
    let title = &shown.decoded.title;
    let size = match shown.bytes.len() < shown.len {
        true => format!("{} of {} bytes captured", shown.bytes.len(), shown.len),
        false => format!("{} bytes", shown.len),
    };
    let Some(place) = shown.place else {
        return format!("{title}, {size}\n");
    };
    let seconds = place.since_start.0 as f64 / 1e9;
    let (from, to) = (harmless(place.from), harmless(place.to));
    format!(
        "frame {}  {seconds:.6} s  {from} → {to}\n{title}, {size}\n",
        place.frame
    )
}

/// One line with what matters of a message: its name, status and names of files.
pub fn summary(shown: &Shown<'_>) -> String {
    let mut line = String::new();
    if let Some(place) = shown.place {
        let seconds = place.since_start.0 as f64 / 1e9;
        let _ = write!(
            line,
            "{:>6} {seconds:>11.6}  {} → {}  ",
            place.frame,
            harmless(place.from),
            harmless(place.to)
        );
    }
    line.push_str(&shown.decoded.title);
    if let Some(failure) = failure(shown.decoded) {
        let _ = write!(line, "  {failure}");
    }
    for name in names(shown.decoded).take(3) {
        let _ = write!(line, "  {name}");
    }
    match shown.decoded.problems().count() {
        0 => {}
        1 => line.push_str("  ! 1 problem"),
        count => {
            let _ = write!(line, "  ! {count} problems");
        }
    }
    line.push('\n');
    line
}

/// The error in a reply's header, in words.
fn failure(decoded: &Decoded) -> Option<&str> {
    let status = |field: &&Field| ["Status", "ErrorCode"].contains(&field.name);
    let status = decoded.fields.iter().find(status)?;
    let is_error = !status.meaning.is_empty() && status.meaning != "success";
    is_error.then_some(status.meaning.as_str())
}

/// Names and paths in a message.
fn names(decoded: &Decoded) -> impl Iterator<Item = &Value> {
    let texts = decoded
        .fields
        .iter()
        .filter(|field| field.name != "Protocol");
    texts
        .map(|field| &field.value)
        .filter(|value| matches!(value, Value::Text(_)))
}

/// A line for each field: offset, length, name, value, the value in words.
pub fn fields(shown: &Shown<'_>) -> String {
    let mut text = String::from("offset length  field\n");
    for field in &shown.decoded.fields {
        line(&mut text, shown.bytes, field);
    }
    if shown.decoded.is_cut {
        text.push_str("the message has more fields, which are not shown\n");
    }
    text
}

/// A field's value; the first bytes of one without a meaning.
pub fn value(bytes: &[u8], field: &Field) -> String {
    match &field.value {
        Value::Bytes => digits(bytes, field.at, field.len, SHOWN),
        value => value.to_string(),
    }
}

fn line(text: &mut String, bytes: &[u8], field: &Field) {
    let name = format!(
        "{:indent$}{}",
        "",
        field.name,
        indent = usize::from(field.depth) * 2
    );
    let value = value(bytes, field);
    let mut line = format!(
        "{:>6} {:>6}  {name:<NAME_WIDTH$} {value}",
        field.at, field.len
    );
    if !field.meaning.is_empty() {
        let gap = if value.is_empty() { "" } else { "  " };
        let _ = write!(line, "{gap}{}", field.meaning);
    }
    text.push_str(line.trim_end());
    text.push('\n');
    if let Some(problem) = &field.problem {
        let _ = writeln!(text, "{:>13}  ! {}: {problem}", "", field.name);
    }
}
