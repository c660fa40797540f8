//! Opens that an administrator wants closed.

use std::sync::{PoisonError, atomic::Ordering};

use coax_server::{Connection, table::OpenId};

use super::Link;
use crate::{lanes::Pass, outcome::TurnOutcome};

/// Opens that wait to be closed at most; further ones are left open.
const WAITING: usize = 1024;

impl Link {
    /// Has an open closed if it is this client's, by the thread that serves the client next.
    pub(super) fn want_closed(&self, open: OpenId) {
        let mut unwanted = self.unwanted.lock().unwrap_or_else(PoisonError::into_inner);
        if unwanted.len() < WAITING {
            unwanted.push(open);
            self.has_unwanted.store(true, Ordering::Release);
        }
        drop(unwanted);
        self.waker.nudge();
    }

    /// Whether opens wait to be closed.
    pub(crate) fn has_unwanted(&self) -> bool {
        self.has_unwanted.load(Ordering::Acquire)
    }

    /// Closes the opens that wait.
    pub(super) fn close_unwanted(&self, pass: &mut Option<Pass>) -> Result<(), TurnOutcome> {
        let mut inner = self.lock();
        let reach = inner.engine.as_ref().map(Connection::change_over_reach);
        let _pass = self.leave(reach.unwrap_or_default(), pass)?;
        let unwanted = {
            let mut unwanted = self.unwanted.lock().unwrap_or_else(PoisonError::into_inner);
            self.has_unwanted.store(false, Ordering::Release);
            std::mem::take(&mut *unwanted)
        };
        let now = self.host.clock.now();
        let Some(engine) = &mut inner.engine else {
            return Ok(());
        };
        let closed = unwanted
            .into_iter()
            .filter(|open| engine.close_open(now, *open))
            .count();
        if closed > 0 {
            inner
                .story
                .note("an open file was closed by 'coax status close'");
        }
        self.settle(&mut inner)
    }
}
