#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]
mod capture;
mod direct;
mod faults;
mod lan;
mod names;
mod sessions;
