#![doc = include_str!("../README.md")]
#![deny(missing_docs)]

mod constants;
mod error;
mod fit;
mod observation;
mod parameters;
mod predict;
mod rare;
mod run;
mod used;
mod windows;

pub use constants::MAX_EVENTS;
pub use error::Why;
pub use predict::{Model, Pair, Range};
