//! Raw mode.

use crate::{conn::Connection, table::OpenId};
use alloc::vec::Vec;
use coax_wire::time::Time;

/// What the connection expects of raw mode.
#[derive(Debug, Default)]
pub struct RawState {
    breaks: Vec<OpenId>,
}

impl RawState {
    /// Whether the next message is raw data.
    pub fn expects_data(&self) -> bool {
        false
    }

    /// An oplock break was sent to the client.
    pub fn note_break(&mut self, open: OpenId) {
        self.breaks.push(open);
    }
}

/// Takes raw data.
pub fn data(_conn: &mut Connection, _now: Time, _message: &[u8]) {}
