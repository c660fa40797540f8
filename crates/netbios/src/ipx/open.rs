//! Sessions: calling, accepting, and finding the one that a packet is for.

use alloc::vec::Vec;

use coax_wire::ipx::nbipx::{SESSION_HEADER_LEN, SessionHeader, SessionOpen, control, stream};
use coax_wire::ipx::{kind, socket};
use coax_wire::nbt::name::NbName;
use coax_wire::time::{Span, Time};

use crate::nbf::{Refused, SessionId};

use super::Ipx;
use super::circuit::{Circuit, Names, answer_end};
use super::close::SessionClose;
use super::config::{CallError, Carriage, IpxEvent};
use super::direct::{Caller, Fields, NameTrailer, Served, ServedConfig, refusal};
use super::locate::{Locating, Search};
use super::route::{Place, Route};
use super::session::{Engine, Session};

/// ERRSRV/ERRinvsess: there is no such connection ([MS-CIFS] 2.1.2.1).
const UNKNOWN_CONNECTION: u32 = 0x0010_0002;
/// ERRSRV/ERRnotme: the request is for another server.
const NOT_ME: u32 = 0x0012_0002;
/// A station that opens a session with a number that it used this short a time ago repeats itself.
const REPETITION: Span = Span::from_secs(2);

impl Ipx {
    /// Calls a name, by the carriage that its station offers, NetBIOS first, or by `only` this one.
    /// [`IpxEvent::SessionOpened`] or [`IpxEvent::CallFailed`] follows.
    ///
    /// # Errors
    /// [`Refused::Full`] when all sessions are in use.
    pub fn call(
        &mut self,
        now: Time,
        called: NbName,
        calling: NbName,
        only: Option<Carriage>,
    ) -> Result<SessionId, Refused> {
        if self.sessions.len() >= self.config.max_sessions {
            return Err(Refused::Full);
        }
        let engine = Engine::Locating(Locating::new(now, called, calling, only));
        let place = Place {
            route: Route {
                frame: coax_wire::ipx::FrameType::Ieee802_2,
                hop: self.config.mac,
                host: Default::default(),
            },
            socket: socket::NETBIOS,
        };
        let id = self.insert(Session { place, engine });
        self.search(now, id);
        Ok(id)
    }

    /// Whether a message would be taken.
    pub fn can_send(&self, id: SessionId) -> bool {
        self.sessions.get(&id).is_some_and(Session::can_send)
    }

    /// Sends a message.
    ///
    /// # Errors
    /// [`Refused::NoSession`]; [`Refused::Busy`] when others wait.
    pub fn send(&mut self, now: Time, id: SessionId, bytes: Vec<u8>) -> Result<(), Refused> {
        let session = self.sessions.get_mut(&id).ok_or(Refused::NoSession)?;
        let taken = session.send(now, bytes);
        self.turn(now, id);
        taken.then_some(()).ok_or(Refused::Busy)
    }

    /// The program has taken a message of this session.
    pub fn consumed(&mut self, now: Time, id: SessionId) {
        if let Some(session) = self.sessions.get_mut(&id) {
            session.consumed();
            self.turn(now, id);
        }
    }

    /// Closes a session when everything that waits is sent and acknowledged, or after 20 s.
    pub fn hang_up(&mut self, now: Time, id: SessionId) {
        self.end(now, id, Session::hang_up);
    }

    /// Ends a session at once; what waits is lost.
    pub fn abort(&mut self, now: Time, id: SessionId) {
        self.end(now, id, Session::abort);
    }

    fn end(&mut self, now: Time, id: SessionId, how: fn(&mut Session, Time)) {
        let Some(session) = self.sessions.get_mut(&id) else {
            return;
        };
        if matches!(session.engine, Engine::Locating(_)) {
            return self.forget(id);
        }
        how(session, now);
        self.turn(now, id);
    }

    /// Goes on with a call whose station is not known.
    pub(super) fn search(&mut self, now: Time, id: SessionId) {
        let (count, interval) = (self.config.query_count, self.config.query_interval);
        let Some(session) = self.sessions.get_mut(&id) else {
            return;
        };
        let Engine::Locating(call) = &mut session.engine else {
            return;
        };
        let (called, calling, only) = (call.called, call.calling, call.only);
        match call.advance(now, count, interval) {
            Search::Wait => {}
            Search::Ask => self.ask_who_has(called, calling, only),
            Search::Direct(route) => self.begin_direct(now, id, route),
            Search::Nobody => self.call_failed(id, CallError::NoAnswer),
        }
    }

