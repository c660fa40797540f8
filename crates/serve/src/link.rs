//! One client: its socket, its engine, and its unsent data.
//!
//! The engine and the outbox are behind a mutex that is nearly always free: the thread that serves the client takes it
//! for each request, and the task that delivers a wake or a time-out takes it in between. Reading needs no lock, so a
//! thread can wait in `recv` while an oplock break goes out.

mod change_over;
mod counts;
mod descriptor;
mod faults;
mod memory;
mod print;
mod sampled;
mod shown;
mod transmit;
mod unwanted;

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, TryLockError,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
};

use coax_netbios::Session;
use coax_server::{
    Connection, Peer, Reach,
    budget::Lease,
    table::{OpenId, ShareId},
};
use coax_wire::{
    nbt::{name::ScopedName, session::Framing},
    time::Time,
};

use faults::Faults;

use super::{
    carrier::Carrier,
    host::Host,
    lanes::Pass,
    logon_timer::LogonTimer,
    outbox::Outbox,
    outcome::{End, TurnOutcome},
    pcap::Tap,
    service::Service,
    socket::Socket,
    story::Story,
    taps::Taps,
    trace::Selection,
    waits::Waits,
    wake::Waker,
};

/// Maximum time a thread serves one client while others wait for a thread.
const TURN_MS: u64 = 20;
/// Maximum buffer size allocated from a length that a client with a connected share announces, bytes.
const HINT: usize = 128 * 1024;
/// "No deadline".
const NEVER: u64 = u64::MAX;

/// One client.
pub(super) struct Link {
    /// State that all clients share.
    pub(super) host: Arc<Host>,
    /// The socket.
    pub(super) socket: Socket,
    /// Wakes this client when another connection's action affects it.
    pub(super) waker: Arc<Waker>,
    address: String,
    number: u64,
    carrier: Carrier,
    /// The engine's next deadline, nanoseconds, or [`NEVER`].
    deadline: AtomicU64,
    /// The log-on time limit.
    pub(super) logon: LogonTimer,
    /// Whether the peer must be probed.
    probe: AtomicBool,
    /// The configuration that the client is served under.
    generation: AtomicU64,
    /// The captures of the client.
    taps: Taps,
    /// The place of its system in the totals; 0 while that is unknown.
    system: AtomicUsize,
    /// What the client waits for.
    waits: Waits,
    /// What reading needs to know of `inner`, without its lock: the engine exists; the client uses a share.
    has_engine: AtomicBool,
    uses_a_share: AtomicBool,
    /// Opens that an administrator wants closed, and whether there are any.
    unwanted: Mutex<Vec<OpenId>>,
    has_unwanted: AtomicBool,
    inner: Mutex<Inner>,
}

struct Inner {
    /// Created with the first message, when the NetBIOS names are known.
    engine: Option<Connection>,
    /// The configuration under which the client negotiated.
    negotiated: u64,
    outbox: Outbox,
    /// Present only if the server injects faults.
    faults: Option<Box<Faults>>,
    /// The disks that sending the `outbox` may access.
    unsent: Reach,
    story: Story,
    /// Memory reserved for partially received or sent messages.
    lease: Option<Lease>,
}

impl Link {
    /// Creates the link of a client that has just connected.
    pub(super) fn new(
        host: Arc<Host>,
        socket: Socket,
        carrier: Carrier,
        address: String,
        number: u64,
    ) -> Self {
        let generation = host.generation();
        let tap = Tap::begin(
            host.capture.as_ref(),
            host.settings().trace.as_ref(),
            &socket,
            &address,
            number,
        );
        let story = Story::begin(&host, number, address.clone(), carrier);
        let inner = Inner {
            engine: None,
            negotiated: 0,
            outbox: Outbox::default(),
            faults: None,
            unsent: Reach::Nothing,
            story,
            lease: None,
        };
        let logon = LogonTimer::start(host.clock.now(), host.logon_timeout);
        Self {
            host,
            socket,
            waker: Arc::default(),
            address,
            number,
            carrier,
            deadline: AtomicU64::new(NEVER),
            logon,
            probe: AtomicBool::new(false),
            generation: AtomicU64::new(generation),
            taps: Taps::new(tap),
            system: AtomicUsize::new(0),
            waits: Waits::default(),
            has_engine: AtomicBool::new(false),
            uses_a_share: AtomicBool::new(false),
            unwanted: Mutex::default(),
            has_unwanted: AtomicBool::new(false),
            inner: Mutex::new(inner),
        }
    }

