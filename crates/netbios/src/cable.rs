//! Stations on one cable in virtual time, for tests.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]

use alloc::collections::BTreeMap;
use std::{vec, vec::Vec};

use coax_wire::{
    ether::Mac,
    nbt::name::NbName,
    time::{Span, Time},
};

use crate::nbf::{SessionId, StationName};

/// What NetBEUI's and IPX's stations have in common.
pub trait Station: Sized {
    type Config;
    type Event;

    fn new(config: Self::Config) -> Self;
    fn handle_frame(&mut self, now: Time, frame: &[u8]);
    fn handle_timeout(&mut self, now: Time);
    fn poll_timeout(&self) -> Option<Time>;
    fn poll_transmit(&mut self) -> Option<Vec<u8>>;
    fn poll_event(&mut self) -> Option<Self::Event>;
    fn consumed(&mut self, now: Time, session: SessionId);
    /// The session that an event opens.
    fn opened(event: &Self::Event) -> Option<SessionId>;
    /// The message of an event, and its session.
    fn message(event: &Self::Event) -> Option<(SessionId, &[u8])>;
}

pub fn mac(number: u8) -> Mac {
    Mac([2, 0, 0, 0, 0, number])
}

pub fn name(text: &str) -> NbName {
    text.parse().unwrap()
}

pub fn unique(text: &str) -> StationName {
    StationName {
        name: name(text),
        group: false,
        listens: text.ends_with("<20>"),
    }
}

pub fn group(text: &str) -> StationName {
    StationName {
        group: true,
        ..unique(text)
    }
}

/// Bytes that tell their place.
pub fn pattern(len: usize, seed: usize) -> Vec<u8> {
    (0..len)
        .map(|at| ((at + seed) * 31 + (at >> 8)) as u8)
        .collect()
}

pub struct Cable<S: Station> {
    pub now: Time,
    pub stations: Vec<S>,
    pub events: Vec<Vec<S::Event>>,
    /// Lost, doubled and delayed frames, in per mille.
    pub loss: u64,
    pub duplication: u64,
    pub delay: u64,
    /// Messages are consumed when they come.
    pub consuming: bool,
    /// Stations that neither send nor receive.
    pub unplugged: Vec<usize>,
    /// Every frame sent.
    pub log: Vec<Vec<u8>>,
    random: u64,
    serial: u64,
    wire: BTreeMap<(Time, u64), (usize, Vec<u8>)>,
    free: Time,
}

impl<S: Station> Cable<S> {
    pub fn new(configs: Vec<S::Config>) -> Self {
        Self {
            now: Time(0),
            events: configs.iter().map(|_| vec![]).collect(),
            stations: configs.into_iter().map(S::new).collect(),
            loss: 0,
            duplication: 0,
            delay: 0,
            consuming: true,
            unplugged: vec![],
            log: vec![],
            random: 0x1234_5678_9abc_def1,
            serial: 0,
            wire: BTreeMap::new(),
            free: Time(0),
        }
    }

    /// Runs until the stations have their names, and forgets how they got them.
    pub fn registered(configs: Vec<S::Config>) -> Self {
        let mut cable = Self::new(configs);
        cable.run(Span::from_secs(3));
        cable.events.iter_mut().for_each(Vec::clear);
        cable.log.clear();
        cable
    }

    pub fn seed(&mut self, seed: u64) {
        self.random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    }

