//! An IPv4 network that the host has an address on.

use core::net::Ipv4Addr;

/// One of the host's networks: its own address there and the length of the prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Network {
    /// The host's address.
    pub address: Ipv4Addr,
    /// Bits of the network's prefix, 0 to 32.
    pub prefix: u8,
}

impl Network {
    /// A network of an address and its mask, such as 255.255.255.0. Bits after the first zero are ignored.
    pub fn with_mask(address: Ipv4Addr, mask: Ipv4Addr) -> Self {
        let prefix = u8::try_from(u32::from(mask).leading_ones()).unwrap_or(32);
        Self { address, prefix }
    }

    /// Whether `address` belongs to the network.
    pub fn contains(self, address: Ipv4Addr) -> bool {
        u32::from(address) & self.mask() == u32::from(self.address) & self.mask()
    }

    /// The address of all stations.
    pub fn broadcast(self) -> Ipv4Addr {
        Ipv4Addr::from(u32::from(self.address) | !self.mask())
    }

    fn mask(self) -> u32 {
        u32::MAX
            .checked_shl(32u32.saturating_sub(u32::from(self.prefix.min(32))))
            .unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_knows_its_members_and_its_broadcast_address() {
        let address = Ipv4Addr::new(192, 168, 1, 5);
        let network = Network::with_mask(address, Ipv4Addr::new(255, 255, 255, 0));
        assert_eq!(network.prefix, 24);
        assert_eq!(network.broadcast(), Ipv4Addr::new(192, 168, 1, 255));
        assert!(network.contains(Ipv4Addr::new(192, 168, 1, 77)));
        assert!(!network.contains(Ipv4Addr::new(192, 168, 2, 77)));
        let all = Network { address, prefix: 0 };
        assert!(all.contains(Ipv4Addr::new(8, 8, 8, 8)));
        assert_eq!(all.broadcast(), Ipv4Addr::BROADCAST);
        let one = Network {
            address,
            prefix: 32,
        };
        assert_eq!(one.broadcast(), address);
    }
}
