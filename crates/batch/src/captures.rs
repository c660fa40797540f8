//! One capture: explained, as JSON.

use std::panic::{AssertUnwindSafe, catch_unwind};

use coax_report::explain::{json, read_while};
use serde_json::Value;

use crate::input::Input;

/// The capture's element of `captures` in the object of `coax explain --json`.
///
/// # Errors
/// Why it cannot be explained, or that `goes_on` said no.
pub(crate) fn explain(input: &Input, goes_on: &dyn Fn() -> bool) -> Result<Value, String> {
    let explained = catch_unwind(AssertUnwindSafe(|| {
        read_while(&input.path, None, goes_on).map(|it| json::capture(&it))
    }));
    match explained {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err("the analyser failed on it: a defect of coax, please report it".into()),
    }
}
