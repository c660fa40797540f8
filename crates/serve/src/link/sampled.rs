//! A client's figures for the history.

use coax_server::Connection;
use coax_waits::MINUTE;

use super::{Inner, Link};
use crate::history::Sample;

impl Link {
    /// What the client did since the last look.
    pub(super) fn sample(&self, inner: &mut Inner, engine: Option<&mut Connection>) -> Sample {
        let mut client = inner.story.sample(inner.outbox.sent_total());
        let now = self.host.clock.now();
        if let Some(meter) = self.waits.now(now, &self.socket) {
            let minute = meter.recent(now, MINUTE);
            client.waited_us = minute.total();
            let cause = minute.dominant().map(|cause| cause.name());
            client.cause = cause.unwrap_or_default().into();
        }
        Sample {
            client,
            shares: engine.map(Connection::take_moved).unwrap_or_default(),
        }
    }
}
