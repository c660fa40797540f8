//! Two smoltcp interfaces with a link in virtual time.

use std::collections::VecDeque;

use coax_lab::{Setup, Side, apps::BlockPlan};
use smoltcp::{
    iface::{Config, Interface, PollIngressSingleResult, SocketHandle, SocketSet},
    phy::{ChecksumCapabilities, Device, DeviceCapabilities, Medium, RxToken, TxToken},
    socket::tcp,
    time::Instant,
    wire::{HardwareAddress, IpAddress, IpCidr},
};

/// A multiple of the segment size, because smoltcp sends a short segment where its ring buffer wraps.
const SEND_BUFFER: usize = 1460 * 180;

/// A card with two queues.
#[derive(Default)]
struct Card {
    arrived: VecDeque<Vec<u8>>,
    leaving: Vec<Vec<u8>>,
}

struct Arrived(Vec<u8>);
struct Leaving<'a>(&'a mut Vec<Vec<u8>>);

impl RxToken for Arrived {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, f: F) -> R {
        f(&self.0)
    }
}

impl TxToken for Leaving<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, len: usize, f: F) -> R {
        let mut packet = vec![0; len];
        let result = f(&mut packet);
        self.0.push(packet);
        result
    }
}

impl Device for Card {
    type RxToken<'a> = Arrived;
    type TxToken<'a> = Leaving<'a>;

    fn receive(&mut self, _: Instant) -> Option<(Arrived, Leaving<'_>)> {
        let packet = self.arrived.pop_front()?;
        Some((Arrived(packet), Leaving(&mut self.leaving)))
    }

    fn transmit(&mut self, _: Instant) -> Option<Leaving<'_>> {
        Some(Leaving(&mut self.leaving))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ip;
        capabilities.max_transmission_unit = 1500;
        capabilities.checksum = ChecksumCapabilities::ignored();
        capabilities
    }
}

/// Bytes that an endpoint has to send, and bytes that it received.
#[derive(Default)]
struct Talk {
    unsent: u64,
    heard: u64,
}

struct Node {
    card: Card,
    interface: Interface,
    sockets: SocketSet<'static>,
    handle: SocketHandle,
    talk: Talk,
}

impl Node {
    fn new(last: u8, window: u32) -> Self {
        let mut card = Card::default();
        let mut interface =
            Interface::new(Config::new(HardwareAddress::Ip), &mut card, Instant::ZERO);
        interface.update_ip_addrs(|addresses| {
            addresses
                .push(IpCidr::new(IpAddress::v4(192, 0, 2, last), 24))
                .unwrap();
        });
        let buffer = |size: usize| tcp::SocketBuffer::new(vec![0; size]);
        let mut socket = tcp::Socket::new(buffer(window as usize), buffer(SEND_BUFFER));
        socket.set_nagle_enabled(false);
        socket.set_ack_delay(None);
        let mut sockets = SocketSet::new(Vec::new());
        let handle = sockets.add(socket);
        Self {
            card,
            interface,
            sockets,
            handle,
            talk: Talk::default(),
        }
    }

    fn socket(&mut self) -> &mut tcp::Socket<'static> {
        self.sockets.get_mut(self.handle)
    }

    /// Reads all available data and writes as much as fits.
    fn converse(&mut self) {
        let socket = self.sockets.get_mut::<tcp::Socket>(self.handle);
        while socket.can_recv() {
            self.talk.heard += socket.recv(|bytes| (bytes.len(), bytes.len())).unwrap() as u64;
        }
        while self.talk.unsent > 0 && socket.can_send() {
            let want = self.talk.unsent;
            let sent = socket.send(|room| {
                let len = room.len().min(want as usize);
                (len, len)
            });
            self.talk.unsent -= sent.unwrap() as u64;
        }
    }
}

/// One direction of the link and the ring before it.
struct Way {
    rate: u64,
    delay: u64,
    ring: usize,
    free_at: u64,
    leaving: VecDeque<u64>,
    under_way: VecDeque<(u64, Vec<u8>)>,
}

impl Way {
    fn send(&mut self, now: u64, packet: Vec<u8>) {
        while self.leaving.front().is_some_and(|at| *at <= now) {
            self.leaving.pop_front();
        }
        if self.ring > 0 && self.leaving.len() >= self.ring {
            return;
        }
        let bytes = (packet.len() as u64 + 38).max(84);
        self.free_at = self.free_at.max(now) + bytes * 8_000_000_000 / self.rate;
        self.leaving.push_back(self.free_at);
        self.under_way
            .push_back((self.free_at + self.delay, packet));
    }
}

