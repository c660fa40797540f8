//! The browsers of a network: the server's, which runs all week, and those of machines that come and go.

use std::collections::BTreeMap;

use coax_netbios::{
    Browser, BrowserConfig, BrowserEvent, Incoming, LmAnnounce, NameKind, Outgoing, Role, Route,
};
use coax_wire::{
    nbt::name::NbName,
    time::{Span, Time},
};

use super::terms::{BEGIN, DAY, Figures, HOUR, SECOND};
use crate::rng::Rng;

/// The server's station.
const OWN: usize = 0;
/// Stations.
const STATIONS: usize = 7;
/// How long the registration of a name takes.
const CLAIM: Span = Span::from_millis(750);

/// The network.
pub(crate) struct Network {
    seed: u64,
    browsers: BTreeMap<usize, Browser<usize>>,
    owners: BTreeMap<NbName, usize>,
    claims: Vec<(Time, usize, NbName)>,
    /// When each station comes or goes.
    moves: [u64; STATIONS],
    now: Time,
}

impl Network {
    pub(crate) fn new(seed: u64) -> Self {
        let mut network = Self {
            seed,
            browsers: BTreeMap::new(),
            owners: BTreeMap::new(),
            claims: Vec::new(),
            moves: [0; STATIONS],
            now: Time(BEGIN),
        };
        for (station, time) in network.moves.iter_mut().enumerate() {
            *time = match station {
                OWN => u64::MAX,
                _ => BEGIN + 6 * HOUR + station as u64 * 13 * SECOND,
            };
        }
        network.join(OWN);
        network
    }

    fn join(&mut self, station: usize) {
        let config = BrowserConfig {
            computer: name(&format!("STATION{station}")),
            workgroup: name("OFFICE"),
            comment: b"week".to_vec(),
            version: (4, 0),
            server_type: 0x9a03,
            os_level: if station == OWN {
                20
            } else {
                1 + station as u8
            },
            local_master: true,
            preferred_master: false,
            domain_master: false,
            wins: false,
            answers_as_master: false,
            lm_announce: LmAnnounce::Auto,
            lm_interval_s: 60,
            sync_interval: coax_netbios::SYNC_INTERVAL,
            seed: self.seed ^ station as u64,
        };
        let browser = Browser::new(self.now, config);
        self.browsers.insert(station, browser);
    }

    /// When something happens next.
    pub(crate) fn next(&self) -> Option<u64> {
        let browsers = self.browsers.values().filter_map(Browser::poll_timeout);
        let claims = self.claims.iter().map(|(due, ..)| *due);
        let moves = self.moves.iter().copied().filter(|time| *time < u64::MAX);
        let times = browsers.chain(claims).map(|time| time.0);
        times.chain(moves).min()
    }

    /// Lets everything happen that is due.
    pub(crate) fn run(
        &mut self,
        now: u64,
        rng: &mut Rng,
        figures: &mut Figures,
    ) -> Result<(), String> {
        self.now = Time(now);
        for station in 1..STATIONS {
            if self.moves[station] <= now {
                self.come_or_go(station, rng);
            }
        }
        let time = self.now;
        for (station, browser) in &mut self.browsers {
            if browser.poll_timeout().is_some_and(|due| due <= time) {
                browser.handle_timeout(time);
                if browser.poll_timeout().is_some_and(|due| due <= time) {
                    return Err(format!("a deadline of browser {station} stays"));
                }
            }
        }
        self.finish_claims();
        self.settle(figures)
    }

    fn come_or_go(&mut self, station: usize, rng: &mut Rng) {
        let midnight = BEGIN + (self.now.0 - BEGIN) / DAY * DAY;
        let spread = rng.below(3600) as u64 * SECOND;
        if !self.browsers.contains_key(&station) {
            self.join(station);
            self.moves[station] = midnight + 17 * HOUR + spread;
            return;
        }
        if rng.chance(50) {
            // the others vanish without a word
            let now = self.now;
            self.browsers
                .entry(station)
                .and_modify(|browser| browser.shutdown(now));
            let mut farewell = Figures::default();
            let _ = self.settle(&mut farewell);
        }
        self.browsers.remove(&station);
        self.owners.retain(|_, owner| *owner != station);
        self.claims.retain(|(_, owner, _)| *owner != station);
        self.moves[station] = midnight + DAY + 6 * HOUR + spread;
    }

    fn finish_claims(&mut self) {
        let now = self.now;
        let done = self.claims.extract_if(.., |(due, ..)| *due <= now);
        for (_, station, claimed) in done.collect::<Vec<_>>() {
            let owner = *self.owners.entry(claimed).or_insert(station);
            if let Some(browser) = self.browsers.get_mut(&station) {
                browser.handle_name(now, &claimed, owner == station);
            }
        }
    }

    /// Carries datagrams and events until there are none.
    fn settle(&mut self, figures: &mut Figures) -> Result<(), String> {
        for _ in 0..10_000 {
            let stations: Vec<usize> = self.browsers.keys().copied().collect();
            let moved = stations
                .into_iter()
                .filter(|station| self.serve(*station, figures));
            if moved.count() == 0 {
                return Ok(());
            }
        }
        Err("the browsers never stop talking".into())
    }

    fn serve(&mut self, station: usize, figures: &mut Figures) -> bool {
        let (mut sent, mut events) = (Vec::new(), Vec::new());
        if let Some(browser) = self.browsers.get_mut(&station) {
            sent.extend(std::iter::from_fn(|| browser.poll_outgoing()));
            events.extend(std::iter::from_fn(|| browser.poll_event()));
        }
        let moved = !sent.is_empty() || !events.is_empty();
        figures.datagrams += sent.len() as u64;
        sent.into_iter()
            .for_each(|outgoing| self.carry(station, outgoing));
        for event in events {
            match event {
                BrowserEvent::Register(own) if own.kind == NameKind::Unique => {
                    self.claims.push((self.now + CLAIM, station, own.name));
                }
                BrowserEvent::Release(name) if self.owners.get(&name) == Some(&station) => {
                    self.owners.remove(&name);
                }
                _ => {}
            }
        }
        moved
    }

    fn carry(&mut self, from: usize, outgoing: Outgoing<usize>) {
        let incoming = Incoming {
            from,
            source: outgoing.source,
            destination: outgoing.destination,
            data: outgoing.data,
        };
        let now = self.now;
        for (station, browser) in &mut self.browsers {
            if matches!(outgoing.route, Route::Station(to) if to != *station) {
                continue;
            }
            browser.handle_datagram(now, &incoming);
        }
    }

    /// At night: the server is the master browser, and lists nobody who is gone.
    pub(crate) fn check(&self) -> Result<(), String> {
        let Some(own) = self.browsers.get(&OWN) else {
            return Err("the server's browser is gone".into());
        };
        if own.role() != Role::Master {
            return Err(format!(
                "the server is {:?} although it is alone",
                own.role()
            ));
        }
        let listed = own.list().servers();
        let gone = listed
            .filter(|server| *server.name != *own.own_entry().name)
            .count();
        match (gone, self.claims.len()) {
            (0, 0) => Ok(()),
            left => Err(format!(
                "{} machines that are gone are still listed, {} names are being claimed",
                left.0, left.1
            )),
        }
    }
}

fn name(text: &str) -> NbName {
    text.parse().unwrap_or(NbName([b' '; 16]))
}
