//! The trait of jobs, and the context they run in.

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

/// The connection's state that a job can use.
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

    /// Maximum size of a message to the server, bytes.
    pub fn room(&self) -> u32 {
        self.link.max_buffer.min(*self.profile.buffers.request)
    }

    /// Number of requests that may be outstanding if the profile wants `wanted`.
    pub fn depth(&self, wanted: u16) -> usize {
        usize::from(wanted.min(self.link.max_mpx).max(1))
    }

    /// The variant of a method for the negotiated dialect: core dialects have no AndX commands ([MS-CIFS] 1.7).
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

/// The state of a job.
#[derive(Debug)]
pub(crate) enum Step {
    /// It waits for replies.
    Waiting,
    /// It has ended.
    Done(Outcome),
}

/// A running operation.
pub(crate) trait Job: core::fmt::Debug + Send {
    /// Sends the requests that are possible now. Called at the start and after every reply.
    ///
    /// # Errors
    /// Any error ends the operation.
    fn advance(&mut self, cx: &mut Context<'_>) -> Result<Step, Error>;

    /// Handles the reply to the request with tag `part`.
    ///
    /// # Errors
    /// Any error ends the operation, after [`Self::give_up`].
    fn reply(&mut self, cx: &mut Context<'_>, part: u32, reply: &Reply<'_>) -> Result<(), Error>;

    /// Releases the operation's resources on the server after a failure, without waiting for replies.
    fn give_up(&mut self, cx: &mut Context<'_>) {
        let _ = cx;
    }
}
