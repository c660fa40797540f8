//! Two links over a network in virtual time that loses, doubles, reorders and delays frames from a seed.

use super::super::*;
use alloc::collections::BTreeMap;
use coax_wire::ether::{Frame, Payload};
use coax_wire::llc::SAP_NETBIOS;
use coax_wire::time::Span;
use std::vec;

pub const A: Mac = Mac([2, 0, 0, 0, 0, 0x0a]);
pub const B: Mac = Mac([2, 0, 0, 0, 0, 0x0b]);

/// What the network does to frames, in per mille.
#[derive(Clone, Copy, Default)]
pub struct Faults {
    pub loss: u64,
    pub duplication: u64,
    pub reordering: u64,
}

pub struct Network {
    pub now: Time,
    pub faults: Faults,
    random: u64,
    serial: u64,
    /// Frames on their way, by arrival.
    wire: BTreeMap<(Time, u64), (usize, Vec<u8>)>,
    /// When the cable to each end is free: 100 Mbit/s.
    free: [Time; 2],
    /// Drops all frames.
    pub cut: bool,
    pub log: Vec<(usize, Vec<u8>)>,
}

impl Network {
    pub fn new(seed: u64, faults: Faults) -> Self {
        Self {
            now: Time(0),
            faults,
            random: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
            serial: 0,
            wire: BTreeMap::new(),
            free: [Time(0); 2],
            cut: false,
            log: Vec::new(),
        }
    }

    pub fn chance(&mut self, per_mille: u64) -> bool {
        self.next() % 1000 < per_mille
    }

    pub fn next(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random >> 11
    }

    fn put(&mut self, to: usize, frame: Vec<u8>) {
        if self.log.len() < 1000 {
            self.log.push((to, frame.clone()));
        }
        if self.cut || self.chance(self.faults.loss) {
            return;
        }
        let copies = 1 + u64::from(self.chance(self.faults.duplication));
        for _ in 0..copies {
            // Less than 64 short frames take: LLC cannot tell older ones from new ones.
            let late = if self.chance(self.faults.reordering) {
                self.next() % 300
            } else {
                0
            };
            self.serial += 1;
            let start = self.free[to].max(self.now);
            self.free[to] = start + Span(80 * frame.len().max(84) as u64);
            let at = self.free[to] + Span((200 + late) * 1000);
            self.wire.insert((at, self.serial), (to, frame.clone()));
        }
    }
}

pub struct Pair {
    pub net: Network,
    pub ends: [Link; 2],
    pub events: [Vec<LinkEvent>; 2],
}

impl Pair {
    pub fn new(seed: u64, faults: Faults, config: LinkConfig) -> Self {
        let link = |a, b| Link::new(Time(0), a, b, SAP_NETBIOS, config);
        Self {
            net: Network::new(seed, faults),
            ends: [link(A, B), link(B, A)],
            events: [vec![], vec![]],
        }
    }

    /// A pair whose first end has opened the link.
    pub fn open(seed: u64, faults: Faults, config: LinkConfig) -> Self {
        let mut pair = Self::new(seed, Faults::default(), config);
        pair.ends[0].connect(Time(0));
        pair.run(Span::from_secs(1));
        assert!(pair.ends.iter().all(Link::is_open));
        pair.events.iter_mut().for_each(Vec::clear);
        pair.net.log.clear();
        pair.net.faults = faults;
        pair
    }

    /// Takes frames and events of both ends.
    pub fn collect(&mut self) {
        for (index, end) in self.ends.iter_mut().enumerate() {
            while let Some(frame) = end.poll_transmit() {
                assert!(frame.len() >= 60, "a frame of {} bytes", frame.len());
                self.net.put(1 - index, frame);
            }
            while let Some(event) = end.poll_event() {
                self.events[index].push(event);
            }
        }
    }

    /// Runs the next thing that happens before `until`; whether there was any.
    pub fn step(&mut self, until: Time) -> bool {
        self.collect();
        let arrival = self.net.wire.first_key_value().map(|(key, _)| key.0);
        let due = self.ends.iter().filter_map(Link::poll_timeout).min();
        let Some(at) = arrival
            .into_iter()
            .chain(due)
            .min()
            .filter(|at| *at <= until)
        else {
            self.net.now = until;
            return false;
        };
        self.net.now = self.net.now.max(at);
        let now = self.net.now;
        if arrival == Some(at) {
            let (_, (to, bytes)) = self.net.wire.pop_first().unwrap();
            let Payload::Length(payload) = Frame::parse(&bytes).unwrap().payload else {
                panic!("not 802.3");
            };
            self.ends[to].handle_pdu(now, &Pdu::parse(payload).unwrap());
        } else {
            self.ends.iter_mut().for_each(|end| end.handle_timeout(now));
        }
        self.collect();
        true
    }

    pub fn run(&mut self, span: Span) {
        let until = self.net.now + span;
        while self.step(until) {}
    }

    /// The information that an end received, in order.
    pub fn data(&self, end: usize) -> Vec<Vec<u8>> {
        let of = |event: &LinkEvent| match event {
            LinkEvent::Data(info) => Some(info.clone()),
            _ => None,
        };
        self.events[end].iter().filter_map(of).collect()
    }

    /// The control fields of the frames that were sent to an end, with their response bits.
    pub fn sent_to(&self, end: usize) -> Vec<(bool, Control)> {
        let frames = self.net.log.iter().filter(|(to, _)| *to == end);
        let control = |(_, bytes): &(usize, Vec<u8>)| {
            let Payload::Length(payload) = Frame::parse(bytes).unwrap().payload else {
                panic!("not 802.3");
            };
            let pdu = Pdu::parse(payload).unwrap();
            (pdu.response, pdu.control)
        };
        frames.map(control).collect()
    }
}
