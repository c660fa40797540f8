//! A machine: one processor that does one thing after the other, and a disk.

use alloc::{boxed::Box, collections::VecDeque};

use coax_wire::time::{Span, Time};

use crate::{cause::Provenance, segment::Segment};

pub use coax_catalog::machine::MachineParams;

/// A piece of work for the processor.
#[derive(Debug)]
pub(crate) enum Job {
    /// A segment came in.
    Receive(Box<Segment>),
    /// A segment goes out.
    Send(Box<Segment>),
    /// The application's work, with its token.
    Work(u64),
}

impl Job {
    /// The processor time that it takes on a machine, beyond what an application asked for.
    pub(crate) fn cost(&self, machine: &MachineParams) -> Span {
        match self {
            Self::Work(_) => Span(0),
            Self::Receive(segment) if segment.payload.is_empty() => machine.rx_ack.of(0),
            Self::Receive(segment) => machine.rx_data.of(segment.payload.len()),
            Self::Send(segment) if segment.payload.is_empty() => machine.tx_ack.of(0),
            Self::Send(segment) => machine.tx_data.of(segment.payload.len()),
        }
    }
}

/// A job with its cost, and the account of what asked for it.
#[derive(Debug)]
pub(crate) struct Queued {
    pub(crate) job: Job,
    pub(crate) cost: Span,
    pub(crate) account: Provenance,
}

/// The processor: first come, first served, but that what is to be sent goes before what came in: a stack sends its
/// answer to a segment before it looks at the next.
#[derive(Debug, Default)]
pub(crate) struct Cpu {
    pub(crate) sending: VecDeque<Queued>,
    pub(crate) waiting: VecDeque<Queued>,
    pub(crate) busy: bool,
    pub(crate) used: Span,
}

/// The disk: one request after the other, beside the processor.
#[derive(Debug, Default)]
pub(crate) struct Disk {
    pub(crate) free_at: Time,
    pub(crate) last: Option<Provenance>,
}
