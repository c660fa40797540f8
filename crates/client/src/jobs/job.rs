//! A job, and what it works with.

use alloc::collections::VecDeque;

use coax_wire::{dialect::Generation, header::Mid, time::Time};

use super::reply::Reply;
use crate::{
    calls::{Calls, Owner, Request, Tail},
    error::Error,
    event::{Event, Outcome},
    job_id::JobId,
    link::Link,
    local::LocalFiles,
    profile::{Method, Profile},
};

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
