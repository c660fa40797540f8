//! Names: claiming, defending, answering queries, status and datagrams (SC30-3587 §5.3).

use alloc::vec::Vec;

use coax_wire::ether::Mac;
use coax_wire::nbf::{
    AdapterStatus, NAME_ENTRY_LEN, NameCommand, NameFrame, STATUS_LEN, name_number_1,
};
use coax_wire::nbt::name::NbName;
use coax_wire::time::Time;

use super::claim::{Claim, ClaimState};
use super::config::{NbfEvent, Refused, StationName};
use super::{MAX_DATAGRAM, Nbf};

/// Status queries that may wait for their answers.
const MAX_STATUS_QUERIES: usize = 16;
/// The status exceeds what a datagram carries (bit 15 of its length).
const EXCEEDS_FRAME: u16 = 0x8000;
/// The status exceeds the asker's buffer (bit 14 of its length).
const EXCEEDS_BUFFER: u16 = 0x4000;

impl Nbf {
    /// Claims another name; [`NbfEvent::NameRegistered`] or [`NbfEvent::NameRefused`] follows.
    pub fn add_name(&mut self, now: Time, own: StationName) {
        if !self.claims.iter().any(|claim| claim.own.name == own.name) {
            self.claims.push(Claim::new(own, now));
            self.claim_names(now);
        }
    }

    /// Gives a name up: it is no longer answered for. NBF has no frame that says so.
    pub fn remove_name(&mut self, name: &NbName) {
        self.claims.retain(|claim| claim.own.name != *name);
    }

    /// The names of this station, and whether each is registered.
    pub fn names(&self) -> impl Iterator<Item = (NbName, bool)> {
        let claims = self.claims.iter();
        claims.map(|claim| (claim.own.name, claim.state == ClaimState::Owned))
    }

    /// Whether a name is registered and answered for.
    pub fn owns(&self, name: &NbName) -> bool {
        self.owned(name).is_some()
    }

    /// Sends a datagram of at most [`MAX_DATAGRAM`] bytes to a name, or without one to every station. Whether it fits.
    pub fn send_datagram(&mut self, source: NbName, to: Option<NbName>, data: &[u8]) -> bool {
        if data.len() > MAX_DATAGRAM {
            return false;
        }
        let command = match to {
            Some(_) => NameCommand::Datagram,
            None => NameCommand::DatagramBroadcast,
        };
        let mut frame = NameFrame::new(command, to.unwrap_or(NbName([0; 16])), source);
        frame.data = data;
        self.send_name(Mac::NETBIOS, &frame);
        true
    }

    /// Asks the station that has a name for its status; [`NbfEvent::Status`] follows if there is one.
    ///
    /// # Errors
    /// [`Refused::Busy`] when too many answers are awaited.
    pub fn query_status(&mut self, name: NbName) -> Result<(), Refused> {
        if self.status_queries.len() >= MAX_STATUS_QUERIES {
            return Err(Refused::Busy);
        }
        let correlator = self.next_correlator();
        self.status_queries.push((name, correlator));
        let mut frame = NameFrame::new(
            NameCommand::StatusQuery,
            name,
            name_number_1(self.config.mac),
        );
        (frame.data1, frame.response) = (1, correlator);
        frame.data2 = u16::try_from(MAX_DATAGRAM).unwrap_or(u16::MAX);
        self.send_name(Mac::NETBIOS, &frame);
        Ok(())
    }

    /// Sends the queries that are due, and takes the names that nobody defended.
    pub(super) fn claim_names(&mut self, now: Time) {
        for index in 0..self.claims.len() {
            let correlator = self.next_correlator();
            let (count, interval) = (self.config.query_count, self.config.query_interval);
            let Some(claim) = self.claims.get_mut(index) else {
                return;
            };
            if claim.due.is_none_or(|due| due > now) {
                continue;
            }
            let sent = match claim.state {
                ClaimState::Claiming(sent) => sent,
                ClaimState::Owned => continue,
                ClaimState::Lost => 0,
            };
            if sent == 0 {
                claim.correlator = correlator;
            }
            if sent >= count {
                (claim.state, claim.due) = (ClaimState::Owned, None);
                let name = claim.own.name;
                self.tell(NbfEvent::NameRegistered(name));
                continue;
            }
            claim.state = ClaimState::Claiming(sent.saturating_add(1));
            claim.due = Some(now + interval);
            let command = match claim.own.group {
                true => NameCommand::AddGroupNameQuery,
                false => NameCommand::AddNameQuery,
            };
            let mut frame = NameFrame::new(command, NbName([0; 16]), claim.own.name);
            frame.response = claim.correlator;
            self.send_name(Mac::NETBIOS, &frame);
        }
    }

    pub(super) fn handle_name(&mut self, now: Time, from: Mac, frame: &NameFrame<'_>) {
        match frame.command {
            NameCommand::AddNameQuery => self.defend(now, from, frame, false),
            NameCommand::AddGroupNameQuery => self.defend(now, from, frame, true),
            NameCommand::AddNameResponse => self.claim_refused(now, from, frame),
            NameCommand::NameInConflict => self.in_conflict(now, from, frame),
            NameCommand::StatusQuery => self.answer_status(now, from, frame),
            NameCommand::StatusResponse => self.take_status(frame),
            NameCommand::NameQuery => self.answer_query(now, from, frame),
            NameCommand::NameRecognized => self.recognized(now, from, frame),
            NameCommand::Datagram => {
                if self.hears(&frame.destination) {
                    self.deliver(from, frame, Some(frame.destination));
                }
            }
            NameCommand::DatagramBroadcast => self.deliver(from, frame, None),
            NameCommand::TerminateTrace | NameCommand::TerminateTraceBoth => {}
        }
    }

