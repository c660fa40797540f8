#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;
#[cfg(test)]
extern crate std;

mod charge;
mod constants;
mod copy;
mod family;
mod inbound;
mod kernel;
mod meter;
mod recent;
mod request;
#[cfg(test)]
mod tests;

pub use constants::{MINUTE, SAMPLE_MIN, SECONDS};
pub use copy::Copy;
pub use family::Family;
pub use kernel::Kernel;
pub use meter::{Doing, Meter, Server};
pub use recent::Shares;
pub use request::{Direction, Purpose, Request};
