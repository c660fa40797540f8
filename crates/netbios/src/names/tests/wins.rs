//! Nodes of every type with WINS servers, in virtual time.

use super::*;
use crate::wins::{WinsConfig, WinsServer};
use crate::{NodeType, Reach};

/// Nodes, WINS servers and the networks between them.
pub(super) struct Internet {
    pub(super) now: Time,
    pub(super) nodes: Vec<(Ipv4Addr, NameService)>,
    pub(super) servers: Vec<(Ipv4Addr, Option<WinsServer>)>,
    pub(super) events: Vec<(Ipv4Addr, Event)>,
    /// Datagrams to WINS servers: when, to whom.
    pub(super) to_wins: Vec<(u64, Ipv4Addr)>,
    pub(super) fate: Fate,
    waiting: Vec<(Time, u64, SocketAddrV4, Transmit)>,
    serial: u64,
}

/// What the links do to datagrams: of 100, how many they lose, duplicate and delay by up to 400 ms.
#[derive(Default)]
pub(super) struct Fate {
    pub(super) seed: u64,
    pub(super) lose: u64,
    pub(super) duplicate: u64,
    pub(super) delay: u64,
}

impl Fate {
    fn chance(&mut self, of_100: u64) -> bool {
        self.draw(100) < of_100
    }

    fn draw(&mut self, below: u64) -> u64 {
        // SplitMix64 (Steele, Lea, Flood 2014).
        self.seed = self.seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.seed;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % below
    }
}

impl Internet {
    pub(super) fn new(servers: &[Ipv4Addr]) -> Self {
        let server = |address: &Ipv4Addr| {
            let server = WinsServer::new(START, WinsConfig::default(), []);
            (*address, Some(server))
        };
        Self {
            now: START,
            nodes: Vec::new(),
            servers: servers.iter().map(server).collect(),
            events: Vec::new(),
            to_wins: Vec::new(),
            fate: Fate::default(),
            waiting: Vec::new(),
            serial: 0,
        }
    }

    pub(super) fn join(&mut self, computer: &str, address: Ipv4Addr, node: NodeType) {
        let servers = self.servers.iter().map(|(address, _)| *address).collect();
        let mut config =
            NameServiceConfig::file_server(name(computer), name("WORKGROUP"), false, address);
        config.node = node;
        config.wins = servers;
        config.network = Some(crate::Network {
            address,
            prefix: 24,
        });
        config.first_id = u16::from_be_bytes([address.octets()[3], 0]);
        let service = NameService::new(self.now, config).unwrap();
        self.nodes.push((address, service));
        self.collect();
    }

    pub(super) fn node(&mut self, address: Ipv4Addr) -> &mut NameService {
        let mut nodes = self.nodes.iter_mut();
        &mut nodes.find(|(known, _)| *known == address).unwrap().1
    }

    pub(super) fn server(&mut self, at: usize) -> &mut WinsServer {
        self.servers[at].1.as_mut().unwrap()
    }

    pub(super) fn run(&mut self, ms: u64) {
        let end = self.now + Span::from_millis(ms);
        self.collect();
        while let Some(due) = self.due().filter(|due| *due <= end) {
            self.now = due.max(self.now);
            self.arrive();
            for (_, node) in &mut self.nodes {
                node.handle_timeout(self.now);
            }
            for (_, server) in &mut self.servers {
                if let Some(server) = server {
                    server.handle_timeout(self.now);
                }
            }
            self.collect();
        }
        self.now = end;
    }

    fn due(&self) -> Option<Time> {
        let nodes = self
            .nodes
            .iter()
            .filter_map(|(_, node)| node.poll_timeout());
        let servers = self.servers.iter();
        let servers = servers.filter_map(|(_, server)| server.as_ref()?.poll_timeout());
        let waiting = self.waiting.iter().map(|(due, ..)| *due);
        nodes.chain(servers).chain(waiting).min()
    }

    /// Puts what was sent on the links.
    fn collect(&mut self) {
        let mut sent = Vec::new();
        for (address, node) in &mut self.nodes {
            while let Some(transmit) = node.poll_transmit() {
                sent.push((*address, transmit));
            }
            while let Some(event) = node.poll_event() {
                self.events.push((*address, event));
            }
        }
        for (address, server) in &mut self.servers {
            while let Some(transmit) = server.as_mut().and_then(|s| s.poll_transmit()) {
                sent.push((*address, transmit));
            }
        }
        for (from, transmit) in sent {
            let from = SocketAddrV4::new(from, 137);
            if self.fate.chance(self.fate.lose) {
                continue;
            }
            let copies = if self.fate.chance(self.fate.duplicate) {
                2
            } else {
                1
            };
            for _ in 0..copies {
                let late = self.fate.chance(self.fate.delay);
                let late = if late { self.fate.draw(400) } else { 1 };
                self.serial += 1;
                let due = self.now + Span::from_millis(late);
                self.waiting
                    .push((due, self.serial, from, transmit.clone()));
            }
        }
    }

