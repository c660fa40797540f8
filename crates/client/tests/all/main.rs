//! The integration tests of coax-client. They are one program: each further one costs a second of linking and 30 MB.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod copies;
mod logon;
mod mix;
mod pair;
mod signing;
mod trouble;
mod verbs;
mod windows_9x;
