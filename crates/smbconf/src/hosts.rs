//! Which clients may connect: `hosts allow`, `hosts deny`, and the rule that refuses public addresses.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The two lists with Samba's semantics. A client on `allow` is accepted; otherwise one on `deny` is refused; any other
/// client is accepted if there is no `allow`, or if there is a `deny`. A client on this machine is accepted unless only
/// `deny` contains it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostAccess {
    /// `hosts allow`.
    pub allow: HostList,
    /// `hosts deny`.
    pub deny: HostList,
}

/// Why a client is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// `hosts deny` contains it.
    Denied,
    /// `hosts allow` is set and does not contain it.
    NotAllowed,
    /// It has a public address, and `hosts allow` does not contain it.
    PublicAddress,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Denied => "it is on 'hosts deny'",
            Self::NotAllowed => "it is not on 'hosts allow'",
            Self::PublicAddress => {
                "its address is a public one; SMB1 does not belong on the Internet. 'hosts allow' with this address admits it"
            }
        })
    }
}

impl HostAccess {
    /// Checks `peer` against the lists.
    ///
    /// # Errors
    /// The reason for the refusal.
    pub fn check(&self, peer: IpAddr) -> Result<(), Refusal> {
        let peer = peer.to_canonical();
        let denied = self.deny.contains(peer);
        if self.allow.contains(peer) || (peer.is_loopback() && !denied) {
            Ok(())
        } else if denied {
            Err(Refusal::Denied)
        } else if self.allow.is_empty() || !self.deny.is_empty() {
            Ok(())
        } else {
            Err(Refusal::NotAllowed)
        }
    }

    /// Like [`Self::check`], for the server as a whole: a public address must be on `hosts allow`.
    ///
    /// # Errors
    /// The reason for the refusal.
    pub fn check_server(&self, peer: IpAddr) -> Result<(), Refusal> {
        self.check(peer)?;
        if is_public(peer.to_canonical()) && !self.allow.contains(peer.to_canonical()) {
            return Err(Refusal::PublicAddress);
        }
        Ok(())
    }
}

/// Whether an address is public: not loopback, link-local, private (RFC 1918, RFC 4193) or shared (RFC 6598, used by
/// overlay networks).
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(a) => {
            let [first, second, ..] = a.octets();
            let shared = first == 100 && (64..128).contains(&second);
            !(a.is_private()
                || a.is_loopback()
                || a.is_link_local()
                || a.is_unspecified()
                || shared)
        }
        IpAddr::V6(a) => {
            !(a.is_loopback()
                || a.is_unspecified()
                || a.is_unique_local()
                || a.is_unicast_link_local())
        }
    }
}

/// A list of hosts such as `150.203. 10.0.0.0/8 192.168.1.0/255.255.255.0 ALL EXCEPT 10.0.0.9`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostList {
    rules: Vec<HostRule>,
    except: Vec<HostRule>,
}

/// One entry of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HostRule {
    All,
    Loopback,
    V4 { network: u32, mask: u32 },
    V6 { network: u128, mask: u128 },
}

impl HostList {
    /// Parses a list.
    ///
    /// # Errors
    /// The word that is not an address, network, `ALL` or `EXCEPT`. Host names are not supported: the owner of the
    /// client's reverse DNS zone could choose the name.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut list = Self::default();
        let mut excepting = false;
        for word in super::list::words(text) {
            if word.eq_ignore_ascii_case("EXCEPT") {
                excepting = true;
                continue;
            }
            let rule = HostRule::parse(&word)?;
            if excepting {
                list.except.push(rule)
            } else {
                list.rules.push(rule)
            }
        }
        Ok(list)
    }

    /// Whether the list contains `address`.
    pub fn contains(&self, address: IpAddr) -> bool {
        let named = |rules: &[HostRule]| rules.iter().any(|r| r.covers(address));
        named(&self.rules) && !named(&self.except)
    }

    /// Whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }
}

impl HostRule {
    fn parse(word: &str) -> Result<Self, String> {
        if word.eq_ignore_ascii_case("ALL") {
            return Ok(Self::All);
        }
        if word.eq_ignore_ascii_case("localhost") {
            return Ok(Self::Loopback);
        }
        Self::network(word)
            .or_else(|| Self::prefix(word))
            .ok_or_else(|| format!("'{word}' is neither an address nor a network (10.1.2.3, 10.1., 10.0.0.0/8); names are not looked up"))
    }

    fn network(word: &str) -> Option<Self> {
        let (address, length) = match word.split_once('/') {
            Some((address, mask)) => (address, Some(mask)),
            None => (word, None),
        };
        match address.parse().ok()? {
            IpAddr::V4(a) => {
                let mask = length.map_or(Some(u32::MAX), v4_mask)?;
                Some(Self::V4 {
                    network: u32::from(a) & mask,
                    mask,
                })
            }
            IpAddr::V6(a) => {
                let bits = length.map_or(Some(128), |l| l.parse::<u32>().ok())?;
                let mask = u128::MAX
                    .checked_shl(128u32.checked_sub(bits)?)
                    .unwrap_or(0);
                Some(Self::V6 {
                    network: u128::from(a) & mask,
                    mask,
                })
            }
        }
    }

