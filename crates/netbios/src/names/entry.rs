//! An entry of the local name table: claim, ownership and release of one name.

use coax_wire::nbt::name::NbName;
use coax_wire::nbt::ns::NameFlags;
use coax_wire::time::{Span, Time};
use core::net::Ipv4Addr;

use super::{NameKind, NodeType, OwnName, Reach, wins_state::WinsState};

/// RFC 1002 §6, BCAST_REQ_RETRY_TIMEOUT.
pub(super) const RETRY_TIMEOUT: Span = Span::from_millis(250);

/// RFC 1002 §6, BCAST_REQ_RETRY_COUNT.
pub(super) const RETRY_COUNT: u8 = 3;

/// How long a name is not checked again after a conflict was reported falsely.
const CHECK_PAUSE: Span = Span::from_secs(10);

/// A name and its state.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) name: NbName,
    pub(super) kind: NameKind,
    pub(super) node: NodeType,
    reach: Reach,
    /// NAME_TRN_ID of its broadcast claim, release or check.
    pub(super) id: u16,
    /// The claim by broadcast.
    pub(super) state: State,
    /// The claim at the WINS server.
    pub(super) wins: WinsState,
    /// A reported conflict that is being checked.
    pub(super) check: Check,
    /// It is removed once it is released.
    pub(super) leaving: bool,
}

/// Where a name stands on the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Not claimed by broadcast, or not yet.
    Idle,
    /// Being claimed: `sent` requests were sent, the next step is at `due`.
    Claiming { sent: u8, due: Time },
    /// Owned.
    Owned,
    /// Refused, or (`conflict`) lost in a conflict; claimed again at `retry`.
    Lost { conflict: bool, retry: Option<Time> },
    /// Being released: `sent` requests were sent, the next step is at `due`.
    Releasing { sent: u8, due: Time },
    /// Released by this node.
    Released,
}

/// Whether somebody's report of a conflict is being checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Check {
    /// Nobody reported a conflict.
    Idle,
    /// Queries for the name went out; another owner would answer until `due`.
    Asking {
        sent: u8,
        due: Time,
        accuser: Ipv4Addr,
    },
    /// The report was false; the next one is looked at from `until` on.
    Passed { until: Time },
}

/// The action for a due entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Broadcast a registration request.
    Claim,
    /// Broadcast the overwrite demand, which announces the registration.
    Announce,
    /// Broadcast a release.
    Release,
    /// The name is released.
    Released,
    /// Start over with a new identifier.
    Restart,
    /// Broadcast a query for our own name.
    Check,
    /// No other owner answered.
    CheckPassed(Ipv4Addr),
}

impl Entry {
    pub(super) fn new(own: &OwnName, node: NodeType, has_wins: bool, now: Time) -> Self {
        let mut entry = Self {
            name: own.name,
            kind: own.kind,
            node,
            reach: own.reach,
            id: 0,
            state: State::Idle,
            wins: WinsState::Idle,
            check: Check::Idle,
            leaving: false,
        };
        entry.start(has_wins, now);
        entry
    }

    /// Begins to claim the name in the order of the node's type (RFC 1001 §15.2, KB Q119493).
    pub(super) fn start(&mut self, has_wins: bool, now: Time) {
        let wins_first = self.node != NodeType::Mixed || !self.uses_broadcast();
        self.state = State::Idle;
        self.wins = WinsState::Idle;
        if self.uses_wins() && has_wins && wins_first {
            self.wins = WinsState::start(now);
        } else if self.uses_broadcast() {
            self.state = State::Claiming { sent: 0, due: now };
        }
    }

    pub(super) fn uses_wins(&self) -> bool {
        self.node.uses_wins() && self.reach != Reach::Network
    }

    pub(super) fn uses_broadcast(&self) -> bool {
        self.node.uses_broadcast() && self.reach != Reach::Wins
    }

    pub(super) fn is_owned(&self) -> bool {
        match self.state {
            State::Owned => true,
            State::Idle => self.wins.is_registered(),
            _ => false,
        }
    }

    /// Whether nothing is claimed, owned or being released any more.
    pub(super) fn is_released(&self) -> bool {
        self.state == State::Released && !self.wins.is_busy_releasing()
    }

