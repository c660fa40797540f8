//! Lengths on the wire.

use coax_capture::Segment;

/// What Ethernet, IP and TCP without options add to a segment's data, bytes, with preamble and gap.
pub(crate) const OVERHEAD: u64 = 78;

/// The shortest frame with both.
pub(crate) const LEAST: u64 = 84;

/// What a segment takes on the wire, bytes.
pub(crate) fn wire_bytes(segment: &Segment<'_>) -> u64 {
    (OVERHEAD + segment.options.len() as u64 + u64::from(segment.len)).max(LEAST)
}
