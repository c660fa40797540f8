//! Names: claimed, defended and found, over NBIPX and NMPI.

use coax_wire::ether::Mac;
use coax_wire::ipx::nbipx::{NamePacket, ROUTES_LEN, name_flags, stream};
use coax_wire::ipx::{kind, nmpi, socket};
use coax_wire::nbt::name::{NbName, SUFFIX_WORKSTATION};
use coax_wire::time::Time;

use crate::nbf::StationName;

use super::Ipx;
use super::claim::{Claim, ClaimState, Step};
use super::config::{Carriage, IpxEvent};
use super::route::{Place, Route};

/// The first bytes of Windows 98's NAME RECOGNIZED, in front of its own name and its workgroup (docs/ipx.md).
const RECOGNIZED: [u8; 2] = [0x10, stream::NAME_RECOGNIZED];

impl Ipx {
    /// Claims another name; [`IpxEvent::NameRegistered`] or [`IpxEvent::NameRefused`] follows.
    pub fn add_name(&mut self, now: Time, own: StationName) {
        if !self.claims.iter().any(|claim| claim.own.name == own.name) {
            self.claims.push(Claim::new(own, now));
            self.claim_names(now);
        }
    }

    /// Gives a name up and says so.
    pub fn remove_name(&mut self, name: &NbName) {
        let mut claims = self.claims.iter();
        let Some(at) = claims.position(|claim| claim.own.name == *name) else {
            return;
        };
        let claim = self.claims.remove(at);
        if claim.is_owned() {
            let packet = NamePacket::new(stream::DEREGISTER_NAME, claim.flags(), *name);
            self.broadcast(kind::PROPAGATED, socket::NETBIOS, &[&packet.emit()]);
        }
    }

    /// The names of this station, and whether each is registered.
    pub fn names(&self) -> impl Iterator<Item = (NbName, bool)> {
        let claims = self.claims.iter();
        claims.map(|claim| (claim.own.name, claim.is_owned()))
    }

    /// Whether a name is registered and answered for.
    pub fn owns(&self, name: &NbName) -> bool {
        self.owned(name).is_some()
    }

    pub(super) fn owned(&self, name: &NbName) -> Option<&Claim> {
        let mut claims = self.claims.iter();
        claims.find(|claim| claim.own.name == *name && claim.is_owned())
    }

    /// Sends the queries that are due, and takes the names that nobody defended.
    pub(super) fn claim_names(&mut self, now: Time) {
        let (count, interval) = (self.config.query_count, self.config.query_interval);
        for at in 0..self.claims.len() {
            let Some(claim) = self.claims.get_mut(at) else {
                return;
            };
            match claim.advance(now, count, interval) {
                Step::Wait => {}
                Step::Taken(name) => self.tell(IpxEvent::NameRegistered(name)),
                Step::Ask(own) => self.ask_whether_free(own),
            }
        }
    }

    fn ask_whether_free(&mut self, own: StationName) {
        let (flags, name_type) = match own.group {
            true => (name_flags::GROUP, nmpi::name_type::WORKGROUP),
            false => (0, nmpi::name_type::MACHINE),
        };
        let packet = NamePacket::new(stream::CHECK_NAME, flags, own.name);
        self.broadcast(kind::PROPAGATED, socket::NETBIOS, &[&packet.emit()]);
        if self.accepts(Carriage::Direct) && own.listens {
            let claim = nmpi::Packet {
                operation: nmpi::Operation::Claim,
                name_type,
                message: 0,
                requested: own.name,
                source: own.name,
                data: &[],
            };
            self.broadcast(kind::PROPAGATED, socket::NMPI_NAMES, &[&claim.header()]);
        }
    }

    /// Asks for the station with a name.
    pub(super) fn ask_who_has(&mut self, called: NbName, calling: NbName, only: Option<Carriage>) {
        if only != Some(Carriage::Direct) {
            let packet = NamePacket::new(stream::FIND_NAME, 0, called);
            self.broadcast(kind::PROPAGATED, socket::NETBIOS, &[&packet.emit()]);
        }
        if only != Some(Carriage::NetBios) {
            let query = nmpi::Packet {
                operation: nmpi::Operation::Query,
                name_type: nmpi::name_type::MACHINE,
                message: 0,
                requested: called,
                source: calling,
                data: &[],
            };
            let header = query.header();
            let (from, to) = (socket::SMB_CLIENT, socket::NMPI_NAMES);
            self.broadcast_from(from, kind::PACKET_EXCHANGE, to, &[&header]);
        }
    }

