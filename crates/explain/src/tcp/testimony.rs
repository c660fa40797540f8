//! What a connection shows to the witness who records the copies on it.

use crate::evidence::{RecordedCharge, Rung, Shown, Witness};
use crate::report::Direction;
use crate::session::{Framer, Moment, Verdict};
use crate::smb::Smb;
use crate::tcp::connection::Connection;
use crate::timeline::{Novelty, Side, of};
use coax_capture::Segment;
use coax_cause::Account;

impl Connection {
    /// Who sees all of this connection.
    pub(super) fn witness(&mut self) -> &mut Witness {
        match &mut self.smb {
            Some(smb) => smb.witness(),
            None => &mut self.witness,
        }
    }

    /// Shows the witness a segment and what the time before it was spent on.
    pub(super) fn testify(
        &mut self,
        segment: &Segment<'_>,
        side: Side,
        start: u64,
        novelty: Option<Novelty>,
        moment: Moment,
    ) {
        if self.is_scout {
            return drop(self.ledger.take_charges());
        }
        self.begin_ticket(segment);
        let to = heading(side);
        self.account_for(moment.frame, to);
        let again = novelty == Some(Novelty::Again);
        let half = of(&self.halves, side);
        let sent = Shown {
            at: moment.at,
            frame: moment.frame,
            end: start.saturating_add(u64::from(segment.len)),
            acked: half.acked,
            edge: half.edges.latest().unwrap_or(half.acked),
            again,
        };
        let rung = Rung {
            at: moment.at,
            frame: moment.frame,
            to,
            len: segment.len,
            again,
            window: of(&self.halves, side.other()).window,
            flags: segment.flags,
            said: None,
        };
        let witness = self.witness();
        witness.rung(rung);
        if segment.len > 0 && novelty != Some(Novelty::KeepAlive) {
            witness.sent(to, &sent);
        }
    }

    /// What is not known to be SMB may be a copy of its own.
    fn begin_ticket(&mut self, segment: &Segment<'_>) {
        if segment.len > 0 && self.ticket.is_none() && self.verdict != Verdict::Smb {
            let begin = self.first.at;
            self.ticket = Some(self.witness().begin(begin));
        }
    }

    /// Shows the witness what was charged up to this packet.
    pub(super) fn account_for(&mut self, frame: u64, to: Direction) {
        let Self {
            ledger,
            smb,
            witness,
            ..
        } = self;
        let witness = match smb {
            Some(smb) => smb.witness(),
            None => witness,
        };
        for charge in ledger.take_charges() {
            witness.charge(RecordedCharge {
                cause: charge.cause,
                from: charge.from,
                span: charge.span,
                frame,
                to,
            });
        }
    }

    /// What cuts both directions, who listens, and what has been spent by now.
    pub(super) fn listeners(&mut self) -> (&mut [Framer; 2], &mut Smb, &Account) {
        let Self {
            framers,
            smb,
            witness,
            ledger,
            ..
        } = self;
        let smb = smb.get_or_insert_with(|| listen(std::mem::take(witness)));
        (framers, smb, ledger.account())
    }
}

/// Who listens from now on. It is large, and nobody else needs room for it.
#[cold]
fn listen(witness: Box<Witness>) -> Box<Smb> {
    Box::new(Smb::new(witness))
}

pub(super) fn heading(from: Side) -> Direction {
    match from {
        Side::Client => Direction::ToServer,
        Side::Server => Direction::ToClient,
    }
}
