//! Failed log-ons: the delay before the next log-on from the same address.
//!
//! **Policy.** An address may fail [`FREE_BY_ADDRESS`] times. After that every failure delays all log-ons from that
//! address, on all connections and with any password. The delay is 1 s, doubles with each further failure, and is 30 s
//! at most. So an attacker gains nothing from more connections, or from a disconnect before the answer.
//!
//! The server also counts failures by user, over all addresses. After [`FREE_BY_USER`] of them each failure delays the
//! address that it came from by 1 s to 8 s, from the first failure of that address on. An address without a failure has
//! no delay. So an attacker cannot lock out a user who logs on from another address.
//!
//! A successful log-on clears the failures of its user. It clears the failures of the address only if they all were
//! that user's. So a user who mistypes starts afresh, and an attacker with a valid account does not. Failures expire
//! after 15 minutes.
//!
//! Both tables are bounded. A full table drops the entry with the oldest last failure.

use super::Ticket;
use alloc::{
    collections::BTreeMap,
    string::{String, ToString},
};
use coax_wire::time::{Span, Time};

/// Failures from one address before the server delays its log-ons. A user may mistype twice, and Windows clients try
/// the desktop password first.
pub(super) const FREE_BY_ADDRESS: u32 = 3;

/// Failures of one user, from all addresses, before each further failure delays its address.
pub(super) const FREE_BY_USER: u32 = 10;

/// The longest delay after a failure from an address: about 100 guesses an hour.
pub(super) const MAX_WAIT_BY_ADDRESS: Span = Span::from_secs(30);

/// The longest delay caused by failures from other addresses. It is short enough for a user who mistypes during an
/// attack.
pub(super) const MAX_WAIT_BY_USER: Span = Span::from_secs(8);

/// The lifetime of a failure.
pub(super) const FORGOTTEN_AFTER: Span = Span::from_secs(15 * 60);

/// The maximum number of addresses and of users in the tables: about 100 KiB each.
pub(super) const MAX_REMEMBERED: usize = 1_024;

/// The maximum number of waiting log-ons of one connection.
pub(super) const MAX_WAITING: usize = 4;

/// Whether the server may check a log-on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// Now.
    Now,
    /// Not before the deadline. [`super::Event::Retry`] comes then.
    Wait {
        /// The ticket of that event.
        ticket: Ticket,
        /// The deadline.
        deadline: Time,
    },
    /// Never: the connection has too many waiting log-ons.
    Refused,
}

/// The failed log-ons.
#[derive(Debug, Default)]
pub(super) struct FailedLogOns {
    pub(super) addresses: BTreeMap<String, Address>,
    pub(super) users: BTreeMap<String, Failures>,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Failures {
    pub(super) count: u32,
    pub(super) last: Time,
}

#[derive(Debug, Default)]
pub(super) struct Address {
    pub(super) failures: Failures,
    /// The end of the delay.
    pub(super) until: Time,
    /// The user of all failures; `None` for several users or unknown users.
    pub(super) user: Option<String>,
}

impl Failures {
    pub(super) fn add(&mut self, now: Time) -> u32 {
        if now - self.last > FORGOTTEN_AFTER {
            self.count = 0;
        }
        self.count = self.count.saturating_add(1);
        self.last = now;
        self.count
    }
}

/// The delay after failure number `count`, of which the first `free` cause none: 1 s, doubled each time.
pub(super) fn wait(count: u32, free: u32, most: Span) -> Span {
    let Some(doublings) = count.checked_sub(free.saturating_add(1)) else {
        return Span(0);
    };
    let seconds = 1u64.checked_shl(doublings).unwrap_or(u64::MAX);
    Span(seconds.saturating_mul(1_000_000_000)).min(most)
}

/// Removes the oldest entry if the table is full.
pub(super) fn make_room<T>(table: &mut BTreeMap<String, T>, key: &str, last: impl Fn(&T) -> Time) {
    if table.len() < MAX_REMEMBERED || table.contains_key(key) {
        return;
    }
    let oldest = table.iter().min_by_key(|(_, entry)| last(entry));
    if let Some(key) = oldest.map(|(key, _)| key.clone()) {
        table.remove(&key);
    }
}

impl FailedLogOns {
    pub(super) fn failed(&mut self, now: Time, address: &str, user: Option<&str>) -> Span {
        let by_user = user.map_or(Span(0), |user| {
            make_room(&mut self.users, user, |failures| failures.last);
            let count = self.users.entry(user.to_string()).or_default().add(now);
            wait(count, FREE_BY_USER, MAX_WAIT_BY_USER)
        });
        make_room(&mut self.addresses, address, |address| {
            address.failures.last
        });
        let address = self.addresses.entry(address.to_string()).or_default();
        let count = address.failures.add(now);
        address.user = match count {
            1 => user.map(ToString::to_string),
            _ => address
                .user
                .take()
                .filter(|same| Some(same.as_str()) == user),
        };
        let delay = wait(count, FREE_BY_ADDRESS, MAX_WAIT_BY_ADDRESS).max(by_user);
        address.until = address.until.max(now + delay);
        delay
    }