    fn arrive(&mut self) {
        self.waiting
            .sort_by_key(|(due, serial, ..)| (*due, *serial));
        let now = self.now;
        let split = self.waiting.partition_point(|(due, ..)| *due <= now);
        for (_, _, from, transmit) in self.waiting.drain(..split).collect::<Vec<_>>() {
            self.carry(from, &transmit);
        }
    }

    fn carry(&mut self, from: SocketAddrV4, transmit: &Transmit) {
        let net = |address: Ipv4Addr| address.octets()[2];
        for (address, server) in &mut self.servers {
            let here = Destination::Addr(SocketAddrV4::new(*address, 137));
            if transmit.to != here {
                continue;
            }
            self.to_wins
                .push(((self.now - START).as_millis(), *address));
            if let Some(server) = server
                && server.wants(*from.ip(), &transmit.bytes)
            {
                server.handle_datagram(self.now, from, &transmit.bytes);
            }
        }
        for (address, node) in &mut self.nodes {
            let here = Destination::Addr(SocketAddrV4::new(*address, 137));
            let broadcast =
                transmit.to == Destination::Broadcast && net(*address) == net(*from.ip());
            if transmit.to == here || broadcast {
                node.handle_datagram(self.now, from, &transmit.bytes);
            }
        }
        self.collect();
    }
}

const WINS_1: Ipv4Addr = Ipv4Addr::new(10, 0, 9, 1);
const WINS_2: Ipv4Addr = Ipv4Addr::new(10, 0, 9, 2);
const HERE: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const ELSEWHERE: Ipv4Addr = Ipv4Addr::new(10, 0, 1, 1);

#[test]
fn nodes_on_two_networks_cannot_have_one_name_if_they_use_wins() {
    for node in [NodeType::PointToPoint, NodeType::Mixed, NodeType::Hybrid] {
        let mut net = Internet::new(&[WINS_1]);
        net.join("TOWER", HERE, node);
        net.run(3000);
        net.join("TOWER", ELSEWHERE, node);
        net.run(10_000);
        let tower = name("TOWER<20>");
        assert!(net.node(HERE).owns(&tower), "{node:?}");
        assert!(!net.node(ELSEWHERE).owns(&tower), "{node:?}");
        assert!(net.node(ELSEWHERE).owns(&name("WORKGROUP")), "{node:?}");
        let now = net.now;
        assert_eq!(net.server(0).addresses(now, &tower), [HERE], "{node:?}");
    }
}

#[test]
fn a_name_whose_owner_died_goes_to_the_next_who_wants_it() {
    let mut net = Internet::new(&[WINS_1]);
    net.join("TOWER", HERE, NodeType::Hybrid);
    net.run(3000);
    net.nodes.clear();
    net.join("TOWER", ELSEWHERE, NodeType::Hybrid);
    net.run(1000);
    let tower = name("TOWER<20>");
    assert!(
        !net.node(ELSEWHERE).owns(&tower),
        "the challenge lasts 1.5 s"
    );
    net.run(2000);
    assert!(net.node(ELSEWHERE).owns(&tower));
    let now = net.now;
    assert_eq!(net.server(0).addresses(now, &tower), [ELSEWHERE]);
}

#[test]
fn the_secondary_wins_server_is_used_when_the_primary_is_silent() {
    let mut net = Internet::new(&[WINS_1, WINS_2]);
    net.servers[0].1 = None;
    net.join("TOWER", HERE, NodeType::PointToPoint);
    net.run(4600);
    let first: Vec<u64> = (net.to_wins.iter())
        .filter(|(_, to)| *to == WINS_1)
        .map(|(ms, _)| *ms)
        .collect();
    assert_eq!(first[..3], [1, 1, 1]);
    assert_eq!(first.len(), 9, "three names, three times");
    assert!(net.node(HERE).owns(&name("TOWER<20>")));
    assert_eq!(net.node(HERE).wins_server(), Some(WINS_2));
}

#[test]
fn a_hybrid_node_without_wins_server_claims_by_broadcast_and_returns_later() {
    let mut net = Internet::new(&[WINS_1]);
    let server = net.servers[0].1.take();
    net.join("TOWER", HERE, NodeType::Hybrid);
    net.run(4000);
    assert!(!net.node(HERE).owns(&name("TOWER<20>")));
    net.run(2000);
    assert!(net.node(HERE).owns(&name("TOWER<20>")));
    let silent = net
        .events
        .iter()
        .filter(|(_, e)| *e == Event::WinsUnreachable);
    assert_eq!(silent.count(), 1);
    net.servers[0].1 = server;
    net.run(70_000);
    let now = net.now;
    assert_eq!(net.server(0).addresses(now, &name("TOWER<20>")), [HERE]);
}

#[test]
fn a_registration_is_refreshed_before_it_expires_and_released_at_the_end() {
    let mut net = Internet::new(&[WINS_1]);
    net.join("TOWER", HERE, NodeType::Mixed);
    let day = 86_400_000;
    for _ in 0..30 {
        net.run(day);
        let now = net.now;
        assert_eq!(net.server(0).addresses(now, &name("TOWER<20>")), [HERE]);
    }
    let now = net.now;
    net.node(HERE).shutdown(now);
    net.run(1000);
    assert!(net.node(HERE).is_released());
    let now = net.now;
    assert!(net.server(0).addresses(now, &name("TOWER<20>")).is_empty());
}

