//! Serves one web page to browsers on this machine.
//!
//! [`find`] finds the page's file, [`Hosting`] serves it with the crate `http`. There is one resource and nothing to configure.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod find;
mod site;

pub use coax_http::Limits;
pub use find::{Page, Refusal, candidates, find};
pub use site::{Hosting, POLICY};
