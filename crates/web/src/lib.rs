//! The engine of coax's web page: captures, scenarios and messages in, reports out. It opens no file and no connection.
//!
//! The page's script runs it in a worker. Results are the same bytes as those of the command line: [`Analysis::page`] is what
//! `coax explain --html` writes, [`Analysis::json`] what `--json` prints, [`lab::run`] has the object of `coax lab run --json`, and
//! [`decode::typed`] the text and the object of `coax decode`.

mod analysis;
#[cfg(target_arch = "wasm32")]
mod bindings;
pub mod decode;
pub mod lab;
mod sliders;

pub use analysis::Analysis;