#[test]
fn a_proxy_answers_b_nodes_for_names_of_other_networks_only() {
    let mut net = Internet::new(&[WINS_1]);
    net.join("PROXY", HERE, NodeType::Hybrid);
    net.node(HERE).config.proxy = true;
    net.join("FAR", ELSEWHERE, NodeType::Hybrid);
    let near = Ipv4Addr::new(10, 0, 0, 7);
    net.join("NEAR", near, NodeType::Hybrid);
    net.run(3000);
    let asker = SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, 99), 1025);
    for (wanted, answers) in [("FAR<20>", 1), ("NEAR<20>", 0), ("NOBODY<20>", 0)] {
        let query = query(wanted, true, QueryKind::Addresses).emit();
        // The client repeats its query; the proxy asks once.
        let now = net.now;
        net.to_wins.clear();
        for _ in 0..3 {
            net.node(HERE).handle_datagram(now, asker, &query);
        }
        let mut replies = 0;
        let mut questions = 0;
        for _ in 0..3 {
            let sent: Vec<Transmit> = drain(net.node(HERE)).0;
            for transmit in sent {
                if transmit.to == Destination::Addr(asker) {
                    replies += 1;
                    let Ok(Repr::QueryReply(reply)) = Repr::parse(&transmit.bytes) else {
                        panic!()
                    };
                    assert_eq!(reply.outcome.unwrap().entries[0].address, ELSEWHERE);
                } else {
                    questions += 1;
                    net.carry(SocketAddrV4::new(HERE, 137), &transmit);
                    let replies = net.waiting.drain(..).collect::<Vec<_>>();
                    for (_, _, from, transmit) in replies {
                        let now = net.now;
                        net.node(HERE).handle_datagram(now, from, &transmit.bytes);
                    }
                }
            }
        }
        assert_eq!((questions, replies), (1, answers), "{wanted}");
    }
}

#[test]
fn a_name_for_one_network_stays_there_and_leaves_when_it_is_removed() {
    let mut net = Internet::new(&[WINS_1]);
    net.join("TOWER", HERE, NodeType::Hybrid);
    net.run(2000);
    let master = OwnName::unique(name("WORKGROUP<1d>")).with_reach(Reach::Network);
    let now = net.now;
    net.node(HERE).add(now, &master).unwrap();
    net.run(2000);
    assert!(net.node(HERE).owns(&master.name));
    assert!(
        net.server(0)
            .records()
            .all(|(name, _)| *name != master.name)
    );
    let now = net.now;
    net.node(HERE).remove(now, &master.name);
    assert!(!net.node(HERE).owns(&master.name));
    net.run(2000);
    assert!(net.events.contains(&(HERE, Event::Released(master.name))));
    let full = (0..30u8).filter(|n| {
        let own = OwnName::unique(name("X").with_suffix(*n));
        let now = net.now;
        net.node(HERE).add(now, &own).is_ok()
    });
    assert_eq!(full.count(), MAX_NAMES - 3);
}

#[test]
fn a_p_node_is_deaf_to_broadcasts_and_everybody_to_other_networks() {
    let mut net = Internet::new(&[WINS_1]);
    net.join("TOWER", HERE, NodeType::PointToPoint);
    net.run(2000);
    let from = SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, 50), 137);
    let foreign = SocketAddrV4::new(Ipv4Addr::new(10, 0, 5, 50), 137);
    let now = net.now;
    let asked = |broadcast| query("TOWER<20>", broadcast, QueryKind::Addresses).emit();
    let replies = |net: &mut Internet, from, bytes: &[u8]| {
        net.node(HERE).handle_datagram(now, from, bytes);
        drain(net.node(HERE)).0.len()
    };
    assert_eq!(replies(&mut net, from, &asked(true)), 0);
    assert_eq!(
        replies(&mut net, from, &claim("TOWER<20>", 50, 0).emit()),
        0
    );
    assert_eq!(replies(&mut net, from, &asked(false)), 1);
    assert_eq!(replies(&mut net, foreign, &asked(false)), 0);
    assert_eq!(net.node(HERE).counters().foreign_network, 1);
}

#[test]
fn only_the_wins_server_can_refuse_a_registration() {
    let mut net = Internet::new(&[WINS_1]);
    net.servers[0].1 = None;
    net.join("TOWER", HERE, NodeType::PointToPoint);
    let Repr::ClaimReply(mut refusal) = conflict("TOWER<20>") else {
        panic!()
    };
    refusal.rcode = RCODE_ACTIVE;
    for id in 0..=u16::MAX {
        refusal.id = id;
        let bytes = Repr::ClaimReply(refusal.clone()).emit();
        let from = SocketAddrV4::new(Ipv4Addr::new(10, 0, 0, 66), 137);
        net.node(HERE).handle_datagram(START, from, &bytes);
    }
    assert_eq!(drain(net.node(HERE)).1, []);
}
