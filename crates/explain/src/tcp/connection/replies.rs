//! Answers that a sender without TCP must wait for before it may go on: the acknowledgment of a message, leave to go on after
//! its first piece, the final of a poll, a receiver that has room again.

use crate::netbios::marks;
use crate::timeline::{Blocked, Reply, Side};
use coax_capture::Segment;
use coax_cause::Cause;
use coax_wire::time::Time;

/// What a side waits for, since when, and when that came.
#[derive(Clone, Copy, Debug)]
struct Wait {
    since: Time,
    mark: u16,
    came: Option<Time>,
}

/// The waits of one side.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Replies {
    wait: Option<Wait>,
    /// The other side takes no data, since then.
    refused: Option<Time>,
    /// It asked what had arrived because its timer had expired, and has not sent since.
    is_timer: bool,
}

impl Replies {
    /// This side sent a segment.
    pub(super) fn sent(&mut self, segment: &Segment<'_>, at: Time, has_outstanding: bool) {
        let flags = segment.flags;
        let needs = [
            (marks::NEEDS_MESSAGE_ACK, marks::ACKS_MESSAGE),
            (marks::NEEDS_CONTINUE, marks::CONTINUES),
            (marks::POLL, marks::FINAL),
        ];
        let needed = needs.iter().find(|(needs, _)| flags.has(*needs));
        if segment.len > 0 {
            (self.wait, self.is_timer) = (None, false);
        } else if flags.has(marks::POLL) {
            self.is_timer |= has_outstanding;
        }
        if let Some((_, mark)) = needed {
            let again = self
                .wait
                .filter(|wait| wait.mark == *mark && wait.came.is_none());
            self.wait = again.or(Some(Wait {
                since: at,
                mark: *mark,
                came: None,
            }));
        }
    }

    /// The other side sent a segment.
    pub(super) fn heard(&mut self, segment: &Segment<'_>, at: Time) {
        if segment.len > 0 {
            // what comes with data lets nobody go that waits for data
            self.wait = None;
            return;
        }
        if segment.flags.has(marks::BUSY) {
            self.refused.get_or_insert(at);
        } else if let Some(since) = self.refused.take() {
            self.wait = Some(Wait {
                since,
                mark: marks::BUSY,
                came: Some(at),
            });
        }
        if let Some(wait) = &mut self.wait
            && segment.flags.has(wait.mark)
        {
            wait.came.get_or_insert(at);
        }
    }

    /// Whether its timer had it ask what had arrived before it sends this.
    pub(super) fn is_timer(&self) -> bool {
        self.is_timer
    }

    /// The answer that this side, `side`, had to wait for before it sends this, if it did.
    pub(super) fn reply(&self, side: Side) -> Option<Blocked> {
        let wait = self.wait?;
        let cause = match wait.mark {
            marks::BUSY => side.other().think(),
            marks::CONTINUES => Cause::ReceiveWindow,
            marks::FINAL => Cause::Metadata,
            _ => Cause::NagleDelayedAck,
        };
        Some(Blocked::Reply(Reply {
            since: wait.since,
            came: wait.came?,
            cause,
        }))
    }
}
