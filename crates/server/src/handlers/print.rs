//! Print jobs.

/// A job being spooled.
#[derive(Debug)]
pub struct Job {}
