//! One client: its socket, its engine, and what waits to be sent to it.
//!
//! The engine and the outbox are behind a mutex that is nearly always free: the thread that serves the client takes it
//! for each request, and whoever delivers a wake or a time-out takes it in between. Reading needs no lock, so a thread
//! can wait in `recv` while an oplock break goes out.

use std::{
    net::SocketAddr,
    os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use coax_netbios::{Session, Transport};
use coax_server::{Connection, Event, Peer};
use coax_wire::{nbt::session::Framing, time::Time};

use super::{
    host::Host,
    outbox::Outbox,
    printing::Job,
    socket::{Received, Socket},
    story::Story,
    wake::Bell,
};
use crate::config::macros::MacroValues;

/// The longest time a thread serves one client while others wait for a thread.
const TURN_MS: u64 = 20;
/// What a client that has got so far as to use a share may make us allocate on its word, bytes.
const HINT: usize = 128 * 1024;
/// "No deadline".
const NEVER: u64 = u64::MAX;

/// Why a connection ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The client closed it.
    Closed,
    /// The server is shutting down.
    Stopping,
    /// Anything else, in words.
    Because(String),
}

/// How a turn of serving a client ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    /// The client has nothing to ask.
    Idle,
    /// The client does not take what we have to send.
    Blocked,
    /// The client asks on, but others are waiting for a thread.
    Again,
    /// The connection is over, and what it held is to be closed.
    Over(End),
    /// The connection is over, and what it held is closed.
    Gone,
}

/// One client.
pub(super) struct Link {
    /// What all clients share.
    pub(super) host: Arc<Host>,
    /// The socket.
    pub(super) socket: Socket,
    /// Rung when another connection's doings concern this one.
    pub(super) bell: Arc<Bell>,
    address: String,
    /// When the engine wants to be called, nanoseconds; [`NEVER`].
    deadline: AtomicU64,
    inner: Mutex<Inner>,
}

struct Inner {
    /// Made with the first message, when the names are known.
    engine: Option<Connection>,
    outbox: Outbox,
    story: Story,
}

impl Link {
    /// A client that has just connected.
    pub(super) fn new(
        host: Arc<Host>,
        socket: Socket,
        transport: Transport,
        address: String,
        number: u64,
    ) -> Self {
        let story = Story::begin(&host, number, address.clone(), transport);
        let inner = Inner {
            engine: None,
            outbox: Outbox::default(),
            story,
        };
        Self {
            host,
            socket,
            bell: Arc::default(),
            address,
            deadline: AtomicU64::new(NEVER),
            inner: Mutex::new(inner),
        }
    }

    /// When the engine wants [`Self::attend`] to be called.
    pub(super) fn deadline(&self) -> Option<Time> {
        match self.deadline.load(Ordering::Acquire) {
            NEVER => None,
            ns => Some(Time(ns)),
        }
    }

    /// Whether something waits to be sent.
    pub(super) fn has_unsent(&self) -> bool {
        !self.lock().outbox.is_empty()
    }

    /// Bytes sent to the client so far.
    pub(super) fn sent_total(&self) -> u64 {
        self.lock().outbox.sent_total()
    }

    /// Whether the client holds nothing open, so that `deadtime` applies.
    pub(super) fn is_idle(&self) -> bool {
        self.lock().engine.as_ref().is_none_or(Connection::is_idle)
    }

    /// Delivers wakes and time-outs, and if the client is `ready`, serves it until it has nothing to ask.
    /// Closes what it held if that was its last turn.
    pub(super) fn turn(&self, session: &mut Session, ready: bool) -> Rest {
        match self.serve(session, ready) {
            Ok(Rest::Over(end)) | Err(Rest::Over(end)) => {
                self.close(&end);
                Rest::Gone
            }
            Ok(rest) | Err(rest) => {
                if let Some(engine) = &mut self.lock().engine {
                    engine.rest();
                }
                rest
            }
        }
    }

    /// Delivers wakes and time-outs, and sends what comes of them.
    pub(super) fn attend(&self) -> Result<(), Rest> {
        let now = self.host.clock.now();
        let rung = self.bell.take();
        let due = self.deadline().is_some_and(|deadline| deadline <= now);
        if !rung && !due {
            return Ok(());
        }
        let mut inner = self.lock();
        if let Some(engine) = &mut inner.engine {
            if due {
                engine.handle_timeout(now);
            } else {
                engine.handle_wake(now);
            }
        }
        self.settle(&mut inner)
    }

    /// Closes what the client held, and tells the end of its story. The engine may have panicked; it may do so again.
    pub(super) fn close(&self, end: &End) {
        let mut inner = self.lock();
        let mut engine = inner.engine.take();
        let now = self.host.clock.now();
        let closing =
            AssertUnwindSafe(|| engine.as_mut().map(|engine| engine.handle_disconnect(now)));
        if catch_unwind(closing).is_err() {
            inner
                .story
                .note("closing its files failed: a defect of coax");
            // Its opens and locks must not stand in others' way for ever.
            let dropping = AssertUnwindSafe(|| engine.as_mut().map(Connection::abandon));
            let _ = catch_unwind(dropping);
        }
        let sent = inner.outbox.sent_total();
        inner.story.end(end, sent);
        drop(inner);
        self.socket.finish();
    }

    fn serve(&self, session: &mut Session, ready: bool) -> Result<Rest, Rest> {
        let began = self.host.clock.now();
        session.handle_timeout(began);
        self.attend()?;
        self.flush_again()?;
        loop {
            self.messages(session)?;
            self.attend()?;
            if self.host.is_stopping() {
                return Err(Rest::Over(End::Stopping));
            }
            // Without need to read nothing is read: it takes a buffer, and an idle client has none.
            if !ready {
                return Ok(Rest::Idle);
            }
            let crowded = self.host.pool.is_crowded();
            if crowded && (self.host.clock.now() - began).as_millis() >= TURN_MS {
                return Ok(Rest::Again);
            }
            let hint = self.hint();
            if self.receive(session, hint, !crowded)? == 0 {
                return Ok(if self.has_unsent() {
                    Rest::Blocked
                } else {
                    Rest::Idle
                });
            }
        }
    }

