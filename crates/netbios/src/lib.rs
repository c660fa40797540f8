//! NetBIOS without IO: sessions over TCP ([`Session`]) and the name service of a broadcast node
//! ([`NameService`]).
//!
//! Both are state machines that own no socket and no clock. Bytes and the time go in through `received` and
//! `handle_*`; bytes, events and the next deadline come out through `poll_*`. After anything went in, poll
//! all of them until they have nothing more.
#![no_std]
extern crate alloc;
#[cfg(test)]
extern crate std;

mod names;
mod session;

pub use names::{
    ConfigError, Counters, Destination, Event, MAX_ADDRESSES, MAX_NAMES, NameKind, NameService,
    NameServiceConfig, OwnName, Transmit,
};
pub use session::{Accept, Session, SessionConfig, SessionError, Transport};
