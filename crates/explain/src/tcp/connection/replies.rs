//! Answers that a sender without TCP must wait for before it may go on: the acknowledgment of a message, leave to go on after
//! its first piece, the final of a poll, a receiver that has room again.

use crate::netbios::marks;
use crate::report::FrameControl;
use crate::tcp::connection::Connection;
use crate::timeline::{Blocked, Novelty, Reply, Side, of, of_mut};
use coax_capture::{Flags, Segment, Transport};
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
    fn sent(&mut self, segment: &Segment<'_>, at: Time, has_outstanding: bool) {
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
    fn heard(&mut self, segment: &Segment<'_>, at: Time) {
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
}

impl Connection {
    /// Whether it is carried by frames that are not TCP's.
    pub(super) fn is_framed(&self) -> bool {
        self.ends[0].transport() != Transport::Tcp
    }

    /// What a frame says that has no data.
    pub(super) fn control(&self, segment: &Segment<'_>) -> Option<FrameControl> {
        let says = |mark: u16| segment.flags.has(mark);
        let is_opening = says(Flags::SYN | Flags::FIN);
        if !self.is_framed() || segment.len > 0 || is_opening {
            return None;
        }
        Some(match () {
            () if says(marks::REJECTS) => FrameControl::Reject,
            () if says(marks::BUSY) => FrameControl::Busy,
            () if says(marks::POLL) => FrameControl::Poll,
            () if says(marks::FINAL) => FrameControl::Final,
            () if says(marks::ACKS_MESSAGE) => FrameControl::MessageAcknowledgment,
            () if says(marks::CONTINUES) => FrameControl::Continue,
            () => FrameControl::Acknowledgment,
        })
    }

    /// What a frame says beyond TCP.
    pub(super) fn note_replies(&mut self, segment: &Segment<'_>, side: Side, at: Time) {
        if !self.is_framed() {
            return;
        }
        of_mut(&mut self.replies, side.other()).heard(segment, at);
        if segment.flags.has(marks::REJECTS) {
            of_mut(&mut self.streams, side.other()).rejected(at);
        }
    }

    /// The same of its sender, after its data was taken.
    pub(super) fn note_waits(&mut self, segment: &Segment<'_>, side: Side, at: Time) {
        if self.is_framed() {
            let stream = of(&self.streams, side);
            let has_outstanding = stream.highest > stream.acked;
            of_mut(&mut self.replies, side).sent(segment, at, has_outstanding);
        }
    }

    /// What data is to the stream if a frame's numbers show more than its bytes.
    pub(super) fn novelty_of(
        &mut self,
        segment: &Segment<'_>,
        side: Side,
        novelty: Option<Novelty>,
    ) -> Option<Novelty> {
        let fills = self.is_framed() && segment.flags.has(marks::FILLS);
        if !fills || novelty != Some(Novelty::New) {
            return novelty;
        }
        of_mut(&mut self.streams, side).fills();
        Some(Novelty::Fill)
    }

    /// Whether a side's timer had it ask what had arrived before it sends this.
    pub(super) fn is_by_timer(&self, side: Side) -> bool {
        of(&self.replies, side).is_timer
    }

    /// The answer that a side had to wait for before it sends this, if it did.
    pub(super) fn reply(&self, side: Side) -> Option<Blocked> {
        let wait = of(&self.replies, side).wait?;
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
