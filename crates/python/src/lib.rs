//! The native half of the Python package `coax`: the functions whose Python side is in `crates/python/python`.
//!
//! Functions release the interpreter's lock while they work, and end soon when a signal's handler raises an exception ([`work`]).
//! Tables leave as Arrow streams (the Arrow C stream interface), so no row is copied.

// Only Python uses this crate: its pages lead through private modules too.
#![allow(rustdoc::private_intra_doc_links)]

mod arrow;
mod decoding;
mod errors;
mod explained;
mod fitting;
mod lab;
mod many;
mod sensitivity;
mod server;
mod work;

use pyo3::prelude::*;

/// Native functions of the package `coax`.
#[pymodule]
fn _coax(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<arrow::Batch>()?;
    module.add_class::<arrow::Batches>()?;
    module.add_class::<explained::Explained>()?;
    module.add_class::<fitting::Fit>()?;
    module.add_class::<lab::Run>()?;
    module.add_class::<lab::Swept>()?;
    module.add_class::<server::Server>()?;
    module.add_function(wrap_pyfunction!(decoding::decode, module)?)?;
    module.add_function(wrap_pyfunction!(decoding::profile, module)?)?;
    module.add_function(wrap_pyfunction!(decoding::profiles, module)?)?;
    module.add_function(wrap_pyfunction!(explained::explain, module)?)?;
    module.add_function(wrap_pyfunction!(fitting::fit, module)?)?;
    module.add_function(wrap_pyfunction!(lab::run, module)?)?;
    module.add_function(wrap_pyfunction!(lab::scenarios, module)?)?;
    module.add_function(wrap_pyfunction!(lab::sweep, module)?)?;
    module.add_function(wrap_pyfunction!(lab::table_names, module)?)?;
    module.add_function(wrap_pyfunction!(lab::tables, module)?)?;
    module.add_function(wrap_pyfunction!(many::explain_many, module)?)?;
    module.add_function(wrap_pyfunction!(many::find, module)?)?;
    module.add_function(wrap_pyfunction!(sensitivity::sensitivity, module)?)?;
    module.add_function(wrap_pyfunction!(server::serve, module)?)
}
