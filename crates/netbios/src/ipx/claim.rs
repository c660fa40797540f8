//! Names: claiming and keeping them.

use coax_wire::ipx::nbipx::name_flags;
use coax_wire::nbt::name::NbName;
use coax_wire::time::{Span, Time};

use crate::nbf::StationName;

/// One of our names and whether it is ours.
#[derive(Debug)]
pub(super) struct Claim {
    pub(super) own: StationName,
    pub(super) state: ClaimState,
    pub(super) due: Option<Time>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ClaimState {
    /// The query was sent this often.
    Claiming(u8),
    Owned,
    Lost,
}

impl Claim {
    pub(super) fn new(own: StationName, now: Time) -> Self {
        Self {
            own,
            state: ClaimState::Claiming(0),
            due: Some(now),
        }
    }

    pub(super) fn is_owned(&self) -> bool {
        self.state == ClaimState::Owned
    }

    /// Another station has the name; it is claimed again later.
    pub(super) fn lose(&mut self, now: Time, again: Span) {
        self.state = ClaimState::Lost;
        self.due = Some(now + again);
    }

    /// Does what is due.
    pub(super) fn advance(&mut self, now: Time, count: u8, interval: Span) -> Step {
        if self.due.is_none_or(|due| due > now) {
            return Step::Wait;
        }
        let sent = match self.state {
            ClaimState::Claiming(sent) => sent,
            ClaimState::Owned => return Step::Wait,
            ClaimState::Lost => 0,
        };
        if sent >= count {
            (self.state, self.due) = (ClaimState::Owned, None);
            return Step::Taken(self.own.name);
        }
        self.state = ClaimState::Claiming(sent.saturating_add(1));
        self.due = Some(now + interval);
        Step::Ask(self.own)
    }

    /// The flags of answers about it.
    pub(super) fn flags(&self) -> u8 {
        let group = if self.own.group { name_flags::GROUP } else { 0 };
        group | name_flags::IN_USE | name_flags::REGISTERED
    }
}

/// What to do about a name.
pub(super) enum Step {
    Wait,
    /// Ask whether another station has it.
    Ask(StationName),
    /// Nobody has.
    Taken(NbName),
}
