//! One capture.

use std::{path::PathBuf, sync::Arc};

use coax_explain::recognise::{named_client, profiles};
use coax_report::{
    explain::{self as reports, html, json, text},
    nearest,
};
use pyo3::prelude::*;

use crate::{
    arrow::{Batches, table},
    errors::{UnknownNameError, of_capture},
    work::attended,
};

/// The analysis of one capture.
#[pyclass(frozen, module = "coax._coax")]
#[derive(Debug)]
pub(crate) struct Explained(Arc<reports::Explained>);

#[pymethods]
impl Explained {
    /// What `coax explain --json` prints.
    fn json(&self) -> String {
        json::text(std::slice::from_ref(&*self.0))
    }

    /// What `coax explain` prints.
    fn text(&self) -> String {
        text::report(&self.0, None)
    }

    /// What `coax explain --html` writes.
    fn html(&self) -> String {
        html::page(std::slice::from_ref(&*self.0))
    }

    /// A table of the capture as an Arrow stream.
    fn table(&self, name: &str) -> PyResult<Batches> {
        let table = table(name)?;
        let rows = table.rows(&json::capture(&self.0));
        Ok(Batches::of_rows(table, &rows))
    }
}

/// Explains a capture, or several that belong together.
#[pyfunction]
#[pyo3(signature = (paths, client=None))]
pub(crate) fn explain(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    client: Option<&str>,
) -> PyResult<Explained> {
    let client = match client {
        Some(name) => Some(named_client(name).ok_or_else(|| no_client(name))?),
        None => None,
    };
    let read = move |stop: &crate::work::Stop| {
        let goes_on = || stop.goes_on();
        match paths.as_slice() {
            [path] => {
                reports::read_while(path, client.as_ref(), &goes_on).map_err(|error| (0, error))
            }
            paths => reports::read_joined(paths, client.as_ref()),
        }
        .map_err(|(place, error)| {
            let path = paths.get(place).cloned().unwrap_or_default();
            (path, error.to_string())
        })
    };
    let explained = attended(py, read)?;
    match explained {
        Ok(explained) => Ok(Explained(Arc::new(explained))),
        Err((path, reason)) => Err(of_capture(&path, &reason)),
    }
}

fn no_client(name: &str) -> PyErr {
    let names: Vec<&str> = profiles().iter().map(|profile| profile.name).collect();
    UnknownNameError::new_err(nearest::unknown("client", name, &names))
}
