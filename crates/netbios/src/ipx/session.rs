//! A session of either carriage, as the station sees it.

use alloc::vec::Vec;

use coax_wire::ipx::socket;
use coax_wire::nbt::name::NbName;
use coax_wire::time::Time;

use crate::waits::{Blocked, Deadlines};

use super::circuit::{Circuit, CircuitEvent};
use super::close::SessionClose;
use super::config::Carriage;
use super::direct::{Caller, DirectEvent, Served};
use super::locate::Locating;
use super::route::Place;

/// A session and the way to the other station.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) place: Place,
    pub(super) engine: Engine,
}

#[derive(Debug)]
pub(super) enum Engine {
    /// The station is not known yet.
    Locating(Locating),
    /// NetBIOS.
    Circuit(Circuit),
    /// A direct client of ours.
    Served(Served),
    /// A direct server.
    Caller(Caller),
}

/// What happened to a session.
pub(super) enum Change {
    Opened,
    Message(Vec<u8>),
    Closed(SessionClose),
}

impl Session {
    pub(super) fn carriage(&self) -> Carriage {
        match self.engine {
            Engine::Circuit(_) => Carriage::NetBios,
            _ => Carriage::Direct,
        }
    }

    pub(super) fn is_incoming(&self) -> bool {
        match &self.engine {
            Engine::Circuit(circuit) => circuit.incoming,
            Engine::Served(_) => true,
            _ => false,
        }
    }

    /// The called and the calling name.
    pub(super) fn names(&self) -> (NbName, NbName) {
        match &self.engine {
            Engine::Locating(call) => (call.called, call.calling),
            Engine::Circuit(circuit) => (circuit.names.called, circuit.names.calling),
            Engine::Served(served) => (served.called, served.calling),
            Engine::Caller(caller) => (caller.names.destination, caller.names.source),
        }
    }

    /// The sockets of its packets: ours and the peer's.
    pub(super) fn sockets(&self) -> (u16, u16) {
        let own = match self.engine {
            Engine::Circuit(_) => socket::NETBIOS,
            Engine::Caller(_) | Engine::Locating(_) => socket::SMB_CLIENT,
            Engine::Served(_) => socket::SMB_SERVER,
        };
        (own, self.place.socket)
    }

    pub(super) fn can_send(&self) -> bool {
        match &self.engine {
            Engine::Locating(_) => false,
            Engine::Circuit(circuit) => circuit.can_send(),
            Engine::Served(served) => !served.is_over(),
            Engine::Caller(caller) => caller.can_send(),
        }
    }

    /// Takes a message; whether it did.
    pub(super) fn send(&mut self, now: Time, bytes: Vec<u8>) -> bool {
        match &mut self.engine {
            Engine::Locating(_) => false,
            Engine::Circuit(circuit) => circuit.send(now, bytes),
            Engine::Served(served) => {
                served.send(bytes);
                true
            }
            Engine::Caller(caller) => caller.send(now, bytes),
        }
    }

    pub(super) fn consumed(&mut self) {
        if let Engine::Circuit(circuit) = &mut self.engine {
            circuit.consumed();
        }
    }

    pub(super) fn buffered(&self) -> usize {
        match &self.engine {
            Engine::Circuit(circuit) => circuit.buffered(),
            _ => 0,
        }
    }

    pub(super) fn hang_up(&mut self, now: Time) {
        match &mut self.engine {
            Engine::Locating(_) => {}
            Engine::Circuit(circuit) => circuit.hang_up(now),
            Engine::Served(served) => served.close(SessionClose::Local),
            Engine::Caller(caller) => caller.hang_up(now),
        }
    }

    pub(super) fn abort(&mut self, now: Time) {
        match &mut self.engine {
            Engine::Locating(_) => {}
            Engine::Circuit(circuit) => circuit.abort(now),
            Engine::Served(served) => served.close(SessionClose::Local),
            Engine::Caller(caller) => caller.close(SessionClose::Local),
        }
    }

    /// Does what is due, except for a call whose station is not known.
    pub(super) fn handle_timeout(&mut self, now: Time) {
        match &mut self.engine {
            Engine::Locating(_) => {}
            Engine::Circuit(circuit) => circuit.handle_timeout(now),
            Engine::Served(served) => served.handle_timeout(now),
            Engine::Caller(caller) => caller.handle_timeout(now),
        }
    }

    pub(super) fn poll_timeout(&self) -> Option<Time> {
        match &self.engine {
            Engine::Locating(call) => Some(call.due),
            Engine::Circuit(circuit) => circuit.poll_timeout(),
            Engine::Served(served) => served.poll_timeout(),
            Engine::Caller(caller) => caller.poll_timeout(),
        }
    }

    /// The same by the reason.
    pub(super) fn deadlines(&self) -> Deadlines {
        match &self.engine {
            Engine::Circuit(circuit) => circuit.deadlines(),
            Engine::Caller(caller) => caller.deadlines(),
            Engine::Locating(_) | Engine::Served(_) => Deadlines {
                other: self.poll_timeout(),
                ..Deadlines::default()
            },
        }
    }

    /// Why messages that wait are not on their way.
    pub(super) fn blocked(&self) -> Option<Blocked> {
        match &self.engine {
            Engine::Circuit(circuit) => circuit.blocked(),
            Engine::Caller(caller) => caller.blocked(),
            Engine::Locating(_) | Engine::Served(_) => None,
        }
    }

    pub(super) fn poll_packet(&mut self) -> Option<Vec<u8>> {
        match &mut self.engine {
            Engine::Locating(_) => None,
            Engine::Circuit(circuit) => circuit.poll_packet(),
            Engine::Served(served) => served.poll_packet(),
            Engine::Caller(caller) => caller.poll_packet(),
        }
    }

    pub(super) fn poll_change(&mut self) -> Option<Change> {
        let direct = |event| match event {
            DirectEvent::Message(bytes) => Change::Message(bytes),
            DirectEvent::Closed(why) => Change::Closed(why),
        };
        match &mut self.engine {
            Engine::Locating(_) => None,
            Engine::Circuit(circuit) => circuit.poll_event().map(|event| match event {
                CircuitEvent::Opened => Change::Opened,
                CircuitEvent::Message(bytes) => Change::Message(bytes),
                CircuitEvent::Closed(why) => Change::Closed(why),
            }),
            Engine::Served(served) => served.poll_event().map(direct),
            Engine::Caller(caller) => caller.poll_event().map(direct),
        }
    }

    pub(super) fn is_over(&self) -> bool {
        match &self.engine {
            Engine::Locating(_) => false,
            Engine::Circuit(circuit) => circuit.is_over(),
            Engine::Served(served) => served.is_over(),
            Engine::Caller(caller) => caller.is_over(),
        }
    }

    /// When the peer was last heard, for choosing which session of a crowded station to give up.
    pub(super) fn heard(&self) -> Option<Time> {
        match &self.engine {
            Engine::Circuit(circuit) => Some(circuit.heard()),
            Engine::Served(served) => Some(served.heard()),
            _ => None,
        }
    }

    /// Packets sent again, and requests that came again.
    pub(super) fn repetitions(&self) -> (u64, u64) {
        match &self.engine {
            Engine::Locating(_) => (0, 0),
            Engine::Circuit(circuit) => (circuit.retransmitted(), 0),
            Engine::Served(served) => (0, served.repeated()),
            Engine::Caller(caller) => (caller.retransmitted(), 0),
        }
    }
}
