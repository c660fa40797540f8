//! An entry of the local name table: claim, ownership and release of one name.

use coax_wire::nbt::name::NbName;
use coax_wire::nbt::ns::NameFlags;
use coax_wire::time::{Span, Time};

use super::{NameKind, OwnName};

/// RFC 1002 §6, BCAST_REQ_RETRY_TIMEOUT.
const RETRY_TIMEOUT: Span = Span::from_millis(250);

/// RFC 1002 §6, BCAST_REQ_RETRY_COUNT.
const RETRY_COUNT: u8 = 3;

/// A name and its state.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) name: NbName,
    pub(super) kind: NameKind,
    /// NAME_TRN_ID of its claim or release.
    pub(super) id: u16,
    pub(super) state: State,
}

/// The state of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
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
}

impl Entry {
    pub(super) fn new(own: &OwnName, now: Time) -> Self {
        Self {
            name: own.name,
            kind: own.kind,
            id: 0,
            state: State::Claiming { sent: 0, due: now },
        }
    }

    pub(super) fn is_owned(&self) -> bool {
        self.state == State::Owned
    }

    /// When [`step`](Self::step) has something to do.
    pub(super) fn due(&self) -> Option<Time> {
        match self.state {
            State::Claiming { due, .. } | State::Releasing { due, .. } => Some(due),
            State::Lost { retry, .. } => retry,
            State::Owned | State::Released => None,
        }
    }

    /// Performs a due step (RFC 1002 §5.1.1.1, §5.1.1.4).
    pub(super) fn step(&mut self, now: Time) -> Option<Action> {
        if self.due()? > now {
            return None;
        }
        let due = now + RETRY_TIMEOUT;
        let (state, action) = match self.state {
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
            State::Lost { .. } => (State::Claiming { sent: 0, due: now }, Action::Restart),
            State::Owned | State::Released => return None,
        };
        self.state = state;
        Some(action)
    }

    /// Releases the name: with release requests if it is owned, else at once.
    pub(super) fn release(&mut self, now: Time) {
        self.state = match self.state {
            State::Owned => State::Releasing { sent: 0, due: now },
            State::Releasing { sent, due } => State::Releasing { sent, due },
            State::Claiming { .. } | State::Lost { .. } | State::Released => State::Released,
        };
    }

    /// NB_FLAGS of a B node (RFC 1002 §4.2.1.3).
    pub(super) fn nb_flags(&self) -> NameFlags {
        match self.kind {
            NameKind::Unique => NameFlags(0),
            NameKind::Group => NameFlags(NameFlags::GROUP),
        }
    }

    /// NAME_FLAGS of a node status (RFC 1002 §4.2.18), if the name is listed there.
    pub(super) fn status_flags(&self) -> Option<NameFlags> {
        let state = match self.state {
            State::Owned => 0,
            State::Lost { conflict: true, .. } => NameFlags::CONFLICT,
            State::Releasing { .. } => NameFlags::DEREGISTERING,
            State::Claiming { .. } | State::Lost { .. } | State::Released => return None,
        };
        Some(NameFlags(self.nb_flags().0 | NameFlags::ACTIVE | state))
    }
}
