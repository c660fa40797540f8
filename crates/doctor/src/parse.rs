//! Readers of the kernel's tables in `/proc`. Lines that make no sense are left out.

use std::{
    net::Ipv4Addr,
    path::{Path, PathBuf},
};

use coax_netbios::Network;

/// A route of IPv4.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// The interface.
    pub interface: String,
    /// Where it leads; the default route has the prefix 0.
    pub to: Network,
    /// The next router.
    pub gateway: Option<Ipv4Addr>,
    /// Lower is better.
    pub metric: u32,
}

/// `/proc/net/route`.
pub fn routes(text: &str) -> Vec<Route> {
    /// RTF_UP and RTF_REJECT (linux/route.h, linux/ipv6_route.h).
    const UP: u32 = 1;
    const REJECT: u32 = 0x200;
    let route = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [interface, to, gateway, flags, _, _, metric, mask, ..] = fields.as_slice() else {
            return None;
        };
        let flags = u32::from_str_radix(flags, 16).ok()?;
        let gateway = address(gateway)?;
        (flags & UP != 0 && flags & REJECT == 0).then_some(Route {
            interface: (*interface).to_owned(),
            to: Network::with_mask(address(to)?, address(mask)?),
            gateway: Some(gateway).filter(|gateway| !gateway.is_unspecified()),
            metric: metric.parse().ok()?,
        })
    };
    text.lines().skip(1).filter_map(route).collect()
}

/// The route to an address: the longest prefix, then the lowest metric.
pub fn route_to(routes: &[Route], to: Ipv4Addr) -> Option<&Route> {
    let fitting = routes.iter().filter(|route| route.to.contains(to));
    fitting.max_by_key(|route| (route.to.prefix, std::cmp::Reverse(route.metric)))
}

/// An address as the kernel prints it: a word in native byte order.
fn address(hex: &str) -> Option<Ipv4Addr> {
    let word = u32::from_str_radix(hex, 16).ok()?;
    Some(Ipv4Addr::from(word.to_ne_bytes()))
}

/// What `/proc/net/arp` says of an address.
pub fn neighbour(text: &str, of: Ipv4Addr) -> Neighbour {
    /// ATF_COM (linux/if_arp.h): the entry is complete.
    const COMPLETE: u32 = 2;
    let mut best = Neighbour::Unknown;
    for line in text.lines().skip(1) {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [address, _, flags, mac, ..] = fields.as_slice() else {
            continue;
        };
        if address.parse() != Ok(of) {
            continue;
        }
        let flags = u32::from_str_radix(flags.trim_start_matches("0x"), 16).unwrap_or(0);
        if flags & COMPLETE != 0 {
            return Neighbour::At((*mac).to_owned());
        }
        best = Neighbour::Silent;
    }
    best
}

/// A line of the table of neighbours.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Neighbour {
    /// There is none: the address is in another network, or was never used.
    #[default]
    Unknown,
    /// It did not answer ARP.
    Silent,
    /// Its MAC address.
    At(String),
}

/// A mounted file system.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mount {
    /// Where.
    pub at: PathBuf,
    /// Its type, such as `ext4`.
    pub kind: String,
    /// What is mounted: a device, `server:/folder`.
    pub source: String,
    /// Options of this mount and of the file system.
    pub options: Vec<String>,
}

/// The mount that has `path`, from `/proc/self/mountinfo` (proc(5)): the deepest, and of several at one place the last.
pub fn mount_of(text: &str, path: &Path) -> Option<Mount> {
    let mounts = text.lines().filter_map(mount);
    let above = mounts.filter(|mount| path.starts_with(&mount.at));
    above.fold(None, |best: Option<Mount>, next| match best {
        Some(best) if best.at.components().count() > next.at.components().count() => Some(best),
        _ => Some(next),
    })
}

