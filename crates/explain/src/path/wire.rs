//! Lengths on the wire.

use coax_capture::Segment;

/// The shortest frame with both.
pub(crate) const LEAST: u64 = 84;

/// What a segment takes on the wire, bytes.
pub(crate) fn wire_bytes(segment: &Segment<'_>) -> u64 {
    (overhead(segment) + u64::from(segment.len)).max(LEAST)
}

/// What Ethernet and the headers add to a segment's data, bytes, with preamble and gap.
pub(crate) fn overhead(segment: &Segment<'_>) -> u64 {
    segment.from.transport().overhead() + segment.options.len() as u64
}
