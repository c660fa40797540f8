//! The integration tests of coax-structure. They are one program: each further one costs a second of linking and 30 MB.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod crates;
mod places;
mod program;
mod resolver;
