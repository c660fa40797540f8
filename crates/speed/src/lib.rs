#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
extern crate alloc;
#[cfg(test)]
extern crate std;

mod linux;
mod pattern;
mod rate;
mod report;
mod role;
mod sample;
mod transfer;

pub use linux::{DIAG_REQUEST_BYTES, DiagError, Socket, TcpFigures, TcpState, diag_request};
pub use pattern::fill_pattern;
pub use rate::Rate;
pub use report::{End, Report};
pub use role::Role;
pub use sample::{MAX_SAMPLES, Sample};
pub use transfer::{Config, Transfer, Transmit};

/// Bytes in the megabyte that SPDTEST's `-mb` counts in.
pub const MEGABYTE: u64 = 1_048_576;
/// SPDTEST's default transfer size: 4 MB.
pub const DEFAULT_BYTES: u64 = 4 * MEGABYTE;
