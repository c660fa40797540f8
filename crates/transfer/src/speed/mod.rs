//! `coax speed`: raw TCP between this machine and an old one, with plain blocking sockets around [`coax_speed`].
//!
//! [`measure`] makes one connection ([`connect`]) and carries one transfer over it ([`carry`]); [`serve`] listens for
//! visitors at a source and a discard port; [`ceiling`] asks such a pair of ports what the path carries both ways, for
//! others to compare with. What TCP itself counts comes from `kernel`.

pub mod carry;
pub mod ceiling;
pub mod connect;
mod kernel;
mod limits;
pub mod serve;
pub mod stop;

use std::time::Duration;

use coax_speed::Role;

pub use carry::Measured;
pub use connect::{SpeedError, Way};
pub use limits::{Event, Limits};
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
