//! Exceptions; the classes are Python's (`coax.errors`).

use std::path::Path;

use pyo3::{import_exception, prelude::*};

import_exception!(coax.errors, CoaxError);
import_exception!(coax.errors, CaptureError);
import_exception!(coax.errors, ScenarioError);
import_exception!(coax.errors, UnknownNameError);
import_exception!(coax.errors, OutputError);
import_exception!(coax.errors, ServeError);

/// A capture that cannot be read.
pub(crate) fn of_capture(path: &Path, reason: &str) -> PyErr {
    CaptureError::new_err((reason.to_owned(), path.display().to_string()))
}

/// A scenario, a key or a value that is wrong, or a file that cannot be read or written.
pub(crate) fn of_lab(error: &anyhow::Error) -> PyErr {
    match error.chain().any(|cause| cause.is::<std::io::Error>()) {
        true => OutputError::new_err(format!("{error:#}")),
        false => ScenarioError::new_err(format!("{error:#}")),
    }
}
