//! Stations on one cable in virtual time.

use super::super::*;
use alloc::collections::BTreeMap;
use coax_wire::nbt::name::NbName;
use std::vec;

pub fn mac(number: u8) -> Mac {
    Mac([2, 0, 0, 0, 0, number])
}

pub fn unique(text: &str) -> StationName {
    StationName {
        name: text.parse().unwrap(),
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

pub fn name(text: &str) -> NbName {
    text.parse().unwrap()
}

/// Bytes that tell their place.
pub fn pattern(len: usize, seed: usize) -> Vec<u8> {
    (0..len)
        .map(|at| ((at + seed) * 31 + (at >> 8)) as u8)
        .collect()
}

pub struct Lan {
    pub now: Time,
    pub stations: Vec<Nbf>,
    pub events: Vec<Vec<NbfEvent>>,
    /// Lost and doubled frames, in per mille.
    pub loss: u64,
    pub duplication: u64,
    /// Messages are consumed when they come.
    pub consuming: bool,
    /// Stations that neither send nor receive.
    pub unplugged: Vec<usize>,
    /// Every frame sent, if wanted.
    pub log: Option<Vec<Vec<u8>>>,
    random: u64,
    serial: u64,
    wire: BTreeMap<(Time, u64), (usize, Vec<u8>)>,
    free: Time,
}

impl Lan {
    pub fn new(configs: Vec<NbfConfig>) -> Self {
        Self {
            now: Time(0),
            events: configs.iter().map(|_| vec![]).collect(),
            stations: configs
                .into_iter()
                .map(|config| Nbf::new(Time(0), config))
                .collect(),
            loss: 0,
            duplication: 0,
            consuming: true,
            unplugged: vec![],
            log: None,
            random: 0x1234_5678_9abc_def1,
            serial: 0,
            wire: BTreeMap::new(),
            free: Time(0),
        }
    }

    /// A server `SERVER` and a client `CLIENT` whose names are registered.
    pub fn pair() -> Self {
        Self::pair_with(|_| {})
    }

    pub fn pair_with(change: impl Fn(&mut NbfConfig)) -> Self {
        let mut server = NbfConfig::new(mac(1), vec![unique("SERVER<20>"), group("LAB<00>")]);
        let mut client = NbfConfig::new(mac(2), vec![unique("CLIENT<00>")]);
        change(&mut server);
        change(&mut client);
        let mut lan = Self::new(vec![server, client]);
        lan.run(Span::from_secs(3));
        lan.events.iter_mut().for_each(Vec::clear);
        lan
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
                if let Some(log) = &mut self.log {
                    log.push(frame.clone());
                }
                self.put(index, &frame);
            }
            while let Some(event) = self.stations[index].poll_event() {
                if let (NbfEvent::Message { session, .. }, true) = (&event, self.consuming) {
                    self.stations[index].consumed(self.now, *session);
                }
                self.events[index].push(event);
            }
        }
    }

    fn put(&mut self, from: usize, frame: &[u8]) {
        self.free = self.free.max(self.now) + Span(80 * frame.len() as u64);
        for to in (0..self.stations.len()).filter(|to| *to != from) {
            if self.unplugged.contains(&to)
                || self.unplugged.contains(&from)
                || self.chance(self.loss)
            {
                continue;
            }
            let copies = 1 + usize::from(self.chance(self.duplication));
            for _ in 0..copies {
                self.serial += 1;
                let key = (self.free + Span(50_000), self.serial);
                self.wire.insert(key, (to, frame.to_vec()));
            }
        }
    }

    /// Runs the next thing that happens before `until`; whether there was any.
    pub fn step(&mut self, until: Time) -> bool {
        self.collect();
        let arrival = self.wire.first_key_value().map(|(key, _)| key.0);
        let due = self.stations.iter().filter_map(Nbf::poll_timeout).min();
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

    /// Calls from a station and waits for the outcome: the caller's session and the server's.
    pub fn call(&mut self, from: usize, to: usize, called: &str) -> (SessionId, SessionId) {
        let before = self.opened(to).len();
        let id = self.stations[from]
            .call(self.now, name(called), name("CLIENT<00>"))
            .unwrap();
        self.run(Span::from_secs(2));
        assert!(self.opened(from).contains(&id), "{:?}", self.events[from]);
        (id, self.opened(to)[before])
    }

    pub fn opened(&self, station: usize) -> Vec<SessionId> {
        let of = |event: &NbfEvent| match event {
            NbfEvent::SessionOpened { session, .. } => Some(*session),
            _ => None,
        };
        self.events[station].iter().filter_map(of).collect()
    }

    pub fn messages(&self, station: usize, of: SessionId) -> Vec<Vec<u8>> {
        let of = |event: &NbfEvent| match event {
            NbfEvent::Message { session, bytes } if *session == of => Some(bytes.clone()),
            _ => None,
        };
        self.events[station].iter().filter_map(of).collect()
    }

    /// Commands of the NetBIOS frames in the log, oldest first.
    pub fn commands(&self) -> Vec<u8> {
        let of = |bytes: &Vec<u8>| {
            let Payload::Length(payload) = Ethernet::parse(bytes).ok()?.payload else {
                return None;
            };
            let pdu = Pdu::parse(payload).ok()?;
            pdu.info.get(4).copied()
        };
        self.log.iter().flatten().filter_map(of).collect()
    }
}
