//! Applications above TCP.

mod event;

pub use event::{AppEvent, DiskWork};

use coax_wire::time::{Span, Time};

use crate::{
    cause::{Account, Cause},
    machine::MachineParams,
    payload::Payload,
    side::{End, Side},
    world::World,
};

/// An application on a host: a state machine that receives events and acts through its [`Context`].
pub trait App {
    /// Handles an event. All actions take place at the time of the event.
    fn handle(&mut self, context: &mut Context<'_>, event: AppEvent);
}

/// The interface of an application to its host.
#[derive(Debug)]
pub struct Context<'a> {
    pub(crate) world: &'a mut World,
    pub(crate) end: End,
}

impl Context<'_> {
    /// The present time.
    pub const fn now(&self) -> Time {
        self.world.now()
    }

    /// Which end of the connection the application is.
    pub const fn side(&self) -> Side {
        self.end.side
    }

    /// The number of the connection's client.
    pub const fn client(&self) -> u16 {
        self.end.client
    }

    /// Delivers [`AppEvent::Woken`] to the server's application of another client's connection.
    pub fn wake(&mut self, client: u16) {
        self.world.wake(client);
    }

    /// The host's machine.
    pub fn machine(&self) -> &MachineParams {
        &self.world.host(self.end).machine
    }

    /// Opens the connection to the other host.
    pub fn connect(&mut self) {
        self.world.connect(self.end);
    }

    /// One write call. TCP decides at once which part can be sent.
    pub fn send(&mut self, payload: Payload) {
        self.world.send(self.end, payload);
    }

    /// Reads up to `max` bytes.
    pub fn recv(&mut self, max: u64) -> Payload {
        self.world.read(self.end, max)
    }

    /// Number of bytes that can be read.
    pub fn readable(&self) -> u64 {
        let socket = self.world.socket(self.end);
        match &socket.station {
            Some(station) => station.readable(),
            None => socket.tcp.readable(),
        }
    }

    /// Number of written bytes that the peer has not acknowledged; over NetBEUI and IPX, that the station has not taken.
    pub fn unacknowledged(&self) -> u64 {
        let socket = self.world.socket(self.end);
        match &socket.station {
            Some(station) => station.unsent(),
            None => socket.tcp.unacknowledged(),
        }
    }

    /// This host's end of the connection, to look at.
    pub fn tcp(&self) -> &crate::tcp::Endpoint {
        &self.world.socket(self.end).tcp
    }

    /// Offers this receive window from now on, in bytes.
    pub fn set_receive_window(&mut self, bytes: u32) {
        self.world
            .endpoint(self.end, |tcp| tcp.set_receive_window(bytes));
    }

    /// Requests one [`AppEvent::Drained`] when fewer bytes than this are unacknowledged.
    pub fn notify_below(&mut self, bytes: u64) {
        self.world.endpoint(self.end, |tcp| tcp.notify_below(bytes));
    }

    /// Closes the write direction.
    pub fn close(&mut self) {
        self.world.close(self.end);
    }

    /// Queues `span` of processor work; [`AppEvent::Worked`] reports its end.
    pub fn work(&mut self, span: Span, token: u64) {
        self.world.work(self.end, span, token);
    }

    /// Queues disk work at this machine's cost; [`AppEvent::DiskDone`] reports its end.
    pub fn disk(&mut self, work: DiskWork, token: u64) {
        self.world.disk(self.end, work, token);
    }

    /// Requests [`AppEvent::Timer`] after `span`. The wait is charged to this side's processing time.
    pub fn timer(&mut self, span: Span, token: u64) {
        self.world.timer(self.end, span, token);
    }

    /// Sets the cause for the transit time of all further messages; initially [`Cause::RoundTrips`].
    pub fn exchange_is(&mut self, cause: Cause) {
        self.world.exchange_is(self.end, cause);
    }

    /// Starts a new account now. The first one starts with the run.
    pub fn begin_account(&mut self) {
        self.world.begin_account(self.end);
    }

    /// The account from its start to now.
    pub fn account(&self) -> Account {
        self.world.account_of(self.end.client)
    }

    /// This connection's applications have finished. The run ends after the event in which the last ones finish.
    pub fn stop(&mut self) {
        self.world.stop(self.end);
    }
}
