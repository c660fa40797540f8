//! The browser of a station without TCP/IP (NetBEUI, IPX), which registers names and sends datagrams itself.

use alloc::{collections::VecDeque, vec::Vec};

use coax_wire::ether::Mac;
use coax_wire::nbt::name::NbName;
use coax_wire::time::Time;

use super::list::Fetched;
use super::service::Browser;
use super::state::Role;
use super::types::{BrowserConfig, BrowserEvent, MSBROWSE, SUFFIX_MASTER};
use crate::datagram::{Incoming, Outgoing};
use crate::limit::{Rate, RateLimiter};
use crate::names::OwnName;

/// Datagrams of one station that are looked at, as over UDP.
const PER_STATION: Rate = Rate {
    per_s: 50,
    burst: 200,
};
/// News that may wait for the driver; more than a browser has of one datagram.
const MAX_NEWS: usize = 256;

/// What a browser needs of its station.
pub trait BrowserStation {
    /// Where another station is.
    type Address: Copy + Eq;
    /// What happens at it.
    type Event;

    /// The Ethernet address through which another station is reached.
    fn hardware(address: &Self::Address) -> Mac;
    /// Claims a name; the outcome is an event of the station.
    fn register(&mut self, now: Time, own: &OwnName);
    /// Gives a name up.
    fn release(&mut self, name: &NbName);
    /// Sends a datagram.
    fn carry(&mut self, outgoing: &Outgoing<Self::Address>);
    /// The next thing that happened.
    fn next_event(&mut self) -> Option<Self::Event>;
    /// Its names, and whether each is registered.
    fn names(&self) -> Vec<(NbName, bool)>;
    /// What that means to a browser.
    fn meaning(event: &Self::Event) -> Meaning<Self::Address>;
}

/// What an event of a station means to a browser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meaning<A> {
    /// A datagram.
    Datagram(Incoming<A>),
    /// A name was registered (true), or another station has it.
    Name(NbName, bool),
    /// Nothing.
    Nothing,
}

/// What a browser knows for the server's lists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Heard {
    /// The server's role as a browser.
    pub role: Role,
    /// Its type with that role.
    pub own_type: u32,
    /// The master browser, if it is another machine and known.
    pub master: Option<NbName>,
    /// The servers of the workgroup and the other workgroups.
    pub lists: Fetched,
}

/// What a station's browser tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BrowserNews {
    /// Its role changed, and why; or the master browser is known.
    Browser(BrowserEvent),
    /// What it knows changed.
    Lists(Heard),
}

/// The names whose datagrams a browser hears though other stations have them: all of a network hear announcements, so that
/// each potential master has the list.
pub fn overheard(workgroup: NbName) -> [NbName; 2] {
    [workgroup.with_suffix(SUFFIX_MASTER), MSBROWSE]
}

/// The browser of one station. Hand in the station's datagrams and names, and the time; take news.
#[derive(Debug)]
pub struct StationBrowser<A> {
    browser: Browser<A>,
    stations: RateLimiter<Mac>,
    master: Option<NbName>,
    /// The last report: the list's revision, the role, the master.
    told: Option<(u64, Role, Option<NbName>)>,
    news: VecDeque<BrowserNews>,
}

impl<A: Copy + Eq> StationBrowser<A> {
    /// Starts to announce the server. There are no domain masters: they exchange lists over TCP/IP.
    pub fn start(
        now: Time,
        config: BrowserConfig,
        station: &mut impl BrowserStation<Address = A>,
    ) -> Self {
        let config = BrowserConfig {
            domain_master: false,
            wins: false,
            answers_as_master: true,
            ..config
        };
        let mut started = Self {
            browser: Browser::new(now, config),
            stations: RateLimiter::new(PER_STATION),
            master: None,
            told: None,
            news: VecDeque::new(),
        };
        started.turn(now, station);
        started
    }

    /// A datagram arrived.
    pub fn handle_datagram(
        &mut self,
        now: Time,
        incoming: &Incoming<A>,
        station: &mut impl BrowserStation<Address = A>,
    ) {
        if self.stations.admit(now, hardware(station, &incoming.from)) {
            self.browser.handle_datagram(now, incoming);
            self.turn(now, station);
        }
    }

    /// A name was registered, or another station has it.
    pub fn handle_name(
        &mut self,
        now: Time,
        name: &NbName,
        registered: bool,
        station: &mut impl BrowserStation<Address = A>,
    ) {
        self.browser.handle_name(now, name, registered);
        self.turn(now, station);
    }

    /// Does what is due at `now`.
    pub fn handle_timeout(&mut self, now: Time, station: &mut impl BrowserStation<Address = A>) {
        if self.poll_timeout().is_some_and(|due| due <= now) {
            self.browser.handle_timeout(now);
            self.turn(now, station);
        }
    }

    /// When to call [`handle_timeout`](Self::handle_timeout).
    pub fn poll_timeout(&self) -> Option<Time> {
        self.browser.poll_timeout()
    }

    /// Says goodbye.
    pub fn shutdown(&mut self, now: Time, station: &mut impl BrowserStation<Address = A>) {
        self.browser.shutdown(now);
        self.turn(now, station);
    }

    /// What happened, until there is nothing.
    pub fn poll_news(&mut self) -> Option<BrowserNews> {
        self.news.pop_front()
    }

    /// Carries names and datagrams to the station, until the browser has none.
    fn turn(&mut self, now: Time, station: &mut impl BrowserStation<Address = A>) {
        while let Some(event) = self.browser.poll_event() {
            match event {
                BrowserEvent::Register(own) => station.register(now, &own),
                BrowserEvent::Release(name) => station.release(&name),
                BrowserEvent::Master(master) if self.master == Some(master) => {}
                event => self.tell(event),
            }
        }
        while let Some(outgoing) = self.browser.poll_outgoing() {
            station.carry(&outgoing);
        }
        self.tell_lists();
    }

    fn tell(&mut self, event: BrowserEvent) {
        if let BrowserEvent::Master(master) = event {
            self.master = Some(master);
        }
        if self.news.len() < MAX_NEWS {
            self.news.push_back(BrowserNews::Browser(event));
        }
    }

    /// Only the newest lists count, so those that nobody took are replaced.
    fn tell_lists(&mut self) {
        let (list, role) = (self.browser.list(), self.browser.role());
        let master = self.master.filter(|_| role != Role::Master);
        let state = Some((list.revision(), role, master));
        if self.told == state {
            return;
        }
        self.told = state;
        let lists = Heard {
            role,
            own_type: self.browser.own_entry().server_type,
            master,
            lists: Fetched {
                servers: list.servers().cloned().collect(),
                workgroups: list.workgroups().cloned().collect(),
            },
        };
        self.news
            .retain(|news| !matches!(news, BrowserNews::Lists(_)));
        self.news.push_back(BrowserNews::Lists(lists));
    }
}

fn hardware<S: BrowserStation>(_: &S, address: &S::Address) -> Mac {
    S::hardware(address)
}
