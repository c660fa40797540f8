//! The integration tests of coax-decode. They are one program: each further one costs seconds of linking.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod calls;
mod seen;
