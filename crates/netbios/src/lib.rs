#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod llc;
mod names;
mod session;

pub use names::{
    ConfigError, Counters, Destination, Event, MAX_ADDRESSES, MAX_NAMES, NameKind, NameService,
    NameServiceConfig, OwnName, Transmit,
};
pub use session::{Accept, Session, SessionConfig, SessionError, Transport};
