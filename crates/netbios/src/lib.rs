//! NetBIOS without IO: sessions over TCP ([`Session`])
//! and names.
//!
//! Both are state machines that own no socket and no clock. Bytes and the time go in through `received` and
//! `handle_*`; bytes, events and the next deadline come out through `poll_*`. After anything went in, poll
//! all of them until they have nothing more.
#![no_std]
extern crate alloc;
#[cfg(test)]
extern crate std;

mod session;

pub use session::{Accept, Session, SessionConfig, SessionError, Transport};
