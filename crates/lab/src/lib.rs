#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod app;
pub mod apps;
pub mod capture;
pub mod cause;
pub mod laws;
pub mod link;
pub mod machine;
pub mod medium;
pub mod payload;
pub mod queue;
pub mod rng;
pub mod segment;
pub mod side;
pub mod smb;
pub mod spdtest;
mod station;
pub mod tcp;
pub mod watch;
pub mod world;

pub use coax_catalog::{component as profile, netbios::Carrier, scenario, units};

pub use app::{App, AppEvent, Context, DiskWork};
pub use capture::Tap;
pub use cause::{Account, Cause, Stretch};
pub use payload::Payload;
pub use side::{End, Side};
pub use world::{Apps, Ended, HostParams, Setup, World};
