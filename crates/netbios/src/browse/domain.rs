//! What a browser knows of those of other networks.

use alloc::collections::BTreeMap;

use coax_wire::nbt::name::NbName;
use coax_wire::time::{Span, Time};

/// The shortest time between two fetches from one browser, however often it announces itself.
pub(super) const MIN_FETCH_INTERVAL: Span = Span::from_secs(30);

/// What a browser knows of those of other networks.
#[derive(Debug)]
pub(super) struct Domain<A> {
    /// The domain master browser that answered last.
    pub(super) master: Option<(NbName, A)>,
    /// The next search for it, of a local master.
    pub(super) search: Option<Time>,
    pub(super) searched: Option<Time>,
    /// A search is under way, and a fetch from the domain master.
    pub(super) searching: bool,
    pub(super) fetching: bool,
    /// Local master browsers of other networks that announced themselves to us, the domain master.
    pub(super) masters: BTreeMap<NbName, Peer<A>>,
    pub(super) failures: u8,
}

/// A local master browser of another network.
#[derive(Debug)]
pub(super) struct Peer<A> {
    pub(super) address: A,
    /// The next fetch; `None` while one is under way.
    pub(super) due: Option<Time>,
    /// A fetch is under way: until its outcome none begins.
    pub(super) fetching: bool,
    pub(super) fetched: Option<Time>,
    pub(super) forget: Time,
    pub(super) failures: u8,
}

impl<A: Copy + Eq> Domain<A> {
    pub(super) fn new() -> Self {
        Self {
            master: None,
            search: None,
            searched: None,
            searching: false,
            fetching: false,
            masters: BTreeMap::new(),
            failures: 0,
        }
    }

    pub(super) fn due(&self) -> Option<Time> {
        let peers = self.masters.values();
        let peers = peers.flat_map(|peer| [peer.due, Some(peer.forget)]);
        peers.chain([self.search]).flatten().min()
    }

    pub(super) fn address(&self, name: NbName) -> Option<A> {
        let peer = self.masters.get(&name).map(|peer| peer.address);
        let master = self.master.filter(|(master, _)| *master == name);
        peer.or(master.map(|(_, address)| address))
    }
}

impl<A> Peer<A> {
    /// A fetch ended; the number of failures in sequence.
    pub(super) fn note_outcome(&mut self, now: Time, interval: Span, failed: bool) -> u8 {
        self.fetching = false;
        self.fetched = Some(now);
        let failures = self.failures.saturating_add(1);
        self.failures = if failed { failures } else { 0 };
        let wait = match failed {
            true => MIN_FETCH_INTERVAL.min(interval),
            false => interval,
        };
        let next = now + wait;
        self.due = Some(self.due.map_or(next, |due| due.min(next)));
        self.failures
    }
}
