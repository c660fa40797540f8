//! Measures the raw TCP throughput of a path in both directions: the upper limit for any protocol over it.

use std::{str::FromStr, time::Duration};

use coax_speed::Role;

use super::{Event, IDLE, Limits, Measured, SpeedError, Stop, carry::carry, connect::connect};

/// Where to measure: a host with a source port and a discard port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CeilingTarget {
    /// Host name or address.
    pub host: String,
    /// The port to receive from.
    pub source_port: u16,
    /// The port to send to.
    pub discard_port: u16,
}

impl FromStr for CeilingTarget {
    type Err = String;

    /// Parses `HOST:PORT` (the discard port is the next one, as with `coax speed serve`) or `HOST:SOURCE,DISCARD`. An
    /// IPv6 address needs brackets.
    /// `HOST:SOURCE,DISCARD`. An IPv6 address stands in brackets.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong =
            || "write HOST:PORT of a 'coax speed serve', or HOST:SOURCE,DISCARD".to_string();
        let (host, ports) = text.rsplit_once(':').ok_or_else(wrong)?;
        let port = |text: &str| text.parse().ok().filter(|port| *port != 0);
        let (source, discard) = match ports.split_once(',') {
            Some((source, discard)) => (port(source), port(discard)),
            None => (port(ports), port(ports).and_then(|p: u16| p.checked_add(1))),
        };
        match (source, discard) {
            (Some(source_port), Some(discard_port)) if !host.is_empty() => Ok(Self {
                host: host.into(),
                source_port,
                discard_port,
            }),
            _ => Err(wrong()),
        }
    }
}

/// The result.
#[derive(Clone, Debug)]
pub struct Ceiling {
    /// From the peer to this machine.
    pub to_us: Measured,
    /// From this machine to the peer.
    pub to_peer: Measured,
}

impl Ceiling {
    /// Bytes per second from the peer to this machine.
    pub fn to_us_bytes_per_s(&self) -> f64 {
        self.to_us.report.rate_since_first_byte().bytes_per_s()
    }

    /// Bytes per second from this machine to the peer, as acknowledged by the peer's TCP.
    pub fn to_peer_bytes_per_s(&self) -> f64 {
        self.to_peer.report.rate().bytes_per_s()
    }
}

/// Receives for `time`, then sends for `time`. Blocks; `stop` ends it early. [`Measured::is_complete`] of each
/// direction tells whether it succeeded.
///
/// # Errors
/// One of the two ports refuses the connection.
pub fn ceiling(target: &CeilingTarget, time: Duration, stop: &Stop) -> Result<Ceiling, SpeedError> {
    let limits = Limits {
        bytes: None,
        time: Some(time),
        idle: IDLE,
        copy: false,
    };
    let one = |role, port| {
        let stream = connect(&format!("{}:{port}", target.host), None)?;
        Ok(carry(stream, role, limits, stop, &mut |_: Event<'_>| {}))
    };
    Ok(Ceiling {
        to_us: one(Role::Receive, target.source_port)?,
        to_peer: one(Role::Send, target.discard_port)?,
    })
}
