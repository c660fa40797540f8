//! Runs a world.

use coax_wire::time::{Span, Time};

use super::World;
use crate::{
    app::{App, AppEvent},
    side::{End, Side},
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

/// The applications of each client and of the server's end of its connection.
pub type Apps<'a, 'b> = [(&'a mut (dyn App + 'b), &'a mut (dyn App + 'b))];

impl World {
    /// Runs one client and the server until an application stops it, no event is left, or `limit` has passed.
    pub fn run(&mut self, client: &mut dyn App, server: &mut dyn App, limit: Span) -> Ended {
        self.run_all(&mut [(client, server)], limit)
    }

    /// Runs all clients until each of them has stopped, no event is left, or `limit` has passed.
    pub fn run_all(&mut self, apps: &mut Apps<'_, '_>, limit: Span) -> Ended {
        let end = Time(limit.0);
        let count = u16::try_from(self.clients()).unwrap_or(u16::MAX);
        for client in 0..count {
            for side in [Side::Server, Side::Client] {
                let start = (
                    End::new(side, client),
                    AppEvent::Start,
                    self.current.clone(),
                );
                self.pending.push_back(start);
            }
        }
        self.start_stations();
        self.deliver_events(apps);
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
            self.current = account.in_epoch(self.flows.of(event.client()).epoch);
            self.dispatch(event);
            self.deliver_events(apps);
        }
        Ended::Stopped
    }
}
