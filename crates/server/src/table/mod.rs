//! What all connections of the server share: opens and share modes, oplocks, byte-range locks, change notification.
//!
//! Pure data: no IO, no lock, no clock. A driver keeps the one [`Tables`] behind an [`Exclusive`]; an engine locks it
//! for table work only ([`locked`]) and never across a file operation. What concerns *another* connection (an oplock
//! break, a parked request that may run now) goes into that connection's mailbox ([`Tables::take_events`]), and its
//! [`Wake`] is called after unlocking.
//!
//! **Parking.** A request that must wait is given a [`Ticket`]; the engine parks it under that ticket and gets
//! - [`Event::Retry`] for an open that waited for an oplock break or for others to close the file: it calls
//!   [`Tables::open`] or [`Tables::open_patiently`] anew;
//! - [`Event::Lock`] for a waiting lock: the table has granted or failed it, the engine only answers;
//! - [`Event::Notify`] for a change notification: the changes, or why there will be none.
//!
//! **Timers** (break time-outs, lock waits, patient opens and delayed log-ons) are kept here: some driver calls [`Tables::expire`] when
//! [`Tables::next_deadline`] has passed. Any connection may do it, at any time, with the same result.
//!
//! Everything iterates in a defined order, so that the same calls give the same events.

mod census;
mod connection;
mod connections;
mod disk_state;
mod durability;
mod event;
mod evictions;
mod failed_log_ons;
mod ids;
mod lock_request;
mod locking;
mod locks;
mod log_ons;
mod mailbox;
mod notify;
mod observe;
mod observed;
mod open_request;
mod open_waiter;
mod opens;
mod oplock;
mod oplocks;
mod path_index;
mod paths;
mod patience;
mod reserve;
mod share_modes;
mod shown_times;
mod siblings;
mod streams;
mod watches;
mod write_times;

#[cfg(test)]
mod tests;

pub use census::Census;
pub use connection::Limits;
pub use event::{Event, Wake};
pub use failed_log_ons::Turn;
pub use ids::{ConnId, OpenId, Refusal, ShareId, Ticket};
pub use lock_request::{Cancelled, LockOutcome, LockRequest, LockSpan, Wait};
pub use locks::{LockError, LockKind, LockRange};
pub use observed::{FolderChange, OwnChange, OwnKind};
pub use open_request::{Closed, Doomed, Open, OpenOutcome, OpenRequest, Sharing};
pub use open_waiter::{Forgotten, Patience};
pub use oplock::{Break, BreakOutcome, Oplock, OplockWish};
pub use share_modes::{DenyMode, access, is_executable, share, share_conflict};
pub use watches::{
    NotifyAction, NotifyFilter, NotifyOutcome, NotifyRecord, WatchOutcome, WatchRequest,
};

use crate::{
    budget::{Budgets, Usage},
    vfs::FileId,
};
use alloc::{
    collections::{BTreeMap, BTreeSet},
    string::String,
    sync::Arc,
    vec::Vec,
};
use coax_wire::time::{Span, Time};
use core::fmt::Debug;
use ids::Timer;

/// How long the holder of an oplock may take to answer a break before the server revokes it: `OplockBreakWait` of NT
/// servers, 35 s (KB Q888562; the timer is [MS-CIFS] 3.3.2.1).
pub const OPLOCK_BREAK_TIMEOUT: Span = Span::from_secs(35);

/// Settings of the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// How long the holder of an oplock may take to give it up.
    pub break_timeout: Span,
    /// After so many breaks of an exclusive or batch oplock on one file, none is granted on it until all have closed
    /// it (smb.conf `oplock contention limit`). 0: no limit.
    pub contention_limit: u32,
    /// How long after the first write through an open its time shows.
    pub write_time_delay: Span,
    /// What one connection may hold.
    pub limits: Limits,
    /// What one connection, one address and all may hold.
    pub budgets: Budgets,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            break_timeout: OPLOCK_BREAK_TIMEOUT,
            contention_limit: 2,
            write_time_delay: Span::from_secs(2),
            limits: Limits::default(),
            budgets: Budgets::default(),
        }
    }
}

/// How the engine reaches the tables. The driver of real connections has a mutex behind this, the lab a cell.
pub trait Exclusive: Send + Sync + Debug {
    /// Calls `work` exactly once with the tables, nobody else having them meanwhile.
    fn with(&self, work: &mut dyn FnMut(&mut Tables));
}

