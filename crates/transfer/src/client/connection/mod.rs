//! One connection to one share, blocking.

pub mod ops;

use std::{
    collections::VecDeque,
    io,
    os::fd::OwnedFd,
    sync::Arc,
    time::{Duration, Instant},
};

use coax_client::{
    Client, Error as SmbError, Event, Exchange, Link, Operation, Outcome, Target, profile::Profile,
};

use super::{
    Error,
    local::{LocalEnd, Nothing, One},
    socket::{Received, Socket},
};
use coax_clock::Clock;
use coax_ethernet::Station;

/// Size of the read buffer while the length of the message is unknown, bytes.
const READ_AHEAD: usize = 128 << 10;
/// Timeout for the requests that close the connection.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// A blocking connection to one share. Each operation runs to its end before the next one starts.
pub struct Connection {
    pump: Pump,
    link: Box<Link>,
    profile: Arc<Profile>,
    notes: Vec<String>,
    /// The station that carries the session, if it is not TCP. Last, so that it sees the session end.
    station: Option<Station>,
}

impl Connection {
    /// Starts the engine on a connected socket. The target's transport must be that of the socket.
    pub(super) fn begin(
        socket: Socket,
        profile: &Arc<Profile>,
        target: Target,
        record: bool,
    ) -> Result<Self, Error> {
        let mut pump = Pump::new(socket, profile, target, record);
        loop {
            match pump.next(&mut Nothing)? {
                Event::Connected(link) => {
                    return Ok(Self {
                        pump,
                        link,
                        profile: profile.clone(),
                        notes: Vec::new(),
                        station: None,
                    });
                }
                Event::Closed(error) => return Err(error.into()),
                Event::Done { .. } | Event::Progress { .. } => {}
            }
        }
    }

    /// The negotiated parameters.
    pub fn link(&self) -> &Link {
        &self.link
    }

    /// The redirector profile.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// Sentences that tell the user how the connection was made.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    pub(super) fn set_notes(&mut self, notes: Vec<String>) {
        self.notes = notes;
    }

    /// Keeps the station that carries the session.
    pub(super) fn set_station(&mut self, station: Option<Station>) {
        self.station = station;
    }

    /// Runs an operation; `local` is the local end of a copy.
    ///
    /// # Errors
    /// The operation's error. If [`is_over`](Self::is_over) returns true after it, a new connection is necessary.
    pub fn run(
        &mut self,
        operation: Operation,
        local: &mut dyn LocalEnd,
    ) -> Result<Outcome, Error> {
        self.run_watched(operation, local, &mut |_| {})
    }

    /// Like [`run`](Self::run). `watch` gets the number of transferred bytes about every 256 KiB.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_watched(
        &mut self,
        operation: Operation,
        local: &mut dyn LocalEnd,
        watch: &mut dyn FnMut(u64),
    ) -> Result<Outcome, Error> {
        let pump = &mut self.pump;
        let now = pump.clock.now();
        let job = pump.client.submit(now, operation, &mut One(local));
        let result = loop {
            match pump.next(local) {
                Ok(Event::Done { job: of, result }) if of == job => break result,
                Ok(Event::Progress { job: of, bytes }) if of == job => watch(bytes),
                Ok(Event::Closed(error)) => break Err(error),
                Ok(_) => {}
                Err(error) => {
                    pump.broken = true;
                    return Err(error);
                }
            }
        };
        // After a failed copy, parts of the local file may still be in the send queue.
        pump.drain(local, None)?;
        result.map_err(Error::from)
    }

    /// A handle that ends this connection from another thread.
    ///
    /// # Errors
    /// The socket handle cannot be duplicated.
    pub fn breaker(&self) -> io::Result<Breaker> {
        self.pump.socket.second_handle().map(Breaker)
    }

    /// Whether the connection is closed.
    pub fn is_over(&self) -> bool {
        self.pump.broken || self.pump.client.is_closed()
    }

    /// The exchanges completed since the previous call, if [`super::connect::Options::record`] is set.
    pub fn exchanges(&mut self) -> Vec<Exchange> {
        let pump = &mut self.pump;
        while let Some(exchange) = pump.client.poll_exchange() {
            pump.exchanges.push_back(exchange);
        }
        pump.exchanges.drain(..).collect()
    }
}