fn mount(line: &str) -> Option<Mount> {
    let (front, back) = line.split_once(" - ")?;
    let mut front = front.split(' ').skip(4);
    let (at, options) = (front.next()?, front.next()?);
    let mut back = back.split(' ');
    let (kind, source) = (back.next()?, back.next()?);
    let options = options.split(',').chain(back.next()?.split(','));
    Some(Mount {
        at: unescaped(at).into(),
        kind: kind.to_owned(),
        source: unescaped(source),
        options: options.map(ToOwned::to_owned).collect(),
    })
}

/// The kernel writes blanks and backslashes as `\040`.
fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        let code = after
            .get(..3)
            .and_then(|octal| u8::from_str_radix(octal, 8).ok());
        match code {
            Some(code) if code.is_ascii() => {
                out.push(char::from(code));
                rest = after.get(3..).unwrap_or_default();
            }
            _ => {
                out.push('\\');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

/// A hexadecimal field of `/proc/self/status`, such as `CapEff`.
pub fn capabilities(status: &str) -> u64 {
    let mut lines = status.lines();
    let value = lines.find_map(|line| line.strip_prefix("CapEff:"));
    value
        .and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const ROUTES: &str =
        "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
eth0\t00000000\t0101A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0
eth0\t0001A8C0\t00000000\t0001\t0\t0\t100\t00FFFFFF\t0\t0\t0
wlan0\t0001A8C0\t00000000\t0001\t0\t0\t600\t00FFFFFF\t0\t0\t0
*\t00000009\t00000000\t0201\t0\t0\t0\t000000FF\t0\t0\t0
broken
";

    #[test]
    #[cfg(target_endian = "little")]
    fn the_longest_prefix_with_the_lowest_metric_is_the_route() {
        let routes = routes(ROUTES);
        assert_eq!(routes.len(), 3);
        let to = |address: &str| route_to(&routes, address.parse().unwrap()).unwrap();
        assert_eq!(to("192.168.1.9").interface, "eth0");
        assert_eq!(to("192.168.1.9").gateway, None);
        assert_eq!(to("10.0.0.1").gateway, Some(Ipv4Addr::new(192, 168, 1, 1)));
    }

    #[test]
    fn a_neighbour_is_there_only_with_a_complete_entry() {
        let text = "IP address       HW type     Flags       HW address            Mask     Device
10.0.0.2         0x1         0x2         00:11:22:33:44:55     *        eth0
10.0.0.3         0x1         0x0         00:00:00:00:00:00     *        eth0
";
        let of = |last| neighbour(text, Ipv4Addr::new(10, 0, 0, last));
        assert_eq!(of(2), Neighbour::At("00:11:22:33:44:55".into()));
        assert_eq!(of(3), Neighbour::Silent);
        assert_eq!(of(4), Neighbour::Unknown);
    }

    #[test]
    fn the_deepest_and_last_mount_has_the_folder() {
        let text = "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw,errors=remount-ro
30 22 0:40 / /srv/my\\040disk ro,nosuid - nfs4 nas:/files rw,vers=4.2
31 22 0:41 / /srv/my\\040disk rw - tmpfs tmpfs rw,size=1024k
";
        let found = mount_of(text, Path::new("/srv/my disk/a")).unwrap();
        assert_eq!((&*found.kind, &*found.source), ("tmpfs", "tmpfs"));
        let root = mount_of(text, Path::new("/srv/other")).unwrap();
        assert_eq!(root.kind, "ext4");
        assert!(root.options.contains(&"errors=remount-ro".to_owned()));
        assert_eq!(unescaped("a\\134b\\9"), "a\\b\\9");
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_a_table(text: String, path: String) {
            let _ = routes(&text);
            let _ = neighbour(&text, Ipv4Addr::LOCALHOST);
            let _ = mount_of(&text, Path::new(&path));
            let _ = mount_of(&format!("1 2 3 {text} / a - b {path} c"), Path::new("/"));
            let _ = capabilities(&format!("CapEff:\t{text}"));
        }
    }
}
