//! A host: a machine, its card and its TCP.

use crate::{card::NicParams, machine::MachineParams, stack::StackParams};

/// The components of a host.
#[derive(Clone, Debug, Default)]
pub struct HostParams {
    /// Its machine.
    pub machine: MachineParams,
    /// Its card.
    pub nic: NicParams,
    /// Its TCP.
    pub stack: StackParams,
}
