//! What readers may take.

use std::time::Duration;

/// Limits of the page. Tests make them small.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Connections at a time; further ones get status 503.
    pub connections: usize,
    /// Readers of events at a time; further ones get status 503.
    pub readers: usize,
    /// How long the head of a request may take,
    pub head: Duration,
    /// its body,
    pub body: Duration,
    /// and the pause between two requests.
    pub idle: Duration,
    /// How long a reader may accept nothing.
    pub stall: Duration,
    /// Time between two looks at the server.
    pub period: Duration,
    /// The largest recording, bytes.
    pub recording_bytes: u64,
    /// How long a finished recording is kept.
    pub recording_kept: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 64,
            readers: 32,
            head: Duration::from_secs(10),
            body: Duration::from_secs(10),
            idle: Duration::from_secs(30),
            stall: Duration::from_secs(30),
            period: Duration::from_secs(1),
            recording_bytes: 64 << 20,
            recording_kept: Duration::from_secs(15 * 60),
        }
    }
}
