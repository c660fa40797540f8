//! Runs a world.

use coax_wire::time::{Span, Time};

use super::World;
use crate::{
    app::{App, AppEvent},
    side::Side,
};

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// An application stopped it.
    Stopped,
    /// No event was left.
    Idle,
    /// The time limit was reached.
    OutOfTime,
    /// The event limit was reached.
    TooMuch,
}

impl World {
    /// Runs until an application stops it, no event is left, or `limit` has passed.
    pub fn run(&mut self, client: &mut dyn App, server: &mut dyn App, limit: Span) -> Ended {
        let end = Time(limit.0);
        for side in [Side::Server, Side::Client] {
            self.pending
                .push_back((side, AppEvent::Start, self.current.clone()));
        }
        self.deliver_events(client, server);
        self.watch_medium();
        while !self.stopped {
            match self.events.next_time() {
                None => return Ended::Idle,
                Some(at) if at > end => return Ended::OutOfTime,
                Some(_) if self.events() > self.most => return Ended::TooMuch,
                Some(_) => {}
            }
            let Some((at, (event, account))) = self.events.pop() else {
                return Ended::Idle;
            };
            self.now = at;
            self.current = account.in_epoch(self.epoch);
            self.dispatch(event);
            self.deliver_events(client, server);
        }
        Ended::Stopped
    }
}
