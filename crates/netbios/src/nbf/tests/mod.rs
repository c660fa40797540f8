#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]
mod lan;
mod limits;
mod names;
mod replay;
mod sessions;
