//! The engines behind one interface.

use alloc::{boxed::Box, vec, vec::Vec};

use coax_catalog::netbios::{Carrier, NetbiosParams};
use coax_netbios::{
    Blocked, Deadlines,
    ipx::{self, Carriage, Ipx, IpxConfig, IpxEvent},
    nbf::{self, Nbf, NbfConfig, NbfEvent, SessionId, StationName},
};
use coax_wire::{
    ether::Mac,
    ipx::Network,
    nbt::{name::NbName, session::Refusal},
    time::Time,
};

use crate::{
    side::{End, Side},
    smb::name_of,
};

/// The number of the IPX network, which stations know from the start, as after the first minute of a real network.
const NETWORK: Network = Network(1);

/// What happened at a station.
pub(super) enum Happening {
    /// A name is its own.
    Registered,
    /// Another station opened a session.
    Accepted {
        session: SessionId,
        called: NbName,
        calling: NbName,
    },
    /// Our call led to a session.
    Connected,
    /// Our call did not.
    Failed(Refusal),
    /// A message.
    Message(Vec<u8>),
    /// The session is over.
    Closed,
}

/// A station's engine.
#[derive(Debug)]
pub(super) enum Engine {
    Nbf(Box<Nbf>),
    Ipx(Box<Ipx>, Carriage),
}

/// Calls a method that both have.
macro_rules! both {
    ($self:ident, $engine:ident => $call:expr) => {
        match $self {
            Self::Nbf($engine) => $call,
            Self::Ipx($engine, _) => $call,
        }
    };
}

impl Engine {
    /// A host's station at time zero and the number of its names; `None`: the carrier is TCP.
    pub(super) fn new(carrier: Carrier, end: End, params: &NetbiosParams) -> Option<(Self, usize)> {
        let names = names(end);
        let (mac, count) = (mac(end), names.len());
        let carriage = match carrier {
            Carrier::Tcp => return None,
            Carrier::Netbeui => {
                let mut config = NbfConfig::new(mac, names);
                config.link = params.link();
                config.acknowledgment_delay = params.data_ack_delay;
                let engine = Self::Nbf(Box::new(Nbf::new(Time(0), config)));
                return Some((engine, count));
            }
            Carrier::Nbipx => Carriage::NetBios,
            Carrier::Ipx => Carriage::Direct,
        };
        let mut config = ipx_config(mac, names, params);
        config.accepts = vec![carriage];
        let engine = Self::Ipx(Box::new(Ipx::new(Time(0), config)), carriage);
        Some((engine, count))
    }

    pub(super) fn handle_frame(&mut self, now: Time, frame: &[u8]) {
        both!(self, engine => engine.handle_frame(now, frame));
    }

    pub(super) fn handle_timeout(&mut self, now: Time) {
        both!(self, engine => engine.handle_timeout(now));
    }

    pub(super) fn deadlines(&self) -> Deadlines {
        both!(self, engine => engine.deadlines())
    }

    pub(super) fn blocked(&self) -> Option<Blocked> {
        both!(self, engine => engine.blocked())
    }

    pub(super) fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        both!(self, engine => engine.poll_transmit())
    }

    pub(super) fn call(&mut self, now: Time, called: NbName, calling: NbName) -> Option<SessionId> {
        match self {
            Self::Nbf(engine) => engine.call(now, called, calling).ok(),
            Self::Ipx(engine, only) => engine.call(now, called, calling, Some(*only)).ok(),
        }
    }

    pub(super) fn can_send(&self, session: SessionId) -> bool {
        both!(self, engine => engine.can_send(session))
    }

    /// There is room: it was asked for.
    pub(super) fn send(&mut self, now: Time, session: SessionId, bytes: Vec<u8>) {
        let _ = match self {
            Self::Nbf(engine) => engine.send(now, session, bytes),
            Self::Ipx(engine, _) => engine.send(now, session, bytes),
        };
    }

    pub(super) fn consumed(&mut self, now: Time, session: SessionId) {
        both!(self, engine => engine.consumed(now, session));
    }

    pub(super) fn hang_up(&mut self, now: Time, session: SessionId) {
        both!(self, engine => engine.hang_up(now, session));
    }

    pub(super) fn poll(&mut self) -> Option<Happening> {
        loop {
            let happening = match self {
                Self::Nbf(engine) => of_nbf(engine.poll_event()?),
                Self::Ipx(engine, _) => of_ipx(engine.poll_event()?),
            };
            if happening.is_some() {
                return happening;
            }
        }
    }
}

fn of_nbf(event: NbfEvent) -> Option<Happening> {
    Some(match event {
        NbfEvent::NameRegistered(_) => Happening::Registered,
        NbfEvent::SessionOpened {
            incoming: false, ..
        } => Happening::Connected,
        NbfEvent::SessionOpened {
            session,
            called,
            calling,
            ..
        } => Happening::Accepted {
            session,
            called,
            calling,
        },
        NbfEvent::CallFailed { why, .. } => Happening::Failed(match why {
            nbf::CallError::NoAnswer => Refusal::CalledNameNotPresent,
            nbf::CallError::NotListening => Refusal::NotListeningOnCalledName,
            nbf::CallError::NoResources => Refusal::InsufficientResources,
            nbf::CallError::Link(_) | nbf::CallError::NotConfirmed => Refusal::UNSPECIFIED,
        }),
        NbfEvent::Message { bytes, .. } => Happening::Message(bytes),
        NbfEvent::SessionClosed { .. } => Happening::Closed,
        _ => return None,
    })
}

fn of_ipx(event: IpxEvent) -> Option<Happening> {
    Some(match event {
        IpxEvent::NameRegistered(_) => Happening::Registered,
        IpxEvent::SessionOpened {
            incoming: false, ..
        } => Happening::Connected,
        IpxEvent::SessionOpened {
            session,
            called,
            calling,
            ..
        } => Happening::Accepted {
            session,
            called,
            calling,
        },
        IpxEvent::CallFailed { why, .. } => Happening::Failed(match why {
            ipx::CallError::NoAnswer => Refusal::CalledNameNotPresent,
            ipx::CallError::NotAccepted => Refusal::NotListeningOnCalledName,
            ipx::CallError::NoResources => Refusal::InsufficientResources,
        }),
        IpxEvent::Message { bytes, .. } => Happening::Message(bytes),
        IpxEvent::SessionClosed { .. } => Happening::Closed,
        _ => return None,
    })
}

fn ipx_config(mac: Mac, names: Vec<StationName>, params: &NetbiosParams) -> IpxConfig {
    IpxConfig {
        frame: Some(params.frame_type),
        network: Some(NETWORK),
        circuit: params.circuit(),
        direct_retransmission: params.direct(),
        direct_retries: params.direct_retries,
        ..IpxConfig::new(mac, names)
    }
}

/// The addresses are those of the captures of TCP.
fn mac(end: End) -> Mac {
    let number = match end.side {
        Side::Client => end.client.saturating_add(2),
        Side::Server => 1,
    };
    let [high, low] = number.to_be_bytes();
    Mac([2, 0, 0, 0, high, low])
}

fn names(end: End) -> Vec<StationName> {
    vec![StationName {
        name: name_of(end),
        group: false,
        listens: end.side == Side::Server,
    }]
}
