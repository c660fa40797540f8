//! The client of a WINS server: registration, refresh and release of names by unicast (RFC 1002 §5.1.2).

use core::net::{Ipv4Addr, SocketAddrV4};

use coax_wire::nbt::name::ScopedName;
use coax_wire::nbt::ns::{self, AddrEntry, Claim, ClaimOp, ClaimReply, Query, QueryKind, Wack};
use coax_wire::time::{Span, Time};

use super::super::entry::{Entry, State};
use super::super::wins_state::{Ask, WinsState};
use super::super::{Destination, Event, NameKind, Transmit};
use super::{NameService, next_id};
use alloc::vec::Vec;

/// Wait for a WINS server, as Windows has it (NameSrvQueryTimeout, KB Q120642).
const RETRY_TIMEOUT: Span = Span::from_millis(1500);

/// Requests to one WINS server before the next is tried (NameSrvQueryCount, KB Q120642; RFC 1002 §6 has 3 too).
const RETRY_COUNT: u8 = 3;

/// The longest that a WAIT FOR ACKNOWLEDGEMENT RESPONSE may delay the next step.
const MAX_WACK_S: u32 = 60;

/// The least seconds between two refreshes, whatever time to live the server grants.
const MIN_REFRESH_S: u32 = 60;

impl NameService {
    /// The WINS server in use.
    pub fn wins_server(&self) -> Option<Ipv4Addr> {
        self.config.wins.get(self.wins_at).copied()
    }

    pub(super) fn step_wins(&mut self, now: Time, index: usize) {
        let Some(entry) = self.entries.get_mut(index) else {
            return;
        };
        if entry.wins.due().is_none_or(|due| due > now) {
            return;
        }
        match entry.wins {
            WinsState::Registered { .. } => entry.wins = WinsState::ask(Ask::Refresh, now),
            WinsState::Unreachable { registered, .. } => {
                let what = if registered {
                    Ask::Refresh
                } else {
                    Ask::Register
                };
                entry.wins = WinsState::ask(what, now);
            }
            WinsState::Asking { sent, .. } if sent >= RETRY_COUNT => {
                return self.wins_timeout(now, index);
            }
            WinsState::Asking { .. } | WinsState::Idle => {}
        }
        self.send_to_wins(now, index);
    }

    /// Sends the request that an entry has to make, once more.
    fn send_to_wins(&mut self, now: Time, index: usize) {
        let (Some(server), address) = (self.wins_server(), self.address()) else {
            return;
        };
        let (fresh, at) = (self.next_id, self.wins_at);
        let Some(entry) = self.entries.get_mut(index) else {
            return;
        };
        let WinsState::Asking {
            what,
            id,
            sent,
            failed,
            ..
        } = entry.wins
        else {
            return;
        };
        let id = if sent == 0 { fresh } else { id };
        entry.wins = WinsState::Asking {
            what,
            id,
            sent: sent.saturating_add(1),
            failed,
            server: at,
            due: now + RETRY_TIMEOUT,
        };
        if sent == 0 {
            next_id(&mut self.next_id);
        }
        let name = ScopedName {
            name: entry.name,
            scope: self.config.scope.clone(),
        };
        let flags = entry.nb_flags();
        let several = self.config.addresses.len() > 1 && entry.kind == NameKind::Unique;
        let (to, bytes) = match what {
            Ask::Challenge(owner) => (owner, query(id, name).emit()),
            _ => {
                let claim = Claim {
                    id,
                    op: operation(what, several),
                    broadcast: false,
                    // nmbd and Windows set RD in a registration only.
                    recursion_desired: what == Ask::Register,
                    name,
                    ttl_s: if what == Ask::Release {
                        0
                    } else {
                        self.config.ttl_s
                    },
                    entries: Vec::from([AddrEntry { flags, address }]),
                };
                (server, claim.emit())
            }
        };
        self.transmits.push_back(Transmit {
            to: Destination::Addr(SocketAddrV4::new(to, ns::PORT)),
            bytes,
        });
    }

    /// Nobody answered: the challenged owner is gone, or the next WINS server is tried.
    fn wins_timeout(&mut self, now: Time, index: usize) {
        let servers = self.config.wins.len();
        let Some(entry) = self.entries.get_mut(index) else {
            return;
        };
        let WinsState::Asking {
            what,
            failed,
            server,
            ..
        } = entry.wins
        else {
            return;
        };
        if matches!(what, Ask::Challenge(_)) {
            entry.wins = WinsState::ask(Ask::Overwrite, now);
            return self.send_to_wins(now, index);
        }
        let failed = failed.saturating_add(1);
        // Another name may have changed over to the next server already.
        if what != Ask::Release && server == self.wins_at {
            let next = self.wins_at.saturating_add(1);
            self.wins_at = next.checked_rem(servers).unwrap_or(0);
        }
        if usize::from(failed) < servers && what != Ask::Release {
            entry.wins = WinsState::Asking {
                what,
                id: 0,
                sent: 0,
                failed,
                server,
                due: now,
            };
            return self.send_to_wins(now, index);
        }
        self.wins_unreachable(now, index, what);
    }