    pub(super) fn owned(&self, name: &NbName) -> Option<StationName> {
        let mut claims = self.claims.iter();
        claims
            .find(|claim| claim.own.name == *name && claim.state == ClaimState::Owned)
            .map(|claim| claim.own)
    }

    fn hears(&self, name: &NbName) -> bool {
        self.owned(name).is_some() || self.config.hears.contains(name)
    }

    /// Another station claims a name. A group name may be had by many.
    fn defend(&mut self, now: Time, from: Mac, frame: &NameFrame<'_>, for_group: bool) {
        let name = frame.source;
        let mut claims = self.claims.iter();
        let Some(claim) = claims.find(|claim| claim.own.name == name) else {
            return;
        };
        let in_process = match claim.state {
            ClaimState::Owned => 0,
            ClaimState::Claiming(_) => 1,
            ClaimState::Lost => return,
        };
        let group = claim.own.group;
        if for_group && group || !self.may_reply(now, from) {
            return;
        }
        let mut answer = NameFrame::new(NameCommand::AddNameResponse, name, name);
        answer.data1 = in_process;
        answer.data2 = u16::from(group);
        answer.transmit = frame.response;
        self.send_name(from, &answer);
        let claimant = from;
        self.tell(NbfEvent::NameDefended { name, claimant });
    }

    fn claim_refused(&mut self, now: Time, from: Mac, frame: &NameFrame<'_>) {
        let again = self.config.claim_again;
        let mut claims = self.claims.iter_mut();
        let Some(claim) = claims.find(|claim| {
            matches!(claim.state, ClaimState::Claiming(_))
                && claim.own.name == frame.source
                && claim.correlator == frame.transmit
        }) else {
            return;
        };
        // Groups share their name; only a station that has it alone can refuse.
        if claim.own.group && frame.data2 == 1 {
            return;
        }
        claim.lose(now, again);
        let (name, by) = (frame.source, from);
        self.tell(NbfEvent::NameRefused { name, by });
    }

    /// Anybody can send NAME IN CONFLICT. It costs the name for a minute, no open session, and is told.
    fn in_conflict(&mut self, now: Time, from: Mac, frame: &NameFrame<'_>) {
        let again = self.config.claim_again;
        let mut claims = self.claims.iter_mut();
        let claim = claims.find(|claim| {
            claim.own.name == frame.destination
                && claim.state == ClaimState::Owned
                && !claim.own.group
        });
        if let Some(claim) = claim {
            claim.lose(now, again);
            let (name, by) = (frame.destination, from);
            self.tell(NbfEvent::NameConflict { name, by });
        }
    }

    fn answer_status(&mut self, now: Time, from: Mac, frame: &NameFrame<'_>) {
        let own = name_number_1(self.config.mac);
        let known = frame.destination == own || self.owned(&frame.destination).is_some();
        if !known || !self.may_reply(now, from) {
            return;
        }
        let owned = self
            .claims
            .iter()
            .filter(|claim| claim.state == ClaimState::Owned);
        let names: Vec<(NbName, bool)> = owned
            .map(|claim| (claim.own.name, claim.own.group))
            .collect();
        let count = names.len();
        let limit = |value: usize| u16::try_from(value).unwrap_or(u16::MAX);
        let status = AdapterStatus {
            mac: self.config.mac,
            sessions: limit(self.sessions.len()),
            max_sessions: limit(self.config.max_sessions),
            t1_timeouts: 0,
            max_piece: self.own_max_piece(),
            max_datagram: limit(MAX_DATAGRAM),
            names,
        };
        let whole = status.emit();
        let room = MAX_DATAGRAM.min(usize::from(frame.data2));
        let fitting = room.saturating_sub(STATUS_LEN) / NAME_ENTRY_LEN;
        let len = match room < STATUS_LEN {
            true => room,
            false => STATUS_LEN.saturating_add(fitting.min(count).saturating_mul(NAME_ENTRY_LEN)),
        };
        let mut answer =
            NameFrame::new(NameCommand::StatusResponse, frame.source, frame.destination);
        answer.transmit = frame.response;
        answer.data1 = if frame.data1 == 0 {
            0
        } else {
            u8::try_from(fitting.min(count)).unwrap_or(u8::MAX)
        };
        answer.data2 = limit(len);
        if whole.len() > MAX_DATAGRAM {
            answer.data2 |= EXCEEDS_FRAME;
        }
        if whole.len() > usize::from(frame.data2) {
            answer.data2 |= EXCEEDS_BUFFER;
        }
        answer.data = whole.get(..len).unwrap_or(&whole);
        self.send_name(from, &answer);
    }

    fn take_status(&mut self, frame: &NameFrame<'_>) {
        let mut queries = self.status_queries.iter();
        let wanted = (frame.source, frame.transmit);
        let Some(at) = queries.position(|query| *query == wanted) else {
            return;
        };
        self.status_queries.remove(at);
        if let Ok(status) = AdapterStatus::parse(frame.data) {
            let name = frame.source;
            self.tell(NbfEvent::Status { name, status });
        }
    }

    fn deliver(&mut self, from: Mac, frame: &NameFrame<'_>, destination: Option<NbName>) {
        self.tell(NbfEvent::Datagram {
            from,
            source: frame.source,
            destination,
            data: frame.data.to_vec(),
        });
    }
}
