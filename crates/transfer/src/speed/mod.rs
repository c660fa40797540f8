//! `coax speed`: raw TCP between this machine and an old one, with plain blocking sockets around [`coax_speed`].
//!
//! [`measure`] makes one connection ([`connect`]) and carries one transfer over it ([`carry`]); [`serve`] listens for
//! visitors at a source and a discard port; [`ceiling`] asks such a pair of ports what the path carries both ways, for
//! others to compare with. What TCP itself counts comes from [`kernel`].

pub mod carry;
pub mod ceiling;
pub mod connect;
mod kernel;
pub mod serve;
pub mod stop;

use std::{net::SocketAddr, time::Duration};

use coax_speed::{Role, Sample, TcpFigures};

pub use carry::Measured;
pub use connect::{SpeedError, Way};
pub use stop::Stop;

/// The port visitors receive from, unless another is named: the one mTCP's examples use.
pub const SOURCE_PORT: u16 = 2000;
/// The port visitors send to, unless another is named.
pub const DISCARD_PORT: u16 = 2001;
/// A silence that ends a transfer, unless another is named. mTCP waits up to ten seconds before it sends again.
pub const IDLE: Duration = Duration::from_secs(60);

/// One transfer to be made.
#[derive(Clone, Debug)]
pub struct Order {
    /// Which way the bytes go, seen from us.
    pub role: Role,
    /// Who connects to whom.
    pub way: Way,
    /// What to move.
    pub limits: Limits,
}

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

/// Makes a connection and one transfer over it. A transfer that did not end well is no error here: see
/// [`Measured::report`]. `told` hears of each [`Event`]. While it waits for a peer, a signal ends the process as usual; from
/// then on it ends the transfer.
///
/// # Errors
/// No connection came about.
pub fn measure(order: &Order, told: &mut dyn FnMut(Event<'_>)) -> Result<Measured, SpeedError> {
    let stream = connect::open(&order.way, &mut |address| told(Event::Listening(address)))?;
    if let Ok(peer) = stream.peer_addr() {
        told(Event::Connected(peer));
    }
    let stop = Stop::on_signals();
    Ok(carry::carry(stream, order.role, order.limits, &stop, told))
}

#[cfg(test)]
mod tests;
