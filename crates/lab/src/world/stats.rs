//! Statistics of a run.

/// Statistics of one direction of the link and its rings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PathStats {
    /// Frames that left the card.
    pub frames: u64,
    /// Their bytes on the wire, framing included.
    pub wire_bytes: u64,
    /// Frames dropped because the sender's ring was full.
    pub ring_drops: u64,
    /// Frames that the link lost.
    pub lost: u64,
    /// Frames dropped because the router's queue was full.
    pub queue_drops: u64,
    /// Frames dropped because the receiver's ring was full.
    pub rx_drops: u64,
}
