//! What each side says, in order, and handed on to who listens.

use crate::report::Quality;
use crate::session::{Chunk, Framer, Message, Moment, Scratch, Sink, Verdict};
use crate::smb::{Context, Smb};
use crate::tcp::connection::{Connection, is_service};
use crate::tcp::testimony::heading;
use crate::timeline::{Side, of_mut};
use coax_capture::Segment;
use coax_cause::{Account, Cause};
use coax_wire::time::Span;

/// A hole that was acknowledged is a fault of the capture when so long has passed, or so many packets: until then, what
/// fills it may only have been written down late.
const HOLE_PATIENCE: Span = Span(5_000_000);
const HOLE_PACKETS: u32 = 32;
/// A stream that began before the capture is searched so far for SMB.
const SEARCHED: u64 = 1 << 22;

impl Connection {
    /// Hands on what is in order now.
    pub(super) fn data(
        &mut self,
        segment: &Segment<'_>,
        side: Side,
        start: u64,
        moment: Moment,
        scratch: &mut Scratch,
    ) {
        let is_heard = self.verdict != Verdict::Other;
        let half = of_mut(&mut self.halves, side);
        let len = u64::from(segment.len);
        if start > half.delivered {
            half.keep_early(start, len, if is_heard { segment.data } else { &[] });
            return;
        }
        let known = half.delivered - start;
        if known >= len {
            return;
        }
        let kept = usize::try_from(known).unwrap_or(usize::MAX);
        let bytes = segment.data.get(kept..).unwrap_or_default();
        half.delivered = start.saturating_add(len);
        let len = len - known;
        self.push(side, Chunk { bytes, len, moment }, scratch);
        self.push_early(side, moment, scratch);
    }

    fn push_early(&mut self, side: Side, moment: Moment, scratch: &mut Scratch) {
        while let Some((len, bytes)) = of_mut(&mut self.halves, side).next_early() {
            of_mut(&mut self.halves, side).delivered += len;
            let bytes = &bytes;
            self.push(side, Chunk { bytes, len, moment }, scratch);
        }
    }

    fn push(&mut self, side: Side, chunk: Chunk<'_>, scratch: &mut Scratch) {
        if self.verdict == Verdict::Other {
            return;
        }
        let heard_whole = self.tell(side, scratch, |framer, listener| {
            framer.push(chunk, listener.spent, listener);
        });
        if heard_whole {
            of_mut(&mut self.halves, side).sent.is_whole();
        }
        self.judge();
    }

    /// Lets what cuts a side's messages tell who listens; whether one was whole.
    fn tell(
        &mut self,
        side: Side,
        scratch: &mut Scratch,
        told: impl FnOnce(&mut Framer, &mut Listener<'_>),
    ) -> bool {
        let (framers, smb, spent) = self.listeners();
        let mut listener = Listener {
            smb,
            side,
            spent,
            scratch,
            heard_whole: false,
        };
        told(of_mut(framers, side), &mut listener);
        listener.heard_whole
    }

    fn judge(&mut self) {
        if self.verdict != Verdict::Unknown {
            return;
        }
        let verdicts = self.framers.each_ref().map(Framer::verdict);
        let is_service = is_service(self.ends[1].port);
        let searched = self.framers.iter().map(Framer::skipped).max().unwrap_or(0);
        if verdicts.contains(&Verdict::Smb) {
            self.verdict = Verdict::Smb;
            if let Some(ticket) = self.ticket.take() {
                self.witness().end(ticket, None);
            }
        } else if (verdicts.contains(&Verdict::Other) && !is_service) || searched > SEARCHED {
            self.verdict = Verdict::Other;
            if let Some(smb) = self.smb.take() {
                self.witness = smb.into_witness();
            }
        }
    }

    /// Goes over holes that nothing will fill any more.
    pub(super) fn settle_holes(
        &mut self,
        moment: Moment,
        scratch: &mut Scratch,
        quality: &mut Quality,
    ) {
        for side in [Side::Client, Side::Server] {
            let half = of_mut(&mut self.halves, side);
            let is_acked = half.acked > half.delivered;
            if !is_acked && !half.is_overfull() {
                half.unseen = None;
                continue;
            }
            let (since, packets) = half.unseen.get_or_insert((moment.at, 0));
            *packets += 1;
            if moment.at - *since >= HOLE_PATIENCE || *packets >= HOLE_PACKETS || half.is_overfull()
            {
                self.skip_hole(side, moment, scratch, quality);
            }
        }
    }

    pub(super) fn skip_hole(
        &mut self,
        side: Side,
        moment: Moment,
        scratch: &mut Scratch,
        quality: &mut Quality,
    ) {
        let half = of_mut(&mut self.halves, side);
        let Some(end) = half.hole_end() else {
            return;
        };
        let len = end - half.delivered;
        half.delivered = end;
        half.highest = half.highest.max(end);
        half.unseen = None;
        quality.holes += 1;
        quality.missing_bytes = quality.missing_bytes.saturating_add(len);
        self.unseen |= moment.at <= self.ledger.at();
        self.ledger.catch_up(moment.at, Cause::Capture);
        self.account_for(moment.frame, heading(side));
        if self.verdict != Verdict::Other {
            self.tell(side, scratch, |framer, listener| {
                framer.gap(len, moment, listener.spent, listener);
            });
        }
        self.push_early(side, moment, scratch);
    }
}

/// Tells SMB what one side said.
struct Listener<'a> {
    smb: &'a mut Smb,
    side: Side,
    spent: &'a Account,
    scratch: &'a mut Scratch,
    /// A message was whole.
    heard_whole: bool,
}

impl Sink for Listener<'_> {
    fn message(&mut self, message: Message<'_>) {
        self.heard_whole = true;
        let mut context = Context {
            spent: *self.spent,
            scratch: self.scratch,
        };
        match self.side {
            Side::Client => self.smb.client_said(&message, &mut context),
            Side::Server => self.smb.server_said(&message, &mut context),
        }
    }

    fn expected(&self) -> Option<u64> {
        match self.side {
            Side::Client => self.smb.expected_of_client(),
            Side::Server => self.smb.expected_of_server(),
        }
    }
}
