//! The state of one name.

use coax_wire::time::{Span, Time};

use super::config::StationName;

/// One of our names and whether it is ours.
#[derive(Debug)]
pub(super) struct Claim {
    pub(super) own: StationName,
    pub(super) state: ClaimState,
    pub(super) due: Option<Time>,
    pub(super) correlator: u16,
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
            correlator: 0,
        }
    }

    /// Another station has the name; it is claimed again later.
    pub(super) fn lose(&mut self, now: Time, again: Span) {
        self.state = ClaimState::Lost;
        self.due = Some(now + again);
    }
}