    /// The engine's next deadline, when it needs [`Self::attend`].
    pub(super) fn deadline(&self) -> Option<Time> {
        match self.deadline.load(Ordering::Acquire) {
            NEVER => None,
            ns => Some(Time(ns)),
        }
    }

    /// Whether data is unsent.
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

    /// Whether the peer must be probed; the call clears the request.
    pub(super) fn take_probe(&self) -> bool {
        self.probe.load(Ordering::Relaxed) && self.probe.swap(false, Ordering::AcqRel)
    }

    /// Delivers wakes and time-outs. If the client is `ready`, serves it until it sends no more requests; `pass`
    /// permits access to the disks that the turn waited for. After the last turn it closes the client's opens if that
    /// accesses no disk.
    pub(super) fn turn(
        &self,
        session: &mut Session,
        ready: bool,
        pass: Option<Pass>,
    ) -> TurnOutcome {
        let rest = match self.serve(session, ready, pass) {
            Ok(rest) | Err(rest) => rest,
        };
        if let TurnOutcome::Over(end) = &rest {
            if !self.holds_files() {
                self.close(end);
                return TurnOutcome::Gone;
            }
            return rest;
        }
        let mut inner = self.lock();
        if let Some(engine) = &mut inner.engine {
            engine.rest();
        }
        match inner.count_memory(session) {
            Ok(()) => rest,
            Err(exceeded) => TurnOutcome::Over(End::Because(format!(
                "too much of its messages waits: {exceeded}"
            ))),
        }
    }

    /// Delivers wakes and time-outs while a thread serves the client or while the client waits for a disk. `Ok(false)`:
    /// they must wait, because another thread holds the engine or because they may access a disk.
    ///
    /// # Errors
    /// The connection has ended.
    pub(super) fn interject(&self) -> Result<bool, End> {
        let mut inner = match self.inner.try_lock() {
            Ok(inner) => inner,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return Ok(false),
        };
        match self.attend_to(&mut inner, &mut None) {
            Ok(()) | Err(TurnOutcome::Blocked) => Ok(true),
            Err(TurnOutcome::Over(end)) => Err(end),
            Err(_) => Ok(false),
        }
    }

    /// Whether another thread holds the engine, so that [`Self::interject`] would fail.
    pub(super) fn is_busy(&self) -> bool {
        matches!(self.inner.try_lock(), Err(TryLockError::WouldBlock))
    }

    /// Ends service and returns the shares whose files must be closed ([`Self::close_share`]) before [`Self::close`].
    pub(super) fn hang_up(&self) -> Vec<ShareId> {
        match &mut self.lock().engine {
            Some(engine) => {
                engine.hang_up();
                engine.shares_held()
            }
            None => Vec::new(),
        }
    }

    /// Closes the client's opens on one share. If the engine panics, [`Self::close`] reports it.
    pub(super) fn close_share(&self, share: ShareId) {
        let now = self.host.clock.now();
        let mut inner = self.lock();
        let closing = AssertUnwindSafe(|| {
            if let Some(engine) = &mut inner.engine {
                engine.close_share(now, share);
            }
        });
        let _ = catch_unwind(closing);
    }

    fn holds_files(&self) -> bool {
        let inner = self.lock();
        let held = inner.engine.as_ref().map(Connection::shares_held);
        held.is_some_and(|shares| !shares.is_empty())
    }

