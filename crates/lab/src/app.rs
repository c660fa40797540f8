//! What runs on a host above TCP.

mod event;

pub use event::{AppEvent, DiskWork};

use coax_wire::time::{Span, Time};

use crate::{
    cause::{Account, Cause},
    machine::MachineParams,
    payload::Payload,
    side::Side,
    world::World,
};

/// An application on a host: a state machine that is told what happens and acts through its [`Context`].
pub trait App {
    /// Something happened. Everything done in it is done at this moment.
    fn handle(&mut self, context: &mut Context<'_>, event: AppEvent);
}

/// An application's hands.
#[derive(Debug)]
pub struct Context<'a> {
    pub(crate) world: &'a mut World,
    pub(crate) side: Side,
}

impl Context<'_> {
    /// The moment.
    pub const fn now(&self) -> Time {
        self.world.now()
    }

    /// Which host this is.
    pub const fn side(&self) -> Side {
        self.side
    }

    /// The machine it runs on.
    pub fn machine(&self) -> &MachineParams {
        &self.world.host(self.side).machine
    }

    /// Opens the connection to the other host.
    pub fn connect(&mut self) {
        self.world
            .endpoint(self.side, crate::tcp::Endpoint::connect);
    }

    /// Writes, in one write: TCP decides at once what of it may leave.
    pub fn send(&mut self, payload: Payload) {
        self.world.endpoint(self.side, |tcp| tcp.send(payload));
    }

    /// Reads up to `max` bytes.
    pub fn recv(&mut self, max: u64) -> Payload {
        self.world.read(self.side, max)
    }

    /// Bytes that could be read.
    pub fn readable(&self) -> u64 {
        self.world.host(self.side).tcp.readable()
    }

    /// Bytes written that the peer has not acknowledged.
    pub fn unacknowledged(&self) -> u64 {
        self.world.host(self.side).tcp.unacknowledged()
    }

    /// Asks for [`AppEvent::Drained`], once, when less than this is unacknowledged.
    pub fn notify_below(&mut self, bytes: u64) {
        self.world
            .endpoint(self.side, |tcp| tcp.notify_below(bytes));
    }

    /// Ends this direction.
    pub fn close(&mut self) {
        self.world.endpoint(self.side, crate::tcp::Endpoint::close);
    }

    /// Has the processor work for `span` after all that it has to do already; [`AppEvent::Worked`] says when it is done.
    pub fn work(&mut self, span: Span, token: u64) {
        self.world.work(self.side, span, token);
    }

    /// Has the disk work, at this machine's cost; [`AppEvent::DiskDone`] says when it is done.
    pub fn disk(&mut self, work: DiskWork, token: u64) {
        self.world.disk(self.side, work, token);
    }

    /// Asks for [`AppEvent::Timer`] after `span`. The wait is charged to this side's thinking.
    pub fn timer(&mut self, span: Span, token: u64) {
        self.world.timer(self.side, span, token);
    }

    /// What travels from now on, until said otherwise, travels for this: [`Cause::RoundTrips`] at first.
    pub const fn exchange_is(&mut self, cause: Cause) {
        self.world.exchange_is(cause);
    }

    /// Begins an account here. One runs from the start of the run.
    pub fn begin_account(&mut self) {
        self.world.begin_account();
    }

    /// The account from its beginning to now.
    pub fn account(&self) -> Account {
        self.world.account()
    }

    /// Ends the run when this event is dealt with.
    pub const fn stop(&mut self) {
        self.world.stop();
    }
}