/// smoltcp's part of an experiment.
pub struct Other {
    nodes: [Node; 2],
    ways: [Way; 2],
    now: u64,
}

impl Other {
    pub fn new(setup: &Setup) -> Self {
        let way = |ring| Way {
            rate: setup.link.rate,
            delay: setup.link.delay.0,
            ring,
            free_at: 0,
            leaving: VecDeque::new(),
            under_way: VecDeque::new(),
        };
        let mut nodes = [
            Node::new(2, setup.client.stack.receive_window),
            Node::new(1, setup.server.stack.receive_window),
        ];
        nodes[1].socket().listen(139).unwrap();
        let client = &mut nodes[0];
        let remote = (IpAddress::v4(192, 0, 2, 1), 139);
        let socket = client.sockets.get_mut::<tcp::Socket>(client.handle);
        socket
            .connect(client.interface.context(), remote, 1025)
            .unwrap();
        Self {
            nodes,
            ways: [way(setup.client.nic.tx_ring), way(setup.server.nic.tx_ring)],
            now: 0,
        }
    }

    /// Nanoseconds from the receiver's connection to the last byte of a bulk transfer to the server.
    pub fn bulk(mut self, bytes: u64) -> u64 {
        while !self.nodes[1].socket().may_recv() {
            self.step();
            if self.nodes[0].socket().may_send() && self.nodes[0].talk.unsent == 0 {
                self.nodes[0].talk.unsent = bytes;
            }
        }
        let begin = self.now;
        while self.nodes[1].talk.heard < bytes {
            self.step();
        }
        self.now - begin
    }

    /// Nanoseconds from the client's connection to the last response.
    pub fn blocks(mut self, plan: &BlockPlan) -> u64 {
        while !self.nodes[0].socket().may_send() {
            self.step();
        }
        let begin = self.now;
        let mut offset = 0;
        while offset < plan.file {
            let block = plan.block.min(plan.file - offset);
            for message in &plan.messages {
                let len = message.overhead + if message.block { block } else { 0 };
                let (from, to) = match message.from {
                    Side::Client => (0, 1),
                    Side::Server => (1, 0),
                };
                let target = self.nodes[to].talk.heard + len;
                self.nodes[from].talk.unsent += len;
                while self.nodes[to].talk.heard < target {
                    self.step();
                }
            }
            offset += block;
        }
        self.now - begin
    }

    /// Sends the pending frames, and advances to the next event.
    fn step(&mut self) {
        self.send();
        let now = self.clock();
        let mut next = u64::MAX;
        for (node, way) in self.nodes.iter_mut().zip(&self.ways) {
            let timer = node.interface.poll_at(now, &node.sockets);
            let at = timer.map_or(u64::MAX, |at| {
                (at.total_micros() as u64).saturating_mul(1000)
            });
            let arrival = way.under_way.front().map_or(u64::MAX, |(at, _)| *at);
            next = next.min(at).min(arrival);
        }
        assert!(next < u64::MAX, "the simulation has no further event");
        self.now = self.now.max(next);
        for (from, to) in [(0, 1), (1, 0)] {
            while self.ways[from]
                .under_way
                .front()
                .is_some_and(|(at, _)| *at <= self.now)
            {
                let (_, packet) = self.ways[from].under_way.pop_front().unwrap();
                self.nodes[to].card.arrived.push_back(packet);
            }
        }
        self.receive();
    }

    fn clock(&self) -> Instant {
        Instant::from_micros(self.now.div_ceil(1000) as i64)
    }

    fn receive(&mut self) {
        let now = self.clock();
        for node in &mut self.nodes {
            loop {
                let progress =
                    node.interface
                        .poll_ingress_single(now, &mut node.card, &mut node.sockets);
                node.converse();
                if matches!(progress, PollIngressSingleResult::None) {
                    break;
                }
            }
        }
    }

    /// Sends new data in the same segment as the ACK of received data.
    fn send(&mut self) {
        let now = self.clock();
        for (node, way) in self.nodes.iter_mut().zip(&mut self.ways) {
            node.converse();
            node.interface
                .poll_egress(now, &mut node.card, &mut node.sockets);
            for packet in node.card.leaving.drain(..) {
                way.send(self.now, packet);
            }
        }
    }
}