    /// Delivers wakes and time-outs, and sends the resulting messages.
    fn attend(&self, pass: &mut Option<Pass>) -> Result<(), TurnOutcome> {
        if self.is_outdated() {
            self.change_over(pass)?;
        }
        if self.has_unwanted() {
            self.close_unwanted(pass)?;
        }
        let is_due = |deadline| deadline <= self.host.clock.now();
        if !self.waker.is_pending() && !self.deadline().is_some_and(is_due) {
            return Ok(());
        }
        self.attend_to(&mut self.lock(), pass)
    }

    fn attend_to(&self, inner: &mut Inner, pass: &mut Option<Pass>) -> Result<(), TurnOutcome> {
        let reach = inner.engine.as_ref().map(Connection::wake_reach);
        let _pass = self.leave(reach.unwrap_or_default(), pass)?;
        let now = self.host.clock.now();
        let (woken, due) = (self.waker.take(), self.is_due(now));
        self.waits.resumed(now);
        if let Some(engine) = &mut inner.engine {
            match (due, woken) {
                (true, _) => engine.handle_timeout(now),
                (false, true) => engine.handle_wake(now),
                (false, false) => return Ok(()),
            }
        }
        self.settle(inner)
    }

    fn is_due(&self, now: Time) -> bool {
        self.deadline().is_some_and(|deadline| deadline <= now)
    }

    /// A pass for the disks in `reach`: the one at hand, or a free one.
    fn leave(&self, reach: Reach, at_hand: &mut Option<Pass>) -> Result<Option<Pass>, TurnOutcome> {
        if reach == Reach::Nothing {
            return Ok(None);
        }
        if at_hand.as_ref().is_some_and(|pass| pass.reach() == reach) {
            return Ok(at_hand.take());
        }
        let pass = self.host.lanes.try_pass(reach);
        pass.map(Some).ok_or(TurnOutcome::Wait(reach))
    }

