//! Opening and closing sessions (SC30-3587 §5.3.3 and §5.3.6).

use alloc::vec::Vec;

use coax_wire::ether::Mac;
use coax_wire::nbf::{NameCommand, NameFrame, SessionCommand, SessionFrame, flags};
use coax_wire::nbt::name::NbName;
use coax_wire::time::{Span, Time};

use crate::llc::LinkEnd;

use super::Nbf;
use super::config::{CallError, NbfEvent, Refused, SessionClose, SessionId};
use super::peer::Peer;
use super::session::{Phase, Session};

/// The highest number of a session. FF says that there are no resources, 0 that nobody listens.
const LAST_NUMBER: u8 = 0xfe;
/// NAME RECOGNIZED: somebody listens, and there are no resources.
const NO_RESOURCES: u8 = 0xff;
/// Sessions that may be offered to stations that have not opened them yet.
const MAX_OFFERS: usize = 64;
/// How long opening the link may take: longer than the link's own retries.
const LINKING: Span = Span::from_secs(12);
/// How long a session that ends may take to send what waits.
const FAREWELL: Span = Span::from_secs(20);
/// How long a link without sessions waits for its peer to close it.
const LINGER: Span = Span::from_secs(5);

impl Nbf {
    /// Calls a name. [`NbfEvent::SessionOpened`] or [`NbfEvent::CallFailed`] follows.
    ///
    /// # Errors
    /// [`Refused::Full`] when all sessions are in use.
    pub fn call(
        &mut self,
        now: Time,
        called: NbName,
        calling: NbName,
    ) -> Result<SessionId, Refused> {
        if self.sessions.len() >= self.config.max_sessions {
            return Err(Refused::Full);
        }
        let local = self.free_call_number().ok_or(Refused::Full)?;
        let phase = Phase::Querying {
            sent: 0,
            correlator: self.next_correlator(),
        };
        let mut session = Session::new(Mac::NETBIOS, local, called, calling, phase);
        session.due = Some(now);
        let id = self.insert(session);
        self.session_expired(now, id);
        Ok(id)
    }

    /// Closes a session when everything that waits is sent and acknowledged, or after 20 s.
    pub fn hang_up(&mut self, now: Time, id: SessionId) {
        let Some(session) = self.sessions.get_mut(&id) else {
            return;
        };
        if session.phase == Phase::Open && !session.outbox.is_empty() {
            session.phase = Phase::Ending;
            session.due = Some(now + FAREWELL);
            return;
        }
        self.end_session(now, id, 0, SessionClose::Local);
    }

    /// Ends a session at once; what waits is lost.
    pub fn abort(&mut self, now: Time, id: SessionId) {
        self.end_session(now, id, 1, SessionClose::Local);
    }

    /// Another station asks for a name, and perhaps for a session.
    pub(super) fn answer_query(&mut self, now: Time, from: Mac, frame: &NameFrame<'_>) {
        let Some(own) = self.owned(&frame.destination) else {
            return;
        };
        if !self.may_reply(now, from) {
            return;
        }
        let mut answer =
            NameFrame::new(NameCommand::NameRecognized, frame.source, frame.destination);
        answer.transmit = frame.response;
        let number = match frame.session() {
            0 => 0,
            _ if !own.listens => 0,
            remote => self.offer(now, from, remote, frame, &mut answer.response),
        };
        answer.data2 = u16::from_le_bytes([number, u8::from(own.group)]);
        self.send_name(from, &answer);
    }

    /// Offers a session; a query that was repeated gets the same one.
    fn offer(
        &mut self,
        now: Time,
        from: Mac,
        remote: u8,
        frame: &NameFrame<'_>,
        correlator: &mut u16,
    ) -> u8 {
        let mut offered = self
            .sessions
            .values()
            .filter_map(|session| match session.phase {
                Phase::Offered { correlator } => Some((session, correlator)),
                _ => None,
            });
        let same = |session: &Session| {
            (
                session.peer,
                session.remote,
                session.called,
                session.calling,
            ) == (from, remote, frame.destination, frame.source)
        };
        if let Some((session, known)) = offered.clone().find(|(session, _)| same(session)) {
            *correlator = known;
            return session.local;
        }
        let crowded = offered.by_ref().count() >= MAX_OFFERS
            || self.sessions.len() >= self.config.max_sessions;
        let Some(local) = self.free_number(from).filter(|_| !crowded) else {
            return NO_RESOURCES;
        };
        *correlator = self.next_correlator();
        let phase = Phase::Offered {
            correlator: *correlator,
        };
        let mut session = Session::new(from, local, frame.destination, frame.source, phase);
        session.remote = remote;
        session.incoming = true;
        session.due = Some(now + self.config.open_timeout);
        self.insert(session);
        local
    }