    /// A station has a name that we may be looking for.
    pub(super) fn recognized(&mut self, now: Time, route: Route, name: NbName) {
        for id in self.looking_for(name, Carriage::NetBios) {
            let Some(number) = self.free_number() else {
                self.call_failed(id, CallError::NoResources);
                continue;
            };
            let max_data = max_data(route);
            let config = self.config.circuit;
            let Some(session) = self.sessions.get_mut(&id) else {
                continue;
            };
            let (called, calling) = session.names();
            let names = Names { called, calling };
            session.place = Place {
                route,
                socket: socket::NETBIOS,
            };
            session.engine = Engine::Circuit(Circuit::call(now, config, number, names, max_data));
            self.circuits.insert(number, id);
            self.turn(now, id);
        }
    }

    /// A station that hosts SMB directly has a name that we may be looking for.
    pub(super) fn found_direct(&mut self, now: Time, route: Route, name: NbName) {
        for id in self.looking_for(name, Carriage::Direct) {
            let session = self.sessions.get_mut(&id);
            if let Some(Engine::Locating(call)) = session.map(|session| &mut session.engine) {
                call.found_direct(now, route);
            }
            self.search(now, id);
        }
    }

    fn begin_direct(&mut self, now: Time, id: SessionId, route: Route) {
        let Some(session) = self.sessions.get_mut(&id) else {
            return;
        };
        let (called, calling) = session.names();
        let names = NameTrailer {
            source: calling,
            destination: called,
        };
        session.place = Place {
            route,
            socket: socket::SMB_SERVER,
        };
        let room = route.frame.max_data();
        let limits = (
            self.config.direct_retransmission,
            self.config.direct_retries,
        );
        session.engine = Engine::Caller(Caller::new(names, room, limits));
        self.events.push_back(IpxEvent::SessionOpened {
            session: id,
            carriage: Carriage::Direct,
            peer: route.host,
            called,
            calling,
            incoming: false,
        });
        self.turn(now, id);
    }

    /// A packet of a NetBIOS session.
    pub(super) fn handle_session(
        &mut self,
        now: Time,
        from: Place,
        header: &SessionHeader,
        data: &[u8],
    ) -> Option<()> {
        if header.destination == SessionHeader::UNASSIGNED {
            return self.handle_call(now, from, header, data);
        }
        let known = self.circuits.get(&header.destination).copied();
        let known = known.and_then(|id| Some((id, self.sessions.get_mut(&id)?)));
        if let Some((id, session)) = known
            && session.place.route.host.node == from.route.host.node
            && let Engine::Circuit(circuit) = &mut session.engine
            && (circuit.remote() == header.source || circuit.remote() == SessionHeader::UNASSIGNED)
        {
            circuit.handle(now, header, data);
            self.turn(now, id);
            return Some(());
        }
        // Its sender waits for the answer that was lost.
        if header.stream == stream::SESSION_END && self.may_reply(now, from.route) {
            let answer = answer_end(header);
            self.reply(kind::PACKET_EXCHANGE, socket::NETBIOS, from, &[&answer]);
            return Some(());
        }
        None
    }

    /// A station opens a NetBIOS session.
    fn handle_call(
        &mut self,
        now: Time,
        from: Place,
        header: &SessionHeader,
        data: &[u8],
    ) -> Option<()> {
        let open = SessionOpen::parse(data).ok()?;
        let is_call = header.has(control::CONFIRM) && header.stream == stream::SESSION_DATA;
        // Windows has its own name first; the names tell which is ours.
        let listens = |name: &NbName| self.owned(name).is_some_and(|claim| claim.own.listens);
        let names = match (listens(&open.destination), listens(&open.source)) {
            (true, _) => (open.destination, open.source),
            (false, true) => (open.source, open.destination),
            (false, false) => return None,
        };
        if !is_call || !self.accepts(Carriage::NetBios) || self.repeats_call(now, from, header) {
            return None;
        }
        self.make_room_for(now, from.route);
        if self.sessions.len() >= self.config.max_sessions {
            return None;
        }
        let number = self.free_number()?;
        let names = Names {
            called: names.0,
            calling: names.1,
        };
        let (config, max_data) = (self.config.circuit, max_data(from.route));
        let circuit = Circuit::accept(now, config, number, (header, &open), names, max_data);
        let engine = Engine::Circuit(circuit);
        let id = self.insert(Session {
            place: from,
            engine,
        });
        self.circuits.insert(number, id);
        self.turn(now, id);
        Some(())
    }

