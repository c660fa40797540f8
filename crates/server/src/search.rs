//! Searches kept open by one connection.

/// The searches of a connection.
#[derive(Debug, Default)]
pub struct Searches {}

impl Searches {
    /// Whether none is open.
    pub fn is_empty(&self) -> bool {
        true
    }
}
