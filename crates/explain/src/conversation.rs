//! The message stages of a connection: framing, SMB, and the recorder of the copies on it.

use crate::charge::Charge;
use crate::evidence::{Extent, MemoryBudget, RecordedCharge, RecorderId, RecorderSet, Shown};
use crate::report::{Breakdown, Direction, PacketRow};
use crate::session::{
    Boundaries, Chunk, Framer, Message, Moment, ProtocolSigns, Scratch, Sink, Verdict,
};
use crate::smb::{Context, Purpose, Smb};
use crate::timeline::{Side, of, of_mut};
use coax_capture::Segment;
use coax_cause::Account;
use coax_wire::time::{Span, Time};

/// A stream that began before the capture is searched so far for SMB.
const MAX_SEARCHED: u64 = 1 << 22;

/// What both sides say in messages, and the record of it.
#[derive(Debug)]
pub(crate) struct Conversation {
    framers: [Framer; 2],
    verdict: Verdict,
    signs: ProtocolSigns,
    /// The port is one of SMB's: other data on it is searched for SMB.
    is_service: bool,
    smb: Option<Box<Smb>>,
    /// The recorders, as long as `smb` does not have them.
    recorders: Box<RecorderSet>,
    /// The recorder of a connection that may carry no SMB.
    recorder: Option<RecorderId>,
    /// The first packet of the connection, and whether the connection began before it.
    begin: Moment,
    is_partial: bool,
    /// It records nothing.
    is_calibration_pass: bool,
}

impl Conversation {
    /// Of a connection that began at `begin`; `is_partial`: the capture began later.
    pub(crate) fn new(
        (boundaries, is_service): (Boundaries, bool),
        is_partial: bool,
        begin: Moment,
        room: Option<&MemoryBudget>,
    ) -> Self {
        let framer = || Framer::new(boundaries, is_partial);
        let recorders = match room {
            Some(room) => RecorderSet::new(room),
            None => RecorderSet::new(&MemoryBudget::none()),
        };
        Self {
            framers: [framer(), framer()],
            verdict: Verdict::Unknown,
            signs: ProtocolSigns::default(),
            is_service,
            smb: None,
            recorders: Box::new(recorders),
            recorder: None,
            begin,
            is_partial,
            is_calibration_pass: room.is_none(),
        }
    }

    /// Whether this is not known to be SMB: then it is one message without an end.
    pub(crate) fn is_plain(&self) -> bool {
        self.verdict != Verdict::Smb
    }

    /// Whether this may be SMB.
    pub(crate) fn may_be_smb(&self) -> bool {
        self.verdict != Verdict::Other
    }

    /// Whether messages were framed.
    pub(crate) fn has_smb(&self) -> bool {
        self.smb.is_some()
    }

    /// Whether a side owes answers that were requested already: then it may be TCP that holds them back.
    pub(crate) fn owes(&self, side: Side) -> bool {
        side == Side::Server && self.smb.as_ref().is_some_and(|smb| smb.is_waiting())
    }

    /// Whether this side often asks for more before it has an answer, and waits for one now.
    pub(crate) fn asks_ahead(&self, side: Side) -> bool {
        let smb = self.smb.as_ref().filter(|_| side == Side::Client);
        smb.is_some_and(|smb| smb.is_waiting() && smb.asks_ahead())
    }

    /// Whether what this side says now left before it could know of the latest answer: from the capture to it and back takes `round`.
    pub(crate) fn left_before_answer(&self, side: Side, at: Time, round: Span) -> bool {
        let smb = self.smb.as_ref().filter(|_| side == Side::Client);
        let answered = smb.and_then(|smb| smb.answered());
        answered.is_some_and(|answered| at - answered < Span(round.0 - round.0 / 16))
    }

    /// Whether nothing is due from the server but an event, such as a change in a watched folder.
    pub(crate) fn awaits_event(&self) -> bool {
        self.smb.as_ref().is_some_and(|smb| smb.awaits_event())
    }

    /// What the latest request is for.
    pub(crate) fn purpose(&self) -> Purpose {
        let smb = self.smb.as_ref().filter(|_| !self.is_plain());
        smb.map_or(Purpose::Data, |smb| smb.purpose())
    }

    /// The capture time of the oldest unanswered request after the first `before` ones.
    pub(crate) fn oldest_request(&self, before: usize) -> Option<Time> {
        self.smb.as_ref()?.oldest_request(before)
    }

    /// Whether that request was made after all that were answered.
    pub(crate) fn answers_in_order(&self, before: usize) -> bool {
        let smb = self.smb.as_ref();
        smb.is_some_and(|smb| smb.answers_in_order(before))
    }

    /// Whether `data` of `side` continues a message.
    pub(crate) fn continues(&self, side: Side, data: &[u8]) -> bool {
        self.is_plain() || of(&self.framers, side).goes_on_with(data)
    }

    /// Whether the next byte of `side` continues a message.
    pub(crate) fn is_inside(&self, side: Side) -> bool {
        of(&self.framers, side).is_inside()
    }

    /// Whether the byte after the next `len` bytes continues a message.
    pub(crate) fn is_inside_after(&self, side: Side, len: u64) -> bool {
        of(&self.framers, side).is_inside_after(len)
    }

    /// Bytes that framing skipped.
    pub(crate) fn skipped(&self) -> u64 {
        self.framers.iter().map(Framer::skipped).sum()
    }

