//! Networks and ranges of both families of addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use coax_netbios::Network;

/// First and last address, both of one family. A range contains no address of the other family: all IPv4 addresses are
/// before all IPv6 addresses.
pub type Range = (IpAddr, IpAddr);

/// An address and the prefix of its network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Net {
    /// The address.
    pub address: IpAddr,
    /// Bits of the prefix.
    pub prefix: u8,
}

impl From<Network> for Net {
    fn from(network: Network) -> Self {
        Self {
            address: network.address.into(),
            prefix: network.prefix,
        }
    }
}

impl Net {
    /// One address.
    pub fn host(address: IpAddr) -> Self {
        let prefix = if address.is_ipv4() { 32 } else { 128 };
        Self { address, prefix }
    }

    /// `10.0.0.0/8`, `10.0.0.0/255.0.0.0`, `fe80::/10` or an address.
    pub fn parse(text: &str) -> Option<Self> {
        let Some((address, mask)) = text.split_once('/') else {
            return Some(Self::host(text.parse().ok()?));
        };
        let address: IpAddr = address.parse().ok()?;
        let prefix = match (mask.parse::<u8>(), address) {
            (Ok(prefix), _) => prefix,
            (Err(_), IpAddr::V4(address)) => Network::with_mask(address, mask.parse().ok()?).prefix,
            (Err(_), IpAddr::V6(_)) => return None,
        };
        (prefix <= Self::host(address).prefix).then_some(Self { address, prefix })
    }

    /// Whether it is one address.
    pub fn is_host(self) -> bool {
        self == Self::host(self.address)
    }

    /// First and last address.
    pub fn ends(self) -> Range {
        match self.address {
            IpAddr::V4(address) => {
                let address = u32::from(address);
                let hosts = u32::MAX.checked_shr(self.prefix.into()).unwrap_or(0);
                (
                    Ipv4Addr::from(address & !hosts).into(),
                    Ipv4Addr::from(address | hosts).into(),
                )
            }
            IpAddr::V6(address) => {
                let address = u128::from(address);
                let hosts = u128::MAX.checked_shr(self.prefix.into()).unwrap_or(0);
                (
                    Ipv6Addr::from(address & !hosts).into(),
                    Ipv6Addr::from(address | hosts).into(),
                )
            }
        }
    }
}

impl std::fmt::Display for Net {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.ends().0, self.prefix)
    }
}
