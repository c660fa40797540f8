#![doc = include_str!("../README.md")]
#![no_std]
#![deny(missing_docs)]
extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod act;
#[cfg(any(test, feature = "conformance"))]
pub mod atomicity;
pub mod budget;
pub mod config;
mod conn;
mod context;
mod error;
mod event;
mod files;
mod handlers;
pub mod memfs;
pub mod message;
pub mod names;
mod names_cache;
mod ops;
mod pipe;
mod print_job;
mod rap;
mod raw_mode;
mod reason;
mod search;
mod server;
mod session;
pub mod share;
pub mod table;
#[cfg(any(test, feature = "conformance"))]
pub mod testkit;
mod transaction;
mod tree;
mod tunnel;
pub mod vfs;

pub use conn::Connection;
pub use context::{Carriage, Client, Held, Peer, Reach, Tail, Transmit};
pub use error::{Because, Error, Result, vfs_status};
pub use event::{Event, RefusedRequest};
pub use pipe::services::server_type;
pub use reason::{Limit, Reason};
pub use server::{ExternalChange, Server};