/// Does `work` with the tables, and after unlocking wakes the connections that got events by it.
pub fn locked<T>(tables: &dyn Exclusive, work: impl FnOnce(&mut Tables) -> T) -> T {
    let mut work = Some(work);
    let mut result = None;
    let mut wakes = Vec::new();
    tables.with(&mut |tables| {
        if let Some(work) = work.take() {
            result = Some(work(tables));
        }
        wakes = tables.take_wakes();
    });
    for wake in wakes {
        wake.wake();
    }
    match result {
        Some(result) => result,
        None => unreachable!("Exclusive::with calls its work"),
    }
}

/// All that connections share. See the [module](self).
#[derive(Debug, Default)]
pub struct Tables {
    config: Config,
    last_id: u64,
    connections: BTreeMap<ConnId, connection::Connection>,
    /// What all connections hold.
    total: Arc<Usage>,
    /// What those of one address hold, and how many they are.
    addresses: BTreeMap<String, (Arc<Usage>, usize)>,
    opens: BTreeMap<OpenId, Open>,
    files: BTreeMap<FileId, File>,
    /// Files marked for deletion.
    doomed: BTreeSet<FileId>,
    paths: path_index::Paths,
    watches: watches::Watches,
    observed: observed::Observed,
    deadlines: BTreeSet<(Time, Timer)>,
    /// What parked opens wait for.
    tickets: BTreeMap<Ticket, FileId>,
    wakes: Vec<Arc<dyn Wake>>,
    evictions: evictions::Evictions,
    /// How far the wall clock is ahead of the clock of deadlines, nanoseconds.
    wall_offset_ns: i64,
    write_times: shown_times::WriteTimes,
    failed_log_ons: failed_log_ons::FailedLogOns,
    /// Names of folders, as clients spell them.
    pub names: crate::names_cache::NameCache,
    /// Names that went a moment ago.
    pub(crate) tunnel: crate::tunnel::Tunnel,
}

/// What all opens of one file have in common.
#[derive(Debug, Default)]
struct File {
    /// Oldest first.
    opens: BTreeSet<OpenId>,
    /// Delete pending: which name goes when the last open is closed.
    doomed: Option<Doomed>,
    /// Closed by all; the engine is removing the name.
    deleting: bool,
    locks: locks::RangeLocks,
    waiting: Vec<lock_request::Waiter>,
    /// Requests that wait for the break of the exclusive or batch oplock.
    parked: Vec<(ConnId, Ticket)>,
    /// Opens that share modes forbid, and that wait for a close.
    open_waiters: Vec<open_waiter::OpenWaiter>,
    contentions: u32,
    /// How often the contents were cut or replaced, or the length set, since the first of the opens.
    resizes: u64,
}

impl Tables {
    /// Empty tables.
    pub fn new(config: Config) -> Self {
        Self {
            config,
            ..Self::default()
        }
    }

    /// When [`expire`](Self::expire) has something to do.
    pub fn next_deadline(&self) -> Option<Time> {
        self.deadlines.first().map(|(time, _)| *time)
    }

    /// Ends what has taken too long by `now`: an oplock whose holder did not answer its break is taken to be gone, a
    /// lock that waited its time has failed.
    pub fn expire(&mut self, now: Time) {
        while let Some(&(time, timer)) = self.deadlines.first() {
            if time > now {
                return;
            }
            self.deadlines.remove(&(time, timer));
            match timer {
                Timer::Break(open) => self.finish_break(open, Oplock::None),
                Timer::Lock(file, ticket) => self.fail_waiter(file, ticket, LockError::Conflict),
                Timer::Patience(file, ticket) => self.end_patience(file, ticket),
                Timer::LogOn(conn, ticket) => self.end_log_on_wait(conn, ticket),
                Timer::Eviction(ticket) => self.end_eviction(ticket),
            }
        }
    }

    /// The wall clock was stepped: it is `offset_ns` nanoseconds ahead of the [`Time`] that engines are given. Deadlines
    /// do not move; time stamps shown to clients do.
    pub fn set_wall_offset(&mut self, offset_ns: i64) {
        self.wall_offset_ns = offset_ns;
    }

    /// The wall clock's time at `now`: for time stamps only, never for deadlines.
    pub fn wall(&self, now: Time) -> Time {
        Time(now.0.saturating_add_signed(self.wall_offset_ns))
    }

    fn next_id(&mut self) -> u64 {
        self.last_id = self.last_id.wrapping_add(1);
        self.last_id
    }

    fn next_ticket(&mut self) -> Ticket {
        Ticket(self.next_id())
    }
}
