//! The thread that runs a station.

use std::{
    collections::HashMap,
    io::{self, Read, Write},
    os::{fd::AsFd, unix::net::UnixStream},
    sync::mpsc::{Receiver, Sender, channel},
    thread::JoinHandle,
    time::{Duration, Instant},
};

use coax_clock::Clock;
use coax_netbios::nbf::SessionId;
use coax_wire::{
    nbt::{
        name::{NbName, ScopedName},
        session::{Control, Refusal},
    },
    time::Time,
};
use rustix::{
    event::{Timespec, epoll},
    fd::OwnedFd,
};

use super::{
    bridge::{Bridge, Input},
    engine::{Engine, Happening},
    port::Port,
};

/// Token of the interface.
const PORT: u64 = 0;
/// Token of the program's signal.
const WAKE: u64 = 1;
/// Tokens from here on are bridges.
const FIRST_BRIDGE: u64 = 2;
/// Frames received before others get their turn.
const ROUND: usize = 256;
/// How long a station that stops waits for its sessions to end.
const FAREWELL: Duration = Duration::from_secs(1);
/// How soon to try again when the interface takes no more frames.
const INTERFACE_FULL: Duration = Duration::from_millis(1);

/// A session that another station opened.
#[derive(Debug)]
pub struct Incoming<P> {
    /// Carries a session request with both names, then messages, as port 139 does.
    pub stream: UnixStream,
    /// The other station.
    pub peer: P,
    /// The name that was called.
    pub called: NbName,
    /// The caller's name.
    pub calling: NbName,
}

/// What a station tells its program.
#[derive(Debug)]
pub enum Notice<P, E> {
    /// A session.
    Incoming(Incoming<P>),
    /// Anything but sessions and their messages.
    Event(E),
}

/// A station on an interface. Dropping it ends its sessions.
#[derive(Debug)]
pub struct Station {
    calls: Sender<UnixStream>,
    /// Closing it stops the thread.
    wake: Option<UnixStream>,
    thread: Option<JoinHandle<()>>,
}

impl Station {
    /// Starts a station whose engine `begin` makes. `notify` runs on its thread and must not wait.
    ///
    /// # Errors
    /// The system gives no thread or descriptor.
    pub fn start<E: Engine>(
        port: Port,
        begin: impl FnOnce(Time) -> E,
        notify: impl FnMut(Notice<E::Peer, E::Event>) + Send + 'static,
    ) -> io::Result<Self> {
        let (wake, signal) = UnixStream::pair()?;
        signal.set_nonblocking(true)?;
        wake.set_nonblocking(true)?;
        let (calls, orders) = channel();
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let edge = epoll::EventFlags::IN | epoll::EventFlags::OUT | epoll::EventFlags::ET;
        for socket in port.sockets() {
            epoll::add(&epoll, socket, epoll::EventData::new_u64(PORT), edge)?;
        }
        let wanted = epoll::EventFlags::IN | epoll::EventFlags::ET;
        epoll::add(&epoll, &signal, epoll::EventData::new_u64(WAKE), wanted)?;
        let clock = Clock::new();
        let runner = Runner {
            engine: begin(clock.now()),
            clock,
            port,
            epoll,
            signal,
            orders,
            notify: Box::new(notify),
            bridges: HashMap::new(),
            by_session: HashMap::new(),
            next_token: FIRST_BRIDGE,
            unsent: None,
            stopping: None,
        };
        let thread = std::thread::Builder::new()
            .name(E::THREAD.into())
            .spawn(move || runner.run())?;
        Ok(Self {
            calls,
            wake: Some(wake),
            thread: Some(thread),
        })
    }

    /// A socket over which the program calls a station: it sends a session request and gets its answer, as on port 139.
    ///
    /// # Errors
    /// The system gives no socket, or the station has stopped.
    pub fn connect(&self) -> io::Result<UnixStream> {
        let (program, network) = UnixStream::pair()?;
        let gone = || io::Error::other("the station has stopped");
        self.calls.send(network).map_err(|_| gone())?;
        let mut wake = self.wake.as_ref().ok_or_else(gone)?;
        match wake.write(&[1]) {
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => Err(error),
            _ => Ok(program),
        }
    }
}

