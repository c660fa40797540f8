//! `coax speed`: measures raw TCP between this machine and an old one, with blocking sockets around [`coax_speed`].
//!
//! [`measure`] makes one connection ([`connect`]) and runs one transfer over it ([`carry`]). [`serve`] listens at a
//! source and a discard port. [`ceiling`] measures with such a pair of ports in both directions. `kernel` reads TCP's
//! own statistics.

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

/// Default source port, from which peers receive. mTCP's examples use it.
pub const SOURCE_PORT: u16 = 2000;
/// Default discard port, to which peers send.
pub const DISCARD_PORT: u16 = 2001;
/// Default idle timeout. mTCP waits up to ten seconds before a retransmission.
pub const IDLE: Duration = Duration::from_secs(60);

/// One transfer to be made.
#[derive(Clone, Debug)]
pub struct Order {
    /// The direction, seen from this machine.
    pub role: Role,
    /// Which side connects.
    pub way: Way,
    /// What to transfer.
    pub limits: Limits,
}

/// Makes a connection and runs one transfer over it. A transfer that ended early is not an error here: see
/// [`Measured::report`]. It calls `on_event` with each [`Event`]. A signal ends the process while it waits for a peer, and
/// ends only the transfer after that.
///
/// # Errors
/// No connection was made.
pub fn measure(order: &Order, on_event: &mut dyn FnMut(Event<'_>)) -> Result<Measured, SpeedError> {
    let stream = connect::open(&order.way, &mut |address| {
        on_event(Event::Listening(address))
    })?;
    if let Ok(peer) = stream.peer_addr() {
        on_event(Event::Connected(peer));
    }
    let stop = Stop::on_signals();
    Ok(carry::carry(
        stream,
        order.role,
        order.limits,
        &stop,
        on_event,
    ))
}

#[cfg(test)]
mod tests;
