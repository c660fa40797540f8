//! What a connection's SMB waits for.

use coax_wire::time::Time;

use super::{Smb, USUAL_OVERHEAD};

impl Smb {
    /// How long the client's next message is, if it goes on as it did.
    pub(crate) fn expected_of_client(&self) -> Option<u64> {
        let raw = self.queue.raw_write_due();
        raw.or(self.latest_transfer.as_ref().map(|(_, _, len)| *len))
    }

    /// How long the server's next message is: the answer to the oldest read.
    pub(crate) fn expected_of_server(&self) -> Option<u64> {
        let (is_raw, count) = self.queue.read_due()?;
        let overhead = if is_raw {
            0
        } else {
            self.reply_overhead.unwrap_or(USUAL_OVERHEAD)
        };
        // what it asks for may not have been kept: then it is as much as others asked for
        let count = if count == 0 { self.read_size } else { count };
        (count > 0).then(|| count.saturating_add(overhead))
    }

    /// Whether the server has requests to answer. A NOTIFY_CHANGE waits for an event instead.
    pub(crate) fn is_waiting(&self) -> bool {
        self.queue.has_due()
    }

    /// When the latest answer was complete.
    pub(crate) fn answered(&self) -> Option<Time> {
        self.gaps.answered()
    }

    /// Whether the client often asks for more before it has an answer, as seen from where the capture was taken.
    pub(crate) fn asks_ahead(&self) -> bool {
        self.gaps.are_often_negative()
    }

    /// Whether the only outstanding requests wait for an event.
    pub(crate) fn awaits_event(&self) -> bool {
        self.queue.has_notify() && !self.queue.has_due()
    }

    /// The time at which the oldest unanswered request after the first `skipped` ones was complete.
    pub(crate) fn oldest_request(&self, skipped: usize) -> Option<Time> {
        self.queue.oldest(skipped)
    }

    /// Whether that request was made after all that were answered: the server answers in order, and no answer is missing.
    pub(crate) fn answers_in_order(&self, skipped: usize) -> bool {
        let oldest = self.queue.oldest(skipped);
        oldest.is_some_and(|asked| asked >= self.latest_answered)
    }
}
