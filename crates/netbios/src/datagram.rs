//! NetBIOS datagrams, whatever carries them, and their transport over UDP port 138 (RFC 1001 §17, RFC 1002 §5.3).
//!
//! [`Outgoing`] and [`Incoming`] are the narrow interface between users of datagrams, such as the browser, and a
//! transport: names, data, and the station. `A` is a station's address on that transport.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::net::{Ipv4Addr, SocketAddrV4};

use coax_wire::nbt::dgm::{DatagramKind, DatagramPacket, Fragment, MAX_PACKET_LEN, PORT};
use coax_wire::nbt::name::{ENCODED_LEN, NbName, Scope, ScopedName};
use coax_wire::time::{Span, Time};

use crate::limit::{Rate, RateLimiter};
use crate::names::{Destination, NodeType, Transmit};
use crate::network::Network;

/// How long the other fragments of a datagram may take (RFC 1002 §6, FRAGMENT_TO).
const FRAGMENT_TIMEOUT: Span = Span::from_secs(2);
/// Datagrams that may be incomplete at the same time.
const MAX_PARTIAL: usize = 16;
/// The most bytes of a reassembled datagram.
const MAX_DATA: usize = 4096;
/// The most fragments of a datagram.
const MAX_FRAGMENTS: usize = 16;
/// Packets and datagrams that may wait.
const MAX_WAITING: usize = 256;
/// Bytes of a packet's header.
const HEADER_LEN: usize = 14;

/// Which stations a datagram goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Route<A> {
    /// All stations of the network; those that have the destination name look at it.
    Everybody,
    /// One station.
    Station(A),
}

/// A datagram to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outgoing<A> {
    /// Our name that sends it.
    pub source: NbName,
    /// The name it is for.
    pub destination: NbName,
    /// Whether that is a group.
    pub group: bool,
    /// Where it goes.
    pub route: Route<A>,
    /// The user data.
    pub data: Vec<u8>,
}

/// A datagram that arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incoming<A> {
    /// The station that sent it.
    pub from: A,
    /// The sender's name.
    pub source: NbName,
    /// The name it is for. The transport does not look at it.
    pub destination: NbName,
    /// The user data.
    pub data: Vec<u8>,
}

/// What an [`NbtDatagrams`] is told.
#[derive(Clone, Debug)]
pub struct NbtDatagramsConfig {
    /// This host and its network. Datagrams from elsewhere are dropped unless `foreign` admits them.
    pub network: Network,
    /// Stations of other networks that are heard, such as domain masters.
    pub foreign: bool,
    /// The node type that packets tell.
    pub node: NodeType,
    /// The scope; packets of other scopes are dropped.
    pub scope: Scope,
    /// The port that packets name as ours.
    pub port: u16,
    /// The first datagram identifier, best at random.
    pub first_id: u16,
    /// The most packets that one station may send us.
    pub per_station: Rate,
}

impl NbtDatagramsConfig {
    /// A B node of a network without scope.
    pub fn new(network: Network) -> Self {
        Self {
            network,
            foreign: false,
            node: NodeType::Broadcast,
            scope: Scope::EMPTY,
            port: PORT,
            first_id: 0,
            per_station: Rate {
                per_s: 50,
                burst: 200,
            },
        }
    }
}

/// The datagram service of one network over UDP.
#[derive(Debug)]
pub struct NbtDatagrams {
    config: NbtDatagramsConfig,
    next_id: u16,
    partial: Vec<Partial>,
    transmits: VecDeque<Transmit>,
    arrived: VecDeque<Incoming<SocketAddrV4>>,
    stations: RateLimiter<Ipv4Addr>,
    dropped: u64,
}

/// A datagram whose fragments have not all arrived.
#[derive(Debug)]
struct Partial {
    from: Ipv4Addr,
    id: u16,
    destination: NbName,
    parts: Vec<(u16, Vec<u8>)>,
    /// Where the last fragment ends, once it has arrived.
    end: Option<usize>,
    due: Time,
}

impl NbtDatagrams {
    /// A service without datagrams.
    pub fn new(config: NbtDatagramsConfig) -> Self {
        Self {
            next_id: config.first_id,
            partial: Vec::new(),
            transmits: VecDeque::new(),
            arrived: VecDeque::new(),
            stations: RateLimiter::new(config.per_station),
            dropped: 0,
            config,
        }
    }

