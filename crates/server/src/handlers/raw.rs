//! Raw mode.

use crate::conn::Connection;
use coax_wire::time::Time;

/// What the connection expects of raw mode.
#[derive(Debug, Default)]
pub struct RawState {}

impl RawState {
    /// Whether the next message is raw data.
    pub fn expects_data(&self) -> bool {
        false
    }
}

/// Takes raw data.
pub fn data(_conn: &mut Connection, _now: Time, _message: &[u8]) {}
