//! Looks at one client.

use std::{
    io::ErrorKind,
    net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream},
    thread,
    time::{Duration, Instant},
};

use coax_catalog::clients;
use coax_client::ListedServer;
use coax_smbconf::settings::Settings;
use coax_transfer::{
    client::{Location, Options, open},
    names::{Method, Resolver},
};
use coax_wire::{
    browser::server_type,
    nbt::{
        name::{NbName, SUFFIX_SERVER, SUFFIX_WORKSTATION},
        ns::{NameFlags, NodeStatus},
    },
};
use socket2::{Domain, Protocol, Socket, Type};

use super::{
    bounded::{text, within},
    names,
};
use crate::{
    facts::{Client, Listed, Node, NodeName, Port},
    parse,
};

/// How long a TCP connection and an echo may take.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long a master browser's list may take.
const LIST_PATIENCE: Duration = Duration::from_secs(6);
/// Data of an echo request that fills an Ethernet frame: 1500 bytes less the headers of IP and ICMP.
const FULL: usize = 1472;
/// The table of neighbours, bytes.
const NEIGHBOURS_MAX: u64 = 4 << 20;

/// What a master browser's list is asked for.
type List = Result<Vec<ListedServer>, Listed>;

pub(super) fn client(asked: String, settings: &Settings, resolver: &Resolver) -> Client {
    let mut client = resolve(asked, resolver);
    let Some(address) = client.address else {
        return client;
    };
    let group = settings.global.workgroup.clone();
    thread::scope(|scope| {
        let node = scope.spawn(|| match address {
            IpAddr::V4(address) => resolver.status(address).ok().flatten(),
            IpAddr::V6(_) => None,
        });
        let list = scope.spawn(|| list(group, resolver.clone()));
        let tcp = [139, 445].map(|port| scope.spawn(move || (port, connect(address, port))));
        (client.echo, client.full_echo) = echoes(address);
        client.ports = tcp
            .into_iter()
            .filter_map(|thread| thread.join().ok())
            .collect();
        client.node = node.join().ok().flatten().map(|status| names_of(&status));
        let list = list.join().unwrap_or(Err(Listed::Unasked));
        client.listed = listed(&client, list);
    });
    if let IpAddr::V4(address) = address {
        client.neighbour = parse::neighbour(&text("/proc/net/arp", NEIGHBOURS_MAX), address);
    }
    client
}

/// The address: of a file server with this name, else of any machine with it.
fn resolve(asked: String, resolver: &Resolver) -> Client {
    if let Ok(address) = asked.parse() {
        return Client {
            asked,
            address: Some(address),
            ..Client::default()
        };
    }
    let mut found = resolver.server(&asked);
    if found.addresses.is_empty()
        && let Ok(name) = NbName::new(asked.as_bytes(), SUFFIX_WORKSTATION)
    {
        let order = resolver.order.iter().copied();
        let only = Resolver {
            order: order.filter(|method| *method != Method::Host).collect(),
            ..resolver.clone()
        };
        let again = only.find(&asked, name);
        if !again.addresses.is_empty() {
            found = again;
        }
    }
    let found_by = found.method.map(|method| match method {
        Method::Lmhosts => "from LMHOSTS",
        Method::Wins => "from WINS",
        Method::Bcast => "by broadcast",
        Method::Host => "from the hosts file or DNS",
    });
    Client {
        asked,
        address: found.addresses.first().copied(),
        found_by: found_by.map(ToOwned::to_owned),
        failures: found.problems.into_iter().chain(found.failures).collect(),
        ..Client::default()
    }
}

fn names_of(status: &NodeStatus) -> Node {
    let names = status.names.iter().map(|own| NodeName {
        name: own.name.characters().escape_ascii().to_string(),
        suffix: own.name.suffix(),
        group: own.flags.is_group(),
        conflict: own.flags.0 & NameFlags::CONFLICT != 0,
    });
    let mac = status
        .statistics
        .unit_id()
        .map(|byte| format!("{byte:02x}"));
    Node {
        names: names.collect(),
        mac: mac.join("-"),
    }
}

fn connect(address: IpAddr, port: u16) -> Port {
    match TcpStream::connect_timeout(&SocketAddr::new(address, port), PATIENCE) {
        Ok(_) => Port::Open,
        Err(error) => match error.kind() {
            ErrorKind::ConnectionRefused | ErrorKind::ConnectionReset => Port::Closed,
            ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable => Port::Unreachable,
            _ => Port::Silent,
        },
    }
}

