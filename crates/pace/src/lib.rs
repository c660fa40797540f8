#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
#[cfg(test)]
extern crate std;

mod constants;
mod ladder;
mod pacer;
mod receive;
mod send;
#[cfg(test)]
mod tests;

pub use constants::{FIRST_RECEIVE_SEGMENTS, FIRST_SEND_SEGMENTS};
pub use pacer::{Handshake, Learned, Mode, Pacer};
pub use receive::Received;
pub use send::Sent;