    /// Our query was answered.
    pub(super) fn recognized(&mut self, now: Time, from: Mac, frame: &NameFrame<'_>) {
        let mut sessions = self.sessions.iter_mut();
        let Some((id, session)) = sessions.find(|(_, session)| {
            matches!(session.phase, Phase::Querying { correlator, .. } if correlator == frame.transmit)
                && session.called == frame.source
        }) else {
            return;
        };
        let id = *id;
        match frame.session() {
            0 => return self.call_failed(now, id, CallError::NotListening),
            NO_RESOURCES => return self.call_failed(now, id, CallError::NoResources),
            remote => session.remote = remote,
        }
        session.peer = from;
        session.phase = Phase::Linking {
            correlator: frame.response,
        };
        session.due = Some(now + LINKING);
        let local = session.local;
        if self.by_number.contains_key(&(from, local)) {
            // The station called us with this number in the meantime.
            return self.call_failed(now, id, CallError::NoResources);
        }
        self.by_number.insert((from, local), id);
        let full = self.peers.len() >= self.config.max_links;
        if full && !self.peers.contains_key(&from) {
            return self.call_failed(now, id, CallError::NoResources);
        }
        let peer = self
            .peers
            .entry(from)
            .or_insert_with(|| Peer::new(now, &self.config, from));
        peer.sessions = peer.sessions.saturating_add(1);
        if peer.link.is_open() {
            self.link_established(now, from);
        } else {
            peer.link.connect(now);
        }
        self.link_turn_after_call(now, from);
    }

    /// The link to a station is open: the sessions that waited for it go on.
    pub(super) fn link_established(&mut self, now: Time, mac: Mac) {
        let max_piece = self.own_max_piece();
        let (timeout, own) = (self.config.open_timeout, self.next_correlator());
        let Some(peer) = self.peers.get_mut(&mac) else {
            return;
        };
        let waiting = self
            .sessions
            .values_mut()
            .filter(|session| session.peer == mac);
        for session in waiting {
            let Phase::Linking { correlator } = session.phase else {
                continue;
            };
            session.phase = Phase::Initializing;
            session.due = Some(now + timeout);
            let mut frame = session.frame(SessionCommand::SessionInitialize);
            frame.data1 = flags::HANDLES_NO_ACK | flags::LARGEST_FRAME | flags::VERSION_2;
            frame.data2 = max_piece;
            (frame.transmit, frame.response) = (correlator, own);
            // Windows 98 as a server waits for the poll (docs/netbeui.md).
            peer.push(&frame.header(), true);
        }
    }

    /// SESSION INITIALIZE: a station takes the session that was offered.
    pub(super) fn initialized(&mut self, now: Time, id: SessionId, frame: &SessionFrame<'_>) {
        let max_piece = self.own_max_piece();
        let Some(session) = self.sessions.get_mut(&id) else {
            return;
        };
        if !matches!(session.phase, Phase::Offered { correlator } if correlator == frame.transmit) {
            return;
        }
        let mut confirm = session.frame(SessionCommand::SessionConfirm);
        confirm.data1 = flags::HANDLES_NO_ACK | flags::VERSION_2;
        confirm.data2 = max_piece;
        (confirm.transmit, confirm.response) = (frame.response, frame.transmit);
        if let Some(peer) = self.peers.get_mut(&session.peer) {
            peer.push(&confirm.header(), true);
        }
        self.opened(id, frame);
        let _ = now;
    }

    /// SESSION CONFIRM: the station took our session.
    pub(super) fn confirmed(&mut self, id: SessionId, frame: &SessionFrame<'_>) {
        let session = self.sessions.get(&id);
        if session.is_some_and(|session| session.phase == Phase::Initializing) {
            self.opened(id, frame);
        }
    }

