//! What the server counts since its start, for metrics: by command, by share, and by the recognised system of clients.
//!
//! Each count is one atomic addition. The number of shares and systems is limited; the last place is for all others.

use std::{
    array,
    collections::BTreeMap,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use coax_cause::{Account, Cause};
use coax_server::{Reach, share::Share, table::ShareId};

/// Shares that are counted for themselves.
const SHARES: usize = 64;
/// Systems that are counted for themselves.
const SYSTEMS: usize = 32;
/// The name of everything beyond the limits.
pub const OTHER: &str = "other";
/// The name of clients before they use a share.
const UNKNOWN: &str = "unknown";
/// Where the code of the command is in a message, after the protocol's mark ([MS-CIFS] 2.2.3.1).
const COMMAND: usize = 4;
const MARK: &[u8] = b"\xffSMB";

/// Requests and bytes.
#[derive(Debug, Default)]
struct Traffic {
    requests: AtomicU64,
    received: AtomicU64,
    sent: AtomicU64,
}

impl Traffic {
    fn request(&self, bytes: u64) {
        self.requests.fetch_add(1, Relaxed);
        self.received.fetch_add(bytes, Relaxed);
    }

    fn now(&self) -> TrafficStatus {
        TrafficStatus {
            requests: self.requests.load(Relaxed),
            received: self.received.load(Relaxed),
            sent: self.sent.load(Relaxed),
        }
    }
}

/// Everything of the clients with one system.
#[derive(Debug)]
struct System {
    traffic: Traffic,
    /// Nanoseconds by cause.
    waits: [AtomicU64; Cause::COUNT],
}

/// The counters.
#[derive(Debug)]
pub(super) struct Totals {
    commands: [AtomicU64; 256],
    shares: [Traffic; SHARES + 1],
    systems: [System; SYSTEMS + 1],
    /// Names of the systems in use; the first is [`UNKNOWN`].
    names: Mutex<Vec<String>>,
}

impl Default for Totals {
    fn default() -> Self {
        Self {
            commands: array::from_fn(|_| AtomicU64::default()),
            shares: array::from_fn(|_| Traffic::default()),
            systems: array::from_fn(|_| System {
                traffic: Traffic::default(),
                waits: array::from_fn(|_| AtomicU64::default()),
            }),
            names: Mutex::new(vec![UNKNOWN.into()]),
        }
    }
}

impl Totals {
    /// The place of a system's counters.
    pub(super) fn system(&self, name: &str) -> usize {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = names.iter().position(|known| known == name) {
            return place;
        }
        if names.len() >= SYSTEMS {
            return SYSTEMS;
        }
        names.push(name.into());
        names.len().saturating_sub(1)
    }

    /// A message came from a client with this system.
    pub(super) fn request(&self, system: usize, reach: Reach, message: &[u8]) {
        let bytes = message.len() as u64;
        if message.starts_with(MARK)
            && let Some(count) = message
                .get(COMMAND)
                .and_then(|code| self.commands.get(usize::from(*code)))
        {
            count.fetch_add(1, Relaxed);
        }
        if let Some(share) = self.share(reach) {
            share.request(bytes);
        }
        if let Some(system) = self.systems.get(system) {
            system.traffic.request(bytes);
        }
    }

    /// Bytes left for a client with this system.
    pub(super) fn sent(&self, system: usize, reach: Reach, bytes: u64) {
        if let Some(share) = self.share(reach) {
            share.sent.fetch_add(bytes, Relaxed);
        }
        if let Some(system) = self.systems.get(system) {
            system.traffic.sent.fetch_add(bytes, Relaxed);
        }
    }

    /// A client with this system waited.
    pub(super) fn waited(&self, system: usize, account: &Account) {
        let Some(system) = self.systems.get(system) else {
            return;
        };
        for ((_, span), sum) in account.iter().zip(&system.waits) {
            if span.0 > 0 {
                sum.fetch_add(span.0, Relaxed);
            }
        }
    }

    fn share(&self, reach: Reach) -> Option<&Traffic> {
        match reach {
            Reach::Share(ShareId(id)) => {
                let place = usize::try_from(id).unwrap_or(SHARES).min(SHARES);
                self.shares.get(place)
            }
            Reach::Nothing | Reach::Several => None,
        }
    }

    /// What was counted; `shares` have the names.
    pub(super) fn status(&self, shares: &[std::sync::Arc<Share>]) -> TotalsStatus {
        let commands = self.commands.iter().enumerate();
        let commands = commands.filter_map(|(code, count)| {
            let count = count.load(Relaxed);
            let code = u8::try_from(code).ok().filter(|_| count > 0)?;
            Some((coax_wire::command::name(code).unwrap_or(OTHER), count))
        });
        let mut by_command = BTreeMap::new();
        for (name, count) in commands {
            let sum: &mut u64 = by_command.entry(name.to_owned()).or_default();
            *sum = sum.saturating_add(count);
        }
        TotalsStatus {
            commands: by_command,
            shares: self.by_share(shares),
            systems: self.by_system(),
        }
    }

    fn by_share(&self, shares: &[std::sync::Arc<Share>]) -> BTreeMap<String, TrafficStatus> {
        let own = shares.iter().filter(|share| share.vfs().is_some());
        let own = own.filter_map(|share| {
            let place = usize::try_from(share.id.0).ok().filter(|at| *at < SHARES)?;
            Some((share.name.clone(), self.shares.get(place)?.now()))
        });
        let others = self.shares.last().map(Traffic::now).unwrap_or_default();
        let others = (others.requests > 0).then(|| (OTHER.to_owned(), others));
        own.chain(others).collect()
    }

    fn by_system(&self) -> BTreeMap<String, SystemStatus> {
        let names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        let names = names.iter().map(String::as_str);
        let all = names.chain(std::iter::repeat(OTHER)).take(SYSTEMS);
        let last = self.systems.last().map(|system| (OTHER, system));
        let mut found = BTreeMap::new();
        for (name, system) in all.zip(&self.systems).chain(last) {
            let traffic = system.traffic.now();
            if traffic.requests == 0 {
                continue;
            }
            let waits = Cause::ALL.into_iter().zip(&system.waits);
            let waits = waits.map(|(cause, ns)| (cause.name().to_owned(), ns.load(Relaxed)));
            let waits_ns = waits.filter(|(_, ns)| *ns > 0).collect();
            found.insert(name.to_owned(), SystemStatus { traffic, waits_ns });
        }
        found
    }
}

/// What the server has counted since its start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TotalsStatus {
    /// Requests by command.
    pub commands: BTreeMap<String, u64>,
    /// Traffic by share.
    pub shares: BTreeMap<String, TrafficStatus>,
    /// Traffic and waits by the clients' recognised system.
    pub systems: BTreeMap<String, SystemStatus>,
}

