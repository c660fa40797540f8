//! Replies to queries about names and about the node.

use alloc::vec::Vec;
use core::net::SocketAddrV4;

use coax_wire::nbt::name::{ENCODED_LEN, NbName};
use coax_wire::nbt::ns::{
    AddrEntry, MAX_DATAGRAM_LEN, NodeName, NodeStatus, Owners, Query, QueryKind, QueryReply,
    RCODE_NAME, Repr, Statistics,
};
use coax_wire::time::Time;

use super::super::entry::Entry;
use super::NameService;

/// Size of a node status without names and scope: header, name, record, count, statistics.
const STATUS_OVERHEAD: usize = 12 + ENCODED_LEN + 10 + 1 + Statistics::LEN;

impl NameService {
    pub(super) fn handle_query(&mut self, now: Time, from: SocketAddrV4, query: Query) {
        // This node also receives its own broadcasts.
        let own = query.broadcast
            && from.port() == coax_wire::nbt::ns::PORT
            && self.config.addresses.contains(from.ip());
        // A P node ignores broadcasts (RFC 1001 §15.2.2).
        if own || (query.broadcast && !self.config.node.uses_broadcast()) {
            return;
        }
        let wildcard = query.name.name.is_any();
        let known = if wildcard {
            self.entries.iter().any(Entry::is_owned)
        } else {
            self.owns(&query.name.name)
        };
        match query.kind {
            QueryKind::Addresses if known => {
                let outcome = Ok(self.owners_of(&query.name.name));
                self.reply_to_query(now, from, query, outcome);
            }
            QueryKind::Addresses if query.broadcast && !wildcard => {
                self.ask_for_others(now, from, query);
            }
            // Another node answers a broadcast query; a unicast query gets a negative reply.
            QueryKind::Addresses if !wildcard => {
                self.reply_to_query(now, from, query, Err(RCODE_NAME));
            }
            QueryKind::NodeStatus if known => {
                let status = self.node_status(query);
                self.reply(now, from, &Repr::NodeStatus(status));
            }
            QueryKind::Addresses | QueryKind::NodeStatus => {}
        }
    }

    pub(super) fn reply_to_query(
        &mut self,
        now: Time,
        from: SocketAddrV4,
        query: Query,
        outcome: Result<Owners, u8>,
    ) {
        let reply = QueryReply {
            id: query.id,
            // The flags that real nodes send: 8500 (Windows) and 8583 (nmbd), whatever RD the query had.
            recursion_desired: true,
            recursion_available: outcome.is_err(),
            name: query.name,
            outcome,
        };
        self.reply(now, from, &Repr::QueryReply(reply));
    }

    fn owners_of(&self, name: &NbName) -> Owners {
        let flags = self.find(name).map(Entry::nb_flags);
        let flags = flags.unwrap_or(coax_wire::nbt::ns::NameFlags(self.config.node.flags()));
        let addresses = self.config.addresses.iter();
        Owners {
            truncated: false,
            ttl_s: self.config.ttl_s,
            entries: addresses
                .map(|&address| AddrEntry { flags, address })
                .collect(),
        }
    }

    fn node_status(&self, query: Query) -> NodeStatus {
        let mut scope = Vec::new();
        query.name.encode(&mut scope);
        let used = STATUS_OVERHEAD.saturating_add(scope.len().saturating_sub(ENCODED_LEN));
        let room = MAX_DATAGRAM_LEN.saturating_sub(used) / NodeName::LEN;
        let listed = self.entries.iter().filter_map(|entry| {
            let (name, flags) = (entry.name, entry.status_flags()?);
            Some(NodeName { name, flags })
        });
        NodeStatus {
            id: query.id,
            name: query.name,
            names: listed.take(room).collect(),
            statistics: Statistics::of_unit(self.config.unit_id),
        }
    }
}
