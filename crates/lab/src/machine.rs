//! A machine: one processor that does one thing after the other, and a disk.

use alloc::{boxed::Box, collections::VecDeque};

use coax_wire::time::{Span, Time};
use serde::Deserialize;

use crate::{cause::Provenance, segment::Segment, units::Cost};

/// What things cost on a machine. A cost not given is nothing.
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
    /// The client's program reads nothing of what came while it works or waits for its disk, as one of a single thread
    /// does that writes with plain calls. (The server's always is one.) What comes meanwhile fills TCP's buffer.
    pub blocking: bool,
}

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

impl MachineParams {
    pub(crate) fn cost(&self, job: &Job, work: Span) -> Span {
        match job {
            Job::Work(_) => work,
            Job::Receive(segment) if segment.payload.is_empty() => self.rx_ack.of(0),
            Job::Receive(segment) => self.rx_data.of(segment.payload.len()),
            Job::Send(segment) if segment.payload.is_empty() => self.tx_ack.of(0),
            Job::Send(segment) => self.tx_data.of(segment.payload.len()),
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