/// Ends a connection from another thread, also while an operation waits. The operation then fails as if the server had
/// closed the connection.
#[derive(Debug)]
pub struct Breaker(OwnedFd);

impl Breaker {
    /// Ends the connection. No effect on a closed connection.
    pub fn break_off(&self) {
        let _ = rustix::net::shutdown(&self.0, rustix::net::Shutdown::Both);
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if self.is_over() {
            return;
        }
        self.pump.client.finish(self.pump.clock.now());
        // An error has no consequence here: the server sees the end of the connection anyway.
        let _ = self.pump.drain(&mut Nothing, Some(CLOSE_TIMEOUT));
    }
}

/// Moves bytes between socket and engine.
struct Pump {
    socket: Socket,
    client: Client,
    clock: Clock,
    exchanges: VecDeque<Exchange>,
    /// The current outgoing message cannot be completed.
    broken: bool,
}

impl Pump {
    fn new(socket: Socket, profile: &Arc<Profile>, target: Target, record: bool) -> Self {
        let clock = Clock::new();
        let mut client = Client::new(clock.now(), profile.clone(), target);
        if record {
            client.record_exchanges();
        }
        Self {
            socket,
            client,
            clock,
            exchanges: VecDeque::new(),
            broken: false,
        }
    }

    /// Sends and receives until the engine reports an event.
    fn next(&mut self, local: &mut dyn LocalEnd) -> Result<Event, Error> {
        loop {
            if let Some(event) = self.client.poll_event() {
                return Ok(event);
            }
            if self.client.is_closed() {
                return Err(SmbError::Closed { waiting: None }.into());
            }
            self.send(local)?;
            self.receive(local)?;
        }
    }

    /// Sends until the socket's buffer is full. Returns whether everything was sent.
    fn send(&mut self, local: &dyn LocalEnd) -> Result<bool, Error> {
        loop {
            if self.socket.is_free() {
                match self.client.poll_transmit() {
                    Some(transmit) => self.socket.put(transmit),
                    None => return Ok(true),
                }
            }
            if !self.socket.flush(local)? {
                return Ok(false);
            }
        }
    }

    /// Receives available data, or waits until the socket is ready or a timer is due.
    fn receive(&mut self, local: &mut dyn LocalEnd) -> Result<(), Error> {
        let space = self.client.recv_space(READ_AHEAD);
        let received = self.socket.receive(space)?;
        let now = self.clock.now();
        match received {
            Received::Bytes(count) => self.client.received(now, count, &mut One(local)),
            Received::Closed => self.client.handle_eof(now, &mut One(local)),
            Received::Nothing => {
                let due = self.client.poll_timeout();
                if !self.socket.wait(due.map(|due| self.clock.until(due))) {
                    self.client
                        .handle_timeout(self.clock.now(), &mut One(local));
                }
            }
        }
        Ok(())
    }

    /// Sends the remaining data until everything is sent, the server accepts no more, or `patience` has passed.
    fn drain(&mut self, local: &mut dyn LocalEnd, patience: Option<Duration>) -> Result<(), Error> {
        let began = Instant::now();
        while !self.broken && !self.send(local)? {
            let left = patience.map(|patience| patience.saturating_sub(began.elapsed()));
            if self.client.is_closed() && left.is_none() || left == Some(Duration::ZERO) {
                return Ok(());
            }
            match left {
                Some(left) => {
                    self.socket.wait(Some(left));
                }
                None => self.receive(local)?,
            }
        }
        Ok(())
    }
}