    /// `side` said this, in order. Whether a message ended in it.
    pub(crate) fn push(
        &mut self,
        side: Side,
        chunk: Chunk<'_>,
        spent: &Account,
        scratch: &mut Scratch,
    ) -> bool {
        let is_news = self.signs.sniff(side, &chunk);
        if is_news || !self.may_be_smb() {
            self.judge();
            return false;
        }
        let has_message = self.listen(side, spent, scratch, |framer, listener| {
            framer.push(chunk, spent, listener);
        });
        self.judge();
        has_message
    }

    /// The capture lacks the given number of bytes of `side`.
    pub(crate) fn gap(
        &mut self,
        side: Side,
        len: u64,
        moment: Moment,
        spent: &Account,
        scratch: &mut Scratch,
    ) {
        if self.may_be_smb() {
            self.listen(side, spent, scratch, |framer, listener| {
                framer.gap(len, moment, spent, listener);
            });
        }
    }

    fn listen(
        &mut self,
        side: Side,
        spent: &Account,
        scratch: &mut Scratch,
        frame: impl FnOnce(&mut Framer, &mut Listener<'_>),
    ) -> bool {
        let begin = (!self.is_partial).then_some(self.begin);
        let recorders = &mut self.recorders;
        let smb = self
            .smb
            .get_or_insert_with(|| smb_stage(std::mem::take(recorders), begin));
        let mut listener = Listener {
            smb,
            signs: &mut self.signs,
            side,
            spent,
            scratch,
            has_message: false,
        };
        frame(of_mut(&mut self.framers, side), &mut listener);
        listener.has_message
    }

    fn judge(&mut self) {
        if self.verdict == Verdict::Other {
            return;
        }
        if self.signs.is_foreign() {
            return self.give_up_smb();
        }
        if self.signs.is_smb1() {
            self.end_recorder();
        }
        if self.verdict != Verdict::Unknown {
            return;
        }
        let verdicts = self.framers.each_ref().map(Framer::verdict);
        let searched = self.framers.iter().map(Framer::skipped).max().unwrap_or(0);
        if verdicts.contains(&Verdict::Smb) {
            self.verdict = Verdict::Smb;
        } else if (verdicts.contains(&Verdict::Other) && !self.is_service)
            || searched > MAX_SEARCHED
        {
            self.give_up_smb();
        }
    }

    fn give_up_smb(&mut self) {
        self.verdict = Verdict::Other;
        if let Some(smb) = self.smb.take() {
            self.recorders = smb.into_recorders();
        }
    }

    /// The connection is not a copy of its own. Until the server has answered in SMB1 it may become one.
    fn end_recorder(&mut self) {
        if let Some(recorder) = self.recorder.take() {
            self.recorders().end(recorder, None);
        }
    }

    /// What shows the protocol.
    pub(crate) fn signs(&self) -> &ProtocolSigns {
        &self.signs
    }

    /// Whether the port is one of SMB's.
    pub(crate) fn is_service(&self) -> bool {
        self.is_service
    }

    fn recorders(&mut self) -> &mut RecorderSet {
        match &mut self.smb {
            Some(smb) => smb.recorders(),
            None => &mut self.recorders,
        }
    }

    /// Records a segment and the charges that it ended.
    pub(crate) fn record_segment(
        &mut self,
        segment: &Segment<'_>,
        rung: PacketRow,
        shown: Option<&Shown>,
        charges: impl Iterator<Item = Charge>,
    ) {
        if self.is_calibration_pass {
            return charges.for_each(drop);
        }
        if segment.len > 0 && self.recorder.is_none() && self.is_plain() {
            // what is not known to be SMB may be a copy of its own
            let begin = self.begin.at;
            self.recorder = Some(self.recorders().begin(begin));
        }
        self.record_charges(charges, rung.frame, rung.to);
        let recorders = self.recorders();
        recorders.rung(rung);
        if let Some(shown) = shown {
            recorders.sent(rung.to, shown);
        }
    }

    /// Records charges that a packet ended.
    pub(crate) fn record_charges(
        &mut self,
        charges: impl Iterator<Item = Charge>,
        frame: u64,
        to: Direction,
    ) {
        let recorders = self.recorders();
        for charge in charges {
            recorders.charge(RecordedCharge {
                cause: charge.cause,
                from: charge.from,
                span: charge.span,
                frame,
                to,
            });
        }
    }

    /// The copy that a connection without SMB is lasts at least until now.
    pub(crate) fn extend_plain(&mut self) {
        if let Some(recorder) = self.recorder {
            self.recorders().used(recorder, None);
        }
    }

    /// Ends the recorder of a connection without SMB; `extent`: it is a copy.
    pub(crate) fn end_plain(&mut self, extent: Option<&Extent>) -> Option<Breakdown> {
        let recorder = self.recorder.take()?;
        Some(self.recorders().end(recorder, extent))
    }

    /// Takes the SMB stage, to be asked for its copies.
    pub(crate) fn take_smb(&mut self) -> Option<Box<Smb>> {
        self.end_recorder();
        self.smb.take()
    }
}

/// The SMB stage is large, and most connections of a capture may not need one.
#[cold]
fn smb_stage(recorders: Box<RecorderSet>, begin: Option<Moment>) -> Box<Smb> {
    Box::new(Smb::new(recorders, begin))
}

/// Hands the messages of one side to the SMB stage.
struct Listener<'a> {
    smb: &'a mut Smb,
    signs: &'a mut ProtocolSigns,
    side: Side,
    spent: &'a Account,
    scratch: &'a mut Scratch,
    /// A message ended.
    has_message: bool,
}

impl Sink for Listener<'_> {
    fn message(&mut self, message: Message<'_>) {
        self.has_message = true;
        self.signs.message(self.side, &message);
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
