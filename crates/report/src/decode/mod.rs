//! The fields of SMB and NetBIOS messages, as text and as JSON.

mod json;
mod profiles;
mod seen;
mod text;

pub use json::line;
pub use profiles::profiles;
pub use seen::seen;
pub use text::{fields, heading, summary, value};

use coax_decode::Decoded;
use coax_wire::time::Time;

/// A message that was decoded, and where it is in a capture.
#[derive(Clone, Copy, Debug)]
pub struct Shown<'a> {
    /// Frame, time since the capture's first packet, sender and receiver; none if the message was typed in.
    pub place: Option<Place<'a>>,
    /// The bytes that were decoded.
    pub bytes: &'a [u8],
    /// Bytes that the message had on the wire.
    pub len: usize,
    /// The fields.
    pub decoded: &'a Decoded,
}

/// Where a message is in a capture.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The frame that completed it, from 1.
    pub frame: u64,
    /// Time since the first message.
    pub since_start: Time,
    /// Who sent it.
    pub from: &'a str,
    /// Who received it.
    pub to: &'a str,
}

/// Hexadecimal digits of the first bytes of a field.
fn digits(bytes: &[u8], at: usize, len: usize, most: usize) -> String {
    let end = at.saturating_add(len.min(most));
    let shown = bytes.get(at..end).unwrap_or_default();
    let mut text: String = shown.iter().map(|byte| format!("{byte:02x}")).collect();
    if len > shown.len() {
        text.push('…');
    }
    text
}
