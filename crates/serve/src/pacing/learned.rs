//! Limits that clients' connections have proven.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Mutex, MutexGuard, PoisonError},
};

use coax_pace::Learned;
use coax_state::{CLIENTS_MAX, Client};

/// A later connection that teaches nothing new changes the stored time only after this many seconds, one day: the time
/// serves to forget clients after a year.
const TIME_STEP_S: u64 = 86_400;

/// The limits of the clients that were connected, by address.
#[derive(Debug, Default)]
pub(crate) struct LearnedLimits(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    clients: HashMap<IpAddr, Entry>,
    /// Counts connections, so that the oldest entry can be told.
    serial: u64,
    /// Clients that were forgotten and may still be in the database.
    gone: Vec<IpAddr>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    serial: u64,
    learned: Learned,
    seen_s: u64,
    /// The database does not have it like this.
    changed: bool,
}

/// What the database does not have yet.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Changes {
    pub(crate) clients: Vec<Client>,
    pub(crate) gone: Vec<IpAddr>,
}

impl Changes {
    pub(crate) fn is_empty(&self) -> bool {
        self.clients.is_empty() && self.gone.is_empty()
    }
}

impl LearnedLimits {
    /// What is known of a client.
    pub(crate) fn of(&self, address: IpAddr) -> Learned {
        let known = self.lock();
        let found = known.clients.get(&address);
        found.map(|entry| entry.learned).unwrap_or_default()
    }

    /// Remembers what a connection of a client, which ended at `now_s` (Unix seconds), has learned; nothing learned changes
    /// nothing.
    pub(crate) fn learn(&self, address: IpAddr, learned: Learned, now_s: u64) {
        if learned == Learned::default() {
            return;
        }
        let mut known = self.lock();
        known.make_room(address);
        known.serial = known.serial.saturating_add(1);
        let serial = known.serial;
        let entry = known.clients.entry(address).or_default();
        let learned = Learned {
            receive: learned.receive.or(entry.learned.receive),
            send: learned.send.or(entry.learned.send),
        };
        entry.changed |=
            learned != entry.learned || entry.seen_s.saturating_add(TIME_STEP_S) <= now_s;
        entry.learned = learned;
        entry.serial = serial;
        if entry.changed {
            entry.seen_s = now_s;
        }
    }

    /// Adds what the database has, the latest client first. What was learned since the start stays.
    pub(crate) fn recall(&self, clients: &[Client]) {
        let mut known = self.lock();
        for client in clients.iter().rev() {
            if known.clients.len() >= CLIENTS_MAX || known.clients.contains_key(&client.address) {
                continue;
            }
            let entry = Entry {
                learned: Learned {
                    receive: client.receive,
                    send: client.send,
                },
                seen_s: client.seen_s,
                ..Entry::default()
            };
            known.clients.insert(client.address, entry);
        }
    }

    /// What must be written.
    pub(crate) fn take_changes(&self) -> Changes {
        let mut known = self.lock();
        let gone = std::mem::take(&mut known.gone);
        let changed = known.clients.iter_mut().filter(|(_, entry)| entry.changed);
        let clients = changed
            .map(|(address, entry)| {
                entry.changed = false;
                Client {
                    address: *address,
                    seen_s: entry.seen_s,
                    receive: entry.learned.receive,
                    send: entry.learned.send,
                }
            })
            .collect();
        Changes { clients, gone }
    }

    /// These could not be written, and are still to be.
    pub(crate) fn give_back(&self, changes: Changes) {
        let mut known = self.lock();
        for client in &changes.clients {
            if let Some(entry) = known.clients.get_mut(&client.address) {
                entry.changed = true;
            }
        }
        known.gone.extend(changes.gone);
        known.gone.truncate(CLIENTS_MAX);
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    /// Forgets the client that was not seen for longest if there is no room for this one.
    fn make_room(&mut self, address: IpAddr) {
        if self.clients.len() < CLIENTS_MAX || self.clients.contains_key(&address) {
            return;
        }
        let oldest = self.clients.iter().min_by_key(|(_, entry)| entry.serial);
        if let Some(oldest) = oldest.map(|(address, _)| *address) {
            self.clients.remove(&oldest);
            self.gone.push(oldest);
            self.gone.truncate(CLIENTS_MAX);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    fn address(number: u32) -> IpAddr {
        Ipv4Addr::from(0x0a00_0000 + number).into()
    }

    fn receive(limit: u32) -> Learned {
        Learned {
            receive: Some(limit),
            send: None,
        }
    }

    #[test]
    fn the_oldest_client_is_forgotten_and_nothing_learned_changes_nothing() {
        let limits = LearnedLimits::default();
        for number in 0..=CLIENTS_MAX as u32 {
            limits.learn(address(number), receive(number), 5);
        }
        assert_eq!(limits.of(address(0)), Learned::default());
        assert_eq!(limits.of(address(1)), receive(1));
        assert_eq!(limits.take_changes().gone, [address(0)]);
        limits.learn(address(1), Learned::default(), 5);
        let send = Learned {
            receive: None,
            send: Some(3),
        };
        limits.learn(address(1), send, 5);
        let both = Learned {
            send: Some(3),
            ..receive(1)
        };
        assert_eq!(limits.of(address(1)), both);
    }

    #[test]
    fn only_what_changed_is_written_and_what_could_not_be_is_written_later() {
        let limits = LearnedLimits::default();
        limits.learn(address(1), receive(4), 100);
        limits.learn(address(2), receive(8), 100);
        let first = limits.take_changes();
        assert_eq!(first.clients.len(), 2);
        limits.learn(address(1), receive(4), 100 + TIME_STEP_S - 1);
        assert!(limits.take_changes().is_empty());
        limits.learn(address(1), receive(4), 100 + TIME_STEP_S);
        limits.learn(address(2), receive(9), 101);
        let mut later = limits.take_changes();
        later.clients.sort_by_key(|client| client.address);
        let seen: Vec<u64> = later.clients.iter().map(|client| client.seen_s).collect();
        assert_eq!(seen, [100 + TIME_STEP_S, 101]);
        limits.give_back(first);
        assert_eq!(limits.take_changes().clients.len(), 2);
    }

    #[test]
    fn the_database_does_not_overwrite_what_was_learned_since() {
        let limits = LearnedLimits::default();
        limits.learn(address(1), receive(4), 100);
        let stored = |number, limit| Client {
            address: address(number),
            seen_s: 50,
            receive: Some(limit),
            send: None,
        };
        limits.recall(&[stored(1, 16), stored(2, 6)]);
        assert_eq!(limits.of(address(1)), receive(4));
        assert_eq!(limits.of(address(2)), receive(6));
        assert_eq!(limits.take_changes().clients.len(), 1);
    }
}