/// Requests and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrafficStatus {
    /// Requests.
    pub requests: u64,
    /// Bytes received,
    pub received: u64,
    /// and sent.
    pub sent: u64,
}

/// Everything of the clients with one system.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SystemStatus {
    /// Their traffic.
    pub traffic: TrafficStatus,
    /// Nanoseconds that they waited, by cause.
    pub waits_ns: BTreeMap<String, u64>,
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;

    const READ: &[u8] = b"\xffSMB\x0a rest";

    #[test]
    fn systems_beyond_the_limit_are_counted_together_and_nothing_is_lost() {
        let totals = Totals::default();
        for number in 0..100 {
            let place = totals.system(&format!("system {number}"));
            totals.request(place, Reach::Nothing, READ);
            totals.sent(place, Reach::Nothing, 10);
        }
        let found = totals.status(&[]);
        assert_eq!(found.systems.len(), SYSTEMS);
        let sum = |of: fn(&TrafficStatus) -> u64| -> u64 {
            found
                .systems
                .values()
                .map(|system| of(&system.traffic))
                .sum()
        };
        assert_eq!(sum(|traffic| traffic.requests), 100);
        assert_eq!(sum(|traffic| traffic.sent), 1000);
        assert_eq!(
            found.systems[OTHER].traffic.requests,
            100 - (SYSTEMS as u64 - 1)
        );
        assert_eq!(found.commands.values().sum::<u64>(), 100);
    }

    #[test]
    fn shares_beyond_the_limit_and_unknown_commands_are_counted_as_others() {
        let totals = Totals::default();
        for id in [1, 70, u32::MAX] {
            totals.request(0, Reach::Share(ShareId(id)), b"\xffSMB\x99");
        }
        let found = totals.status(&[]);
        assert_eq!(found.shares[OTHER].requests, 2);
        assert_eq!(found.commands, BTreeMap::from([(OTHER.to_owned(), 3)]));
    }

    #[test]
    fn data_without_a_header_is_no_request_of_a_command() {
        let totals = Totals::default();
        totals.request(0, Reach::Nothing, b"raw data");
        totals.request(0, Reach::Nothing, b"");
        assert_eq!(totals.status(&[]).commands, BTreeMap::new());
        assert_eq!(totals.status(&[]).systems[UNKNOWN].traffic.received, 8);
    }

    #[test]
    fn waits_are_kept_by_cause() {
        let totals = Totals::default();
        let place = totals.system("Windows 98");
        let mut account = Account::default();
        account.add(Cause::ServerThink, coax_wire::time::Span(1_500_000));
        totals.request(place, Reach::Nothing, READ);
        totals.waited(place, &account);
        totals.waited(place, &account);
        let found = totals.status(&[]).systems.remove("Windows 98").unwrap();
        assert_eq!(
            found.waits_ns,
            BTreeMap::from([("server-think".to_owned(), 3_000_000)])
        );
    }
}
