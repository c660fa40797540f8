//! Two hosts and the link between them.
//!
//! A host is a machine with a card, a TCP endpoint and an application. A segment that TCP lets go costs processor time,
//! then meets the card's ring, the wire, the other card's ring and the other processor, before that TCP sees it.
//! Segments are decided on when TCP lets them go; the processor and the rings take them in that order.
//!
//! Not modelled: a processor that is interrupted (arriving frames wait like all other work), more than one connection,
//! TCP's own timers costing processor time.

mod asks;
mod digest;
mod dispatch;
mod events;
mod host;
mod run;
mod stats;

use alloc::{collections::VecDeque, vec::Vec};

pub use coax_catalog::host::HostParams;
use coax_wire::time::{Span, Time};

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

/// A whole experiment but for the applications.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The host that connects.
    pub client: HostParams,
    /// The host that listens.
    pub server: HostParams,
    /// What is between them.
    pub link: LinkParams,
    /// All chance comes from this.
    pub seed: u64,
    /// Whether the truth is kept stretch by stretch, not only as sums.
    pub keep_truth: bool,
    /// Whether it is kept what was seen of every frame ([`World::seen`]).
    pub keep_frames: bool,
    /// The server's port in captures.
    pub port: u16,
}

impl Default for Setup {
    /// Two fast machines with plain stacks on Ethernet, and NetBIOS' port.
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

/// Two hosts, a link, and what is going to happen.
#[derive(Debug)]
pub struct World {
    now: Time,
    events: EventQueue<(Event, Provenance)>,
    /// The account of the event being dealt with.
    current: Provenance,
    epoch: Epoch,
    client: Host,
    server: Host,
    half_duplex: bool,
    port: u16,
    ttls: [u8; 2],
    exchange: Cause,
    stopped: bool,
    /// So many events may happen.
    most: u64,
    pending: VecDeque<(Side, AppEvent, Provenance)>,
    recorders: Vec<Recorder>,
    digest: Digest,
    watch: Watch,
}

impl World {
    /// Both hosts at time zero, the server listening.
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
        Self {
            now: Time(0),
            events: EventQueue::new(),
            current: Provenance::begin(epoch),
            epoch,
            client,
            server,
            half_duplex: link.duplex == Duplex::Half,
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

    /// Writes down what is seen at these places. To be called before the run.
    pub fn record(&mut self, taps: &[Tap]) {
        let ttls = self.ttls;
        self.recorders = taps
            .iter()
            .map(|tap| Recorder::new(*tap, self.port, ttls))
            .collect();
    }

    /// Ends a run that makes more events than this. To be called before it.
    pub const fn allow(&mut self, events: u64) {
        self.most = events;
    }

    /// The moment.
    pub const fn now(&self) -> Time {
        self.now
    }

    /// The account of the event last dealt with: at the end of a run, that of the whole.
    pub fn account(&self) -> Account {
        self.current.finish(self.exchange)
    }

    /// The same stretch by stretch, if the setup asked for it.
    pub fn truth(&self) -> Vec<Stretch> {
        self.current.stretches(self.exchange)
    }

    /// What was seen of every frame, in the order of time, if the setup asked for it; of very long runs only the
    /// beginning ([`watch::MOST`](crate::watch::MOST)).
    pub fn seen(&self) -> &[Seen] {
        self.watch.seen()
    }

    /// A host's TCP.
    pub fn tcp(&self, side: Side) -> &Endpoint {
        &self.host(side).tcp
    }

    /// What the way from this host did.
    pub fn path(&self, from: Side) -> &PathStats {
        &self.host(from).paths
    }

    /// Processor time that a host has used.
    pub fn cpu_used(&self, side: Side) -> Span {
        self.host(side).cpu.used
    }

    /// A digest of every frame that left a card: when, what, and what became of it. The same seed gives the same.
    pub const fn digest(&self) -> u64 {
        self.digest.0
    }

    /// Events that were dealt with or are waiting.
    pub const fn events(&self) -> u64 {
        self.events.scheduled()
    }

    /// The most events that ever waited at once: what a run holds in memory is in proportion to it.
    pub const fn most_events(&self) -> usize {
        self.events.most()
    }

    /// The captures that were asked for, in that order, as pcapng files.
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
