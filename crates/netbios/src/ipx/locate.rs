//! Finding the station with a name.

use coax_wire::nbt::name::NbName;
use coax_wire::time::{Span, Time};

use super::config::Carriage;
use super::route::Route;

/// How long a station that hosts SMB directly is given to offer NetBIOS, too: both queries leave together.
const PREFERENCE: Span = Span::from_millis(100);

/// A call whose station is not known yet.
#[derive(Debug)]
pub(super) struct Locating {
    pub(super) called: NbName,
    pub(super) calling: NbName,
    /// The only carriage to use, if there is a choice.
    pub(super) only: Option<Carriage>,
    pub(super) sent: u8,
    pub(super) due: Time,
    /// A station that hosts SMB directly.
    direct: Option<Route>,
}

/// What to do about a call.
pub(super) enum Search {
    Wait,
    /// Ask again.
    Ask,
    /// A station that hosts SMB directly, and does not offer NetBIOS.
    Direct(Route),
    /// Nobody has the name.
    Nobody,
}

impl Locating {
    pub(super) fn new(now: Time, called: NbName, calling: NbName, only: Option<Carriage>) -> Self {
        Self {
            called,
            calling,
            only,
            sent: 0,
            due: now,
            direct: None,
        }
    }

    pub(super) fn wants(&self, carriage: Carriage) -> bool {
        self.only.is_none_or(|only| only == carriage)
    }

    /// A station answered that hosts SMB directly.
    pub(super) fn found_direct(&mut self, now: Time, route: Route) {
        if self.direct.is_none() {
            self.direct = Some(route);
            self.due = match self.only {
                Some(_) => now,
                None => now + PREFERENCE,
            };
        }
    }

    pub(super) fn advance(&mut self, now: Time, count: u8, interval: Span) -> Search {
        if self.due > now {
            return Search::Wait;
        }
        if let Some(route) = self.direct {
            return Search::Direct(route);
        }
        if self.sent >= count {
            return Search::Nobody;
        }
        self.sent = self.sent.saturating_add(1);
        self.due = now + interval;
        Search::Ask
    }
}
