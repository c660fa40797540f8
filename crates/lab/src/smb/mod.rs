//! The upper half: the real SMB engines as applications of a [`crate::World`].
//!
//! [`Redirector`] drives [`coax_client::Client`], [`FileServer`] drives [`coax_server::Connection`] behind a NetBIOS
//! session: what a driver of sockets and files does for them in the other worlds, these do in virtual time. Every message
//! is one that the engines made; only what a file holds is a [pattern](crate::payload) that never exists in memory.
//!
//! # What is charged, and when
//!
//! * The client works before each request it makes ([`MachineParams::request`](crate::machine::MachineParams)): the
//!   fixed part once for each command, the part for bytes for the file data that goes with it or came since the last.
//!   Its disk reads before data goes, and writes before the next request follows data that came.
//! * The server takes one request at a time. It works for the fixed part once for each command and for each byte of file
//!   data, either way; then its disk reads or writes what the request asked of the file; then the answer goes.
//!
//! Not modelled: a server that serves several requests of one client at once, caches of either disk, what opening,
//! searching and closing cost a disk beside a request's fixed part, and the answers' way through a server's kernel piece
//! by piece.

mod bytes;
mod client;
mod copy;
mod disk;
mod mix;
mod server;
#[cfg(test)]
mod tests;

pub use client::Redirector;
pub use copy::{CopyResult, CopySetup, NOT_MODELLED, copy, copy_within};
pub use mix::{Mix, MixEntry};
pub use server::{FileServer, ServerParams};

use alloc::{
    format,
    string::{String, ToString},
};

use coax_wire::time::{Span, Time};

use crate::capture::EPOCH_S;

/// The files that are copied, one after the other: all of one size, each with the pattern in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Files {
    /// How many.
    pub count: u32,
    /// Bytes of each.
    pub size: u64,
}

impl Files {
    /// One file.
    pub const fn one(size: u64) -> Self {
        Self { count: 1, size }
    }

    /// Bytes of all.
    pub fn bytes(self) -> u64 {
        self.size.saturating_mul(u64::from(self.count))
    }

    /// Their names, which any client of the time can say.
    pub(crate) fn names(self) -> impl Iterator<Item = String> {
        (1..=self.count).map(move |number| match self.count {
            1 => "FILE.BIN".to_string(),
            _ => format!("FILE{number:04}.BIN"),
        })
    }
}

/// The moment as the engines see it: the run begins at a date of the time, as captures show it.
pub(crate) fn clock(now: Time) -> Time {
    Time(EPOCH_S.saturating_mul(1_000_000_000)) + Span(now.0)
}

/// How an engine's moment is seen in the run.
pub(crate) fn since_start(engine: Time) -> Time {
    Time(
        engine
            .0
            .saturating_sub(EPOCH_S.saturating_mul(1_000_000_000)),
    )
}