    fn wins_unreachable(&mut self, now: Time, index: usize, what: Ask) {
        let retry = now + self.config.wins_retry;
        let Some(entry) = self.entries.get_mut(index) else {
            return;
        };
        if what == Ask::Release {
            entry.wins = WinsState::Idle;
            return self.released(index);
        }
        entry.wins = WinsState::Unreachable {
            registered: what == Ask::Refresh,
            retry,
        };
        // An H node falls back to broadcasts.
        if entry.state == State::Idle && entry.uses_broadcast() {
            entry.state = State::Claiming { sent: 0, due: now };
        }
        if !self.wins_silent {
            self.wins_silent = true;
            self.queue_event(Event::WinsUnreachable);
        }
    }

    /// A reply from the WINS server to one of our requests.
    pub(super) fn handle_wins_reply(&mut self, now: Time, from: Ipv4Addr, reply: &ClaimReply) {
        if !self.config.wins.contains(&from) {
            return;
        }
        let found = self
            .entries
            .iter()
            .position(|entry| entry.name == reply.name.name && entry.wins.is_answered_by(reply.id));
        let Some(index) = found else { return };
        self.wins_silent = false;
        let what = self.entries.get(index).map(|entry| entry.wins);
        let Some(WinsState::Asking { what, .. }) = what else {
            return;
        };
        match (what, reply.rcode) {
            (Ask::Release, _) => {
                if let Some(entry) = self.entries.get_mut(index) {
                    entry.wins = WinsState::Idle;
                }
                self.released(index);
            }
            (Ask::Register, 0) if !reply.recursion_available => {
                let owner = reply.entries.first().map(|owner| owner.address);
                if let (Some(entry), Some(owner)) = (self.entries.get_mut(index), owner) {
                    entry.wins = WinsState::ask(Ask::Challenge(owner), now);
                }
                self.send_to_wins(now, index);
            }
            (_, 0) => self.wins_granted(now, index, reply.ttl_s),
            (_, _) => self.wins_refused(now, index, what == Ask::Refresh, from),
        }
    }

    fn wins_granted(&mut self, now: Time, index: usize, ttl_s: u32) {
        let ttl_s = if ttl_s == 0 { self.config.ttl_s } else { ttl_s };
        let refresh = now + Span::from_secs(u64::from((ttl_s / 2).max(MIN_REFRESH_S)));
        let Some(entry) = self.entries.get_mut(index) else {
            return;
        };
        let known = entry.is_owned();
        entry.wins = WinsState::Registered { refresh };
        let name = entry.name;
        // An H node that had fallen back to broadcasts keeps its local claim, too.
        if !known && entry.state == State::Idle {
            self.queue_event(Event::Registered(name));
        }
    }

    fn wins_refused(&mut self, now: Time, index: usize, conflict: bool, by: Ipv4Addr) {
        let Some(entry) = self.entries.get(index) else {
            return;
        };
        let (name, owned_here) = (entry.name, entry.state == State::Owned);
        if owned_here {
            // The network has to learn that the name is given up (RFC 1002 §5.1.3.1).
            self.send_claim(index, ClaimOp::Release, false);
        }
        self.lose(now, &name, conflict, by);
    }

    /// A challenged owner answered.
    pub(super) fn handle_challenge_reply(
        &mut self,
        now: Time,
        from: Ipv4Addr,
        id: u16,
        owns: bool,
    ) {
        let found = self.entries.iter().position(|entry| {
            entry.wins.is_answered_by(id)
                && matches!(entry.wins, WinsState::Asking { what: Ask::Challenge(owner), .. } if owner == from)
        });
        let Some(index) = found else { return };
        if owns {
            return self.wins_refused(now, index, false, from);
        }
        if let Some(entry) = self.entries.get_mut(index) {
            entry.wins = WinsState::ask(Ask::Overwrite, now);
        }
        self.send_to_wins(now, index);
    }

    /// The server needs time (RFC 1002 §4.2.16).
    pub(super) fn handle_wack(&mut self, now: Time, from: Ipv4Addr, wack: &Wack) {
        if !self.config.wins.contains(&from) {
            return;
        }
        let wait = Span::from_secs(u64::from(wack.ttl_s.clamp(1, MAX_WACK_S)));
        let asking = |entry: &&mut Entry| entry.wins.is_answered_by(wack.id);
        if let Some(entry) = self.entries.iter_mut().find(asking)
            && let WinsState::Asking { due, .. } = &mut entry.wins
        {
            *due = now + wait;
        }
    }
}

fn operation(what: Ask, several_addresses: bool) -> ClaimOp {
    match what {
        Ask::Register if several_addresses => ClaimOp::RegisterMultihomed,
        Ask::Register | Ask::Challenge(_) | Ask::Overwrite => ClaimOp::Register,
        Ask::Refresh => ClaimOp::Refresh,
        Ask::Release => ClaimOp::Release,
    }
}

fn query(id: u16, name: ScopedName) -> Query {
    Query {
        id,
        broadcast: false,
        recursion_desired: true,
        kind: QueryKind::Addresses,
        name,
    }
}
