//! A station and the browser of its network, which is optional.

use alloc::vec::Vec;

use coax_wire::{nbt::name::NbName, time::Time};

use super::station::{BrowserNews, BrowserStation, Meaning, StationBrowser};
use super::types::BrowserConfig;

/// What happens at a station with a browser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StationEvent<E> {
    /// An event of the station.
    Station(E),
    /// News of its browser.
    Browser(BrowserNews),
    /// Its names, each with whether it is registered, when they have changed.
    Names(Vec<(NbName, bool)>),
}

/// A station with its browser. Hand frames to the station; give the time to both.
#[derive(Debug)]
pub struct BrowsedStation<S: BrowserStation> {
    /// The station.
    pub station: S,
    browser: Option<StationBrowser<S::Address>>,
    /// The names that were told.
    told: Vec<(NbName, bool)>,
}

impl<S: BrowserStation> BrowsedStation<S> {
    /// A station, and the browser of its network if it has one.
    pub fn new(now: Time, mut station: S, browser: Option<BrowserConfig>) -> Self {
        let browser = browser.map(|config| StationBrowser::start(now, config, &mut station));
        Self {
            station,
            browser,
            told: Vec::new(),
        }
    }

    /// Does what is due to the browser at `now`.
    pub fn handle_timeout(&mut self, now: Time) {
        if let Some(browser) = &mut self.browser {
            browser.handle_timeout(now, &mut self.station);
        }
    }

    /// When to call [`handle_timeout`](Self::handle_timeout).
    pub fn poll_timeout(&self) -> Option<Time> {
        self.browser.as_ref()?.poll_timeout()
    }

    /// What happened, until there is nothing. The browser takes the datagrams.
    pub fn poll_event(&mut self, now: Time) -> Option<StationEvent<S::Event>> {
        loop {
            let browser = self.browser.as_mut();
            if let Some(news) = browser.and_then(StationBrowser::poll_news) {
                return Some(StationEvent::Browser(news));
            }
            let Some(event) = self.station.next_event() else {
                return self.changed_names();
            };
            let Some(browser) = &mut self.browser else {
                return Some(StationEvent::Station(event));
            };
            match S::meaning(&event) {
                Meaning::Datagram(incoming) => {
                    browser.handle_datagram(now, &incoming, &mut self.station);
                    continue;
                }
                Meaning::Name(name, registered) => {
                    browser.handle_name(now, &name, registered, &mut self.station);
                }
                Meaning::Nothing => {}
            }
            return Some(StationEvent::Station(event));
        }
    }

    fn changed_names(&mut self) -> Option<StationEvent<S::Event>> {
        let names = self.station.names();
        if names == self.told {
            return None;
        }
        self.told.clone_from(&names);
        Some(StationEvent::Names(names))
    }

    /// The browser says goodbye.
    pub fn shutdown(&mut self, now: Time) {
        if let Some(browser) = &mut self.browser {
            browser.shutdown(now, &mut self.station);
        }
    }
}
