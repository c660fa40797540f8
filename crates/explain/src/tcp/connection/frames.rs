//! What frames of NetBEUI and IPX say beyond TCP.

use crate::netbios::marks;
use crate::report::FrameControl;
use crate::tcp::connection::Connection;
use crate::timeline::{Blocked, Novelty, Side, of, of_mut};
use coax_capture::{Flags, Segment, Transport};
use coax_wire::time::Time;

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
    pub(super) fn is_by_timer(&self, segment: &Segment<'_>, side: Side) -> bool {
        let says_so = self.is_framed() && segment.flags.has(marks::BY_TIMER);
        says_so || of(&self.replies, side).is_timer()
    }

    /// The answer that a side had to wait for before it sends this, if it did.
    pub(super) fn reply(&self, side: Side) -> Option<Blocked> {
        of(&self.replies, side).reply(side)
    }
}