    /// Sends a datagram, in fragments if it is too long for one packet.
    pub fn send(&mut self, outgoing: &Outgoing<SocketAddrV4>) {
        let to = match outgoing.route {
            Route::Everybody => Destination::Broadcast,
            Route::Station(station) => Destination::Addr(station),
        };
        let scoped = |name| ScopedName {
            name,
            scope: self.config.scope.clone(),
        };
        let (source, destination) = (scoped(outgoing.source), scoped(outgoing.destination));
        let mut encoded = Vec::new();
        source.encode(&mut encoded);
        let names = encoded.len().max(ENCODED_LEN).saturating_mul(2);
        let room = MAX_PACKET_LEN.saturating_sub(HEADER_LEN.saturating_add(names));
        let id = self.next_id;
        self.next_id = id.wrapping_add(1);
        let whole = outgoing.data.get(..MAX_DATA).unwrap_or(&outgoing.data);
        let count = whole.len().div_ceil(room.max(1)).max(1);
        for number in 0..count.min(MAX_FRAGMENTS) {
            let at = number.saturating_mul(room);
            let end = at.saturating_add(room).min(whole.len());
            let fragment = Fragment {
                kind: match outgoing.group {
                    true => DatagramKind::Group,
                    false => DatagramKind::Unique,
                },
                first: number == 0,
                more: number.saturating_add(1) < count,
                node: node_bits(self.config.node),
                id,
                source_ip: self.config.network.address,
                source_port: self.config.port,
                offset: u16::try_from(at).unwrap_or(u16::MAX),
                source: source.clone(),
                destination: destination.clone(),
                data: whole.get(at..end).unwrap_or_default().to_vec(),
            };
            if self.transmits.len() >= MAX_WAITING {
                self.dropped = self.dropped.saturating_add(1);
                return;
            }
            let bytes = fragment.emit();
            self.transmits.push_back(Transmit { to, bytes });
        }
    }

    /// A packet arrived on port 138. Poll [`poll_incoming`](Self::poll_incoming) next.
    pub fn handle_packet(&mut self, now: Time, from: SocketAddrV4, bytes: &[u8]) {
        self.partial.retain(|partial| partial.due > now);
        let ip = *from.ip();
        let here = self.config.network.contains(ip) || self.config.foreign;
        // Our own broadcasts come back to us.
        let own = ip == self.config.network.address && from.port() == self.config.port;
        if !here || own || !self.stations.admit(now, ip) {
            self.dropped = self.dropped.saturating_add(1);
            return;
        }
        let Ok(DatagramPacket::Data(fragment)) = DatagramPacket::parse(bytes) else {
            return;
        };
        if fragment.destination.scope != self.config.scope {
            return;
        }
        let (source, destination) = (fragment.source.name, fragment.destination.name);
        let data = match fragment.first && !fragment.more {
            true => Some(fragment.data),
            false => self.collect(now, ip, fragment),
        };
        if let Some(data) = data.filter(|_| self.arrived.len() < MAX_WAITING) {
            self.arrived.push_back(Incoming {
                from,
                source,
                destination,
                data,
            });
        }
    }

    /// A datagram that is complete, until there is none.
    pub fn poll_incoming(&mut self) -> Option<Incoming<SocketAddrV4>> {
        self.arrived.pop_front()
    }

    /// A packet to send, until there is none.
    pub fn poll_transmit(&mut self) -> Option<Transmit> {
        self.transmits.pop_front()
    }

    /// Packets that were dropped: of other networks, our own, or beyond a limit.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Adds a fragment; the user data if it was the last that was missing. The fragments may come in any order.
    fn collect(&mut self, now: Time, from: Ipv4Addr, fragment: Fragment) -> Option<Vec<u8>> {
        let destination = fragment.destination.name;
        let same =
            |p: &Partial| p.from == from && p.id == fragment.id && p.destination == destination;
        let at = match self.partial.iter().position(same) {
            Some(at) => at,
            None if self.partial.len() >= MAX_PARTIAL => {
                self.dropped = self.dropped.saturating_add(1);
                return None;
            }
            None => {
                self.partial.push(Partial {
                    from,
                    id: fragment.id,
                    destination,
                    parts: Vec::new(),
                    end: None,
                    due: now + FRAGMENT_TIMEOUT,
                });
                self.partial.len().saturating_sub(1)
            }
        };
        let partial = self.partial.get_mut(at)?;
        partial.add(fragment);
        let whole = partial.whole()?;
        self.partial.swap_remove(at);
        Some(whole)
    }
}

impl Partial {
    fn add(&mut self, fragment: Fragment) {
        let end = usize::from(fragment.offset).saturating_add(fragment.data.len());
        let known = self.parts.iter().any(|(at, _)| *at == fragment.offset);
        if end > MAX_DATA || known || self.parts.len() >= MAX_FRAGMENTS {
            return;
        }
        if !fragment.more {
            self.end = Some(end);
        }
        self.parts.push((fragment.offset, fragment.data));
        self.parts.sort_by_key(|(at, _)| *at);
    }

    fn whole(&self) -> Option<Vec<u8>> {
        let end = self.end?;
        let mut data = Vec::new();
        for (at, part) in &self.parts {
            if usize::from(*at) != data.len() {
                return None;
            }
            data.extend_from_slice(part);
        }
        (data.len() == end).then_some(data)
    }
}