    fn chance(&mut self, per_mille: u64) -> bool {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 11) % 1000 < per_mille
    }

    fn collect(&mut self) {
        for index in 0..self.stations.len() {
            while let Some(frame) = self.stations[index].poll_transmit() {
                assert!((60..=1514).contains(&frame.len()), "{} bytes", frame.len());
                self.log.push(frame.clone());
                self.put(index, &frame);
            }
            while let Some(event) = self.stations[index].poll_event() {
                if let (Some((session, _)), true) = (S::message(&event), self.consuming) {
                    self.stations[index].consumed(self.now, session);
                }
                self.events[index].push(event);
            }
        }
    }

    /// Every frame takes its time on the cable; a delayed one is overtaken by others.
    fn put(&mut self, from: usize, frame: &[u8]) {
        self.free = self.free.max(self.now) + Span(80 * frame.len() as u64);
        for to in (0..self.stations.len()).filter(|to| *to != from) {
            let is_apart = self.unplugged.contains(&to) || self.unplugged.contains(&from);
            if is_apart || self.chance(self.loss) {
                continue;
            }
            let copies = 1 + usize::from(self.chance(self.duplication));
            for _ in 0..copies {
                let late = match self.chance(self.delay) {
                    true => Span::from_millis(1 + (self.random >> 20) % 40),
                    false => Span(0),
                };
                self.serial += 1;
                let key = (self.free + Span(50_000) + late, self.serial);
                self.wire.insert(key, (to, frame.to_vec()));
            }
        }
    }

    /// Hands a frame to a station as if it came from the cable.
    pub fn inject(&mut self, to: usize, frame: &[u8]) {
        self.stations[to].handle_frame(self.now, frame);
        self.collect();
    }

    /// Runs the next thing that happens before `until`; whether there was any.
    pub fn step(&mut self, until: Time) -> bool {
        self.collect();
        let arrival = self.wire.first_key_value().map(|(key, _)| key.0);
        let due = self.stations.iter().filter_map(S::poll_timeout).min();
        let next = arrival.into_iter().chain(due).min();
        let Some(at) = next.filter(|at| *at <= until) else {
            self.now = until;
            return false;
        };
        self.now = self.now.max(at);
        let now = self.now;
        if arrival == Some(at) {
            let (_, (to, frame)) = self.wire.pop_first().unwrap();
            self.stations[to].handle_frame(now, &frame);
        } else {
            self.stations
                .iter_mut()
                .for_each(|station| station.handle_timeout(now));
        }
        self.collect();
        true
    }

    pub fn run(&mut self, span: Span) {
        let until = self.now + span;
        for step in 0.. {
            assert!(step < 3_000_000, "no end");
            if !self.step(until) {
                break;
            }
        }
    }

    pub fn opened(&self, station: usize) -> Vec<SessionId> {
        self.events[station].iter().filter_map(S::opened).collect()
    }

    pub fn messages(&self, station: usize, of: SessionId) -> Vec<Vec<u8>> {
        let all = self.events[station].iter().filter_map(S::message);
        let wanted = all.filter(|(session, _)| *session == of);
        wanted.map(|(_, bytes)| bytes.to_vec()).collect()
    }
}

/// Joins an engine to the cable.
macro_rules! station {
    ($engine:ident, $config:ident, $event:ident) => {
        impl $crate::cable::Station for $engine {
            type Config = $config;
            type Event = $event;

            fn new(config: $config) -> Self {
                $engine::new(Time(0), config)
            }

            fn handle_frame(&mut self, now: Time, frame: &[u8]) {
                $engine::handle_frame(self, now, frame);
            }

            fn handle_timeout(&mut self, now: Time) {
                $engine::handle_timeout(self, now);
            }

            fn poll_timeout(&self) -> Option<Time> {
                $engine::poll_timeout(self)
            }

            fn poll_transmit(&mut self) -> Option<Vec<u8>> {
                $engine::poll_transmit(self)
            }

            fn poll_event(&mut self) -> Option<$event> {
                $engine::poll_event(self)
            }

            fn consumed(&mut self, now: Time, session: SessionId) {
                $engine::consumed(self, now, session);
            }

            fn opened(event: &$event) -> Option<SessionId> {
                match event {
                    $event::SessionOpened { session, .. } => Some(*session),
                    _ => None,
                }
            }

            fn message(event: &$event) -> Option<(SessionId, &[u8])> {
                match event {
                    $event::Message { session, bytes } => Some((*session, bytes)),
                    _ => None,
                }
            }
        }
    };
}

pub(crate) use station;
