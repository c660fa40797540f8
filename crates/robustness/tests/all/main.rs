//! The integration tests of coax-robustness. They are one program: each further one costs a second of linking and 30 MB.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod bad_input;
mod captures;
mod client_findings;
mod dos_client;
mod findings;