    /// When [`step`](Self::step) has something to do.
    pub(super) fn due(&self) -> Option<Time> {
        let local = match self.state {
            State::Claiming { due, .. } | State::Releasing { due, .. } => Some(due),
            State::Lost { retry, .. } => retry,
            State::Idle | State::Owned | State::Released => None,
        };
        let check = match self.check {
            Check::Asking { due, .. } => Some(due),
            Check::Idle | Check::Passed { .. } => None,
        };
        local.into_iter().chain(check).min()
    }

    /// Performs a due step (RFC 1002 §5.1.1.1, §5.1.1.4).
    pub(super) fn step(&mut self, now: Time) -> Option<Action> {
        if let Some(action) = self.step_check(now) {
            return Some(action);
        }
        let due = now + RETRY_TIMEOUT;
        let (state, action) = match self.state {
            State::Claiming { due, .. } | State::Releasing { due, .. } if due > now => return None,
            State::Lost { retry, .. } if retry.is_none_or(|retry| retry > now) => return None,
            State::Claiming { sent, .. } if sent < RETRY_COUNT => {
                let sent = sent.saturating_add(1);
                (State::Claiming { sent, due }, Action::Claim)
            }
            State::Claiming { .. } => (State::Owned, Action::Announce),
            State::Releasing { sent, .. } if sent < RETRY_COUNT => {
                let sent = sent.saturating_add(1);
                (State::Releasing { sent, due }, Action::Release)
            }
            State::Releasing { .. } => (State::Released, Action::Released),
            State::Lost { .. } => (State::Idle, Action::Restart),
            State::Idle | State::Owned | State::Released => return None,
        };
        self.state = state;
        Some(action)
    }

    fn step_check(&mut self, now: Time) -> Option<Action> {
        let Check::Asking { sent, due, accuser } = self.check else {
            return None;
        };
        if due > now {
            return None;
        }
        if sent < RETRY_COUNT {
            self.check = Check::Asking {
                sent: sent.saturating_add(1),
                due: now + RETRY_TIMEOUT,
                accuser,
            };
            return Some(Action::Check);
        }
        self.check = Check::Passed {
            until: now + CHECK_PAUSE,
        };
        Some(Action::CheckPassed(accuser))
    }

    /// Somebody reports a conflict: whether it will be checked.
    pub(super) fn begin_check(&mut self, now: Time, accuser: Ipv4Addr) -> bool {
        let idle = match self.check {
            Check::Idle => true,
            Check::Passed { until } => until <= now,
            Check::Asking { .. } => false,
        };
        if idle {
            self.check = Check::Asking {
                sent: 0,
                due: now,
                accuser,
            };
        }
        idle
    }

    /// Releases the name: with release requests if it is owned, else at once.
    pub(super) fn release(&mut self, now: Time) {
        self.check = Check::Idle;
        self.state = match self.state {
            State::Owned => State::Releasing { sent: 0, due: now },
            State::Releasing { sent, due } => State::Releasing { sent, due },
            State::Idle | State::Claiming { .. } | State::Lost { .. } | State::Released => {
                State::Released
            }
        };
        self.wins.release(now);
    }

    /// NB_FLAGS of the name (RFC 1002 §4.2.1.3).
    pub(super) fn nb_flags(&self) -> NameFlags {
        let group = match self.kind {
            NameKind::Unique => 0,
            NameKind::Group => NameFlags::GROUP,
        };
        NameFlags(self.node.flags() | group)
    }

    /// NAME_FLAGS of a node status (RFC 1002 §4.2.18), if the name is listed there.
    pub(super) fn status_flags(&self) -> Option<NameFlags> {
        let state = match self.state {
            State::Owned => 0,
            State::Idle if self.wins.is_registered() => 0,
            State::Lost { conflict: true, .. } => NameFlags::CONFLICT,
            State::Releasing { .. } => NameFlags::DEREGISTERING,
            State::Idle | State::Claiming { .. } | State::Lost { .. } | State::Released => {
                return None;
            }
        };
        Some(NameFlags(self.nb_flags().0 | NameFlags::ACTIVE | state))
    }
}
