//! The frames of a link, one by one.

use super::{Heard, Link, piece::Piece};
use crate::netbios::{
    ended::Ended,
    marks,
    numbers::{Numbered, Place},
    session::Session,
    stream::Out,
};
use crate::session::Moment;
use coax_capture::NetBeui;
use coax_wire::{
    ether::Mac,
    llc::{Control, Supervisory, Unnumbered},
    nbf::{Frame, NameCommand, NameFrame, SessionCommand},
    time::Span,
};

/// A station asks what arrived after such a silence because its timer expired: no T1 is shorter, and one that asks at once
/// has another reason (Windows 98 as a server).
const MIN_REPLY_TIMER: Span = Span::from_millis(100);
/// What a station sends within this time after the answer, it had sent before.
const MAX_REACTION: Span = Span::from_millis(20);

impl Link {
    /// Takes a frame of one of its stations.
    pub(in crate::netbios) fn frame(
        &mut self,
        frame: &NetBeui<'_>,
        moment: Moment,
        ended: &mut Ended,
        out: Out<'_>,
    ) {
        let station = self.station(frame.from);
        self.last = moment;
        match frame.control {
            Control::Unnumbered { kind, .. } => self.unnumbered(kind, frame, moment, ended, out),
            Control::Supervisory { kind, nr, pf } => {
                let heard = self.heard(station, nr, (pf, frame.response), moment.at);
                self.supervisory(kind, heard, moment, out);
            }
            Control::Information { ns, nr, pf } => {
                let heard = self.heard(station, nr, (pf, frame.response), moment.at);
                // a poll that comes with data is no question of its own
                let heard = Heard {
                    marks: heard.marks & !marks::POLL,
                    ..heard
                };
                self.information(ns, heard, frame, (moment, ended), out);
            }
        }
        self.note_silence(station, moment.at);
    }

    fn unnumbered(
        &mut self,
        kind: Unnumbered,
        frame: &NetBeui<'_>,
        moment: Moment,
        ended: &mut Ended,
        out: Out<'_>,
    ) {
        let station = self.station(frame.from);
        match kind {
            Unnumbered::Sabme => {
                self.close_all(station, moment, ended, out);
                self.begin();
            }
            Unnumbered::Disc | Unnumbered::Dm | Unnumbered::Frmr => {
                self.close_all(station, moment, ended, out);
            }
            Unnumbered::Ui => {
                if let Ok(Frame::Name(name)) = Frame::parse(frame.info) {
                    self.name(frame.from, &name);
                }
            }
            Unnumbered::Ua | Unnumbered::Xid | Unnumbered::Test => {}
        }
    }

    /// A name that was found is the one that is called next.
    fn name(&mut self, from: Mac, frame: &NameFrame<'_>) {
        if frame.command == NameCommand::NameRecognized && frame.session() != 0 {
            let station = self.station(from);
            self.called = Some((station, frame.source, frame.destination));
        }
    }

    fn supervisory(&mut self, kind: Supervisory, heard: Heard, moment: Moment, out: Out<'_>) {
        let station = heard.station;
        let is_poll = heard.marks & marks::POLL != 0;
        if is_poll {
            self.note_poll(station, moment.at, MIN_REPLY_TIMER);
        }
        let mark = match kind {
            Supervisory::Rr => 0,
            Supervisory::Rnr => marks::BUSY,
            Supervisory::Rej => marks::REJECTS,
        };
        for session in self.open_sessions() {
            if let Some(side) = session.counts(station) {
                side.polls += u64::from(is_poll);
                side.busy += u64::from(kind == Supervisory::Rnr);
                side.rejects += u64::from(kind == Supervisory::Rej);
            }
            session.says(station, heard.marks | mark, moment, &mut *out);
        }
    }