    /// Answers a call that came again. A station that was silent for a while has forgotten the session and means a new
    /// one.
    fn repeats_call(&mut self, now: Time, from: Place, header: &SessionHeader) -> bool {
        let mut sessions = self.sessions.iter_mut();
        let known = sessions.find_map(|(id, session)| match &mut session.engine {
            Engine::Circuit(circuit)
                if circuit.incoming
                    && circuit.is_open()
                    && circuit.remote() == header.source
                    && session.place.route == from.route =>
            {
                Some((*id, circuit))
            }
            _ => None,
        });
        let Some((id, circuit)) = known else {
            return false;
        };
        if now < circuit.heard() + REPETITION {
            circuit.confirm();
            self.turn(now, id);
            return true;
        }
        self.replace(id);
        false
    }

    /// A request of a direct client.
    pub(super) fn handle_request(&mut self, now: Time, from: Place, data: &[u8]) -> Option<()> {
        let fields = Fields::of(data)?;
        if !self.accepts(Carriage::Direct) || fields.is_reply {
            return None;
        }
        let is_opening = fields.command == coax_wire::command::NEGOTIATE && fields.connection == 0;
        let (data, id) = match is_opening {
            true => self.open_served(now, from, &fields, data)?,
            false => (data, self.served.get(&fields.connection).copied()),
        };
        let session = id.and_then(|id| self.sessions.get_mut(&id));
        let session = session.filter(|session| session.place == from);
        let engine = session.map(|session| &mut session.engine);
        let (Some(id), Some(Engine::Served(served))) = (id, engine) else {
            return self.refuse(now, from, data, UNKNOWN_CONNECTION);
        };
        served.handle(now, &fields, data);
        self.turn(now, id);
        Some(())
    }