    /// SESSION END.
    pub(super) fn ended_by_peer(&mut self, now: Time, id: SessionId, frame: &SessionFrame<'_>) {
        let why = match frame.data2 {
            0 => SessionClose::Peer,
            _ => SessionClose::PeerAborted,
        };
        self.remove(now, id, why);
    }

    /// All sessions of a link end.
    pub(super) fn end_all(&mut self, now: Time, mac: Mac, end: LinkEnd) {
        let of_link = self.sessions.iter().filter(|(_, session)| {
            session.peer == mac && !matches!(session.phase, Phase::Offered { .. })
        });
        let all: Vec<SessionId> = of_link.map(|(id, _)| *id).collect();
        for id in all {
            self.remove(now, id, SessionClose::Link(end));
        }
    }

    /// A session's time is over, or an acknowledgment must not wait any longer.
    pub(super) fn session_expired(&mut self, now: Time, id: SessionId) {
        self.send_due_ack(now, id);
        let Some(session) = self.sessions.get_mut(&id) else {
            return;
        };
        if session.due.is_none_or(|due| due > now) {
            return;
        }
        match session.phase {
            Phase::Querying { sent, correlator } if sent < self.config.query_count => {
                let sent = sent.saturating_add(1);
                session.phase = Phase::Querying { sent, correlator };
                session.due = Some(now + self.config.query_interval);
                let (called, calling) = (session.called, session.calling);
                let mut frame = NameFrame::new(NameCommand::NameQuery, called, calling);
                frame.data2 = u16::from(session.local);
                frame.response = correlator;
                self.send_name(Mac::NETBIOS, &frame);
            }
            Phase::Querying { .. } => self.call_failed(now, id, CallError::NoAnswer),
            Phase::Linking { .. } | Phase::Initializing => {
                self.call_failed(now, id, CallError::NotConfirmed);
            }
            Phase::Offered { .. } => self.remove(now, id, SessionClose::Local),
            Phase::Open | Phase::Ending => self.end_session(now, id, 1, SessionClose::Local),
        }
    }

    /// A session that ends has nothing more to send.
    pub(super) fn finish_if_ending(&mut self, now: Time, id: SessionId) {
        let session = self.sessions.get(&id);
        let done = session
            .is_some_and(|session| session.phase == Phase::Ending && session.outbox.is_empty());
        if done {
            self.end_session(now, id, 0, SessionClose::Local);
        }
    }

    /// Tells the peer that a session ends, and forgets it. `how`: 0 normal, 1 abnormal.
    pub(super) fn end_session(&mut self, now: Time, id: SessionId, how: u16, why: SessionClose) {
        let Some(session) = self.sessions.get(&id) else {
            return;
        };
        let mac = session.peer;
        let mut frame = session.frame(SessionCommand::SessionEnd);
        frame.data2 = how;
        if session.is_open()
            && let Some(peer) = self.peers.get_mut(&mac)
        {
            peer.push(&frame.header(), false);
        }
        self.remove(now, id, why);
        if let Some(peer) = self.peers.get_mut(&mac)
            && peer.sessions == 0
        {
            peer.close_due = Some(now);
        }
        self.serve(now, mac);
    }

    fn opened(&mut self, id: SessionId, frame: &SessionFrame<'_>) {
        let own = self.own_max_piece();
        let Some(session) = self.sessions.get_mut(&id) else {
            return;
        };
        session.phase = Phase::Open;
        session.due = None;
        session.max_piece = usize::from(frame.data2.clamp(1, own));
        session.handles_no_ack = frame.has(flags::HANDLES_NO_ACK);
        let event = NbfEvent::SessionOpened {
            session: id,
            peer: session.peer,
            called: session.called,
            calling: session.calling,
            incoming: session.incoming,
        };
        if let Some(peer) = self.peers.get_mut(&session.peer) {
            if session.incoming {
                peer.sessions = peer.sessions.saturating_add(1);
            }
            peer.close_due = None;
        }
        self.events.push_back(event);
    }

