//! What an operation that failed half-way may have done.

use super::terms::Place;

/// What an operation that failed half-way may have done. Nobody was told, so the disk decides.
#[derive(Clone, Debug)]
pub(super) enum Allowance {
    /// The file may hold any of these bytes instead of its own, and have any length between.
    Bytes { node: usize, new: Vec<u8> },
    /// The name may be gone.
    Gone { node: usize },
    /// The name may have become the other.
    Moved { from: Place, to: Place },
    /// The name may have come.
    New { place: Place },
}