    /// Closes the client's opens and reports the end of the connection. The engine may have panicked before and may
    /// panic again.
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
            // Its opens and locks must not block other clients for ever.
            let dropping = AssertUnwindSafe(|| engine.as_mut().map(Connection::abandon));
            let _ = catch_unwind(dropping);
        }
        while let Some(event) = engine.as_mut().and_then(Connection::poll_event) {
            inner.story.event(now, event);
        }
        let acts = engine.as_mut().map(Connection::take_acts);
        inner.story.acts(&acts.unwrap_or_default());
        let sample = self.sample(&mut inner, engine.as_mut());
        self.host.history.add(sample);
        self.taps.end();
        self.count_waits();
        let sent = inner.outbox.sent_total();
        inner.story.end(end, sent);
        drop(inner);
        self.socket.finish();
    }

    fn serve(
        &self,
        session: &mut Session,
        ready: bool,
        mut pass: Option<Pass>,
    ) -> Result<TurnOutcome, TurnOutcome> {
        let began = self.host.clock.now();
        session.handle_timeout(began);
        self.attend(&mut pass)?;
        self.flush_again(&mut pass)?;
        let mut arrived = None;
        loop {
            self.messages(session, &mut pass, arrived)?;
            self.attend(&mut pass)?;
            // The pass must not be held while the client is idle.
            pass = None;
            if self.host.is_stopping() {
                return Err(TurnOutcome::Over(End::Stopping));
            }
            if !self.logon.is_known()
                && let Some(end) = self.logon.overdue(self.host.clock.now())
            {
                return Err(TurnOutcome::Over(end));
            }
            // Reading needs a buffer, and an idle client has none.
            if !ready {
                return Ok(TurnOutcome::Idle);
            }
            let crowded = self.host.pool.is_crowded(|| self.host.lanes.inside());
            if crowded && (self.host.clock.now() - began).as_millis() >= TURN_MS {
                return Ok(TurnOutcome::Again);
            }
            let hint = self.hint();
            arrived = self.receive(session, hint, !crowded)?;
            if arrived.is_none() {
                return Ok(if self.has_unsent() {
                    TurnOutcome::Blocked
                } else {
                    TurnOutcome::Idle
                });
            }
        }
    }

    /// Serves every complete message received; `arrived`: the bytes that arrived last have just been read.
    fn messages(
        &self,
        session: &mut Session,
        pass: &mut Option<Pass>,
        mut arrived: Option<Time>,
    ) -> Result<(), TurnOutcome> {
        loop {
            self.session_bytes(session, pass)?;
            let framing = session.framing();
            let peer = (!self.has_engine.load(Ordering::Acquire) && session.is_established())
                .then(|| self.peer(session));
            let outcome = match session.poll_message() {
                None => return Ok(()),
                Some(Ok(message)) => {
                    let now = arrived.take().unwrap_or_else(|| self.host.clock.now());
                    self.message((now, framing, message), peer, pass)
                }
                Some(Err(error)) => {
                    self.session_bytes(session, pass)?;
                    return Err(over(&error));
                }
            };
            if matches!(outcome, Err(TurnOutcome::Wait(_))) {
                return outcome;
            }
            session.consume();
            self.socket.note_resumed();
            outcome?;
        }
    }

    /// Serves one message, unless no pass is free for the disks that it may access.
    fn message(
        &self,
        (now, framing, message): (Time, Framing, &[u8]),
        peer: Option<Peer>,
        pass: &mut Option<Pass>,
    ) -> Result<(), TurnOutcome> {
        let mut inner = self.lock();
        if let Some(peer) = peer {
            let service = self.host.service();
            inner.negotiated = service.generation;
            inner.engine = Some(self.engine(&service, &mut inner.story, peer)?);
            self.has_engine.store(true, Ordering::Release);
            inner.faults = Faults::begin(&self.host, framing);
            // A reload since then is found at the next look.
            self.generation.store(service.generation, Ordering::Relaxed);
        }
        let reach = inner.engine.as_ref().map(|engine| engine.reach(message));
        let reach = reach.unwrap_or_default();
        let _pass = self.leave(reach, pass)?;
        inner.unsent = match inner.outbox.is_empty() {
            true => reach,
            false => inner.unsent.and(reach),
        };
        inner.story.request(now, framing, message);
        self.count_request(&inner, reach, message);
        self.waits.request(now, message, inner.story.uses_a_share());
        let Inner {
            engine,
            faults,
            story,
            ..
        } = &mut *inner;
        let serves = faults
            .as_mut()
            .is_none_or(|faults| faults.request(now, message, story));
        if let Some(engine) = engine.as_mut().filter(|_| serves) {
            engine.handle_message(now, message);
        }
        self.settle(&mut inner)
    }

    fn engine(
        &self,
        service: &Service,
        story: &mut Story,
        peer: Peer,
    ) -> Result<Connection, TurnOutcome> {
        story.names(peer.calling.as_deref(), peer.called.as_deref());
        let name = peer.calling.as_deref().unwrap_or_default();
        let choice = service.settings.trace.as_ref();
        let selected = Selection::of(choice, self.number, &self.address, Some(name));
        story.trace(&self.host, selected == Selection::Yes);
        self.taps.decide(selected == Selection::Yes);
        let challenge = super::random::random().map_err(|e| {
            TurnOutcome::Over(End::Because(format!(
                "the system gives no random numbers: {e}"
            )))
        })?;
        Ok(Connection::new(
            service.server.clone(),
            self.waker.clone(),
            peer,
            challenge,
        ))
    }

    /// The client, with the NetBIOS names as people write them: in Unicode, without the suffix.
    fn peer(&self, session: &Session) -> Peer {
        let page = self.host.server().config.code_page;
        let name = |scoped: &ScopedName| page.decode(scoped.name.characters()).into_owned();
        let given = |name: &String| !name.is_empty();
        Peer {
            address: self.address.clone(),
            calling: session.calling().map(name).filter(given),
            called: session.called().map(name).filter(given),
            number: self.number,
            carriage: self.carrier.carriage(),
        }
    }

    fn hint(&self) -> usize {
        if self.uses_a_share.load(Ordering::Relaxed) {
            HINT
        } else {
            0
        }
    }

    /// A panic under the lock ends the connection, but its opens must still be closed.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn over(error: &dyn std::fmt::Display) -> TurnOutcome {
    TurnOutcome::Over(End::Because(error.to_string()))
}
