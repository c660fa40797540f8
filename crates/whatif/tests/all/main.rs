//! The integration tests of coax-whatif. They are one program: each further one costs a second of linking and 30 MB.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod buffers;
mod common;
mod drawn;
mod hostile;
mod late;
mod pairs;
mod real;
