//! The state of a host, and of one end of a connection.

use coax_wire::time::Time;

use coax_catalog::host::HostParams;

use super::stats::PathStats;
use crate::{
    cause::Provenance,
    link::{Direction, LinkParams, LossParams, NicParams},
    machine::{Cpu, Disk, MachineParams},
    rng::Rng,
    station::Station,
    tcp::{Blocked, Endpoint, StackParams, Timer},
};

/// A machine and its card. The server's serve all connections.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) machine: MachineParams,
    pub(super) nic: NicParams,
    pub(super) cpu: Cpu,
    pub(super) disk: Disk,
    pub(super) way: Direction,
    pub(super) rx_waiting: usize,
    pub(super) paths: PathStats,
}

impl Host {
    pub(super) fn new(
        params: &HostParams,
        link: &LinkParams,
        loss: &LossParams,
        rng: &mut Rng,
    ) -> Self {
        Self {
            machine: params.machine,
            nic: params.nic,
            cpu: Cpu::default(),
            disk: Disk::default(),
            way: Direction::new(link, loss.clone(), &params.nic, rng),
            rx_waiting: 0,
            paths: PathStats::default(),
        }
    }
}

/// One end of a connection.
#[derive(Debug)]
pub(crate) struct Socket {
    pub(crate) tcp: Endpoint,
    /// What is used instead of TCP.
    pub(crate) station: Option<Station>,
    /// Segments of this connection that wait in the card or for the processor.
    pub(super) rx_waiting: usize,
    /// What blocks the sender.
    pub(super) held: Option<Blocked>,
    /// Deadlines at the last check, each with the account of the time when it was set.
    pub(super) timers: [Option<(Time, Provenance)>; Timer::ALL.len()],
    /// The number of the retransmission timer's setting.
    pub(super) arming: u32,
    pub(super) timer_event: Option<Time>,
}

impl Socket {
    pub(super) fn new(stack: &StackParams, rng: &mut Rng) -> Self {
        let initial = (rng.next_u64() >> 32) as u32;
        Self {
            tcp: Endpoint::new(stack.clone(), initial),
            station: None,
            rx_waiting: 0,
            held: None,
            timers: [const { None }; Timer::ALL.len()],
            arming: 0,
            timer_event: None,
        }
    }
}
