//! What the thread of a station needs of its protocol.

use coax_netbios::{
    BrowsedStation, BrowserConfig, StationEvent,
    ipx::{self, Carriage, Ipx, IpxConfig, IpxEvent},
    nbf::{self, Nbf, NbfConfig, NbfEvent, SessionId},
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
    /// What happened, at `now`.
    fn poll(&mut self, now: Time) -> Option<Happening<Self::Peer, Self::Event>>;
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
    /// The program stops: says goodbye.
    fn shutdown(&mut self, now: Time);
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

/// A station of NetBEUI.
#[derive(Debug)]
pub struct NbfStation(BrowsedStation<Nbf>);

impl NbfStation {
    /// A station that begins to claim its names at `now`, and the browser of its network if it has one.
    pub fn new(now: Time, config: NbfConfig, browser: Option<BrowserConfig>) -> Self {
        Self(BrowsedStation::new(now, Nbf::new(now, config), browser))
    }
}

impl Engine for NbfStation {
    type Peer = Mac;
    type Event = StationEvent<NbfEvent>;
    const THREAD: &'static str = "netbeui";

    fn handle_frame(&mut self, now: Time, frame: &[u8]) {
        self.0.station.handle_frame(now, frame);
    }

    fn handle_timeout(&mut self, now: Time) {
        self.0.station.handle_timeout(now);
        self.0.handle_timeout(now);
    }

    fn poll_timeout(&self) -> Option<Time> {
        let own = self.0.station.poll_timeout();
        own.into_iter().chain(self.0.poll_timeout()).min()
    }

    fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        self.0.station.poll_transmit()
    }

    fn poll(&mut self, now: Time) -> Option<Happening<Mac, StationEvent<NbfEvent>>> {
        Some(match self.0.poll_event(now)? {
            StationEvent::Station(event) => happening_of_nbf(event),
            other => Happening::Other(other),
        })
    }

    fn shutdown(&mut self, now: Time) {
        self.0.shutdown(now);
    }

    fn call(&mut self, now: Time, called: NbName, calling: NbName) -> Option<SessionId> {
        self.0.station.call(now, called, calling).ok()
    }

    fn can_send(&self, session: SessionId) -> bool {
        self.0.station.can_send(session)
    }

    fn send(&mut self, now: Time, session: SessionId, bytes: Vec<u8>) {
        // There is room: it was asked for.
        let _ = self.0.station.send(now, session, bytes);
    }

    fn consumed(&mut self, now: Time, session: SessionId) {
        self.0.station.consumed(now, session);
    }

    fn hang_up(&mut self, now: Time, session: SessionId) {
        self.0.station.hang_up(now, session);
    }

    fn abort(&mut self, now: Time, session: SessionId) {
        self.0.station.abort(now, session);
    }

    fn is_quiet(&self) -> bool {
        self.0.station.link_count() == 0
    }
}

fn happening_of_nbf(event: NbfEvent) -> Happening<Mac, StationEvent<NbfEvent>> {
    match event {
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
        other => Happening::Other(StationEvent::Station(other)),
    }
}

/// A station on an IPX network and the carriage of its own calls.
#[derive(Debug)]
pub struct IpxStation {
    station: BrowsedStation<Ipx>,
    only: Option<Carriage>,
}

impl IpxStation {
    /// A station that begins to claim its names at `now`, and the browser of its network if it has one. `only` is the
    /// carriage of calls; `None`: what the other station offers.
    pub fn new(
        now: Time,
        config: IpxConfig,
        only: Option<Carriage>,
        browser: Option<BrowserConfig>,
    ) -> Self {
        let station = BrowsedStation::new(now, Ipx::new(now, config), browser);
        Self { station, only }
    }
}

impl Engine for IpxStation {
    type Peer = (Carriage, Host);
    type Event = StationEvent<IpxEvent>;
    const THREAD: &'static str = "ipx";

    fn handle_frame(&mut self, now: Time, frame: &[u8]) {
        self.station.station.handle_frame(now, frame);
    }

    fn handle_timeout(&mut self, now: Time) {
        self.station.station.handle_timeout(now);
        self.station.handle_timeout(now);
    }

    fn poll_timeout(&self) -> Option<Time> {
        let own = self.station.station.poll_timeout();
        own.into_iter().chain(self.station.poll_timeout()).min()
    }

    fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        self.station.station.poll_transmit()
    }

    fn poll(&mut self, now: Time) -> Option<Happening<Self::Peer, StationEvent<IpxEvent>>> {
        Some(match self.station.poll_event(now)? {
            StationEvent::Station(event) => happening_of_ipx(event),
            other => Happening::Other(other),
        })
    }

    fn shutdown(&mut self, now: Time) {
        self.station.shutdown(now);
    }

    fn call(&mut self, now: Time, called: NbName, calling: NbName) -> Option<SessionId> {
        self.station
            .station
            .call(now, called, calling, self.only)
            .ok()
    }

    fn can_send(&self, session: SessionId) -> bool {
        self.station.station.can_send(session)
    }

    fn send(&mut self, now: Time, session: SessionId, bytes: Vec<u8>) {
        let _ = self.station.station.send(now, session, bytes);
    }

    fn consumed(&mut self, now: Time, session: SessionId) {
        self.station.station.consumed(now, session);
    }

    fn hang_up(&mut self, now: Time, session: SessionId) {
        self.station.station.hang_up(now, session);
    }

    fn abort(&mut self, now: Time, session: SessionId) {
        self.station.station.abort(now, session);
    }

    fn is_quiet(&self) -> bool {
        self.station.station.session_count() == 0
    }
}

fn happening_of_ipx(event: IpxEvent) -> Happening<(Carriage, Host), StationEvent<IpxEvent>> {
    match event {
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
        other => Happening::Other(StationEvent::Station(other)),
    }
}
