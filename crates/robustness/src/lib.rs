//! What must hold whatever the bytes are: fuzz targets for every decoder and for whole connections, a reader of captures
//! from the wild, and a runner that needs no nightly compiler.
//!
//! Nothing here is part of the product. [`targets::TARGETS`] is the one list of targets: `fuzz/` wraps each for libFuzzer,
//! [`run`] mutates seeds on the stable compiler, the tests of this crate give every target its seeds once.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

pub mod captures;
pub mod choices;
pub mod engine;
pub mod mutate;
pub mod redirector;
pub mod replies;
pub mod run;
mod see;
pub mod targets;
pub mod views;