    fn information(
        &mut self,
        ns: u8,
        heard: Heard,
        frame: &NetBeui<'_>,
        (moment, ended): (Moment, &mut Ended),
        out: Out<'_>,
    ) {
        let station = heard.station;
        let was_lost = self.was_lost(station, moment.at, MAX_REACTION);
        let Some(numbers) = self.numbers.get_mut(station) else {
            return;
        };
        let place = numbers.place(u64::from(ns));
        let Ok(Frame::Session(parsed)) = Frame::parse(frame.info) else {
            ended.damaged += 1;
            return self.take(station, place, 0, (0, 0));
        };
        let cut = frame.len.saturating_sub(frame.info.len() as u32);
        let piece = Piece {
            frame: parsed,
            len: cut.saturating_add(parsed.data.len() as u32),
            marks: heard.marks,
            station,
        };
        let id = self.session_of(&piece, place, ended);
        // what it acknowledges of other sessions
        for session in self.open_sessions() {
            if heard.acked.is_new && Some(session.id) != id {
                session.says(station, heard.marks, moment, &mut *out);
            }
        }
        match place {
            Place::Next { fills, .. } => {
                let fills = if fills || was_lost { marks::FILLS } else { 0 };
                let piece = Piece {
                    marks: heard.marks | fills,
                    ..piece
                };
                self.in_order(place, id, &piece, (moment, ended), out);
            }
            Place::Again(Some(numbered)) => self.again(&numbered, &piece, moment, out),
            Place::Again(None) | Place::Early => {
                if let Some(session) = id.and_then(|id| self.session(id)) {
                    session.says(station, heard.marks, moment, out);
                }
            }
        }
    }

    /// The session of a frame, if it is one's. Only a frame that comes in order opens one.
    fn session_of(&mut self, piece: &Piece<'_>, place: Place, ended: &mut Ended) -> Option<u32> {
        // some stacks leave the numbers out of SESSION ALIVE
        if piece.is(SessionCommand::SessionAlive) {
            return None;
        }
        let ends = self.ends_of(piece.station, &piece.frame);
        let known = self.find(ends);
        if !matches!(place, Place::Next { .. }) {
            return known;
        }
        let is_over = |session: &mut Session| session.ended_by == Some(piece.station);
        if let Some(old) = known
            && (piece.is(SessionCommand::SessionInitialize)
                || self.session(old).is_some_and(is_over))
        {
            self.close(old, ended);
            return Some(self.open(ends, ended));
        }
        known.or_else(|| Some(self.open(ends, ended)))
    }

    fn again(&mut self, numbered: &Numbered, piece: &Piece<'_>, moment: Moment, out: Out<'_>) {
        let Some(session) = self.session(numbered.session) else {
            return;
        };
        let station = piece.station;
        if let Some(side) = session.counts(station) {
            side.again += 1;
        }
        let said = piece.said();
        match numbered.len {
            0 => session.says(station, said, moment, out),
            len => {
                let bytes = (piece.frame.data, len);
                session.again(station, numbered.start, bytes, said, (moment, out));
            }
        }
    }

    fn in_order(
        &mut self,
        place: Place,
        id: Option<u32>,
        piece: &Piece<'_>,
        (moment, ended): (Moment, &mut Ended),
        out: Out<'_>,
    ) {
        let station = piece.station;
        let opens = piece.is(SessionCommand::SessionInitialize);
        let called = self
            .called
            .take_if(|(server, ..)| opens && *server != station);
        let mut data = (0, 0);
        if let Some(session) = id.and_then(|id| self.session(id)) {
            if let Some((_, called, calling)) = called {
                session.told.names = [Some(calling.to_string()), Some(called.to_string())];
            }
            data = piece.reach(session, moment, out);
            if let Some(side) = session.counts(station) {
                side.frames += 1;
                side.again += u64::from(piece.marks & marks::FILLS != 0);
                side.message_acks += u64::from(piece.is(SessionCommand::DataAck));
            }
        }
        self.take(station, place, id.unwrap_or_default(), data);
        if let Some(id) = id.filter(|_| piece.is(SessionCommand::SessionEnd)) {
            self.end(id, station, ended);
        }
    }

    /// A frame that comes in order is read: its session, where its data begins there, and how much it is.
    fn take(&mut self, station: usize, place: Place, session: u32, (start, len): (u64, u32)) {
        let Place::Next { number, .. } = place else {
            return;
        };
        let Some(numbers) = self.numbers.get_mut(station) else {
            return;
        };
        numbers.take(Numbered {
            number,
            session,
            start,
            len,
        });
        let most = numbers.most_unacknowledged;
        if let Some(side) = self.session(session).and_then(|it| it.counts(station)) {
            side.most_unacknowledged = most;
        }
    }
}
