//! A message of a capture.

use coax_wire::time::Time;

use crate::Decoded;

/// A message and where it is in the capture.
#[derive(Debug)]
pub struct Message<'a> {
    /// The frame that completed it, from 1.
    pub frame: u64,
    /// When that frame was captured.
    pub at: Time,
    /// Who sent it.
    pub from: String,
    /// Who received it.
    pub to: String,
    /// Its bytes, as far as they were captured.
    pub bytes: &'a [u8],
    /// Bytes that it had on the wire.
    pub len: usize,
    /// Its fields.
    pub decoded: Decoded,
    /// It belongs to no session.
    pub is_datagram: bool,
}