    /// The connection for a NEGOTIATE, and the message without names. `None`: it was refused.
    fn open_served<'a>(
        &mut self,
        now: Time,
        from: Place,
        fields: &Fields,
        data: &'a [u8],
    ) -> Option<(&'a [u8], Option<SessionId>)> {
        let (message, names) = NameTrailer::split(data);
        let mut sessions = self.sessions.iter();
        let known = sessions.find(|(_, session)| match &session.engine {
            Engine::Served(served) => session.place == from && served.was_opened_by(fields),
            _ => false,
        });
        if let Some((id, _)) = known {
            return Some((message, Some(*id)));
        }
        let mut own = self.claims.iter();
        let own = own.find(|claim| claim.is_owned() && claim.own.listens)?;
        let called = match names {
            None => own.own.name,
            Some(names) => match self.owned(&names.destination) {
                Some(claim) if claim.own.listens => names.destination,
                _ => {
                    self.refuse(now, from, message, NOT_ME);
                    return None;
                }
            },
        };
        let calling = names.map_or_else(|| nameless(from), |names| names.source);
        self.make_room_for(now, from.route);
        let number = self.free_number()?;
        if self.sessions.len() >= self.config.max_sessions {
            return None;
        }
        let id = self.insert_served(now, from, number, *fields, (called, calling));
        Some((message, Some(id)))
    }

    fn insert_served(
        &mut self,
        now: Time,
        from: Place,
        number: u16,
        fields: Fields,
        (called, calling): (NbName, NbName),
    ) -> SessionId {
        let config = ServedConfig {
            idle: self.config.direct_idle,
            idle_without_share: self.config.direct_idle_without_share,
            max_message: from.route.frame.max_data(),
        };
        let served = Served::new(now, config, number, fields, (called, calling));
        let id = self.insert(Session {
            place: from,
            engine: Engine::Served(served),
        });
        self.served.insert(number, id);
        self.events.push_back(IpxEvent::SessionOpened {
            session: id,
            carriage: Carriage::Direct,
            peer: from.route.host,
            called,
            calling,
            incoming: true,
        });
        id
    }

    fn refuse(&mut self, now: Time, from: Place, request: &[u8], status: u32) -> Option<()> {
        let answer = refusal(request, status)?;
        if self.may_reply(now, from.route) {
            self.reply(kind::PACKET_EXCHANGE, socket::SMB_SERVER, from, &[&answer]);
        }
        Some(())
    }

    /// A packet of a direct server.
    pub(super) fn handle_reply(&mut self, now: Time, from: Place, data: &[u8]) -> Option<()> {
        // Answers to name queries go to the socket of clients, too.
        if let Ok(packet) = coax_wire::ipx::nmpi::Packet::parse(data) {
            self.handle_nmpi_name(now, from, &packet);
            return Some(());
        }
        let fields = Fields::of(data)?;
        let mut sessions = self.sessions.iter_mut();
        let (id, caller) = sessions.find_map(|(id, session)| match &mut session.engine {
            Engine::Caller(caller)
                if session.place.route.host.node == from.route.host.node
                    && matches!(caller.connection(), 0)
                        | (caller.connection() == fields.connection) =>
            {
                Some((*id, caller))
            }
            _ => None,
        })?;
        caller.handle(now, &fields, data);
        self.turn(now, id);
        Some(())
    }

    /// Limits the sessions of a station: a new one replaces the session that was used least recently.
    fn make_room_for(&mut self, _now: Time, route: Route) {
        let mut sessions = self.sessions.iter();
        let of_station = |session: &Session| session.place.route.host.node == route.host.node;
        let all = sessions.by_ref().filter(|(_, session)| of_station(session));
        let all: Vec<(Option<Time>, SessionId)> =
            all.map(|(id, session)| (session.heard(), *id)).collect();
        if all.len() >= self.config.max_per_station
            && let Some((_, id)) = all.iter().min()
        {
            self.replace(*id);
        }
    }

    fn replace(&mut self, id: SessionId) {
        let event = self.closed(id, SessionClose::Replaced);
        self.events.push_back(event);
        self.forget(id);
    }

    fn looking_for(&self, name: NbName, carriage: Carriage) -> Vec<SessionId> {
        let sessions = self.sessions.iter();
        let found = sessions.filter(|(_, session)| match &session.engine {
            Engine::Locating(call) => call.called == name && call.wants(carriage),
            _ => false,
        });
        found.map(|(id, _)| *id).collect()
    }

    /// The event that tells a program that its session is over.
    pub(super) fn closed(&self, id: SessionId, why: SessionClose) -> IpxEvent {
        let session = self.sessions.get(&id);
        let was_called = session.is_some_and(|session| match &session.engine {
            Engine::Circuit(circuit) => {
                !circuit.incoming && circuit.remote() == SessionHeader::UNASSIGNED
            }
            _ => false,
        });
        match was_called {
            true => IpxEvent::CallFailed {
                session: id,
                why: CallError::NotAccepted,
            },
            false => IpxEvent::SessionClosed { session: id, why },
        }
    }

    fn call_failed(&mut self, id: SessionId, why: CallError) {
        self.forget(id);
        self.events
            .push_back(IpxEvent::CallFailed { session: id, why });
    }

    fn insert(&mut self, session: Session) -> SessionId {
        let id = SessionId(self.next_id);
        self.next_id = self.next_id.wrapping_add(1);
        self.sessions.insert(id, session);
        id
    }

    pub(super) fn forget(&mut self, id: SessionId) {
        let Some(session) = self.sessions.remove(&id) else {
            return;
        };
        let (sent, came) = session.repetitions();
        let counters = &mut self.counters;
        counters.retransmitted = counters.retransmitted.saturating_add(sent);
        counters.repeated_requests = counters.repeated_requests.saturating_add(came);
        self.circuits.retain(|_, other| *other != id);
        self.served.retain(|_, other| *other != id);
        self.active.remove(&id);
    }

    /// A number that no session has: neither none nor unassigned.
    fn free_number(&mut self) -> Option<u16> {
        for _ in 0..=u16::MAX {
            let number = self.next_number;
            self.next_number = number.wrapping_add(1);
            let is_usable = !matches!(number, 0 | SessionHeader::UNASSIGNED);
            let is_free =
                !self.circuits.contains_key(&number) && !self.served.contains_key(&number);
            if is_usable && is_free {
                return Some(number);
            }
        }
        None
    }
}

/// The most data of a session packet to a station.
fn max_data(route: Route) -> u16 {
    let room = route.frame.max_data().saturating_sub(SESSION_HEADER_LEN);
    u16::try_from(room).unwrap_or(u16::MAX)
}

/// A name for a client that tells none: its address.
fn nameless(from: Place) -> NbName {
    let mut text = [b' '; 16];
    let digits = from.route.host.node.0.into_iter();
    let digits = digits.flat_map(|byte| [byte >> 4, byte & 15]);
    let digits = digits.map(|digit| match digit {
        0..=9 => b'0'.wrapping_add(digit),
        _ => b'A'.wrapping_add(digit).wrapping_sub(10),
    });
    text.iter_mut()
        .zip(digits)
        .for_each(|(to, digit)| *to = digit);
    NbName(text).with_suffix(0)
}
