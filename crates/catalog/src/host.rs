//! A host: a machine, its card, its TCP, and its NetBEUI and IPX.

use crate::{card::NicParams, machine::MachineParams, netbios::NetbiosParams, stack::StackParams};

/// The components of a host.
#[derive(Clone, Debug, Default)]
pub struct HostParams {
    /// Its machine.
    pub machine: MachineParams,
    /// Its card.
    pub nic: NicParams,
    /// Its TCP.
    pub stack: StackParams,
    /// Its NetBEUI and IPX.
    pub netbios: NetbiosParams,
}
