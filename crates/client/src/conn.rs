//! One connection: session, set-up, and the jobs in sequence.

use crate::{
    calls::{Calls, Exchange, Owner, Request, Transmit},
    error::Error,
    event::{Event, Operation},
    job_id::JobId,
    jobs::{self, Context, Job, Step, reply::Reply},
    link::Link,
    local::LocalFiles,
    profile::Profile,
    setup::{Setup, Stage},
    target::Target,
};
use alloc::{boxed::Box, collections::VecDeque, sync::Arc};
use coax_netbios::{Session, SessionConfig};
use coax_wire::{block::put_empty, command, time::Time};

/// A client's connection to one share.
///
/// A driver repeats these steps: read into [`recv_space`](Self::recv_space), report it with
/// [`received`](Self::received), send the results of [`poll_transmit`](Self::poll_transmit) (each in one write), handle
/// [`poll_event`](Self::poll_event) until it is empty, wait until [`poll_timeout`](Self::poll_timeout).
pub struct Client {
    session: Session,
    core: Core,
}

struct Core {
    profile: Arc<Profile>,
    calls: Calls,
    state: State,
    events: VecDeque<Event>,
    queue: VecDeque<(JobId, Operation)>,
    active: Option<(JobId, Box<dyn Job>)>,
    next_job: u32,
    recording: bool,
}

enum State {
    SettingUp(Box<Setup>),
    Ready(Box<Link>),
    Closed,
}

impl Client {
    /// The client's end of a new connection. Poll transmits at once.
    pub fn new(now: Time, profile: Arc<Profile>, target: Target) -> Self {
        let config = SessionConfig {
            max_message: target.transport.framing().max_len(),
            ..SessionConfig::default()
        };
        let session = Session::client(
            now,
            target.transport,
            target.called.clone(),
            target.calling.clone(),
            config,
        );
        let calls = Calls::new(session.framing(), *profile.transport.cut);
        let mut client = Self {
            session,
            core: Core {
                state: State::SettingUp(Box::new(Setup::new(profile.clone(), target))),
                profile,
                calls,
                events: VecDeque::new(),
                queue: VecDeque::new(),
                active: None,
                next_job: 0,
                recording: false,
            },
        };
        client.turn(now, &mut crate::NoFiles);
        client
    }

    /// Records every exchange, for [`poll_exchange`](Self::poll_exchange).
    pub fn record_exchanges(&mut self) {
        self.core.recording = true;
    }

    /// Queues an operation; it starts when the earlier ones have ended.
    pub fn submit(&mut self, now: Time, operation: Operation, files: &mut dyn LocalFiles) -> JobId {
        self.core.next_job = self.core.next_job.wrapping_add(1);
        let job = JobId(self.core.next_job);
        if matches!(self.core.state, State::Closed) {
            let result = Err(Error::Closed { waiting: None });
            self.core.events.push_back(Event::Done { job, result });
            return job;
        }
        self.core.queue.push_back((job, operation));
        self.core.work(now, files);
        job
    }

    /// Space to read the server's bytes into. `hint` is the number of readable bytes, 0 if unknown.
    pub fn recv_space(&mut self, hint: usize) -> &mut [u8] {
        self.session.recv_space(hint)
    }

    /// `count` bytes were read into the space at `now`. Poll transmits and events next.
    pub fn received(&mut self, now: Time, count: usize, files: &mut dyn LocalFiles) {
        self.session.received(now, count);
        self.turn(now, files);
    }

    /// Copies received bytes from another buffer.
    pub fn handle_bytes(&mut self, now: Time, bytes: &[u8], files: &mut dyn LocalFiles) {
        let mut rest = bytes;
        while !rest.is_empty() {
            let taken = self.session.handle_bytes(now, rest);
            self.turn(now, files);
            rest = rest.get(taken..).unwrap_or_default();
            if taken == 0 {
                return;
            }
        }
    }

    /// The server closed its direction, or the transport failed.
    pub fn handle_eof(&mut self, now: Time, files: &mut dyn LocalFiles) {
        self.turn(now, files);
        let waiting = self.core.calls.oldest();
        let error = match self.session.handle_eof() {
            Err(coax_netbios::SessionError::CutShort) | Ok(()) => Error::Closed { waiting },
            Err(error) => Error::Session(error),
        };
        self.core.close(error);
    }

    /// Runs the due timers. Poll transmits and events next.
    pub fn handle_timeout(&mut self, now: Time, files: &mut dyn LocalFiles) {
        self.session.handle_timeout(now);
        self.turn(now, files);
        if let Some(error) = self.core.calls.overdue(now) {
            self.core.close(error);
        }
    }

    /// The next bytes to send, in one write. Poll until it returns `None`.
    pub fn poll_transmit(&mut self) -> Option<Transmit> {
        if let Some(head) = self.session.poll_transmit() {
            return Some(Transmit {
                head,
                ..Transmit::default()
            });
        }
        if !self.session.is_established() {
            return None;
        }
        self.core.calls.poll_transmit()
    }