/// Whether a small echo request is answered, and one that fills a frame.
fn echoes(address: IpAddr) -> (Option<bool>, Option<bool>) {
    let IpAddr::V4(address) = address else {
        return (None, None);
    };
    let small = echo(address, 56);
    let full = small
        .filter(|answered| *answered)
        .and_then(|_| echo(address, FULL));
    (small, full)
}

/// The kernel sends echo requests for users whose group net.ipv4.ping_group_range names, and else for CAP_NET_RAW.
fn echo(address: Ipv4Addr, len: usize) -> Option<bool> {
    let new = |kind| Socket::new(Domain::IPV4, kind, Some(Protocol::ICMPV4)).ok();
    let socket = new(Type::DGRAM).or_else(|| new(Type::RAW))?;
    let mark = std::process::id().to_be_bytes();
    let request = request(mark, len);
    let to = SocketAddr::new(IpAddr::V4(address), 0);
    if socket.send_to(&request, &to.into()).is_err() {
        return Some(false);
    }
    let until = Instant::now() + PATIENCE;
    let mut socket = socket;
    let mut answer = vec![0; 2048];
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() || socket.set_read_timeout(Some(left)).is_err() {
            return Some(false);
        }
        let Ok(len) = std::io::Read::read(&mut socket, &mut answer) else {
            return Some(false);
        };
        if is_reply(answer.get(..len).unwrap_or_default(), &request) {
            return Some(true);
        }
    }
}

/// An echo request (RFC 792).
fn request(mark: [u8; 4], len: usize) -> Vec<u8> {
    let [a, b, c, d] = mark;
    let mut packet = vec![8, 0, 0, 0, c, d, 0, 1, a, b, c, d];
    packet.resize(len.saturating_add(8), 0x55);
    let words = packet.as_chunks::<2>().0.iter();
    let mut sum: u32 = words.map(|word| u32::from(u16::from_be_bytes(*word))).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff).saturating_add(sum >> 16);
    }
    let sum = u16::try_from(!sum & 0xffff).unwrap_or(0).to_be_bytes();
    for (to, from) in packet.iter_mut().skip(2).zip(sum) {
        *to = from;
    }
    packet
}

/// Whether it is the answer, with or without a header of IP before it. The kernel may have changed the identifier.
fn is_reply(packet: &[u8], request: &[u8]) -> bool {
    let bare = match packet.first() {
        Some(first) if first >> 4 == 4 => {
            let header = usize::from(first & 15).saturating_mul(4);
            packet.get(header..).unwrap_or_default()
        }
        _ => packet,
    };
    bare.first() == Some(&0) && bare.len() == request.len() && bare.get(6..) == request.get(6..)
}

/// The list of the workgroup's master browser.
fn list(group: String, resolver: Resolver) -> List {
    let masters = names::masters(&resolver, &group);
    let Some(master) = masters.first().copied() else {
        return Err(Listed::NoMaster);
    };
    let asked = within(LIST_PATIENCE, move || {
        let profile = clients::by_name(clients::DEFAULT).ok_or("no client profile")?;
        let location = Location {
            host: master.to_string(),
            share: "IPC$".into(),
            ..Location::default()
        };
        let options = Options {
            resolver,
            service: "IPC",
            ..Options::default()
        };
        let listed = open(&location, &profile, &options)
            .and_then(|mut connection| connection.servers(server_type::ALL, Some(&group)));
        listed.map_err(|error| error.to_string())
    });
    match asked {
        None => Err(Listed::Refused(format!("{master} does not answer in time"))),
        Some(Err(why)) => Err(Listed::Refused(format!("{master}: {why}"))),
        Some(Ok(list)) => Ok(list),
    }
}

fn listed(client: &Client, list: List) -> Listed {
    let own = client.node.iter().flat_map(|node| &node.names);
    let own = own
        .filter(|name| !name.group && [SUFFIX_SERVER, SUFFIX_WORKSTATION].contains(&name.suffix));
    let mut names: Vec<&str> = own.map(|name| name.name.as_str()).collect();
    if client.asked.parse::<IpAddr>().is_err() {
        names.push(&client.asked);
    }
    if names.is_empty() {
        return Listed::Unasked;
    }
    match list {
        Err(why) => why,
        Ok(list) => {
            let is_it = |server: &&ListedServer| {
                names
                    .iter()
                    .any(|name| name.eq_ignore_ascii_case(&server.name))
            };
            match list.iter().find(is_it) {
                Some(server) => Listed::Yes(server.comment.clone()),
                None => Listed::No,
            }
        }
    }
}
