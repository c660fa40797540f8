//! Clients, a server, and the link between them.
//!
//! A host is a machine with a card, a TCP endpoint and an application. A segment that TCP sends costs processor time,
//! then passes the card's ring, the wire, the other card's ring and the other processor, before the other TCP receives
//! it. TCP decides on a segment before it enters the processor's queue; processor and rings keep the order.
//!
//! Each client has its own card, wire and connection. On a switch, the frames of all clients pass the wire of the
//! server's port; a switch sends a frame on as it arrives. A router's line is shared by all clients. The server has one
//! processor, one disk, and one card for all connections.
//!
//! Not modelled: interrupts (received frames wait like other jobs), more than one connection of a client, processor time
//! of TCP timers, and the limits of a switch's buffers.

mod cable;
mod digest;
mod dispatch;
mod events;
mod flow;
mod host;
mod requests;
mod row;
mod run;
mod shared;
mod stations;
mod stats;

use alloc::{collections::VecDeque, vec::Vec};

pub use coax_catalog::host::HostParams;
use coax_catalog::netbios::Carrier;
use coax_wire::time::{Span, Time};

use cable::Cable;
use digest::Digest;
use events::Event;
use flow::Flow;
pub(crate) use host::{Host, Socket};
use row::Row;
pub use run::{Apps, Ended};
pub use stats::PathStats;

use crate::{
    app::AppEvent,
    capture::{Recorder, Tap},
    cause::{Account, Epoch, Provenance, Stretch},
    link::{Duplex, Junction, LinkParams},
    queue::EventQueue,
    rng::Rng,
    side::{End, Side},
    tcp::{Endpoint, TcpStats},
    watch::{Seen, Watch},
};

/// An experiment without the applications.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The host that connects.
    pub client: HostParams,
    /// More such hosts.
    pub more: Vec<HostParams>,
    /// The host that listens.
    pub server: HostParams,
    /// The link.
    pub link: LinkParams,
    /// What carries the messages.
    pub carrier: Carrier,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Whether the intervals of the ground truth are kept, not only sums.
    pub keep_truth: bool,
    /// Whether records of every frame are kept ([`World::seen`]).
    pub keep_frames: bool,
    /// The server's port in captures.
    pub port: u16,
}

impl Default for Setup {
    /// Two fast machines with plain stacks on Ethernet, and the NetBIOS port.
    fn default() -> Self {
        Self {
            client: HostParams::default(),
            more: Vec::new(),
            server: HostParams::default(),
            link: LinkParams::default(),
            carrier: Carrier::Tcp,
            seed: 1,
            keep_truth: false,
            keep_frames: false,
            port: 139,
        }
    }
}

/// The hosts, the link, the connections, and the pending events.
#[derive(Debug)]
pub struct World {
    now: Time,
    events: EventQueue<(Event, Provenance)>,
    /// The account of the current event.
    current: Provenance,
    clients: Row<Host>,
    server: Host,
    flows: Row<Flow>,
    /// What the frames of several clients pass, to the server and from it.
    junctions: [Junction; 2],
    half_duplex: bool,
    /// The link, if it is a shared medium.
    cable: Option<Cable>,
    port: u16,
    /// TTL of the server and of the clients.
    ttls: (u8, Vec<u8>),
    stopped: bool,
    /// Maximum number of events.
    most: u64,
    pending: VecDeque<(End, AppEvent, Provenance)>,
    recorders: Vec<Recorder>,
    digest: Digest,
    watch: Watch,
}

