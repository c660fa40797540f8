#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]

extern crate alloc;

mod action;
mod connection;
mod edit;
mod error;
mod fault;
mod plan;
mod queue;
mod requests;
mod stage;
mod status;
mod target;
#[cfg(test)]
mod tests;
mod which;

pub use action::Action;
pub use connection::{Applied, Connection, Verdict};
pub use error::FaultError;
pub use fault::Fault;
pub use plan::Plan;
pub use queue::{Ending, Out};
pub use stage::Stage;
pub use status::Refusal;
pub use target::Target;
pub use which::Which;
