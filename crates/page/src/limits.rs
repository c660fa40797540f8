//! What readers may take.

use std::time::Duration;

/// Limits of the page. Tests make them small.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Of connections.
    pub http: coax_http::Limits,
    /// Readers of events at a time; further ones get status 503.
    pub readers: usize,
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
            http: coax_http::Limits::default(),
            readers: 32,
            period: Duration::from_secs(1),
            recording_bytes: 64 << 20,
            recording_kept: Duration::from_secs(15 * 60),
        }
    }
}
