//! Limits that clients' connections have proven.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Mutex, PoisonError},
};

use coax_pace::Learned;

/// Clients that are remembered.
const MOST: usize = 4096;

/// The limits of the clients that were connected, by address.
#[derive(Debug, Default)]
pub(crate) struct LearnedLimits(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    clients: HashMap<IpAddr, (u64, Learned)>,
    /// Counts connections, so that the oldest entry can be told.
    serial: u64,
}

impl LearnedLimits {
    /// What is known of a client.
    pub(crate) fn of(&self, address: IpAddr) -> Learned {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = known.clients.get(&address);
        found.map(|(_, learned)| *learned).unwrap_or_default()
    }

    /// Remembers what a connection of a client has learned; nothing learned changes nothing.
    pub(super) fn learn(&self, address: IpAddr, learned: Learned) {
        if learned == Learned::default() {
            return;
        }
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.serial = known.serial.saturating_add(1);
        let serial = known.serial;
        if known.clients.len() >= MOST && !known.clients.contains_key(&address) {
            let oldest = known.clients.iter().min_by_key(|(_, (serial, _))| *serial);
            if let Some(oldest) = oldest.map(|(address, _)| *address) {
                known.clients.remove(&oldest);
            }
        }
        let entry = known.clients.entry(address).or_default();
        let before = entry.1;
        *entry = (
            serial,
            Learned {
                receive: learned.receive.or(before.receive),
                send: learned.send.or(before.send),
            },
        );
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    fn address(number: u32) -> IpAddr {
        Ipv4Addr::from(0x0a00_0000 + number).into()
    }

    #[test]
    fn the_oldest_client_is_forgotten_and_nothing_learned_changes_nothing() {
        let limits = LearnedLimits::default();
        let some = |receive| Learned {
            receive: Some(receive),
            send: None,
        };
        for number in 0..=MOST as u32 {
            limits.learn(address(number), some(number));
        }
        assert_eq!(limits.of(address(0)), Learned::default());
        assert_eq!(limits.of(address(1)), some(1));
        limits.learn(address(1), Learned::default());
        let send = Learned {
            receive: None,
            send: Some(3),
        };
        limits.learn(address(1), send);
        let both = Learned {
            send: Some(3),
            ..some(1)
        };
        assert_eq!(limits.of(address(1)), both);
    }
}