impl World {
    /// All hosts at time zero; the server listens.
    pub fn new(setup: &Setup) -> Self {
        let mut rng = Rng::new(setup.seed);
        let epoch = Epoch {
            start: Time(0),
            number: 0,
            trail: setup.keep_truth,
        };
        let link = &setup.link;
        let first = Socket::new(&setup.client.stack, &mut rng);
        let host = Host::new(&setup.client, link, &link.loss_to_server, &mut rng);
        let listening = Socket::new(&setup.server.stack, &mut rng);
        let server = Host::new(&setup.server, link, &link.loss_to_client, &mut rng);
        let cable = Cable::of(link, setup.more.len(), &mut rng);
        let (mut hosts, mut flows) = (Vec::new(), Vec::new());
        for params in &setup.more {
            let socket = Socket::new(&params.stack, &mut rng);
            hosts.push(Host::new(params, link, &link.loss_to_server, &mut rng));
            let listening = Socket::new(&setup.server.stack, &mut rng);
            flows.push(Flow::new(epoch, socket, listening));
        }
        let is_shared = !hosts.is_empty();
        let ttls = setup.more.iter().map(|host| host.stack.ttl);
        let mut world = Self {
            now: Time(0),
            events: EventQueue::new(),
            current: Provenance::begin(epoch),
            clients: Row::new(host, hosts),
            server,
            flows: Row::new(Flow::new(epoch, first, listening), flows),
            junctions: [Junction::new(link, is_shared), Junction::new(link, false)],
            half_duplex: link.duplex == Duplex::Half,
            cable,
            port: setup.port,
            ttls: (
                setup.server.stack.ttl,
                core::iter::once(setup.client.stack.ttl)
                    .chain(ttls)
                    .collect(),
            ),
            stopped: false,
            most: u64::MAX,
            pending: VecDeque::new(),
            recorders: Vec::new(),
            digest: Digest::default(),
            watch: Watch::new(setup.keep_frames),
        };
        world.place_stations(setup);
        world
    }

    /// Captures at these points. Call it before the run.
    pub fn record(&mut self, taps: &[Tap]) {
        let ttls = &self.ttls;
        self.recorders = taps
            .iter()
            .map(|tap| Recorder::new(*tap, self.port, ttls.clone()))
            .collect();
    }

    /// Limits the number of events. Call it before the run.
    pub const fn allow(&mut self, events: u64) {
        self.most = events;
    }

    /// The present time.
    pub const fn now(&self) -> Time {
        self.now
    }

    /// The first client's account: to the end of its run, or to the last event.
    pub fn account(&self) -> Account {
        let flow = self.flows.of(0);
        flow.account(&self.current).finish(flow.exchange)
    }

    /// The intervals of that account, if the setup keeps them.
    pub fn truth(&self) -> Vec<Stretch> {
        let flow = self.flows.of(0);
        flow.account(&self.current).stretches(flow.exchange)
    }

    /// Number of clients.
    pub fn clients(&self) -> usize {
        self.flows.len()
    }

    /// The records of all frames in order of time, if the setup keeps them; of very long runs only the first
    /// ([`watch::MOST`](crate::watch::MOST)).
    pub fn seen(&self) -> &[Seen] {
        self.watch.seen()
    }

    /// An end's TCP endpoint.
    pub fn tcp(&self, end: impl Into<End>) -> &Endpoint {
        &self.socket(end.into()).tcp
    }

    /// Statistics of an end's TCP, NetBEUI or IPX.
    pub fn transport(&self, end: impl Into<End>) -> &TcpStats {
        let socket = self.socket(end.into());
        match &socket.station {
            Some(station) => station.stats(),
            None => socket.tcp.stats(),
        }
    }

    /// Statistics of the path from an end's host, of all its connections.
    pub fn path(&self, from: impl Into<End>) -> &PathStats {
        &self.host(from.into()).paths
    }

    /// Processor time used by an end's host.
    pub fn cpu_used(&self, end: impl Into<End>) -> Span {
        self.host(end.into()).cpu.used
    }

    /// A digest of every frame that left a card: time, contents and fate. It depends only on setup and seed.
    pub const fn digest(&self) -> u64 {
        self.digest.0
    }

    /// Number of events, handled and pending.
    pub const fn events(&self) -> u64 {
        self.events.scheduled()
    }

    /// Maximum number of pending events, to which the memory use is proportional.
    pub const fn most_events(&self) -> usize {
        self.events.most()
    }

    /// The captures as pcapng files, in the order of the capture points.
    pub fn captures(&mut self) -> Vec<Vec<u8>> {
        core::mem::take(&mut self.recorders)
            .into_iter()
            .map(Recorder::into_bytes)
            .collect()
    }

    pub(crate) fn host(&self, end: End) -> &Host {
        match end.side {
            Side::Client => self.clients.of(end.client),
            Side::Server => &self.server,
        }
    }

    fn host_mut(&mut self, end: End) -> &mut Host {
        match end.side {
            Side::Client => self.clients.of_mut(end.client),
            Side::Server => &mut self.server,
        }
    }

    pub(crate) fn socket(&self, end: End) -> &Socket {
        self.flows.of(end.client).socket(end.side)
    }

    fn socket_mut(&mut self, end: End) -> &mut Socket {
        self.flows.of_mut(end.client).socket_mut(end.side)
    }

    fn epoch(&self, end: End) -> Epoch {
        self.flows.of(end.client).epoch
    }
}