    /// Parses a prefix: `150.203.` means 150.203.0.0/16.
    fn prefix(word: &str) -> Option<Self> {
        let parts: Vec<&str> = word.strip_suffix('.')?.split('.').collect();
        let missing = 4usize
            .checked_sub(parts.len())
            .filter(|m| (1..4).contains(m))?;
        let address: Ipv4Addr = format!("{}{}", parts.join("."), ".0".repeat(missing))
            .parse()
            .ok()?;
        let mask = u32::MAX
            .checked_shl(8 * u32::try_from(missing).ok()?)
            .unwrap_or(0);
        Some(Self::V4 {
            network: u32::from(address),
            mask,
        })
    }

    fn covers(self, address: IpAddr) -> bool {
        match (self, address) {
            (Self::All, _) => true,
            (Self::Loopback, a) => a.is_loopback(),
            (Self::V4 { network, mask }, IpAddr::V4(a)) => u32::from(a) & mask == network,
            (Self::V6 { network, mask }, IpAddr::V6(a)) => u128::from(a) & mask == network,
            _ => false,
        }
    }
}

impl fmt::Display for HostList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let show = |rules: &[HostRule]| {
            rules
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(" ")
        };
        f.write_str(&show(&self.rules))?;
        if !self.except.is_empty() {
            write!(f, " EXCEPT {}", show(&self.except))?;
        }
        Ok(())
    }
}

impl fmt::Display for HostRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("ALL"),
            Self::Loopback => f.write_str("localhost"),
            Self::V4 { network, mask } => {
                write!(f, "{}/{}", Ipv4Addr::from(*network), mask.leading_ones())
            }
            Self::V6 { network, mask } => {
                write!(f, "{}/{}", Ipv6Addr::from(*network), mask.leading_ones())
            }
        }
    }
}

/// Parses `24` or `255.255.255.0`.
fn v4_mask(text: &str) -> Option<u32> {
    if let Ok(mask) = text.parse::<Ipv4Addr>() {
        let mask = u32::from(mask);
        return (mask.leading_ones() == mask.count_ones()).then_some(mask);
    }
    let bits = text.parse::<u32>().ok()?;
    Some(u32::MAX.checked_shl(32u32.checked_sub(bits)?).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    #![allow(
        clippy::unwrap_used,
        clippy::indexing_slicing,
        clippy::expect_used,
        clippy::panic
    )]
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn access(allow: &str, deny: &str) -> HostAccess {
        HostAccess {
            allow: HostList::parse(allow).unwrap(),
            deny: HostList::parse(deny).unwrap(),
        }
    }

    #[test]
    fn every_form_of_network_covers_its_addresses_and_no_others() {
        for (form, inside, outside) in [
            ("150.203.", "150.203.7.9", "150.204.7.9"),
            ("10.0.0.0/8", "10.9.9.9", "11.0.0.0"),
            ("192.168.1.0/255.255.255.0", "192.168.1.77", "192.168.2.77"),
            ("10.1.2.3", "10.1.2.3", "10.1.2.4"),
            ("fd00::/8", "fd12::1", "fe80::1"),
            ("ALL EXCEPT 10.1.2.3", "10.1.2.4", "10.1.2.3"),
            ("0.0.0.0/0", "8.8.8.8", "::2"),
        ] {
            let list = HostList::parse(form).unwrap();
            assert!(list.contains(ip(inside)), "{form} {inside}");
            assert!(!list.contains(ip(outside)), "{form} {outside}");
        }
    }

    #[test]
    fn what_is_no_address_is_refused_by_name() {
        for word in [
            "server1",
            "10.0.0.0/33",
            "10.0.0.0/255.0.255.0",
            "1.2.3.4.5.",
            "@netgroup",
            "::/129",
            ".",
        ] {
            assert!(HostList::parse(word).unwrap_err().contains(word), "{word}");
        }
    }

    #[test]
    fn allow_wins_over_deny_and_one_list_alone_decides_for_the_rest() {
        assert_eq!(access("10.1.", "ALL").check(ip("10.1.2.3")), Ok(()));
        assert_eq!(
            access("10.1.", "ALL").check(ip("10.2.2.3")),
            Err(Refusal::Denied)
        );
        assert_eq!(
            access("10.1.", "").check(ip("10.2.2.3")),
            Err(Refusal::NotAllowed)
        );
        assert_eq!(access("10.1.", "10.3.").check(ip("10.2.2.3")), Ok(()));
        assert_eq!(access("", "10.3.").check(ip("10.2.2.3")), Ok(()));
    }

    #[test]
    fn this_machine_may_connect_unless_deny_names_it() {
        assert_eq!(access("10.1.", "").check(ip("127.0.0.1")), Ok(()));
        assert_eq!(
            access("", "127.").check(ip("127.0.0.1")),
            Err(Refusal::Denied)
        );
        assert_eq!(access("127.0.0.1", "ALL").check(ip("127.0.0.1")), Ok(()));
    }

    #[test]
    fn public_addresses_need_hosts_allow() {
        assert_eq!(
            access("", "").check_server(ip("8.8.8.8")),
            Err(Refusal::PublicAddress)
        );
        assert_eq!(
            access("", "10.0.0.9").check_server(ip("::ffff:8.8.8.8")),
            Err(Refusal::PublicAddress)
        );
        assert_eq!(access("8.8.8.0/24", "").check_server(ip("8.8.8.8")), Ok(()));
        for private in [
            "10.0.0.1",
            "172.16.0.1",
            "192.168.0.1",
            "169.254.1.1",
            "127.0.0.1",
            "100.64.0.1",
            "fe80::1",
            "fd00::1",
        ] {
            assert_eq!(
                access("", "").check_server(ip(private)),
                Ok(()),
                "{private}"
            );
        }
    }
}
