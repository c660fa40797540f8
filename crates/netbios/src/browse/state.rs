//! Roles, elections, searches and schedules.

use coax_wire::nbt::name::NbName;
use coax_wire::time::{Span, Time};

/// Minutes between the first announcements of a server ([MS-BRWS] 3.2.6); the last one goes on.
const SERVER_MINUTES: &[u64] = &[1, 1, 2, 4, 8, 12];
/// Minutes between the announcements of a workgroup ([MS-BRWS] 3.3.6).
const WORKGROUP_MINUTES: &[u64] = &[1, 1, 5, 5, 10, 10, 15];
/// Wait for the winner of an election to announce itself.
const AFTER_ELECTION: Span = Span::from_secs(60);

/// What a server is on its network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Role {
    /// It takes no part in elections.
    Server,
    /// It can be elected.
    #[default]
    Potential,
    /// A master browser chose it to give out the list, too.
    Backup,
    /// The local master browser.
    Master,
}

/// Why a role changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ElectionReason {
    /// No machine answered as the master browser.
    NoMaster,
    /// `preferred master` calls an election at the start.
    Preferred,
    /// No machine had better criteria.
    Won,
    /// Another machine has better ones.
    Lost {
        /// That machine.
        to: NbName,
        /// What decided.
        by: Criterion,
    },
    /// Another machine owns the name of the master browser.
    NameRefused,
    /// Another machine announced itself as the master browser.
    OtherMaster(NbName),
    /// The master browser chose us.
    Chosen,
    /// Another machine called an election.
    Called(NbName),
}

/// What decides an election, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Criterion {
    /// The version of the protocol.
    Version,
    /// `os level`.
    OsLevel,
    /// The role: domain master, WINS client, preferred master, running master, backup.
    Role,
    /// The time since the start.
    Uptime,
    /// The name: the lower one wins.
    Name,
}

/// An election that is under way for us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Election {
    Idle,
    /// Requests are sent.
    Running {
        sent: u8,
        due: Time,
    },
    /// Won; the name of the master browser is being registered.
    Registering {
        due: Time,
    },
}

impl Election {
    pub(super) fn idle() -> Self {
        Self::Idle
    }

    pub(super) fn due(self) -> Option<Time> {
        match self {
            Self::Idle => None,
            Self::Running { due, .. } | Self::Registering { due } => Some(due),
        }
    }
}

/// The next announcement, and how many there were.
#[derive(Clone, Copy, Debug)]
pub(super) struct Schedule {
    minutes: &'static [u64],
    count: usize,
    due: Time,
}

impl Schedule {
    /// That of servers, from `now` on.
    pub(super) fn servers(now: Time) -> Self {
        Self {
            minutes: SERVER_MINUTES,
            count: 0,
            due: now,
        }
    }

    /// That of workgroups, from `now` on.
    pub(super) fn workgroups(now: Time) -> Self {
        Self {
            minutes: WORKGROUP_MINUTES,
            ..Self::servers(now)
        }
    }

    pub(super) fn due(&self) -> Time {
        self.due
    }

    /// If it is time, plans the next announcement; the period to tell, in milliseconds.
    pub(super) fn step(&mut self, now: Time) -> Option<u32> {
        if self.due > now {
            return None;
        }
        let period = Span::from_secs(self.period_minutes().saturating_mul(60));
        self.count = self.count.saturating_add(1);
        self.due = now + period;
        Some(u32::try_from(period.as_millis()).unwrap_or(u32::MAX))
    }

    /// The period now, in milliseconds.
    pub(super) fn period_ms(&self) -> u32 {
        u32::try_from(self.period_minutes().saturating_mul(60_000)).unwrap_or(u32::MAX)
    }

    pub(super) fn period_minutes(&self) -> u64 {
        let last = self.minutes.len().saturating_sub(1);
        *self.minutes.get(self.count.min(last)).unwrap_or(&12)
    }

    /// Begins anew: the content changed.
    pub(super) fn restart(&mut self, now: Time) {
        self.count = 0;
        self.due = now;
    }
}

/// The search for a master browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Search {
    pub(super) sent: u8,
    pub(super) token: u32,
    pub(super) due: Option<Time>,
}

impl Search {
    /// No search is planned: this server takes no part.
    pub(super) fn idle() -> Self {
        Self {
            sent: 0,
            token: 0,
            due: None,
        }
    }

    /// A search that begins at `now`.
    pub(super) fn starting(now: Time) -> Self {
        Self {
            due: Some(now),
            ..Self::idle()
        }
    }

    /// A search in a minute.
    pub(super) fn later(now: Time) -> Self {
        Self::starting(now + AFTER_ELECTION)
    }

    pub(super) fn due(self) -> Option<Time> {
        self.due
    }
}
