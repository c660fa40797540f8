//! The folder of results: a file for each capture, from which an interrupted run goes on.

use std::{
    fs,
    path::{Path, PathBuf},
    time::UNIX_EPOCH,
};

use coax_report::{explain::words::harmless_json, files::write_whole};
use serde_json::{Value, json};

use crate::{error::BatchError, input::Input};

/// Identifies the capture that a result is of, and the program that made it.
fn origin(input: &Input) -> Option<Value> {
    let about = fs::metadata(&input.path).ok()?;
    let modified = about.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(json!({
        "bytes": about.len(),
        "modified_s": modified.as_secs(),
        "modified_ns": modified.subsec_nanos(),
        "coax": env!("CARGO_PKG_VERSION"),
    }))
}

fn file(out: &Path, input: &Input) -> PathBuf {
    let mut name = out.join(&input.place).into_os_string();
    name.push(".json");
    name.into()
}

/// An earlier result of the same capture by the same version.
pub(crate) fn known(out: &Path, input: &Input) -> Option<Value> {
    let text = fs::read(file(out, input)).ok()?;
    let mut object: Value = serde_json::from_slice(&text).ok()?;
    if object.get("made_from") != Some(&origin(input)?) {
        return None;
    }
    let captures = object.get_mut("captures")?.as_array_mut()?;
    let mut capture = captures.pop()?;
    // the path may be another one today
    *capture.get_mut("file")? = input.path.display().to_string().into();
    Some(capture)
}

/// Writes a result, as a whole or not at all.
pub(crate) fn write(out: &Path, input: &Input, capture: &Value) -> Result<(), BatchError> {
    let path = file(out, input);
    let wrong = |reason: String| BatchError::Write {
        path: path.clone(),
        reason,
    };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|error| wrong(error.to_string()))?;
    }
    let object = json!({ "captures": [capture], "made_from": origin(input) });
    let text = harmless_json(format!("{object:#}\n"));
    write_whole(&path, text.as_bytes()).map_err(|error| wrong(format!("{:#}", error.root_cause())))
}
