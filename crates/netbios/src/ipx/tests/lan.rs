//! Stations on one cable in virtual time.

use super::super::*;
use alloc::collections::BTreeMap;
use coax_wire::nbt::name::NbName;
use std::vec;

use crate::nbf::StationName;

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

pub struct Lan {
    pub now: Time,
    pub stations: Vec<Ipx>,
    pub events: Vec<Vec<IpxEvent>>,
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

impl Lan {
    pub fn new(configs: Vec<IpxConfig>) -> Self {
        Self {
            now: Time(0),
            events: configs.iter().map(|_| vec![]).collect(),
            stations: configs
                .into_iter()
                .map(|config| Ipx::new(Time(0), config))
                .collect(),
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

    /// A server `SERVER` and a client `CLIENT` whose names are registered.
    pub fn pair() -> Self {
        Self::pair_with(|_| {})
    }

    pub fn pair_with(change: impl Fn(&mut IpxConfig)) -> Self {
        let server = vec![unique("SERVER<20>"), unique("SERVER<00>"), group("LAB<00>")];
        let mut server = IpxConfig::new(mac(1), server);
        let mut client = IpxConfig::new(mac(2), vec![unique("CLIENT<00>")]);
        change(&mut server);
        change(&mut client);
        let mut lan = Self::new(vec![server, client]);
        lan.run(Span::from_secs(3));
        lan.events.iter_mut().for_each(Vec::clear);
        lan.log.clear();
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
                self.log.push(frame.clone());
                self.put(index, &frame);
            }
            while let Some(event) = self.stations[index].poll_event() {
                if let (IpxEvent::Message { session, .. }, true) = (&event, self.consuming) {
                    self.stations[index].consumed(self.now, *session);
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
        let due = self.stations.iter().filter_map(Ipx::poll_timeout).min();
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

    /// Calls the server from the client: the client's session and the server's.
    pub fn call(&mut self, only: Carriage) -> (SessionId, SessionId) {
        let before = self.opened(0).len();
        let (called, calling) = (name("SERVER<20>"), name("CLIENT<00>"));
        let now = self.now;
        let id = self.stations[1]
            .call(now, called, calling, Some(only))
            .unwrap();
        for _ in 0..100 {
            if self.opened(1).contains(&id) {
                break;
            }
            self.run(Span::from_millis(100));
        }
        assert!(self.opened(1).contains(&id), "{:?}", self.events[1]);
        // The server of a direct session hears of it with the first request.
        let server = self.opened(0).get(before).copied();
        (id, server.unwrap_or(SessionId(u32::MAX)))
    }

    pub fn send(&mut self, from: usize, id: SessionId, bytes: Vec<u8>) {
        let now = self.now;
        self.stations[from].send(now, id, bytes).unwrap();
    }

    pub fn opened(&self, station: usize) -> Vec<SessionId> {
        let of = |event: &IpxEvent| match event {
            IpxEvent::SessionOpened { session, .. } => Some(*session),
            _ => None,
        };
        self.events[station].iter().filter_map(of).collect()
    }

    pub fn messages(&self, station: usize, of: SessionId) -> Vec<Vec<u8>> {
        let of = |event: &IpxEvent| match event {
            IpxEvent::Message { session, bytes } if *session == of => Some(bytes.clone()),
            _ => None,
        };
        self.events[station].iter().filter_map(of).collect()
    }

    pub fn closed(&self, station: usize, of: SessionId) -> Option<SessionClose> {
        let of = |event: &IpxEvent| match event {
            IpxEvent::SessionClosed { session, why } if *session == of => Some(*why),
            _ => None,
        };
        self.events[station].iter().find_map(of)
    }

    /// The session packets in the log, oldest first.
    pub fn headers(&self) -> Vec<SessionHeader> {
        let of = |bytes: &Vec<u8>| {
            let frame = Frame::parse(bytes).unwrap();
            let (_, packet) = FrameType::parse(&frame).unwrap();
            let is_netbios = packet.destination.socket == socket::NETBIOS;
            let header = SessionHeader::parse(packet.data).ok()?.0;
            (is_netbios && packet.data.len() != nbipx::NAME_LEN).then_some(header)
        };
        self.log.iter().filter_map(of).collect()
    }
}
