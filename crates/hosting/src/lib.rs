//! Serves one web page to browsers on this machine.
//!
//! [`Request`] reads the head of an HTTP/1.1 request, [`answer`] decides what to answer, `serve` moves the bytes, [`find`] finds the page's
//! file. There is one resource and nothing to configure, so this is all of HTTP that it needs: one request for each connection, GET and HEAD.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod answer;
mod find;
mod request;
mod serve;

pub use answer::{Answer, POLICY, answer};
pub use find::{Page, Refusal, candidates, find};
pub use request::{MAX_HEAD, Method, Request, Wrong};
pub use serve::{Hosting, Limits};
