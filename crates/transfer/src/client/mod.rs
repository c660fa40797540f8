//! The client: real sockets, real files and the clock around the redirector's engine.
//!
//! A [`Location`] names the server, a profile (`coax_catalog::clients`) describes the redirector, and [`Connection`]
//! runs one operation after the other and blocks. [`local::LocalEnd`] is the local end of a copy.

mod browsers;
mod connect;
mod connection;
pub mod copy;
mod error;
pub mod local;
mod socket;
#[cfg(any(test, feature = "testkit"))]
pub mod testkit;
#[cfg(test)]
mod tests;
pub mod url;

pub use browsers::browsers;
pub(crate) use connect::own_name;
pub use connect::{Options, open};
pub use connection::{Breaker, Connection, ops};
pub use error::plain;
pub use error::{Attempt, Error};
pub use url::{BadLocation, Location, Via};
