//! The integration tests of coax-simulation. They are one program: each further one costs seconds of linking.
#![allow(clippy::unwrap_used, clippy::panic)]

mod seeds;
mod week;