    /// The next event. Poll until it returns `None`.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.core.events.pop_front()
    }

    /// The next completed exchange, if they are recorded.
    pub fn poll_exchange(&mut self) -> Option<Exchange> {
        self.core.calls.exchanges.pop_front()
    }

    /// When to call [`handle_timeout`](Self::handle_timeout). Changes with every call that takes a time. `None` after
    /// the connection is closed.
    pub fn poll_timeout(&self) -> Option<Time> {
        if self.is_closed() {
            return None;
        }
        let session = self.session.poll_timeout();
        let calls = self.core.calls.deadline();
        session.into_iter().chain(calls).min()
    }

    /// Allocated bytes of the receive buffer.
    pub fn buffered_capacity(&self) -> usize {
        self.session.buffered_capacity()
    }

    /// Whether the connection is closed.
    pub fn is_closed(&self) -> bool {
        matches!(self.core.state, State::Closed)
    }

    /// The negotiated parameters, once the share is connected.
    pub fn link(&self) -> Option<&Link> {
        match &self.core.state {
            State::Ready(link) => Some(link),
            _ => None,
        }
    }

    /// Disconnects the tree, if there is one. Unfinished operations end with [`Error::Closed`]. Then send the
    /// transmits, read the events, and close the socket.
    pub fn finish(&mut self, now: Time) {
        self.core.finish(now);
    }

    /// Handles the received messages.
    fn turn(&mut self, now: Time, files: &mut dyn LocalFiles) {
        loop {
            match self.session.poll_message() {
                Some(Ok(message)) => {
                    let result = self.core.message(now, message, files);
                    self.session.consume();
                    if let Err(error) = result {
                        self.core.close(error);
                    }
                }
                Some(Err(error)) => {
                    self.core.close(Error::Session(error));
                    return;
                }
                None => break,
            }
            if matches!(self.core.state, State::Closed) {
                return;
            }
        }
        if self.session.is_established() {
            self.core.established(now);
            self.core.work(now, files);
        }
    }
}

impl Core {
    /// The session is established: starts the negotiation.
    fn established(&mut self, now: Time) {
        if let State::SettingUp(setup) = &mut self.state
            && let Err(error) = setup.begin(now, &mut self.calls)
        {
            self.close(error);
        }
    }

    fn message(
        &mut self,
        now: Time,
        message: &[u8],
        files: &mut dyn LocalFiles,
    ) -> Result<(), Error> {
        let Some((owner, part, reply)) = self.calls.answer(now, message)? else {
            return Ok(());
        };
        if !self.recording {
            self.calls.exchanges.clear();
        }
        match owner {
            Owner::Setup => self.set_up(now, &reply),
            Owner::Nobody => Ok(()),
            Owner::Job(job) => self.job_reply(now, job, part, &reply, files),
        }
    }

    fn set_up(&mut self, now: Time, reply: &Reply<'_>) -> Result<(), Error> {
        let State::SettingUp(setup) = &mut self.state else {
            return Ok(());
        };
        if let Stage::Connected(link) = setup.reply(now, &mut self.calls, reply)? {
            self.events.push_back(Event::Connected(link.clone()));
            self.state = State::Ready(link);
        }
        Ok(())
    }

    fn job_reply(
        &mut self,
        now: Time,
        job: JobId,
        part: u32,
        reply: &Reply<'_>,
        files: &mut dyn LocalFiles,
    ) -> Result<(), Error> {
        self.with_job(now, files, |active, cx| {
            if cx.job != job {
                return Ok(Step::Waiting);
            }
            active.reply(cx, part, reply)?;
            Ok(Step::Waiting)
        })
    }

    /// Advances the jobs as far as possible.
    fn work(&mut self, now: Time, files: &mut dyn LocalFiles) {
        while matches!(self.state, State::Ready(_)) {
            if self.active.is_none() {
                let Some((job, operation)) = self.queue.pop_front() else {
                    return;
                };
                self.active = Some((job, jobs::begin(operation)));
            }
            if let Err(error) = self.with_job(now, files, |job, cx| job.advance(cx)) {
                self.close(error);
            }
            if self.active.is_some() {
                return;
            }
        }
    }

    /// Runs `act` on the active job and handles its result. The caller handles fatal errors.
    fn with_job(
        &mut self,
        now: Time,
        files: &mut dyn LocalFiles,
        act: impl FnOnce(&mut dyn Job, &mut Context<'_>) -> Result<Step, Error>,
    ) -> Result<(), Error> {
        let (State::Ready(link), Some((id, job))) = (&self.state, &mut self.active) else {
            return Ok(());
        };
        let id = *id;
        let mut cx = Context {
            now,
            link,
            profile: &self.profile,
            calls: &mut self.calls,
            files,
            events: &mut self.events,
            job: id,
        };
        let result = match act(job.as_mut(), &mut cx) {
            Ok(Step::Waiting) => return Ok(()),
            Ok(Step::Done(outcome)) => Ok(outcome),
            Err(error) if error.is_fatal() => return Err(error),
            Err(error) => {
                job.give_up(&mut cx);
                Err(error)
            }
        };
        self.active = None;
        self.events.push_back(Event::Done { job: id, result });
        Ok(())
    }

    fn finish(&mut self, now: Time) {
        if matches!(self.state, State::Ready(_)) {
            let mut disconnect = Request::new(command::TREE_DISCONNECT, 0);
            put_empty(&mut disconnect.out);
            // An error has no consequence: the connection is closed next.
            let _ = self.calls.send(now, Owner::Nobody, disconnect);
        }
        self.state = State::Closed;
        self.end_jobs(&Error::Closed { waiting: None });
    }

    /// Closes the connection: all remaining operations end with `error`.
    fn close(&mut self, error: Error) {
        if matches!(self.state, State::Closed) {
            return;
        }
        self.state = State::Closed;
        self.end_jobs(&error);
        self.events.push_back(Event::Closed(error));
    }

    /// Ends all remaining operations with `error`.
    fn end_jobs(&mut self, error: &Error) {
        let active = self.active.take().map(|(job, _)| job);
        let queued = core::mem::take(&mut self.queue);
        for job in active
            .into_iter()
            .chain(queued.into_iter().map(|(job, _)| job))
        {
            let result = Err(error.clone());
            self.events.push_back(Event::Done { job, result });
        }
    }
}
