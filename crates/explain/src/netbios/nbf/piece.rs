//! A frame of a session.

use crate::netbios::{marks, session::Session, stream::Out};
use crate::session::Moment;
use coax_wire::nbf::{SessionCommand, SessionFrame, flags};

/// See the module.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece<'a> {
    pub(super) frame: SessionFrame<'a>,
    /// Bytes of its data on the wire.
    pub(super) len: u32,
    /// [`marks`] that the link adds.
    pub(super) marks: u16,
    /// Who sent it.
    pub(super) station: usize,
}

impl Piece<'_> {
    /// Whether it has a piece of a message.
    pub(super) fn has_data(&self) -> bool {
        self.len > 0
            && matches!(
                self.frame.command,
                SessionCommand::DataFirstMiddle | SessionCommand::DataOnlyLast
            )
    }

    pub(super) fn is(&self, command: SessionCommand) -> bool {
        self.frame.command == command
    }

    /// [`marks`] of what it says.
    pub(super) fn said(&self) -> u16 {
        let if_has = |flag: u8, mark: u16| if self.frame.has(flag) { mark } else { 0 };
        let acks = || if_has(flags::ACK_INCLUDED, marks::ACKS_MESSAGE);
        let own = match self.frame.command {
            SessionCommand::DataOnlyLast if self.frame.has(flags::NO_ACK) => marks::END | acks(),
            SessionCommand::DataOnlyLast => marks::END | marks::NEEDS_MESSAGE_ACK | acks(),
            SessionCommand::DataFirstMiddle => {
                if_has(flags::RECEIVE_CONTINUE, marks::NEEDS_CONTINUE) | acks()
            }
            SessionCommand::DataAck => marks::ACKS_MESSAGE,
            SessionCommand::ReceiveContinue => marks::CONTINUES,
            _ => 0,
        };
        self.marks | own
    }

    /// Hands it to its session, in order. Where its data begins, and how much it is.
    pub(super) fn reach(&self, session: &mut Session, moment: Moment, out: Out<'_>) -> (u64, u32) {
        if !self.has_data() {
            self.control(session, moment, out);
            return (0, 0);
        }
        if self.frame.data2 == 1 {
            session.resumes(self.station);
        }
        let bytes = (self.frame.data, self.len);
        let start = session.data(self.station, bytes, self.said(), (moment, out));
        (start, self.len)
    }

    fn control(&self, session: &mut Session, moment: Moment, out: Out<'_>) {
        let station = self.station;
        match self.frame.command {
            SessionCommand::SessionInitialize => self.open(session, station, moment, out),
            SessionCommand::SessionConfirm => self.open(session, 1 - station, moment, out),
            SessionCommand::SessionEnd => session.ends(station, moment, out),
            SessionCommand::NoReceive => {
                session.refuses(station, self.frame.data2, true);
                session.says(station, self.said(), moment, out);
            }
            SessionCommand::ReceiveOutstanding => {
                session.refuses(station, self.frame.data2, false);
                session.says(station, self.said(), moment, out);
            }
            _ => session.says(station, self.said(), moment, out),
        }
    }

    fn open(&self, session: &mut Session, client: usize, moment: Moment, out: Out<'_>) {
        session.opened_by(client);
        let most = self.frame.data2;
        if let Some(side) = session.counts(self.station) {
            side.receive_bytes = Some(most);
        }
        if let (Some(side), Some(stream)) = (session.side(self.station), session.stream()) {
            stream.opens(side, most, moment, out);
        }
    }
}
