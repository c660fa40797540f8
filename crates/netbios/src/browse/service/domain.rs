//! Lists of several networks ([MS-BRWS] 3.1.1.1, 3.2.5.7, 3.3.5.5): local master browsers announce themselves to the domain
//! master browser and fetch the list of all networks from it; it fetches the list of each network from them.

use alloc::vec::Vec;

use coax_wire::browser::BrowserMessage;
use coax_wire::mailslot;
use coax_wire::nbt::name::{NbName, SUFFIX_WORKSTATION};
use coax_wire::time::{Span, Time};

use super::super::domain::{MIN_FETCH_INTERVAL, Peer};
use super::super::list::Fetched;
use super::super::state::Role;
use super::super::types::{BrowserEvent, SUFFIX_DOMAIN_MASTER};
use super::Browser;
use crate::datagram::{Incoming, Route};

/// The most local master browsers of other networks that a domain master knows.
const MAX_MASTERS: usize = 64;
/// The shortest time between two searches of a local master for the domain master, however often its list changes.
const MIN_SEARCH_INTERVAL: Span = Span::from_secs(60);
/// Wait for further changes of the list, such as answers to an announcement request after an election.
const SETTLING: Span = Span::from_secs(5);
/// A local master browser that has not announced itself for so long is forgotten: three times the longest period that is
/// known of one, 15 minutes (CHECK_TIME_MST_ANNOUNCE of nmbd).
const MASTER_LIFETIME: Span = Span::from_secs(45 * 60);
/// Failures to fetch a list after which it is forgotten.
const MAX_FAILURES: u8 = 2;
/// Intervals that a fetched list outlives without a new one.
const LIFETIME_INTERVALS: u64 = 3;

impl<A: Copy + Eq> Browser<A> {
    /// Where to fetch the list of the browser that a [`BrowserEvent::Fetch`] names.
    pub fn address_of(&self, browser: NbName) -> Option<A> {
        self.domain.address(browser)
    }

    /// The answer to [`BrowserEvent::FindDomainMaster`]: the machine with the name `<1B>`, or nobody.
    pub fn handle_domain_master(&mut self, now: Time, found: Option<(NbName, A)>) {
        let own = self.config.computer;
        let found = found.map(|(name, address)| (name.with_suffix(SUFFIX_WORKSTATION), address));
        let found = found.filter(|(name, _)| name.characters() != own.characters());
        self.domain.searching = false;
        if self.role != Role::Master || self.stopped {
            return;
        }
        let before = self.domain.master.map(|(name, _)| name);
        if let Some(gone) = before.filter(|gone| found.is_none_or(|(name, _)| name != *gone)) {
            self.list.forget_fetched(gone);
            self.domain.failures = 0;
        }
        self.domain.master = found;
        let name = found.map(|(name, _)| name);
        if name != before || self.domain.searched.is_none() {
            self.tell(BrowserEvent::DomainMaster(name));
        }
        self.domain.searched = Some(now);
        if let Some((name, address)) = found {
            let data = BrowserMessage::MasterAnnouncement(own.characters().to_vec()).emit();
            self.send(name, false, Route::Station(address), mailslot::BROWSE, data);
            if !self.domain.fetching {
                self.domain.fetching = true;
                self.tell(BrowserEvent::Fetch {
                    from: name,
                    whole: true,
                });
            }
        }
    }

    /// The outcome of [`BrowserEvent::Fetch`]: the lists, or `None` if that browser gave none.
    pub fn handle_lists(&mut self, now: Time, from: NbName, lists: Option<Fetched>) {
        let whole = (self.domain.master).is_some_and(|(master, _)| master == from);
        let failures = match self.domain.masters.get_mut(&from) {
            Some(peer) => peer.note_outcome(now, self.config.sync_interval, lists.is_none()),
            None => {
                self.domain.fetching = false;
                let failures = self.domain.failures.saturating_add(1);
                self.domain.failures = if lists.is_none() { failures } else { 0 };
                self.domain.failures
            }
        };
        if !whole && !self.domain.masters.contains_key(&from) {
            // It was forgotten meanwhile.
            return;
        }
        match lists {
            Some(lists) => self.put_lists(now, from, lists, whole),
            None if failures >= MAX_FAILURES => self.list.forget_fetched(from),
            None => {}
        }
    }

