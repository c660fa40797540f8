//! The interframe gap.

/// Bytes of the interframe gap, which other modules count as part of a frame.
pub(crate) const GAP_BYTES: u64 = 12;
