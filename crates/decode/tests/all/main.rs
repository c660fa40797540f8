//! The integration tests of coax-decode. They are one program: each further one costs a second of linking and 30 MB.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod calls;
mod holes;
mod seen;
