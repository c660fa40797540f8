//! The integration tests of coax-simulation. They are one program: each further one costs a second of linking and 30 MB.
#![allow(clippy::unwrap_used, clippy::panic)]

mod seeds;
mod week;
