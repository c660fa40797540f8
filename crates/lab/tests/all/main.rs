//! The integration tests of coax-lab. They are one program: each further one costs a second of linking and 30 MB.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod clients;
mod dos_capture;
mod laws;
mod memory;
mod mix;
mod netbios;
mod oracle;
mod pacing;
#[allow(
    dead_code,
    reason = "the tests of coax-client, whose module it is, use more of it"
)]
#[path = "../../../client/tests/all/pair/mod.rs"]
mod pair;
mod recovery;
mod ring;
mod ring_medium;
mod shared;
mod truth;
