//! One connection to one share, blocking.

pub mod ops;

use std::{
    collections::VecDeque,
    io,
    net::{Shutdown, TcpStream},
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

/// How many bytes a read makes room for while the length of the message is not known.
const READ_AHEAD: usize = 128 << 10;
/// How long good-byes may take.
const FAREWELL: Duration = Duration::from_secs(1);

/// One connection to one share: operations run one after the other, each to its end.
pub struct Connection {
    pump: Pump,
    link: Box<Link>,
    profile: Arc<Profile>,
    notes: Vec<String>,
}

impl Connection {
    /// Over a fresh socket. The target's transport is the socket's.
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
                    });
                }
                Event::Closed(error) => return Err(error.into()),
                Event::Done { .. } | Event::Progress { .. } => {}
            }
        }
    }

    /// What was agreed with the server.
    pub fn link(&self) -> &Link {
        &self.link
    }

    /// How it behaves.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// What a person should know about how the connection came about, a sentence each.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    pub(super) fn set_notes(&mut self, notes: Vec<String>) {
        self.notes = notes;
    }

    /// Runs an operation to its end; `local` is the local end of a copy.
    ///
    /// # Errors
    /// As the operation ends. After an error that [`is_over`](Self::is_over) tells of, only a new connection helps.
    pub fn run(
        &mut self,
        operation: Operation,
        local: &mut dyn LocalEnd,
    ) -> Result<Outcome, Error> {
        self.run_watched(operation, local, &mut |_| {})
    }

    /// The same; `watch` is told every quarter megabyte how many bytes of a copy the other side has.
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
        // A copy that failed may have left pieces of the local file to be sent.
        pump.drain(local, None)?;
        result.map_err(Error::from)
    }

    /// What can end this connection from another thread.
    ///
    /// # Errors
    /// The system gives no second handle of the socket.
    pub fn breaker(&self) -> io::Result<Breaker> {
        self.pump.socket.second_handle().map(Breaker)
    }

    /// Whether the connection can carry nothing more.
    pub fn is_over(&self) -> bool {
        self.pump.broken || self.pump.client.is_closed()
    }

    /// The exchanges that are over since this was asked last, if [`super::connect::Options::record`] was set.
    pub fn exchanges(&mut self) -> Vec<Exchange> {
        let pump = &mut self.pump;
        while let Some(exchange) = pump.client.poll_exchange() {
            pump.exchanges.push_back(exchange);
        }
        pump.exchanges.drain(..).collect()
    }
}

/// Ends a connection from another thread, whatever it waits for: to the one that uses it the server seems to have gone.
#[derive(Debug)]
pub struct Breaker(TcpStream);

impl Breaker {
    /// Ends it. A connection that is over already stays so.
    pub fn break_off(&self) {
        let _ = self.0.shutdown(Shutdown::Both);
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if self.is_over() {
            return;
        }
        self.pump.client.finish(self.pump.clock.now());
        // The share is given up in any case: the server sees the connection end.
        let _ = self.pump.drain(&mut Nothing, Some(FAREWELL));
    }
}

/// Carries bytes between socket and engine.
struct Pump {
    socket: Socket,
    client: Client,
    clock: Clock,
    exchanges: VecDeque<Exchange>,
    /// A message was begun that cannot be finished.
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

    /// Sends and receives until something has happened.
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

    /// Sends as much as the system takes; whether all is out.
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

    /// Takes what has come, or sleeps until something is possible.
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

    /// Sends all that is left, for as long as the server takes it, or `patience`.
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
