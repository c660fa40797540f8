//! Finds the program that holds a port, from `/proc`.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    path::Path,
};

/// The state of a listening socket in `/proc/net/tcp` (TCP_LISTEN).
const LISTENING: &str = "0A";
/// The state of a bound datagram socket in `/proc/net/udp` (TCP_CLOSE).
const BOUND: &str = "07";

/// The kind of port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A listening TCP socket.
    Tcp,
    /// A UDP socket.
    Udp,
}

/// A socket that receives at a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// Its address.
    pub address: SocketAddr,
    /// The number of the user who created it.
    pub user: u32,
    /// Number and name of a process that has it open; `None` if this process may not look into those of that user.
    pub process: Option<(u32, String)>,
}

/// The sockets that receive at these ports, at any address, as far as `/proc` lists them.
pub fn sockets(kind: Kind, ports: &[u16]) -> Vec<Held> {
    let entries = entries(kind).into_iter();
    let wanted = entries.filter(|entry| ports.contains(&entry.address.port()));
    let held = wanted.map(|entry| Held {
        address: entry.address,
        user: entry.uid,
        process: process_with(entry.inode),
    });
    held.collect()
}

/// The program that holds a port, as `smbd (process 812)`, or the owning user if the process belongs to another user.
/// `None` if `/proc` does not list the socket.
pub(super) fn of(address: SocketAddr, kind: Kind) -> Option<String> {
    let socket = entries(kind)
        .into_iter()
        .find(|entry| conflicts(entry.address, address))?;
    Some(match (process_with(socket.inode), socket.uid) {
        (Some((number, name)), _) => format!("{name} (process {number})"),
        (None, 0) => "a process of root".into(),
        (None, uid) => format!("a process of the user with number {uid}"),
    })
}

/// Whether a socket at `held` prevents another one at `wanted`.
pub fn conflicts(held: SocketAddr, wanted: SocketAddr) -> bool {
    held.port() == wanted.port() && overlaps(held.ip(), wanted.ip())
}

fn entries(kind: Kind) -> Vec<Entry> {
    let tables = match kind {
        Kind::Tcp => ["/proc/net/tcp", "/proc/net/tcp6"],
        Kind::Udp => ["/proc/net/udp", "/proc/net/udp6"],
    };
    let texts = tables.map(|table| std::fs::read_to_string(table).unwrap_or_default());
    let lines = texts.iter().flat_map(|text| text.lines().skip(1));
    lines.filter_map(|line| entry(line, kind)).collect()
}

/// A socket of the kernel's tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    address: SocketAddr,
    inode: u64,
    uid: u32,
}

/// Parses a line; `None` if its socket does not receive from everybody.
fn entry(line: &str, kind: Kind) -> Option<Entry> {
    let mut fields = line.split_whitespace();
    let (address, port) = fields.nth(1)?.split_once(':')?;
    let state = fields.nth(1)?;
    let uid = fields.nth(3)?.parse().ok()?;
    let inode = fields.nth(1)?.parse().ok()?;
    let here = match kind {
        Kind::Tcp => state == LISTENING,
        Kind::Udp => state == BOUND,
    };
    let port = u16::from_str_radix(port, 16).ok()?;
    let address = SocketAddr::new(ip(address)?, port);
    here.then_some(Entry {
        address,
        inode,
        uid,
    })
}

fn overlaps(a: IpAddr, b: IpAddr) -> bool {
    let (a, b) = (a.to_canonical(), b.to_canonical());
    a.is_unspecified() || b.is_unspecified() || a == b
}

/// Parses an address as the kernel prints it: 32-bit words in native byte order.
fn ip(hex: &str) -> Option<IpAddr> {
    let word = |at: usize| u32::from_str_radix(hex.get(at..at.checked_add(8)?)?, 16).ok();
    match hex.len() {
        8 => Some(Ipv4Addr::from(word(0)?.to_ne_bytes()).into()),
        32 => {
            let mut bytes = [0; 16];
            for (to, at) in bytes.as_chunks_mut::<4>().0.iter_mut().zip([0, 8, 16, 24]) {
                *to = word(at)?.to_ne_bytes();
            }
            Some(Ipv6Addr::from(bytes).into())
        }
        _ => None,
    }
}

fn process_with(inode: u64) -> Option<(u32, String)> {
    let wanted = format!("socket:[{inode}]");
    let has = |process: &Path| {
        let files = std::fs::read_dir(process.join("fd")).into_iter().flatten();
        files
            .flatten()
            .any(|file| std::fs::read_link(file.path()).is_ok_and(|to| *to == *wanted))
    };
    let mut processes = std::fs::read_dir("/proc").ok()?.flatten();
    processes.find_map(|process| {
        let number: u32 = process.file_name().to_str()?.parse().ok()?;
        let path = process.path();
        has(&path).then(|| {
            let name = std::fs::read_to_string(path.join("comm")).unwrap_or_default();
            (number, name.trim_end().to_owned())
        })
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const LINE: &str = "   1: 0100007F:0CEA 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 31337 1 0 100 0 0 10 0";

    #[test]
    #[cfg(target_endian = "little")]
    fn a_listening_socket_is_in_the_way_of_its_port_at_its_address_and_at_every_address() {
        let held = entry(LINE, Kind::Tcp).unwrap();
        assert_eq!((held.inode, held.uid), (31337, 1000));
        let found = |wanted: &str| conflicts(held.address, wanted.parse().unwrap());
        assert!(found("127.0.0.1:3306") && found("0.0.0.0:3306"));
        assert!(!found("127.0.0.2:3306") && !found("127.0.0.1:3307"));
        let connected = LINE.replace(" 0A ", " 01 ");
        assert_eq!(entry(&connected, Kind::Tcp), None);
        assert_eq!(entry("garbage", Kind::Tcp), None);
        assert_eq!(ip("0100007f0100007"), None);
        assert!(ip(&"0".repeat(32)).unwrap().is_unspecified());
    }

    #[test]
    fn the_holder_of_a_port_is_reported_with_its_process_id() {
        let tcp = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let udp = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        let us = format!("(process {})", std::process::id());
        for (address, kind) in [
            (tcp.local_addr().unwrap(), Kind::Tcp),
            (udp.local_addr().unwrap(), Kind::Udp),
        ] {
            let holder = of(address, kind).unwrap();
            assert!(holder.ends_with(&us), "{holder}");
        }
    }
}
