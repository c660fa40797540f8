//! Progress of the tour.

/// Progress that the tour reports.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// A copy over loopback begins: profile, whether to the server.
    Copying(&'a str, bool),
    /// The tables are being predicted.
    Predicting,
    /// A slow copy is being made and explained.
    Explaining(&'a str),
}
