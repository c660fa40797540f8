//! The state that all connections of the server share: opens and share modes, oplocks, byte-range locks, change
//! notification.
//!
//! Pure data: no IO, no lock, no clock. A driver keeps the one [`Tables`] behind an [`Exclusive`]. An engine locks it
//! for table work only ([`locked`]) and never across a file operation. Events for *another* connection (an oplock
//! break, a parked request that may now run) go into its mailbox ([`Tables::take_events`]), and the engine calls its
//! [`Wake`] after unlocking.
//!
//! **Parking.** A request that must wait gets a [`Ticket`]. The engine parks it under that ticket and receives one of
//! these events:
//! - [`Event::Retry`] for an open that waited for an oplock break or for a close of the file: the engine calls
//!   [`Tables::open`] or [`Tables::open_patiently`] again;
//! - [`Event::Lock`] for a waiting lock: the table has granted or failed it, and the engine only answers;
//! - [`Event::Notify`] for a change notification: the changes, or the reason why there are none.
//!
//! **Timers** (break time-outs, lock waits, patient opens and delayed log-ons) are part of the tables. Some driver
//! calls [`Tables::expire`] when [`Tables::next_deadline`] has passed. Any connection may do so, at any time, with the
//! same result.
//!
//! All iterations have a defined order, so that the same calls give the same events.

mod administer;
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
mod message_limits;
mod messages;
mod notify;
mod observe;
mod observed;
mod open_request;
mod open_waiter;
mod opens;
mod oplock;
mod oplocks;
mod overview;
mod path_index;
mod paths;
mod patience;
mod reserve;
mod share_modes;
mod shown_times;
mod siblings;
mod spaces;
mod streams;
mod trims;
mod watches;
mod write_times;

#[cfg(test)]
mod tests;

pub use census::{Census, Remembered};
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
pub use overview::OpenRow;
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

/// The time that the holder of an oplock has to answer a break, before the server revokes the oplock: `OplockBreakWait`
/// of NT servers, 35 s (KB Q888562; the timer is [MS-CIFS] 3.3.2.1).
pub const OPLOCK_BREAK_TIMEOUT: Span = Span::from_secs(35);

/// Settings of the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// The time that the holder of an oplock has to answer a break.
    pub break_timeout: Span,
    /// After this many breaks of an exclusive or batch oplock on one file, the server grants none on it until all
    /// clients have closed it (smb.conf `oplock contention limit`). 0: no limit.
    pub contention_limit: u32,
    /// The delay after the first write through an open until its time is visible.
    pub write_time_delay: Span,
    /// Limits of one connection.
    pub limits: Limits,
    /// Budgets of one connection, of one address and of all connections.
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

/// Exclusive access of an engine to the tables. The driver of real connections uses a mutex, the lab a cell.
pub trait Exclusive: Send + Sync + Debug {
    /// Calls `work` exactly once with exclusive access to the tables.
    fn with(&self, work: &mut dyn FnMut(&mut Tables));
}

/// Runs `work` on the tables. After unlocking, wakes the connections that got events from it.
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

/// The state that all connections share. See the [module](self).
#[derive(Debug, Default)]
pub struct Tables {
    config: Config,
    last_id: u64,
    connections: BTreeMap<ConnId, connection::Connection>,
    /// The usage of all connections.
    total: Arc<Usage>,
    /// The usage of the connections of one address, and their number.
    addresses: BTreeMap<String, (Arc<Usage>, usize)>,
    opens: BTreeMap<OpenId, Open>,
    files: BTreeMap<FileId, File>,
    /// Files marked for deletion.
    doomed: BTreeSet<FileId>,
    paths: path_index::Paths,
    /// The path space of each share.
    spaces: BTreeMap<ShareId, path_index::Place>,
    watches: watches::Watches,
    observed: observed::Observed,
    deadlines: BTreeSet<(Time, Timer)>,
    /// The files that parked opens wait for.
    tickets: BTreeMap<Ticket, FileId>,
    wakes: Vec<Arc<dyn Wake>>,
    evictions: evictions::Evictions,
    /// The wall clock minus the clock of deadlines, in nanoseconds.
    wall_offset_ns: i64,
    write_times: shown_times::WriteTimes,
    failed_log_ons: failed_log_ons::FailedLogOns,
    messages: message_limits::MessageLimits,
    /// Names of folders, as clients spell them.
    pub names: crate::names_cache::NameCache,
    /// Recently removed or renamed names.
    pub(crate) tunnel: crate::tunnel::Tunnel,
}

/// The state that all opens of one file share.
#[derive(Debug, Default)]
struct File {
    /// Oldest first.
    opens: BTreeSet<OpenId>,
    /// Delete pending: the name to remove when the last open is closed.
    doomed: Option<Doomed>,
    /// All opens are closed; the engine is removing the name.
    deleting: bool,
    locks: locks::RangeLocks,
    waiting: Vec<lock_request::Waiter>,
    /// Requests that wait for the break of the exclusive or batch oplock.
    parked: Vec<(ConnId, Ticket)>,
    /// Opens with a sharing violation that wait for a close.
    open_waiters: Vec<open_waiter::OpenWaiter>,
    contentions: u32,
    /// The open through which the engine is freeing space beyond the end of the file.
    trimmer: Option<OpenId>,
    /// The number of truncations, replacements and length changes since the first of the opens.
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

    /// The next time at which [`expire`](Self::expire) has work.
    pub fn next_deadline(&self) -> Option<Time> {
        self.deadlines.first().map(|(time, _)| *time)
    }

    /// Ends waits whose deadline is at or before `now`: revokes an oplock whose holder did not answer its break, and
    /// fails a lock whose wait timed out.
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

    /// Notes a step of the wall clock, which is now `offset_ns` nanoseconds ahead of the [`Time`] of the engines.
    /// Deadlines do not move; time stamps for clients do.
    pub fn set_wall_offset(&mut self, offset_ns: i64) {
        self.wall_offset_ns = offset_ns;
    }

    /// The wall clock's time at `now`, for time stamps only and never for deadlines.
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
