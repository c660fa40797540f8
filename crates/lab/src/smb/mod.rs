//! The real SMB engines as applications of a [`crate::World`].
//!
//! [`Redirector`] drives [`coax_client::Client`], and [`FileServer`] drives [`coax_server::Connection`] behind a
//! NetBIOS session, in virtual time. The engines produce every message; only the contents of files are a
//! [pattern](crate::payload) that is never stored.
//!
//! # What is charged, and when
//!
//! * Before each request, the client works ([`MachineParams::request`](crate::machine::MachineParams)): the fixed part
//!   once per command, and the part per byte for the file data in the request or received since the last one. The disk
//!   reads before data is sent, and writes before the request that follows received data.
//! * The server handles one request at a time. It works for the fixed part per command and the part per byte of file
//!   data in either direction. Then its disk reads or writes the data of the request. Then it sends the response.
//!
//! Each connection of the server has its own state; processor, disk, files and tables are shared. The server deals with
//! requests of different clients at once, as far as its processor and its disk permit.
//!
//! Not modelled: servers that handle several requests of a client in parallel, disk caches, disk time of open, search
//! and close beyond the fixed part, and piecewise sending of responses by the server's kernel.

mod bytes;
mod client;
mod copy;
mod disk;
mod mix;
mod pacing;
mod server;
mod service;
#[cfg(test)]
mod tests;

pub use client::Redirector;
pub use copy::{ClientResult, CopyResult, CopySetup, NOT_MODELLED, copy, copy_within};
pub use mix::{Mix, MixEntry};
pub use server::{FileServer, ServerParams};
pub use service::Service;

use alloc::{
    format,
    string::{String, ToString},
    sync::Arc,
};

use coax_catalog::profile::RequestSizes;
use coax_wire::{
    nbt::name::{NbName, SUFFIX_SERVER, SUFFIX_WORKSTATION},
    time::{Span, Time},
};

use crate::{
    capture::EPOCH_S,
    side::{End, Side},
};

/// NetBIOS name of the program at an end.
pub(crate) fn name_of(end: End) -> NbName {
    let (name, suffix) = match (end.side, end.client) {
        (Side::Server, _) => ("LAB".to_string(), SUFFIX_SERVER),
        (Side::Client, 0) => ("CLIENT".to_string(), SUFFIX_WORKSTATION),
        (Side::Client, more) => (format!("CLIENT{more:03}"), SUFFIX_WORKSTATION),
    };
    // all are valid
    NbName::new(name.as_bytes(), suffix).unwrap_or(NbName::SMBSERVER)
}

/// The files to copy, one after the other; they contain the pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Files {
    /// Number of files.
    pub count: u32,
    /// Size of each file, bytes; where requests have a list of sizes, the average.
    pub size: u64,
    /// Number of the client that copies them; each one has its own.
    pub client: u16,
    /// The sizes of requests, if they differ: these are spread evenly over the files, and each file is as long as
    /// its requests.
    pub requests: Option<Arc<RequestSizes>>,
}

/// One of the files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OneFile {
    /// Its name, which is valid for every client.
    pub(crate) name: String,
    /// Its size, bytes.
    pub(crate) size: u64,
    /// The number of its first request, where requests have a list of sizes.
    pub(crate) first_request: u64,
}

impl Files {
    /// One file.
    pub const fn one(size: u64) -> Self {
        Self {
            count: 1,
            size,
            client: 0,
            requests: None,
        }
    }

    /// Total size, bytes.
    pub fn bytes(&self) -> u64 {
        match self.requests {
            None => self.of_average_size(),
            Some(_) => self.each().map(|file| file.size).sum(),
        }
    }

    /// The files in order.
    pub(crate) fn each(&self) -> impl Iterator<Item = OneFile> + '_ {
        let requests = self.requests.as_deref();
        let all = requests.map_or(0, |sizes| sizes.requests_in(self.of_average_size()));
        (1..=self.count).map(move |number| {
            let before = |files: u32| {
                let share = u128::from(all).saturating_mul(u128::from(files));
                share.checked_div(u128::from(self.count)).unwrap_or(0) as u64
            };
            let own = before(number - 1)..before(number);
            OneFile {
                name: self.name(number),
                first_request: own.start,
                size: requests.map_or(self.size, |sizes| {
                    own.map(|request| u64::from(sizes.size(request))).sum()
                }),
            }
        })
    }

    fn name(&self, number: u32) -> String {
        match (self.client, self.count) {
            (0, 1) => "FILE.BIN".to_string(),
            (0, _) => format!("FILE{number:04}.BIN"),
            (client, _) => format!("C{client:03}{number:04}.BIN"),
        }
    }

    const fn of_average_size(&self) -> u64 {
        self.size.saturating_mul(self.count as u64)
    }
}

/// Converts the run's time for the engines: the run starts at a historical date, as in captures.
pub(crate) fn clock(now: Time) -> Time {
    Time(EPOCH_S.saturating_mul(1_000_000_000)) + Span(now.0)
}

/// Converts an engine's time for the run.
pub(crate) fn since_start(engine: Time) -> Time {
    Time(
        engine
            .0
            .saturating_sub(EPOCH_S.saturating_mul(1_000_000_000)),
    )
}