    /// Serves every whole message that has come.
    fn messages(&self, session: &mut Session) -> Result<(), Rest> {
        loop {
            self.session_bytes(session)?;
            let framing = session.framing();
            let peer = (self.lock().engine.is_none() && session.is_established())
                .then(|| self.peer(session));
            let outcome = match session.poll_message() {
                None => return Ok(()),
                Some(Ok(message)) => self.message(peer, framing, message),
                Some(Err(error)) => {
                    self.session_bytes(session)?;
                    return Err(over(&error));
                }
            };
            session.consume();
            outcome?;
        }
    }

    fn message(&self, peer: Option<Peer>, framing: Framing, message: &[u8]) -> Result<(), Rest> {
        let mut inner = self.lock();
        if let Some(peer) = peer {
            inner.engine = Some(self.engine(&mut inner.story, peer)?);
        }
        inner.story.request(framing, message);
        if let Some(engine) = &mut inner.engine {
            engine.handle_message(self.host.clock.now(), message);
        }
        self.settle(&mut inner)
    }

    fn engine(&self, story: &mut Story, peer: Peer) -> Result<Connection, Rest> {
        story.names(peer.calling.as_deref(), peer.called.as_deref());
        let challenge = super::host::random().map_err(|e| {
            Rest::Over(End::Because(format!(
                "the system gives no random numbers: {e}"
            )))
        })?;
        Ok(Connection::new(
            self.host.server.clone(),
            self.bell.clone(),
            peer,
            challenge,
        ))
    }

    fn peer(&self, session: &Session) -> Peer {
        let name = |scoped: &coax_wire::nbt::name::ScopedName| scoped.name.to_string();
        Peer {
            address: self.address.clone(),
            calling: session.calling().map(name),
            called: session.called().map(name),
        }
    }

    /// After the engine did something: sends, reports, and notes its next deadline.
    fn settle(&self, inner: &mut Inner) -> Result<(), Rest> {
        let Inner {
            engine: Some(engine),
            outbox,
            story,
        } = inner
        else {
            return Ok(());
        };
        let framing = story.framing();
        while let Some(transmit) = engine.poll_transmit() {
            let header = framing.header(transmit.len()).map_err(|e| over(&e))?;
            outbox.push(header, transmit);
        }
        while let Some(event) = engine.poll_event() {
            if let Event::Printed { share, path, name } = &event {
                self.print(story, Job { share, path, name });
            }
            story.event(event);
        }
        let deadline = engine.poll_timeout().map_or(NEVER, |time| time.0);
        if self.deadline.swap(deadline, Ordering::AcqRel) != deadline {
            self.bell.nudge();
        }
        engine.recycle(outbox.flush(&self.socket).map_err(|e| over(&e))?);
        if engine.is_closing() {
            return Err(Rest::Over(End::Because(story.fatal())));
        }
        if outbox.is_empty() {
            Ok(())
        } else {
            Err(Rest::Blocked)
        }
    }

    /// A print job is whole.
    fn print(&self, story: &Story, job: Job<'_>) {
        let settings = &self.host.settings;
        let peer = self.address.parse::<SocketAddr>().ok();
        let addresses = peer.zip(self.socket.local_address());
        let values = MacroValues {
            host_name: &settings.global.netbios_name,
            workgroup: &settings.global.workgroup,
            ..story.macros(addresses.map(|(peer, ours)| (peer.ip(), ours.ip())))
        };
        if let Err(why) = self.host.printing.take(settings, job, &values) {
            story.note(&why);
        }
    }

    /// Sends what an earlier turn had to leave.
    fn flush_again(&self) -> Result<(), Rest> {
        let mut inner = self.lock();
        inner.outbox.flush(&self.socket).map_err(|e| over(&e))?;
        if inner.outbox.is_empty() {
            Ok(())
        } else {
            Err(Rest::Blocked)
        }
    }

    /// Sends what the session layer has to say: the answer to a session request, a keep-alive.
    fn session_bytes(&self, session: &mut Session) -> Result<(), Rest> {
        match session.poll_transmit() {
            None => Ok(()),
            Some(bytes) => {
                self.lock().outbox.push_bytes(bytes);
                self.flush_again()
            }
        }
    }

    /// Reads; 0 if nothing came.
    fn receive(&self, session: &mut Session, hint: usize, wait: bool) -> Result<usize, Rest> {
        match self.socket.receive(session.recv_space(hint), wait) {
            Ok(Received::Bytes(count)) => {
                session.received(self.host.clock.now(), count);
                Ok(count)
            }
            Ok(Received::Nothing) => Ok(0),
            Ok(Received::Closed) => Err(match session.handle_eof() {
                Ok(()) => Rest::Over(End::Closed),
                Err(error) => over(&error),
            }),
            Err(error) => Err(over(&error)),
        }
    }

    fn hint(&self) -> usize {
        if self.lock().story.uses_a_share() {
            HINT
        } else {
            0
        }
    }

    /// A panic under the lock ends the connection, but what it held must still be closed.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AsRawFd for Link {
    fn as_raw_fd(&self) -> RawFd {
        self.socket.as_fd().as_raw_fd()
    }
}

impl AsFd for Link {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

fn over(error: &dyn std::fmt::Display) -> Rest {
    Rest::Over(End::Because(error.to_string()))
}