    fn put_lists(&mut self, now: Time, from: NbName, mut lists: Fetched, whole: bool) {
        let interval = self.config.sync_interval;
        let expires = now + Span(interval.0.saturating_mul(LIFETIME_INTERVALS));
        let own = self.config.computer;
        let is_own = |name: &[u8]| name.eq_ignore_ascii_case(own.characters());
        lists.servers.retain(|server| !is_own(&server.name));
        let group = self.config.workgroup;
        let is_group = |name: &[u8]| name.eq_ignore_ascii_case(group.characters());
        lists.workgroups.retain(|other| !is_group(&other.name));
        self.list.put_fetched(from, lists, whole, expires);
    }

    /// A local master browser tells the domain master of itself.
    pub(super) fn handle_master_announcement(
        &mut self,
        now: Time,
        incoming: &Incoming<A>,
        name: &[u8],
    ) {
        let Ok(name) = NbName::new(&name.to_ascii_uppercase(), SUFFIX_WORKSTATION) else {
            return;
        };
        let to = incoming.destination;
        let ours = to.characters() == self.config.computer.characters()
            || to == self.config.workgroup.with_suffix(SUFFIX_DOMAIN_MASTER);
        let full = self.domain.masters.len() >= MAX_MASTERS;
        if !self.config.domain_master
            || !ours
            || name.characters() == self.config.computer.characters()
            || full && !self.domain.masters.contains_key(&name)
        {
            return;
        }
        let peer = self.domain.masters.entry(name).or_insert(Peer {
            address: incoming.from,
            due: Some(now + SETTLING),
            fetching: false,
            fetched: None,
            forget: now + MASTER_LIFETIME,
            failures: 0,
        });
        peer.address = incoming.from;
        peer.forget = now + MASTER_LIFETIME;
        if peer.fetching {
            return;
        }
        let earliest = peer.fetched.map(|fetched| fetched + MIN_FETCH_INTERVAL);
        let soon = earliest.map_or(now + SETTLING, |due| due.max(now + SETTLING));
        peer.due = Some(peer.due.map_or(soon, |due| due.min(soon)));
    }

    pub(super) fn step_domain(&mut self, now: Time) {
        let changed = self.list.take_changed();
        self.step_domain_master(now);
        if self.role != Role::Master || self.config.domain_master || !self.config.wins {
            self.domain.search = None;
            return;
        }
        if changed || self.domain.search.is_none() {
            let earliest = self.domain.searched.map(|last| last + MIN_SEARCH_INTERVAL);
            let soon = earliest.map_or(now + SETTLING, |due| due.max(now + SETTLING));
            let search = self.domain.search;
            self.domain.search = Some(search.map_or(soon, |due| due.min(soon)));
        }
        if self.domain.search.is_some_and(|due| due <= now) {
            self.domain.search = Some(now + self.config.sync_interval);
            if !self.domain.searching {
                self.domain.searching = true;
                self.tell(BrowserEvent::FindDomainMaster);
            }
        }
    }

    /// Plans the fetches of a domain master, and forgets local masters that are silent.
    fn step_domain_master(&mut self, now: Time) {
        let silent = self.domain.masters.iter();
        let silent = silent.filter(|(_, peer)| peer.forget <= now);
        let silent: Vec<NbName> = silent.map(|(name, _)| *name).collect();
        for name in silent {
            self.domain.masters.remove(&name);
            self.list.forget_fetched(name);
        }
        let due = self.domain.masters.iter_mut();
        let due = due.filter(|(_, peer)| peer.due.is_some_and(|due| due <= now));
        let due: Vec<NbName> = due
            .map(|(name, peer)| {
                peer.due = None;
                peer.fetching = true;
                *name
            })
            .collect();
        for from in due {
            self.tell(BrowserEvent::Fetch { from, whole: false });
        }
    }

    /// This server is no master browser any more: its lists come from another one.
    pub(super) fn leave_domain(&mut self) {
        if let Some((name, _)) = self.domain.master.take() {
            self.list.forget_fetched(name);
        }
        self.domain.search = None;
        self.domain.searched = None;
        self.domain.failures = 0;
    }
}
