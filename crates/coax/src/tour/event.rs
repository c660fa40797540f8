//! Progress of the tour.

/// What is told on the way.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// A copy over loopback begins: profile, whether to the server.
    Copying(&'a str, bool),
    /// The tables are being predicted.
    Predicting,
    /// A slow copy is being made and explained.
    Explaining(&'a str),
}
