//! Resource limits of the server, derived from the system's limits and the settings.
//!
//! | what | unit | one connection | one address | all | why |
//! |---|---|---|---|---|---|
//! | clients | connections | | 7/8 of all | `max smbd processes`, or 20,000; at most 5/8 of the descriptors | each is a socket; an eighth is left for other addresses |
//! | clients before log-on | connections | | a quarter, at least 8 | half | clients that send nothing must not fill the server |
//! | time to log on | seconds | 10 (60 after a refused log-on: a person types) | | | as above |
//! | opens | descriptors | `max open files` | half | the descriptors that client sockets do not use | an open file is a descriptor |
//! | reserve | descriptors | | | 64, two for each share, an eighth of all (at most 1,024) | listeners, log, roots, folders being listed, paths being looked up |
//! | locks | ranges | 65,536 | half | 1,048,576 | some 200 bytes each |
//! | memory for pending data | bytes | 8 MiB | half | an eighth of the machine's memory, 64 MiB to 1 GiB | half-sent transactions, parked requests, searches, pipes, notifications, unsent replies, messages received in part |
//! | threads in one share's disk | threads | 1 | | 64 | a hung disk must not take the threads of others |
//!
//! Where a cell is empty, the neighbouring ones bound it.

use coax_server::budget::{Budgets, Caps};
use coax_smbconf::settings::Settings;
use rustix::process::{Resource, getrlimit, setrlimit};

/// Maximum number of clients if the settings do not limit it.
const MAX_CLIENTS: u64 = 20_000;
/// Eighths of the descriptors that client sockets may use; their open files use the rest.
const CLIENT_EIGHTHS: u64 = 5;
/// Descriptors for listeners, the log, the runtime and the name service.
const OWN_DESCRIPTORS: u64 = 64;
/// Descriptors per share: its root and its lock.
const SHARE_DESCRIPTORS: u64 = 2;
/// Maximum number of descriptors reserved for files that are open during one request only.
const MOST_TRANSIENT: u64 = 1_024;
/// Byte-range locks of all clients.
const LOCKS: usize = 1 << 20;
/// Minimum and maximum of the memory for pending data of all clients, bytes.
const MEMORY: (u64, u64) = (64 << 20, 1 << 30);
/// Maximum memory for pending data of one connection, bytes.
const MEMORY_OF_ONE: usize = 8 << 20;

/// Limits on the number of clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Clients {
    /// In total.
    pub(super) total: usize,
    /// Per address.
    pub(super) address: usize,
    /// In total, not logged on.
    pub(super) pending: usize,
    /// Per address, not logged on.
    pub(super) pending_address: usize,
}

/// The system's limits, and the values that the settings ask for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Means {
    /// Descriptors that the process may have (RLIMIT_NOFILE).
    pub(super) descriptors: u64,
    /// The machine's memory, bytes.
    pub(super) memory_bytes: u64,
    /// `max smbd processes`; 0: not set.
    pub(super) max_clients: u32,
    /// `max open files`.
    pub(super) max_open_files: u32,
    /// The number of shares.
    pub(super) shares: usize,
}

impl Means {
    /// Reads the limits of this process.
    pub(super) fn of_this_process(max_clients: u32, max_open_files: u32, shares: usize) -> Self {
        let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
        let system = rustix::system::sysinfo();
        Self {
            descriptors: limit.current.unwrap_or(u64::MAX),
            memory_bytes: u64::from(system.mem_unit).saturating_mul(system.totalram as u64),
            max_clients,
            max_open_files,
            shares,
        }
    }

    /// Limits on the number of clients.
    pub(super) fn clients(&self) -> Clients {
        let wanted = match u64::from(self.max_clients) {
            0 => MAX_CLIENTS,
            named => named,
        };
        let total = size(wanted.min(self.usable() / 8 * CLIENT_EIGHTHS).max(1));
        let at_least = |least: usize, count: usize| count.max(least).min(total);
        Clients {
            total,
            address: total.saturating_sub(total / 8),
            pending: at_least(8, total / 2),
            pending_address: at_least(8, total / 4),
        }
    }

    /// The budgets that all clients share.
    pub(super) fn budgets(&self) -> Budgets {
        let opens = size(self.usable()).saturating_sub(self.clients().total);
        let connection = usize::try_from(self.max_open_files).unwrap_or(usize::MAX);
        let memory = size((self.memory_bytes / 8).clamp(MEMORY.0, MEMORY.1));
        Budgets {
            opens: Caps {
                connection,
                ..Caps::of_total(opens, 16)
            },
            locks: Caps::of_total(LOCKS, 64),
            memory: Caps {
                connection: MEMORY_OF_ONE,
                ..Caps::of_total(memory, 64 << 10)
            },
        }
    }

    /// Descriptors for clients and their files.
    fn usable(&self) -> u64 {
        let shares = SHARE_DESCRIPTORS.saturating_mul(self.shares as u64);
        let transient = (self.descriptors / 8).min(MOST_TRANSIENT);
        let set_aside = OWN_DESCRIPTORS
            .saturating_add(shares)
            .saturating_add(transient);
        self.descriptors.saturating_sub(set_aside).max(16)
    }
}

fn size(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

/// Raises the process's descriptor limit to its hard limit and reads the resulting means.
pub(super) fn means(settings: &Settings) -> Means {
    raise_file_limit();
    let global = &settings.global;
    Means::of_this_process(
        global.max_clients,
        global.max_open_files,
        settings.shares.len(),
    )
}

/// Raises the soft descriptor limit to the hard limit: every client and every open file needs a descriptor.
fn raise_file_limit() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // On failure the server admits fewer clients and reports that when it refuses one.
    let _ = setrlimit(Resource::Nofile, limit);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn means(descriptors: u64, max_clients: u32) -> Means {
        Means {
            descriptors,
            memory_bytes: 8 << 30,
            max_clients,
            max_open_files: 16_384,
            shares: 3,
        }
    }

    #[test]
    fn clients_and_their_files_never_need_more_descriptors_than_there_are() {
        for descriptors in [128, 256, 1_024, 4_096, 65_536, 1 << 20, u64::MAX] {
            for max_clients in [0, 1, 50, 100_000] {
                let means = means(descriptors, max_clients);
                let used = means.clients().total as u64 + means.budgets().opens.total as u64;
                assert!(used + 70 <= descriptors, "{used} of {descriptors}");
                let opens = means.budgets().opens;
                assert!(opens.address <= opens.total && opens.total >= 8);
            }
        }
    }

    #[test]
    fn one_address_cannot_take_all_places_unless_there_are_very_few() {
        let clients = means(1 << 20, 50).clients();
        assert_eq!((clients.total, clients.address), (50, 44));
        assert_eq!((clients.pending, clients.pending_address), (25, 12));
        let few = means(1 << 20, 2).clients();
        assert_eq!((few.total, few.address, few.pending_address), (2, 2, 2));
        assert_eq!(means(1 << 20, 0).clients().total, 20_000);
    }
}
