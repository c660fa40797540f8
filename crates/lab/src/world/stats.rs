//! Counters of a run.

/// What one direction of the link and its rings did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathStats {
    /// Frames that left the card.
    pub frames: u64,
    /// Bytes of wire they took, framing included.
    pub wire_bytes: u64,
    /// Frames that the sender's card had no room for.
    pub ring_drops: u64,
    /// Frames that the link lost.
    pub lost: u64,
    /// Frames that found the slower link's queue full.
    pub queue_drops: u64,
    /// Frames that the receiver's card had no room for.
    pub rx_drops: u64,
}
