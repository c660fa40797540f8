//! Two hosts and the link between them.
//!
//! A host is a machine with a card, a TCP endpoint and an application. A segment that TCP sends costs processor time,
//! then passes the card's ring, the wire, the other card's ring and the other processor, before the other TCP receives
//! it. TCP decides on a segment before it enters the processor's queue; processor and rings keep the order.
//!
//! Not modelled: interrupts (received frames wait like other jobs), more than one connection, processor time of TCP
//! timers.

mod cable;
mod digest;
mod dispatch;
mod events;
mod host;
mod requests;
mod run;
mod shared;
mod stats;

use alloc::{collections::VecDeque, vec::Vec};

pub use coax_catalog::host::HostParams;
use coax_wire::time::{Span, Time};

use cable::Cable;
use digest::Digest;
use events::Event;
pub(crate) use host::Host;
pub use run::Ended;
pub use stats::PathStats;

use crate::{
    app::AppEvent,
    capture::{Recorder, Tap},
    cause::{Account, Cause, Epoch, Provenance, Stretch},
    link::{Duplex, LinkParams},
    queue::EventQueue,
    rng::Rng,
    side::Side,
    tcp::Endpoint,
    watch::{Seen, Watch},
};

/// An experiment without the applications.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The host that connects.
    pub client: HostParams,
    /// The host that listens.
    pub server: HostParams,
    /// The link.
    pub link: LinkParams,
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
            server: HostParams::default(),
            link: LinkParams::default(),
            seed: 1,
            keep_truth: false,
            keep_frames: false,
            port: 139,
        }
    }
}

/// Two hosts, a link, and the pending events.
#[derive(Debug)]
pub struct World {
    now: Time,
    events: EventQueue<(Event, Provenance)>,
    /// The account of the current event.
    current: Provenance,
    epoch: Epoch,
    client: Host,
    server: Host,
    half_duplex: bool,
    /// The link, if it is a shared medium.
    cable: Option<Cable>,
    port: u16,
    ttls: [u8; 2],
    exchange: Cause,
    stopped: bool,
    /// Maximum number of events.
    most: u64,
    pending: VecDeque<(Side, AppEvent, Provenance)>,
    recorders: Vec<Recorder>,
    digest: Digest,
    watch: Watch,
}

impl World {
    /// Both hosts at time zero; the server listens.
    pub fn new(setup: &Setup) -> Self {
        let mut rng = Rng::new(setup.seed);
        let epoch = Epoch {
            start: Time(0),
            number: 0,
            trail: setup.keep_truth,
        };
        let link = &setup.link;
        let client = Host::new(&setup.client, link, &link.loss_to_server, &mut rng);
        let mut server = Host::new(&setup.server, link, &link.loss_to_client, &mut rng);
        server.tcp.listen();
        let cable = Cable::of(link, &mut rng);
        Self {
            now: Time(0),
            events: EventQueue::new(),
            current: Provenance::begin(epoch),
            epoch,
            client,
            server,
            half_duplex: link.duplex == Duplex::Half,
            cable,
            port: setup.port,
            ttls: [setup.client.stack.ttl, setup.server.stack.ttl],
            exchange: Cause::RoundTrips,
            stopped: false,
            most: u64::MAX,
            pending: VecDeque::new(),
            recorders: Vec::new(),
            digest: Digest::default(),
            watch: Watch::new(setup.keep_frames),
        }
    }

    /// Captures at these points. Call it before the run.
    pub fn record(&mut self, taps: &[Tap]) {
        let ttls = self.ttls;
        self.recorders = taps
            .iter()
            .map(|tap| Recorder::new(*tap, self.port, ttls))
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

    /// The account of the last event; at the end of a run, that of the whole run.
    pub fn account(&self) -> Account {
        self.current.finish(self.exchange)
    }

    /// The intervals of that account, if the setup keeps them.
    pub fn truth(&self) -> Vec<Stretch> {
        self.current.stretches(self.exchange)
    }

    /// The records of all frames in order of time, if the setup keeps them; of very long runs only the first
    /// ([`watch::MOST`](crate::watch::MOST)).
    pub fn seen(&self) -> &[Seen] {
        self.watch.seen()
    }

    /// A host's TCP endpoint.
    pub fn tcp(&self, side: Side) -> &Endpoint {
        &self.host(side).tcp
    }

    /// Statistics of the path from this host.
    pub fn path(&self, from: Side) -> &PathStats {
        &self.host(from).paths
    }

    /// Processor time used by a host.
    pub fn cpu_used(&self, side: Side) -> Span {
        self.host(side).cpu.used
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

    pub(crate) const fn host(&self, side: Side) -> &Host {
        match side {
            Side::Client => &self.client,
            Side::Server => &self.server,
        }
    }

    const fn host_mut(&mut self, side: Side) -> &mut Host {
        match side {
            Side::Client => &mut self.client,
            Side::Server => &mut self.server,
        }
    }
}
