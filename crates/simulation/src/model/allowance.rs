//! The possible effects of an operation that failed half-way.

use super::terms::Place;

/// A possible effect of an operation that failed half-way. The client got only an error, so the disk decides.
#[derive(Clone, Debug)]
pub(super) enum Allowance {
    /// The file may have any of these bytes in place of its own, and any length in between.
    Bytes { node: usize, new: Vec<u8> },
    /// The name may have been removed.
    Gone { node: usize },
    /// The name may have been renamed.
    Moved { from: Place, to: Place },
    /// The name may have been created.
    New { place: Place },
}