impl Drop for Station {
    fn drop(&mut self) {
        drop(self.wake.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Where notices go.
type Notify<E> = Box<dyn FnMut(Notice<<E as Engine>::Peer, <E as Engine>::Event>) + Send>;

struct Runner<E: Engine> {
    engine: E,
    clock: Clock,
    port: Port,
    epoll: OwnedFd,
    signal: UnixStream,
    orders: Receiver<UnixStream>,
    notify: Notify<E>,
    bridges: HashMap<u64, Bridge>,
    by_session: HashMap<SessionId, u64>,
    next_token: u64,
    /// The frame that the interface did not take.
    unsent: Option<Vec<u8>>,
    /// When the program asked to stop.
    stopping: Option<Instant>,
}

impl<E: Engine> Runner<E> {
    fn run(mut self) {
        let mut buffer = vec![0; 2048];
        let mut ready = Vec::new();
        loop {
            let more = self.receive(&mut buffer);
            let now = self.clock.now();
            if self.engine.poll_timeout().is_some_and(|due| due <= now) {
                self.engine.handle_timeout(now);
            }
            self.settle(now);
            if self.is_over() {
                return;
            }
            ready.clear();
            if self.wait(&mut ready, more).is_err() {
                return;
            }
            for token in ready.drain(..) {
                self.woken(token);
            }
        }
    }

    /// Hands frames to the engine; whether there may be more.
    fn receive(&mut self, buffer: &mut [u8]) -> bool {
        for _ in 0..ROUND {
            let Some(len) = self.port.receive(buffer) else {
                return false;
            };
            let frame = buffer.get(..len).unwrap_or_default();
            self.engine.handle_frame(self.clock.now(), frame);
        }
        true
    }

    /// Moves events, packets and frames until nothing moves any more.
    fn settle(&mut self, now: Time) {
        self.events(now);
        let tokens: Vec<u64> = self
            .bridges
            .iter()
            .filter(|(_, bridge)| bridge.readable)
            .map(|(token, _)| *token)
            .collect();
        for token in tokens {
            self.read(now, token);
        }
        self.events(now);
        self.transmit();
    }

    fn events(&mut self, now: Time) {
        while let Some(happening) = self.engine.poll(now) {
            match happening {
                Happening::Accepted {
                    session,
                    peer,
                    called,
                    calling,
                } => self.incoming(now, session, peer, called, calling),
                Happening::Connected(session) => {
                    self.tell(now, session, &Control::Positive, false);
                }
                Happening::Failed { session, why } => {
                    self.tell(now, session, &Control::Negative(why), true);
                }
                Happening::Message { session, bytes } => self.message(now, session, bytes),
                Happening::Closed(session) => {
                    if let Some(token) = self.by_session.get(&session).copied() {
                        self.close(now, token);
                    }
                }
                Happening::Other(other) => (self.notify)(Notice::Event(other)),
            }
        }
    }

    /// Another station opened a session: the program gets a socket for it.
    fn incoming(
        &mut self,
        now: Time,
        session: SessionId,
        peer: E::Peer,
        called: NbName,
        calling: NbName,
    ) {
        let streams = match self.stopping {
            None => UnixStream::pair().ok(),
            Some(_) => None,
        };
        let bridged = streams.and_then(|(program, network)| {
            let token = self.bridge(network, Some(session))?;
            Some((program, token))
        });
        let Some((stream, token)) = bridged else {
            return self.engine.abort(now, session);
        };
        if let Some(bridge) = self.bridges.get_mut(&token) {
            bridge.push_control(&Control::Request {
                called: scoped(called),
                calling: scoped(calling),
            });
        }
        self.flush(now, token);
        (self.notify)(Notice::Incoming(Incoming {
            stream,
            peer,
            called,
            calling,
        }));
    }

    fn bridge(&mut self, stream: UnixStream, session: Option<SessionId>) -> Option<u64> {
        let bridge = Bridge::new(stream, session).ok()?;
        let token = self.next_token;
        let edge = epoll::EventFlags::IN | epoll::EventFlags::OUT | epoll::EventFlags::ET;
        let data = epoll::EventData::new_u64(token);
        epoll::add(&self.epoll, bridge.stream.as_fd(), data, edge).ok()?;
        self.next_token = token.wrapping_add(1);
        self.bridges.insert(token, bridge);
        if let Some(session) = session {
            self.by_session.insert(session, token);
        }
        Some(token)
    }

    /// Answers the program's session request.
    fn tell(&mut self, now: Time, session: SessionId, control: &Control, is_last: bool) {
        let Some(token) = self.by_session.get(&session).copied() else {
            return self.engine.abort(now, session);
        };
        if let Some(bridge) = self.bridges.get_mut(&token) {
            bridge.push_control(control);
        }
        self.flush(now, token);
        if is_last {
            self.close(now, token);
        }
    }

    fn message(&mut self, now: Time, session: SessionId, bytes: Vec<u8>) {
        let token = self.by_session.get(&session).copied();
        let bridge = token.and_then(|token| self.bridges.get_mut(&token));
        let taken = bridge.is_some_and(|bridge| bridge.push_message(bytes));
        match token {
            Some(token) if taken => self.flush(now, token),
            _ => self.engine.abort(now, session),
        }
    }

    /// Writes to the program. What it has taken is acknowledged to the peer.
    fn flush(&mut self, now: Time, token: u64) {
        let Some(bridge) = self.bridges.get_mut(&token) else {
            return;
        };
        let (session, closing) = (bridge.session, bridge.closing);
        match bridge.flush() {
            Ok(messages) => {
                let is_written = bridge.is_written();
                if let Some(session) = session {
                    (0..messages).for_each(|_| self.engine.consumed(now, session));
                }
                if closing && is_written {
                    self.forget(token);
                }
            }
            Err(_) => self.program_left(now, token),
        }
    }

    /// Takes packets from the program while the engine takes its messages.
    fn read(&mut self, now: Time, token: u64) {
        while let Some(bridge) = self.bridges.get_mut(&token) {
            let session = bridge.session;
            let may_read = session.is_none_or(|session| self.engine.can_send(session));
            if bridge.closing || !may_read {
                return;
            }
            match (bridge.read(), session) {
                (None, _) => return,
                (Some(Input::Message(bytes)), Some(session)) => {
                    // There is room: it was asked for.
                    self.engine.send(now, session, bytes);
                }
                (Some(Input::Control(Control::Request { called, calling })), None) => {
                    self.call(now, token, called.name, calling.name);
                }
                (Some(Input::Control(Control::Positive | Control::KeepAlive)), _) => {}
                (Some(_), _) => return self.program_left(now, token),
            }
        }
    }

    fn call(&mut self, now: Time, token: u64, called: NbName, calling: NbName) {
        let call = self.engine.call(now, called, calling);
        let Some(bridge) = self.bridges.get_mut(&token) else {
            return;
        };
        match call {
            Some(session) => {
                bridge.session = Some(session);
                self.by_session.insert(session, token);
            }
            None => {
                bridge.push_control(&Control::Negative(Refusal::InsufficientResources));
                self.flush(now, token);
                self.close(now, token);
            }
        }
    }

    /// The program closed its end.
    fn program_left(&mut self, now: Time, token: u64) {
        let session = self.bridges.get(&token).and_then(|bridge| bridge.session);
        self.forget(token);
        if let Some(session) = session {
            self.engine.hang_up(now, session);
        }
    }

    /// The session is over; the program still gets what came before.
    fn close(&mut self, now: Time, token: u64) {
        if let Some(bridge) = self.bridges.get_mut(&token) {
            bridge.closing = true;
            if let Some(session) = bridge.session.take() {
                self.by_session.remove(&session);
            }
        }
        self.flush(now, token);
    }

    fn forget(&mut self, token: u64) {
        if let Some(bridge) = self.bridges.remove(&token) {
            let _ = epoll::delete(&self.epoll, bridge.stream.as_fd());
            if let Some(session) = bridge.session {
                self.by_session.remove(&session);
            }
        }
    }

    /// Sends frames while the interface takes them.
    fn transmit(&mut self) {
        while let Some(frame) = self.unsent.take().or_else(|| self.engine.poll_transmit()) {
            if !self.port.send(&frame) {
                self.unsent = Some(frame);
                return;
            }
        }
    }

    fn wait(&mut self, ready: &mut Vec<u64>, more: bool) -> io::Result<()> {
        let due = self.engine.poll_timeout().map(|due| self.clock.until(due));
        let again = self.unsent.as_ref().map(|_| INTERFACE_FULL);
        let farewell = self.stopping.map(|_| Duration::from_millis(20));
        let mut timeout = [due, again, farewell].into_iter().flatten().min();
        if more {
            timeout = Some(Duration::ZERO);
        }
        let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
        let mut events = Vec::with_capacity(64);
        let space = rustix::buffer::spare_capacity(&mut events);
        match epoll::wait(&self.epoll, space, timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        ready.extend(events.iter().map(|event: &epoll::Event| event.data.u64()));
        Ok(())
    }

    fn woken(&mut self, token: u64) {
        let now = self.clock.now();
        match token {
            PORT => {}
            WAKE => self.take_orders(now),
            token => {
                if let Some(bridge) = self.bridges.get_mut(&token) {
                    bridge.readable = true;
                }
                self.flush(now, token);
            }
        }
    }

    fn take_orders(&mut self, now: Time) {
        let mut bytes = [0; 64];
        loop {
            match self.signal.read(&mut bytes) {
                Ok(0) => break self.stop(now),
                Ok(_) => {}
                Err(_) => break,
            }
        }
        while let Ok(stream) = self.orders.try_recv() {
            self.bridge(stream, None);
        }
    }

    /// The program goes: all sessions end.
    fn stop(&mut self, now: Time) {
        if self.stopping.is_none() {
            self.stopping = Some(Instant::now());
            self.engine.shutdown(now);
            let tokens: Vec<u64> = self.bridges.keys().copied().collect();
            for token in tokens {
                self.read(now, token);
                self.program_left(now, token);
            }
        }
    }

    fn is_over(&self) -> bool {
        let Some(since) = self.stopping else {
            return false;
        };
        let is_quiet = self.engine.is_quiet() && self.unsent.is_none();
        is_quiet || since.elapsed() > FAREWELL
    }
}

fn scoped(name: NbName) -> ScopedName {
    ScopedName {
        name,
        scope: Default::default(),
    }
}
