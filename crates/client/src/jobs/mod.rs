//! Operations at work: each is a state machine that sends requests and takes replies.

pub mod copy;
pub mod list;
mod names;
pub(crate) mod reply;
mod shares;
pub mod stat;
pub(crate) mod transact;

use crate::{
    calls::{Calls, Owner, Request, Tail},
    error::Error,
    event::{Event, JobId, Operation, Outcome},
    link::Link,
    local::LocalFiles,
    profile::{Method, Profile},
};
use alloc::{boxed::Box, collections::VecDeque};
use coax_wire::{dialect::Generation, header::Mid, time::Time};
use reply::Reply;

/// What a job works with.
pub(crate) struct Context<'a> {
    pub now: Time,
    pub link: &'a Link,
    pub profile: &'a Profile,
    pub calls: &'a mut Calls,
    pub files: &'a mut dyn LocalFiles,
    pub events: &'a mut VecDeque<Event>,
    pub job: JobId,
}

impl Context<'_> {
    /// Sends a request of this job.
    pub fn send(&mut self, request: Request) -> Result<Mid, Error> {
        self.calls.send(self.now, Owner::Job(self.job), request)
    }

    /// The largest message that may be sent, bytes.
    pub fn room(&self) -> u32 {
        self.link.max_buffer.min(*self.profile.buffers.request)
    }

    /// Requests that may be outstanding, if the profile wants `wanted`.
    pub fn depth(&self, wanted: u16) -> usize {
        usize::from(wanted.min(self.link.max_mpx).max(1))
    }

    /// What is done in the negotiated dialect where the profile says this: core dialects have no AndX commands
    /// ([MS-CIFS] 1.7).
    pub fn suited(&self, method: Method) -> Method {
        match method {
            Method::Andx if self.link.generation() < Generation::Lanman1 => Method::Core,
            method => method,
        }
    }

    /// Sends the data of a raw write.
    pub fn send_bare(&mut self, data: Tail) -> Result<(), Error> {
        self.calls.send_bare(data)
    }
}

/// How a job stands.
#[derive(Debug)]
pub(crate) enum Step {
    /// It waits for replies.
    Waiting,
    /// It is over.
    Done(Outcome),
}

/// An operation at work.
pub(crate) trait Job: core::fmt::Debug + Send {
    /// Sends what can be sent now. Called first, and after every reply.
    ///
    /// # Errors
    /// Any; the operation then ends with it.
    fn advance(&mut self, cx: &mut Context<'_>) -> Result<Step, Error>;

    /// Takes a reply to the request that was marked `part`.
    ///
    /// # Errors
    /// Any; the operation then ends with it, unless [`Self::give_up`] has more to do.
    fn reply(&mut self, cx: &mut Context<'_>, part: u32, reply: &Reply<'_>) -> Result<(), Error>;

    /// The operation failed: releases what it holds on the server, without waiting for answers.
    fn give_up(&mut self, cx: &mut Context<'_>) {
        let _ = cx;
    }
}

/// The state machine for an operation.
pub(crate) fn begin(operation: Operation) -> Box<dyn Job> {
    match operation {
        Operation::Copy(spec) => Box::new(copy::Copy::new(spec)),
        Operation::List { pattern } => Box::new(list::List::new(pattern)),
        Operation::Shares => Box::new(shares::Shares::default()),
        Operation::Stat { path } => Box::new(stat::Stat::new(path)),
        Operation::DiskSpace => Box::new(stat::Disk::default()),
        Operation::SetStat {
            path,
            modified,
            attributes,
        } => Box::new(stat::SetStat::new(path, modified, attributes)),
        Operation::Delete { path } => Box::new(names::Simple::delete(path)),
        Operation::MakeDirectory { path } => Box::new(names::Simple::make_directory(path)),
        Operation::RemoveDirectory { path } => Box::new(names::Simple::remove_directory(path)),
        Operation::Rename { from, to } => Box::new(names::Simple::rename(from, to)),
    }
}
