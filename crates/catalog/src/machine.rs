//! Costs of work on a machine.

use serde::Deserialize;

use crate::{
    component::Described,
    files::{self, Files},
    units::Cost,
};

/// Costs of work on a machine. Costs that are not given are zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MachineParams {
    /// To receive a segment with data, by its bytes on the wire: interrupt, copy from the card, checksum, TCP.
    pub rx_data: Cost,
    /// To receive one without.
    pub rx_ack: Cost,
    /// To send a segment with data.
    pub tx_data: Cost,
    /// To send one without.
    pub tx_ack: Cost,
    /// For the application to deal with a request or a response, by its bytes.
    pub request: Cost,
    /// For the disk to read, by the bytes read.
    pub disk_read: Cost,
    /// For the disk to write, by the bytes written.
    pub disk_write: Cost,
    /// The client's program does not read while it works or waits for its disk, like a single-threaded program with
    /// blocking writes. (The server's program always behaves this way.) Meanwhile, received data fills TCP's buffer.
    pub blocking: bool,
}

impl Described for MachineParams {
    const KIND: &'static str = "machine";
    const BUILT_IN: Files = files::MACHINES;
}
