//! What the thread of a station needs of its protocol.

use coax_netbios::{
    ipx::{self, Carriage, Ipx, IpxEvent},
    nbf::{self, Nbf, NbfEvent, SessionId},
};
use coax_wire::{
    ether::Mac,
    ipx::Host,
    nbt::{name::NbName, session::Refusal},
    time::Time,
};

/// A protocol of stations on Ethernet, without IO.
pub trait Engine: Send + Sized + 'static {
    /// What is known of a station that called.
    type Peer: Send;
    /// What happens besides sessions.
    type Event: Send;
    /// Name of the thread.
    const THREAD: &'static str;

    /// A frame arrived.
    fn handle_frame(&mut self, now: Time, frame: &[u8]);
    /// It is `now`.
    fn handle_timeout(&mut self, now: Time);
    /// When to call [`handle_timeout`](Self::handle_timeout).
    fn poll_timeout(&self) -> Option<Time>;
    /// A frame to send.
    fn poll_transmit(&mut self) -> Option<Vec<u8>>;
    /// What happened.
    fn poll(&mut self) -> Option<Happening<Self::Peer, Self::Event>>;
    /// Calls a name; `None`: all sessions are in use.
    fn call(&mut self, now: Time, called: NbName, calling: NbName) -> Option<SessionId>;
    /// Whether a message would be taken.
    fn can_send(&self, session: SessionId) -> bool;
    /// Sends a message.
    fn send(&mut self, now: Time, session: SessionId, bytes: Vec<u8>);
    /// The program has taken a message.
    fn consumed(&mut self, now: Time, session: SessionId);
    /// Ends a session when everything is sent.
    fn hang_up(&mut self, now: Time, session: SessionId);
    /// Ends a session at once.
    fn abort(&mut self, now: Time, session: SessionId);
    /// Whether nothing is left to say to other stations.
    fn is_quiet(&self) -> bool;
}

/// What happened at a station.
#[derive(Debug)]
pub enum Happening<P, E> {
    /// Another station opened a session.
    Accepted {
        /// The session.
        session: SessionId,
        /// The other station.
        peer: P,
        /// The name that was called.
        called: NbName,
        /// The caller's name.
        calling: NbName,
    },
    /// Our call led to a session.
    Connected(SessionId),
    /// Our call did not.
    Failed {
        /// The session.
        session: SessionId,
        /// The reason as the session service has it (RFC 1002 §4.3.4).
        why: Refusal,
    },
    /// A message.
    Message {
        /// The session.
        session: SessionId,
        /// All of it.
        bytes: Vec<u8>,
    },
    /// A session is over.
    Closed(SessionId),
    /// Anything else.
    Other(E),
}

impl Engine for Nbf {
    type Peer = Mac;
    type Event = NbfEvent;
    const THREAD: &'static str = "netbeui";

    fn handle_frame(&mut self, now: Time, frame: &[u8]) {
        self.handle_frame(now, frame);
    }

    fn handle_timeout(&mut self, now: Time) {
        self.handle_timeout(now);
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.poll_timeout()
    }

    fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        self.poll_transmit()
    }

    fn poll(&mut self) -> Option<Happening<Mac, NbfEvent>> {
        Some(match self.poll_event()? {
            NbfEvent::SessionOpened {
                session,
                peer,
                called,
                calling,
                incoming: true,
            } => Happening::Accepted {
                session,
                peer,
                called,
                calling,
            },
            NbfEvent::SessionOpened { session, .. } => Happening::Connected(session),
            NbfEvent::CallFailed { session, why } => Happening::Failed {
                session,
                why: match why {
                    nbf::CallError::NoAnswer => Refusal::CalledNameNotPresent,
                    nbf::CallError::NotListening => Refusal::NotListeningOnCalledName,
                    nbf::CallError::NoResources => Refusal::InsufficientResources,
                    nbf::CallError::Link(_) | nbf::CallError::NotConfirmed => Refusal::UNSPECIFIED,
                },
            },
            NbfEvent::Message { session, bytes } => Happening::Message { session, bytes },
            NbfEvent::SessionClosed { session, .. } => Happening::Closed(session),
            other => Happening::Other(other),
        })
    }

    fn call(&mut self, now: Time, called: NbName, calling: NbName) -> Option<SessionId> {
        self.call(now, called, calling).ok()
    }

    fn can_send(&self, session: SessionId) -> bool {
        self.can_send(session)
    }

    fn send(&mut self, now: Time, session: SessionId, bytes: Vec<u8>) {
        // There is room: it was asked for.
        let _ = self.send(now, session, bytes);
    }

    fn consumed(&mut self, now: Time, session: SessionId) {
        self.consumed(now, session);
    }

    fn hang_up(&mut self, now: Time, session: SessionId) {
        self.hang_up(now, session);
    }

    fn abort(&mut self, now: Time, session: SessionId) {
        self.abort(now, session);
    }

    fn is_quiet(&self) -> bool {
        self.link_count() == 0
    }
}

/// A station on an IPX network and the carriage of its own calls.
#[derive(Debug)]
pub struct IpxStation {
    /// The station.
    pub engine: Ipx,
    /// The only carriage of calls; `None`: what the other station offers.
    pub only: Option<Carriage>,
}

impl Engine for IpxStation {
    type Peer = (Carriage, Host);
    type Event = IpxEvent;
    const THREAD: &'static str = "ipx";

    fn handle_frame(&mut self, now: Time, frame: &[u8]) {
        self.engine.handle_frame(now, frame);
    }

    fn handle_timeout(&mut self, now: Time) {
        self.engine.handle_timeout(now);
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.engine.poll_timeout()
    }

    fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        self.engine.poll_transmit()
    }

    fn poll(&mut self) -> Option<Happening<Self::Peer, IpxEvent>> {
        Some(match self.engine.poll_event()? {
            IpxEvent::SessionOpened {
                session,
                carriage,
                peer,
                called,
                calling,
                incoming: true,
            } => Happening::Accepted {
                session,
                peer: (carriage, peer),
                called,
                calling,
            },
            IpxEvent::SessionOpened { session, .. } => Happening::Connected(session),
            IpxEvent::CallFailed { session, why } => Happening::Failed {
                session,
                why: match why {
                    ipx::CallError::NoAnswer => Refusal::CalledNameNotPresent,
                    ipx::CallError::NotAccepted => Refusal::NotListeningOnCalledName,
                    ipx::CallError::NoResources => Refusal::InsufficientResources,
                },
            },
            IpxEvent::Message { session, bytes } => Happening::Message { session, bytes },
            IpxEvent::SessionClosed { session, .. } => Happening::Closed(session),
            other => Happening::Other(other),
        })
    }

    fn call(&mut self, now: Time, called: NbName, calling: NbName) -> Option<SessionId> {
        self.engine.call(now, called, calling, self.only).ok()
    }

    fn can_send(&self, session: SessionId) -> bool {
        self.engine.can_send(session)
    }

    fn send(&mut self, now: Time, session: SessionId, bytes: Vec<u8>) {
        let _ = self.engine.send(now, session, bytes);
    }

    fn consumed(&mut self, now: Time, session: SessionId) {
        self.engine.consumed(now, session);
    }

    fn hang_up(&mut self, now: Time, session: SessionId) {
        self.engine.hang_up(now, session);
    }

    fn abort(&mut self, now: Time, session: SessionId) {
        self.engine.abort(now, session);
    }

    fn is_quiet(&self) -> bool {
        self.engine.session_count() == 0
    }
}
