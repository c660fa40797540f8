//! What clients may take.

use std::time::Duration;

/// Limits of connections. Tests make them small.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Connections at a time; further ones get status 503.
    pub connections: usize,
    /// How long the head of a request may take,
    pub head: Duration,
    /// its body,
    pub body: Duration,
    /// and the pause between two requests.
    pub idle: Duration,
    /// How long a client may accept nothing of a response.
    pub stall: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 64,
            head: Duration::from_secs(10),
            body: Duration::from_secs(10),
            idle: Duration::from_secs(30),
            stall: Duration::from_secs(30),
        }
    }
}
