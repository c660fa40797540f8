//! The client: real sockets, real files and the clock around the redirector's engine.
//!
//! A [`Location`] says what to connect to, a profile (`coax_catalog::clients`) how to behave, and [`Connection`] carries out
//! operations one after the other, blocking. Local ends of copies are [`local::LocalEnd`]s.

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

pub use connect::{Options, open};
pub use connection::{Breaker, Connection, ops};
pub use error::plain;
pub use error::{Attempt, Error};
pub use url::{BadLocation, Location};
