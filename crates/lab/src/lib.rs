//! The lab: old machines, TCP stacks, cards and links in virtual time.
//!
//! A [`World`] is two hosts and a link, made from a [`Setup`]; each host runs an [`App`]. Time is integer nanoseconds, events are ordered
//! by time and then by when they were asked for, and chance comes from one seed: the same setup gives the same bytes.
//! Each event carries the [account](cause) of what led to it, so that a run knows what it waited for to the nanosecond.
//!
//! What stacks, machines and links are like is data: [`coax_catalog`].
#![no_std]
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
pub mod payload;
pub mod queue;
pub mod rng;
pub mod segment;
pub mod side;
pub mod smb;
pub mod spdtest;
pub mod tcp;
pub mod watch;
pub mod world;

pub use coax_catalog::{component as profile, scenario, units};

pub use app::{App, AppEvent, Context, DiskWork};
pub use capture::Tap;
pub use cause::{Account, Cause, Stretch};
pub use payload::Payload;
pub use side::Side;
pub use world::{Ended, HostParams, Setup, World};