    /// A packet about a name on the socket of NetBIOS.
    pub(super) fn handle_name(&mut self, now: Time, from: Place, packet: &NamePacket) {
        match packet.stream {
            stream::FIND_NAME => self.recognize(now, from, packet.name),
            stream::CHECK_NAME => {
                let for_group = packet.flags & name_flags::GROUP != 0;
                self.defend(now, from, packet.name, for_group);
            }
            stream::NAME_IN_USE => {
                let is_group = packet.flags & name_flags::GROUP != 0;
                self.refused(now, from.route, packet.name, is_group);
            }
            stream::NAME_RECOGNIZED => self.recognized(now, from.route, packet.name),
            _ => {}
        }
    }

    /// A packet about a name of a machine that hosts SMB directly.
    pub(super) fn handle_nmpi_name(&mut self, now: Time, from: Place, packet: &nmpi::Packet<'_>) {
        let name = packet.requested;
        match packet.operation {
            nmpi::Operation::Query | nmpi::Operation::Claim => {
                let own = self.owned(&name).map(|claim| claim.own);
                let answers = own.is_some_and(|own| own.listens && !own.group);
                if !answers || !self.accepts(Carriage::Direct) || !self.may_reply(now, from.route) {
                    return;
                }
                let answer = nmpi::Packet {
                    operation: nmpi::Operation::Found,
                    source: name,
                    data: &[],
                    ..*packet
                };
                let header = answer.header();
                self.reply(kind::PACKET_EXCHANGE, socket::NMPI_NAMES, from, &[&header]);
                if packet.operation == nmpi::Operation::Claim {
                    let claimant = from.route.host;
                    self.tell(IpxEvent::NameDefended { name, claimant });
                }
            }
            nmpi::Operation::Found => {
                self.refused(now, from.route, name, false);
                self.found_direct(now, from.route, name);
            }
            _ => {}
        }
    }

    fn recognize(&mut self, now: Time, from: Place, name: NbName) {
        let Some(flags) = self.owned(&name).map(Claim::flags) else {
            return;
        };
        if !self.accepts(Carriage::NetBios) || !self.may_reply(now, from.route) {
            return;
        }
        let mut packet = NamePacket::new(stream::NAME_RECOGNIZED, flags, name);
        packet.routes = self.introduction();
        self.reply(
            kind::PACKET_EXCHANGE,
            socket::NETBIOS,
            from,
            &[&packet.emit()],
        );
    }

    /// What Windows 98 has where a query has the networks it passed: its own name and its workgroup.
    fn introduction(&self) -> [u8; ROUTES_LEN] {
        let mut own = self.claims.iter().map(|claim| claim.own);
        let is_plain = |own: &StationName| own.name.suffix() == SUFFIX_WORKSTATION;
        let computer = own.clone().find(|own| is_plain(own) && !own.group);
        let workgroup = own.find(|own| is_plain(own) && own.group);
        let blank = NbName([b' '; 16]);
        let name = |own: Option<StationName>| own.map_or(blank, |own| own.name);
        let (computer, workgroup) = (name(computer), name(workgroup));
        let mut out = [0; ROUTES_LEN];
        let all = [&RECOGNIZED[..], &computer.0, &workgroup.0];
        let bytes = all.into_iter().flatten();
        out.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        out
    }

    /// Another station claims a name. A group name may be had by many.
    fn defend(&mut self, now: Time, from: Place, name: NbName, for_group: bool) {
        let mut claims = self.claims.iter();
        let claim = claims.find(|claim| claim.own.name == name && claim.state != ClaimState::Lost);
        let Some(claim) = claim.filter(|claim| !(for_group && claim.own.group)) else {
            return;
        };
        let flags = claim.flags();
        if !self.may_reply(now, from.route) {
            return;
        }
        let answer = NamePacket::new(stream::NAME_IN_USE, flags, name);
        self.reply(
            kind::PACKET_EXCHANGE,
            socket::NETBIOS,
            from,
            &[&answer.emit()],
        );
        let claimant = from.route.host;
        self.tell(IpxEvent::NameDefended { name, claimant });
    }

    /// Another station says that it has a name that we claim. A name that is ours already stays ours.
    fn refused(&mut self, now: Time, route: Route, name: NbName, is_group: bool) {
        let again = self.config.claim_again;
        let mut claims = self.claims.iter_mut();
        let claim = claims.find(|claim| {
            let is_claiming = matches!(claim.state, ClaimState::Claiming(_));
            is_claiming && claim.own.name == name && !(claim.own.group && is_group)
        });
        if let Some(claim) = claim {
            claim.lose(now, again);
            let by = route.host;
            self.tell(IpxEvent::NameRefused { name, by });
        }
    }

    pub(super) fn is_own(&self, mac: Mac) -> bool {
        mac == self.config.mac
    }
}
