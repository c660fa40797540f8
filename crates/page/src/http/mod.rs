//! A server of HTTP/1.1 (RFC 9112), as much as a page of this machine needs: GET, HEAD and POST with a length.
//!
//! A large framework would be a fortieth of the program. What readers send is parsed by `httparse`.

mod connection;
mod head;
mod response;

pub(crate) use connection::{Service, refuse, serve};
pub use head::{Head, Method, Refused, read_head};
pub(crate) use response::{Body, Response};

/// A request.
#[derive(Debug)]
pub(crate) struct Request {
    /// Its head.
    pub(crate) head: Head,
    /// Its body.
    pub(crate) body: Vec<u8>,
}
