//! The engine of coax's web page: captures and scenarios in, reports out. It opens no file and no connection.
//!
//! The page's script runs it in a worker. Results are the same bytes as those of the command line: [`Analysis::page`] is what
//! `coax explain --html` writes, [`Analysis::json`] what `--json` prints, [`lab::run`] has the object of `coax lab run --json`.

mod analysis;
#[cfg(target_arch = "wasm32")]
mod bindings;
pub mod lab;
mod sliders;

pub use analysis::Analysis;
