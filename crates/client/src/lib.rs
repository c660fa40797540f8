#![doc = include_str!("../README.md")]
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]
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
mod message;
mod setup;
mod spec;
mod target;

pub use coax_catalog::profile;

pub use calls::{Exchange, Tail, Transmit};
pub use conn::Client;
pub use entry::{DiskSpace, Entry, FileStat};
pub use error::{Changed, Error, Unfit};
pub use event::{Event, ListedServer, Operation, Outcome};
pub use job_id::JobId;
pub use link::Link;
pub use local::{LocalError, LocalFiles, NoFiles};
pub use message::{MessageSender, UserMessage};
pub use spec::{CopySpec, Direction, Existing};
pub use target::{Credentials, Target};
