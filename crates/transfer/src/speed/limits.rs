//! How much a transfer moves, and what it tells on the way.

use std::{net::SocketAddr, time::Duration};

use coax_speed::{Sample, TcpFigures};

/// How much is moved, and how.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Stop after so many bytes.
    pub bytes: Option<u64>,
    /// Stop after this time.
    pub time: Option<Duration>,
    /// Give up if nothing moves for so long.
    pub idle: Duration,
    /// Receiver: copy the bytes into memory, as an ordinary program does, instead of having the kernel discard them.
    pub copy: bool,
}

/// What is told while a transfer is made.
#[derive(Debug)]
pub enum Event<'a> {
    /// Waiting for a peer here.
    Listening(SocketAddr),
    /// The connection stands; the peer's address.
    Connected(SocketAddr),
    /// Another second passed: what moved in it, in all, and what TCP says.
    Second(Sample, u64, Option<&'a TcpFigures>),
}
