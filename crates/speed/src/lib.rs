//! Raw TCP speed without IO: what was moved in which second, and how it ended.
//!
//! A [`Transfer`] is one connection that carries plain bytes one way, as mTCP's SPDTEST and netcat do: no greeting, no
//! framing, and the end of the stream is the end of the test. The driver says what happened and when; the transfer says
//! what to do next ([`Transfer::poll_transmit`]), when to look again ([`Transfer::poll_timeout`]) and, whenever asked, what
//! was measured ([`Transfer::report`]).
//!
//! What SPDTEST does was read in its source of 2013-05-23 (github.com/retrohun/mTCP, `APPS/SPDTEST/SPDTEST.CPP`), and is
//! followed where two ends must agree:
//!
//! - its clock starts when the connection stands and stops when both ends have closed, so ours does the same
//!   ([`Report::elapsed`]); the wait for the first byte is told apart ([`Report::first_byte`]);
//! - a sender closes its direction after the last byte; a receiver ends when that arrives, and closes then;
//! - a sender gives up as soon as the other end closes *its* direction, so a receiver must not do so early;
//! - one megabyte is 1,048,576 bytes ([`MEGABYTE`]), and a kilobyte 1,024.
#![no_std]
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
/// What SPDTEST sends unless it is told otherwise: 4 MB.
pub const DEFAULT_BYTES: u64 = 4 * MEGABYTE;
