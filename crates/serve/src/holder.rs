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
pub(super) enum Kind {
    /// A listening TCP socket.
    Tcp,
    /// A UDP socket.
    Udp,
}

/// The program that holds a port, as `smbd (process 812)`, or the owning user if the process belongs to another user.
/// `None` if `/proc` does not list the socket.
pub(super) fn of(address: SocketAddr, kind: Kind) -> Option<String> {
    let socket = tables(kind).find_map(|table| {
        let text = std::fs::read_to_string(table).ok()?;
        text.lines()
            .skip(1)
            .find_map(|line| entry(line, address, kind))
    })?;
    Some(
        process_with(socket.inode).unwrap_or_else(|| match socket.uid {
            0 => "a process of root".into(),
            uid => format!("a process of the user with number {uid}"),
        }),
    )
}

fn tables(kind: Kind) -> impl Iterator<Item = &'static Path> {
    match kind {
        Kind::Tcp => ["/proc/net/tcp", "/proc/net/tcp6"],
        Kind::Udp => ["/proc/net/udp", "/proc/net/udp6"],
    }
    .into_iter()
    .map(Path::new)
}

/// A socket of the kernel's tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    inode: u64,
    uid: u32,
}

/// Parses a line; `None` if its socket does not conflict with `wanted`.
fn entry(line: &str, wanted: SocketAddr, kind: Kind) -> Option<Entry> {
    let mut fields = line.split_whitespace();
    let (address, port) = fields.nth(1)?.split_once(':')?;
    let state = fields.nth(1)?;
    let uid = fields.nth(3)?.parse().ok()?;
    let inode = fields.nth(1)?.parse().ok()?;
    let here = match kind {
        Kind::Tcp => state == LISTENING,
        Kind::Udp => state == BOUND,
    };
    let is_in_the_way = here
        && u16::from_str_radix(port, 16).ok()? == wanted.port()
        && overlaps(ip(address)?, wanted.ip());
    is_in_the_way.then_some(Entry { inode, uid })
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

fn process_with(inode: u64) -> Option<String> {
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
            format!("{} (process {number})", name.trim_end())
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
        let found = |wanted: &str| entry(LINE, wanted.parse().unwrap(), Kind::Tcp);
        let held = Some(Entry {
            inode: 31337,
            uid: 1000,
        });
        assert_eq!(found("127.0.0.1:3306"), held);
        assert_eq!(found("0.0.0.0:3306"), held);
        assert_eq!(found("127.0.0.2:3306"), None);
        assert_eq!(found("127.0.0.1:3307"), None);
        let connected = LINE.replace(" 0A ", " 01 ");
        let wanted = "127.0.0.1:3306".parse().unwrap();
        assert_eq!(entry(&connected, wanted, Kind::Tcp), None);
        assert_eq!(entry("garbage", wanted, Kind::Tcp), None);
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