    fn call_failed(&mut self, now: Time, id: SessionId, why: CallError) {
        let Some(session) = self.sessions.get_mut(&id) else {
            return;
        };
        // Not an open session: `remove` tells nothing.
        session.phase = Phase::Querying {
            sent: u8::MAX,
            correlator: 0,
        };
        self.remove(now, id, SessionClose::Local);
        self.events
            .push_back(NbfEvent::CallFailed { session: id, why });
    }

    /// Forgets a session and tells why, if it was open or being opened by us.
    fn remove(&mut self, now: Time, id: SessionId, why: SessionClose) {
        let Some(session) = self.sessions.remove(&id) else {
            return;
        };
        let key = (session.peer, session.local);
        let is_linked = self.by_number.get(&key) == Some(&id);
        if is_linked {
            self.by_number.remove(&key);
        }
        let waiting: usize = session.delivered.iter().sum();
        let held = waiting.saturating_add(session.inbox.len());
        self.buffered = self.buffered.saturating_sub(held);
        self.stopped.remove(&id);
        let counted = is_linked && !matches!(session.phase, Phase::Offered { .. });
        if let Some(peer) = self.peers.get_mut(&session.peer)
            && counted
        {
            peer.sessions = peer.sessions.saturating_sub(1);
            if peer.sessions == 0 {
                peer.close_due = Some(now + LINGER);
            }
        }
        let event = match (session.phase, why) {
            (Phase::Open | Phase::Ending, why) => NbfEvent::SessionClosed { session: id, why },
            (Phase::Linking { .. } | Phase::Initializing, SessionClose::Link(end)) => {
                let why = CallError::Link(end);
                NbfEvent::CallFailed { session: id, why }
            }
            (Phase::Linking { .. } | Phase::Initializing, _) => {
                let why = CallError::NotConfirmed;
                NbfEvent::CallFailed { session: id, why }
            }
            (Phase::Querying { .. } | Phase::Offered { .. }, _) => return,
        };
        // Consumers wait for the end of their session: it is never dropped.
        self.events.push_back(event);
    }

    fn insert(&mut self, session: Session) -> SessionId {
        self.next_id = self.next_id.wrapping_add(1);
        let id = SessionId(self.next_id);
        if session.incoming {
            self.by_number.insert((session.peer, session.local), id);
        }
        self.sessions.insert(id, session);
        id
    }

    fn link_turn_after_call(&mut self, now: Time, mac: Mac) {
        if self.peers.get(&mac).is_some_and(|peer| peer.link.is_open()) {
            self.serve(now, mac);
        }
        self.active.insert(mac);
    }

    /// A number that no session with this station has, beginning after the last one given.
    fn free_number(&mut self, mac: Mac) -> Option<u8> {
        let first = self.config.first_session.clamp(1, LAST_NUMBER);
        let next = self.peers.get(&mac).map_or(first, |peer| peer.next_number);
        // A call may lead to this station.
        let is_called = |number: u8| {
            let mut sessions = self.sessions.values();
            sessions.any(|s| s.local == number && matches!(s.phase, Phase::Querying { .. }))
        };
        let taken = |number: u8| self.by_number.contains_key(&(mac, number)) || is_called(number);
        let free = numbers_from(next).find(|number| !taken(*number))?;
        if let Some(peer) = self.peers.get_mut(&mac) {
            peer.next_number = following(free);
        }
        Some(free)
    }

    /// A number for a call: not that of another call, and rather one that no session has.
    fn free_call_number(&mut self) -> Option<u8> {
        let calls = |number: u8| {
            let mut sessions = self.sessions.values();
            sessions.any(|s| s.local == number && matches!(s.phase, Phase::Querying { .. }))
        };
        let used = |number: u8| {
            self.sessions
                .values()
                .any(|session| session.local == number)
        };
        let next = self.next_call_number;
        let free = numbers_from(next)
            .find(|number| !used(*number))
            .or_else(|| numbers_from(next).find(|number| !calls(*number)))?;
        self.next_call_number = following(free);
        Some(free)
    }
}

/// All numbers of sessions, beginning with this one.
fn numbers_from(first: u8) -> impl Iterator<Item = u8> {
    let first = first.clamp(1, LAST_NUMBER);
    (first..=LAST_NUMBER).chain(1..first)
}

fn following(number: u8) -> u8 {
    if number >= LAST_NUMBER {
        1
    } else {
        number.saturating_add(1)
    }
}