    pub(super) fn succeeded(&mut self, address: &str, user: &str) {
        self.users.remove(user);
        let entry = self.addresses.get(address);
        if entry.is_some_and(|entry| entry.user.as_deref() == Some(user)) {
            self.addresses.remove(address);
        }
    }
}

#[cfg(test)]
#[allow(clippy::indexing_slicing)]
mod tests {
    use super::*;
    use alloc::format;

    fn at(seconds: u64) -> Time {
        Time(1_000_000_000_000_000_000) + Span::from_secs(seconds)
    }

    #[test]
    fn waits_double_from_one_second_to_thirty() {
        let seconds = |count| wait(count, FREE_BY_ADDRESS, MAX_WAIT_BY_ADDRESS).0 / 1_000_000_000;
        let waits: alloc::vec::Vec<u64> = (1..12).map(seconds).collect();
        assert_eq!(waits, [0, 0, 0, 1, 2, 4, 8, 16, 30, 30, 30]);
        assert_eq!(seconds(u32::MAX), 30);
    }

    #[test]
    fn only_failed_addresses_wait_and_user_failures_count_over_all_addresses() {
        let mut table = FailedLogOns::default();
        for number in 0..10 {
            let delay = table.failed(at(0), &format!("10.0.0.{number}"), Some("bob"));
            assert_eq!(delay, Span(0), "{number}");
        }
        assert_eq!(
            table.failed(at(0), "10.0.0.99", Some("bob")),
            Span::from_secs(1)
        );
        assert_eq!(table.addresses["10.0.0.99"].until, at(1));
        assert!(!table.addresses.contains_key("10.0.1.1"));
    }

    #[test]
    fn a_success_forgets_the_failures_of_its_user_and_no_others() {
        let mut table = FailedLogOns::default();
        for _ in 0..3 {
            table.failed(at(0), "a", Some("bob"));
        }
        table.succeeded("a", "bob");
        assert_eq!(table.failed(at(0), "a", Some("bob")), Span(0));
        for _ in 0..2 {
            table.failed(at(0), "a", Some("bob"));
            table.succeeded("a", "attacker");
        }
        assert_eq!(table.failed(at(0), "a", Some("bob")), Span::from_secs(1));
        table.failed(at(0), "b", Some("bob"));
        table.failed(at(0), "b", Some("eve"));
        table.succeeded("b", "bob");
        assert_eq!(
            table.addresses["b"].failures.count, 2,
            "expected the failures of two users"
        );
    }

    #[test]
    fn failures_are_forgotten_after_a_quarter_of_an_hour() {
        let mut table = FailedLogOns::default();
        for _ in 0..6 {
            table.failed(at(0), "a", None);
        }
        assert_eq!(table.failed(at(901), "a", None), Span(0));
    }

    #[test]
    fn full_tables_drop_the_oldest_entry() {
        let mut table = FailedLogOns::default();
        for number in 0..5_000 {
            table.failed(
                at(number),
                &format!("a{number}"),
                Some(&format!("u{number}")),
            );
        }
        assert_eq!((table.addresses.len(), table.users.len()), (1_024, 1_024));
        assert!(table.addresses.contains_key("a4999") && !table.addresses.contains_key("a0"));
    }
}
