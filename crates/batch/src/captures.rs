//! One capture: explained, as JSON.

use std::panic::{AssertUnwindSafe, catch_unwind};

use coax_report::explain::{json, read};
use serde_json::Value;

use crate::input::Input;

/// The capture's element of `captures` in the object of `coax explain --json`.
///
/// # Errors
/// Why it cannot be explained.
pub(crate) fn explain(input: &Input) -> Result<Value, String> {
    let explained = catch_unwind(AssertUnwindSafe(|| {
        read(&input.path, None).map(|it| json::capture(&it))
    }));
    match explained {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err("the analyser failed on it: a defect of coax, please report it".into()),
    }
}
