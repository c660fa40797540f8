//! What a client adds to the server's totals, and to captures.

use std::sync::atomic::Ordering;

use coax_server::Reach;
use coax_wire::time::Time;

use super::{Inner, Link, Outbox, Session};
use crate::waits::Sent;

impl Link {
    /// A message arrived that may touch `reach`.
    pub(super) fn count_request(&self, inner: &Inner, reach: Reach, message: &[u8]) {
        let totals = &self.host.totals;
        let mut system = self.system.load(Ordering::Relaxed);
        if system == 0 && inner.story.uses_a_share() {
            system = totals.system(&inner.story.system());
            self.system.store(system, Ordering::Relaxed);
        }
        totals.request(system, reach, message);
    }

    /// The kernel has taken bytes of replies; the connection had sent `before` bytes before. `served`: when the engine had done
    /// what it can, and whether a request waits for another client.
    pub(super) fn count_sent(
        &self,
        before: u64,
        outbox: &Outbox,
        reach: Reach,
        served: Option<(Time, bool)>,
    ) {
        let sent = Sent {
            before,
            now: outbox.sent_total(),
            all: outbox.is_empty(),
        };
        self.waits
            .handed(&self.host.clock, served, &sent, &self.socket);
        let system = self.system.load(Ordering::Relaxed);
        let bytes = sent.now.saturating_sub(before);
        self.host.totals.sent(system, reach, bytes);
    }

    /// The client's waits since this was last called go into the totals.
    pub(super) fn count_waits(&self) {
        if let Some(account) = self.waits.take_charged() {
            let system = self.system.load(Ordering::Relaxed);
            self.host.totals.waited(system, &account);
        }
    }

    /// Joins a recording that has begun, if the client is between two messages.
    pub(super) fn follow_recording(&self, session: &Session) {
        let recorder = &self.host.recorder;
        if !self.taps.is_outdated(recorder) || session.waiting_bytes() > 0 || self.has_unsent() {
            return;
        }
        let client = self.address.parse().ok();
        let ends = client.zip(self.socket.local_address());
        self.taps.follow(recorder, self.number, ends);
    }
}
