//! What the headers of all frames have in common.

/// Bytes of the header of a session's frame.
pub const SESSION_HEADER_LEN: usize = 14;
/// The third and fourth byte of every header.
pub const SIGNATURE: u16 = 0xefff;
