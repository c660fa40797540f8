//! Limits of a transfer, and events during it.

use std::{net::SocketAddr, time::Duration};

use coax_speed::{Sample, TcpFigures};

/// Amount and method of a transfer.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Stop after this number of bytes.
    pub bytes: Option<u64>,
    /// Stop after this time.
    pub time: Option<Duration>,
    /// Give up after this time without progress.
    pub idle: Duration,
    /// Receiver: copy the data into memory, as an ordinary program does. Otherwise the kernel discards it.
    pub copy: bool,
}

/// Events during a transfer.
#[derive(Debug)]
pub enum Event<'a> {
    /// Waiting for a peer at this address.
    Listening(SocketAddr),
    /// The connection is established; the peer's address.
    Connected(SocketAddr),
    /// One second has passed: the data moved in it, the total, and the TCP statistics.
    Second(Sample, u64, Option<&'a TcpFigures>),
}
