//! A WINS proxy: answers broadcast queries of B nodes for names that only the WINS server knows (RFC 1001 §15.1.4).

use core::net::{Ipv4Addr, SocketAddrV4};

use coax_wire::nbt::ns::{self, Query, QueryReply};
use coax_wire::time::{Span, Time};

use super::super::proxied::ProxyQuery;
use super::super::{Destination, Transmit};
use super::{NameService, next_id};

/// Queries that may wait for the WINS server.
const MAX_PROXIED: usize = 32;

/// How long the WINS server may take to answer. B nodes ask for 2.25 s (KB Q120642).
const PATIENCE: Span = Span::from_secs(2);

impl NameService {
    /// Passes a broadcast query on to the WINS server, if this node is a proxy.
    pub(super) fn ask_for_others(&mut self, now: Time, asker: SocketAddrV4, query: Query) {
        let Some(server) = self.wins_server().filter(|_| self.config.proxy) else {
            return;
        };
        let same = |p: &&ProxyQuery| p.asker == asker && p.query.name == query.name;
        // A query is repeated every 250 ms or 750 ms; the WINS server need not see that.
        if self.proxied.len() >= MAX_PROXIED || self.proxied.iter().any(|p| same(&p)) {
            return;
        }
        let id = next_id(&mut self.next_id);
        let asked = Query {
            id,
            broadcast: false,
            recursion_desired: true,
            ..query.clone()
        };
        self.transmits.push_back(Transmit {
            to: Destination::Addr(SocketAddrV4::new(server, ns::PORT)),
            bytes: asked.emit(),
        });
        self.proxied.push(ProxyQuery {
            asker,
            query,
            id,
            due: now + PATIENCE,
        });
    }

    pub(super) fn handle_proxied_reply(&mut self, now: Time, from: Ipv4Addr, reply: &QueryReply) {
        if !self.config.wins.contains(&from) {
            return;
        }
        let same = |p: &ProxyQuery| p.id == reply.id && p.query.name == reply.name;
        let Some(at) = self.proxied.iter().position(same) else {
            return;
        };
        let proxied = self.proxied.swap_remove(at);
        let Ok(owners) = &reply.outcome else { return };
        // An owner on this network answers for itself (RFC 1001 §15.1.4).
        let here = |address| self.config.network.is_some_and(|n| n.contains(address));
        if owners.entries.iter().any(|owner| here(owner.address)) {
            return;
        }
        self.reply_to_query(now, proxied.asker, proxied.query, Ok(owners.clone()));
    }

    pub(super) fn step_proxy(&mut self, now: Time) {
        self.proxied.retain(|proxied| proxied.due > now);
    }
}
