//! The sans-IO SMB1 redirector: one engine that behaves as a [`profile::Profile`] says.
//!
//! A [`Client`] is one connection to one share. Bytes off the wire and the time go in; bytes for the wire, reads and
//! writes of local files ([`LocalFiles`]), [`Event`]s and the next deadline come out. Work is handed in as
//! [`Operation`]s and ends with [`Event::Done`].
//!
//! ```text
//!           received / handle_timeout                 submit(Operation)
//!                      │                                     │
//!   session ── conn ── setup (negotiate, log on, tree) ── jobs (copy, list, stat …)
//!                      │                                     │
//!           poll_transmit / poll_timeout              poll_event / poll_exchange
//! ```
#![no_std]
#![forbid(unsafe_code)]
extern crate alloc;
#[cfg(test)]
extern crate std;

mod calls;
mod conn;
mod entry;
mod error;
mod event;
mod job_id;
mod jobs;
mod link;
mod local;
mod setup;
mod spec;
mod target;

pub use coax_catalog::profile;

pub use calls::{Exchange, Tail, Transmit};
pub use conn::Client;
pub use entry::{DiskSpace, Entry, FileStat};
pub use error::{Changed, Error, Unfit};
pub use event::{Event, Operation, Outcome};
pub use job_id::JobId;
pub use link::Link;
pub use local::{LocalError, LocalFiles, NoFiles};
pub use spec::{CopySpec, Direction, Existing};
pub use target::{Credentials, Target};
