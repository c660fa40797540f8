//! A machine: one processor that runs one job at a time, and a disk.

use alloc::{boxed::Box, collections::VecDeque};

use coax_wire::time::{Span, Time};

use crate::{cause::Provenance, segment::Segment};

pub use coax_catalog::machine::MachineParams;

/// A job of the processor.
#[derive(Debug)]
pub(crate) enum Job {
    /// A received segment.
    Receive(Box<Segment>),
    /// A segment to send.
    Send(Box<Segment>),
    /// The application's work, with its token.
    Work(u64),
}

impl Job {
    /// Processor time of the job, without the time that an application requested.
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

/// A job with its cost and the account of its cause.
#[derive(Debug)]
pub(crate) struct Queued {
    /// The client whose connection it serves.
    pub(crate) client: u16,
    pub(crate) job: Job,
    pub(crate) cost: Span,
    pub(crate) account: Provenance,
}

/// The processor: first come, first served, but sending goes before receiving, because a stack answers a segment before
/// it handles the next one.
#[derive(Debug, Default)]
pub(crate) struct Cpu {
    pub(crate) sending: VecDeque<Queued>,
    pub(crate) waiting: VecDeque<Queued>,
    pub(crate) busy: bool,
    pub(crate) used: Span,
}

impl Cpu {
    /// Whether the job that waits longest is a received segment of this client's connection.
    pub(crate) fn receives_next(&self, client: u16) -> bool {
        let next = self.waiting.front();
        next.is_some_and(|next| next.client == client && matches!(next.job, Job::Receive(_)))
    }
}

/// The disk: one request after the other, in parallel to the processor.
#[derive(Debug, Default)]
pub(crate) struct Disk {
    pub(crate) free_at: Time,
    /// The client of the last request, and the account at its end.
    pub(crate) last: Option<(u16, Provenance)>,
}
