//! A server of HTTP/1.1 (RFC 9112) for the pages of this machine: GET, HEAD, and POST with a length.
//!
//! [`accept`] limits connections and serves each; [`read_head`] reads the head of a request; a [`Service`] answers it with a [`Response`].
//! [`is_own`] checks that a request names this machine.
//!
//! A large framework would be a fortieth of the program. What clients send is parsed by `httparse`.
//!
//! **Invariant:** whatever clients do, connections, memory and time of each request are bounded.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod accept;
mod connection;
mod head;
mod host;
mod limits;
mod response;

pub use accept::accept;
pub use connection::{Answering, Request, Service};
pub use head::{HEAD_MAX, Head, Method, Refused, read_head};
pub use host::{Port, is_own};
pub use limits::Limits;
pub use response::{Body, Response};