/// SNT of the flags (RFC 1002 §4.4.1); Windows uses 3 for H.
fn node_bits(node: NodeType) -> u8 {
    match node {
        NodeType::Broadcast => 0,
        NodeType::PointToPoint => 1,
        NodeType::Mixed => 2,
        NodeType::Hybrid => 3,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn service(host: u8) -> NbtDatagrams {
        let address = Ipv4Addr::new(10, 0, 0, host);
        NbtDatagrams::new(NbtDatagramsConfig::new(Network {
            address,
            prefix: 24,
        }))
    }

    fn outgoing(len: usize) -> Outgoing<SocketAddrV4> {
        Outgoing {
            source: "TOWER<00>".parse().unwrap(),
            destination: "LAB<1e>".parse().unwrap(),
            group: true,
            route: Route::Everybody,
            data: (0..len).map(|n| n as u8).collect(),
        }
    }

    fn packets(len: usize) -> Vec<Vec<u8>> {
        let mut sender = service(1);
        sender.send(&outgoing(len));
        let packets = core::iter::from_fn(|| sender.poll_transmit());
        packets.map(|transmit| transmit.bytes).collect()
    }

    const FROM: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, 1), PORT);

    #[test]
    fn a_long_datagram_travels_in_fragments_of_at_most_576_bytes() {
        for (len, count) in [(0, 1), (494, 1), (495, 2), (512, 2), (4096, 9)] {
            let sent = packets(len);
            assert_eq!(sent.len(), count, "{len}");
            assert!(sent.iter().all(|packet| packet.len() <= MAX_PACKET_LEN));
            let mut receiver = service(2);
            for packet in &sent {
                receiver.handle_packet(Time(0), FROM, packet);
            }
            assert_eq!(receiver.poll_incoming().unwrap().data, outgoing(len).data);
            assert_eq!(receiver.poll_incoming(), None);
        }
    }

    #[test]
    fn a_fragment_that_never_comes_is_given_up_after_two_seconds() {
        let sent = packets(600);
        let mut receiver = service(2);
        receiver.handle_packet(Time(0), FROM, &sent[1]);
        let late = Time(0) + FRAGMENT_TIMEOUT;
        receiver.handle_packet(late, FROM, &sent[0]);
        assert_eq!(receiver.poll_incoming(), None);
        assert_eq!(receiver.partial.len(), 1);
    }

    #[test]
    fn datagrams_of_other_networks_and_our_own_are_dropped() {
        let sent = packets(10);
        let mut receiver = service(2);
        let own = SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, 2), PORT);
        let foreign = SocketAddrV4::new(Ipv4Addr::new(10, 9, 0, 1), PORT);
        for from in [own, foreign] {
            receiver.handle_packet(Time(0), from, &sent[0]);
            assert_eq!(receiver.poll_incoming(), None);
        }
        assert_eq!(receiver.dropped(), 2);
    }

    #[test]
    fn a_station_that_sends_too_much_is_not_heard() {
        let sent = packets(10);
        let mut receiver = service(2);
        for _ in 0..1000 {
            receiver.handle_packet(Time(0), FROM, &sent[0]);
        }
        let heard = core::iter::from_fn(|| receiver.poll_incoming());
        assert_eq!(heard.count(), 200);
    }

    proptest! {
        #[test]
        fn fragments_in_any_order_and_twice_make_one_datagram(len in 0usize..4096, seed in any::<u64>()) {
            let mut sent = packets(len);
            let mut state = seed;
            for at in (1..sent.len()).rev() {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                sent.swap(at, (state >> 33) as usize % (at + 1));
            }
            let mut receiver = service(2);
            for packet in &sent {
                receiver.handle_packet(Time(0), FROM, packet);
                if receiver.arrived.is_empty() {
                    receiver.handle_packet(Time(0), FROM, packet);
                }
            }
            prop_assert_eq!(receiver.poll_incoming().unwrap().data, outgoing(len).data);
            prop_assert!(receiver.poll_incoming().is_none());
        }

        #[test]
        fn arbitrary_fragments_keep_memory_bounded(
            fragments in prop::collection::vec((any::<u16>(), any::<u16>(), 0u8..4, 0usize..600), 0..200),
        ) {
            let mut receiver = service(2);
            let template = packets(10).remove(0);
            for (id, offset, flags, len) in fragments {
                let mut packet = template.clone();
                packet[1] = flags;
                packet[2..4].copy_from_slice(&id.to_be_bytes());
                packet[12..14].copy_from_slice(&offset.to_be_bytes());
                packet.truncate(14 + 68);
                packet.resize(14 + 68 + len, 7);
                let total = u16::try_from(68 + len).unwrap();
                packet[10..12].copy_from_slice(&total.to_be_bytes());
                receiver.handle_packet(Time(0), FROM, &packet);
                prop_assert!(receiver.partial.len() <= MAX_PARTIAL);
                prop_assert!(receiver.arrived.len() <= MAX_WAITING);
            }
        }
    }
}
