//! NetBEUI: NetBIOS sessions on links of LLC type 2 (ISO 8802-2; IBM SC30-3587 §5.6).
//!
//! A link numbers the frames of all its sessions together and acknowledges them; each session acknowledges whole messages.
//! Receivers discard frames behind a gap, so a frame counts when it comes in order.

mod frames;
mod piece;

use super::{
    ended::Ended,
    marks,
    numbers::{Acked, Numbers},
    session::Session,
    stream::Out,
};
use crate::session::Moment;
use coax_capture::Endpoint;
use coax_wire::{
    ether::Mac,
    llc::MODULUS,
    nbf::SessionFrame,
    nbt::name::NbName,
    time::{Span, Time},
};

/// Sessions of a link; of more, the oldest ends.
const MOST_SESSIONS: usize = 256;
/// Sessions of a link that one station has ended. The other one's frames that were on their way arrive within a window.
const MOST_ENDING: usize = 8;

/// A poll of a station that had been silent: perhaps its timer expired.
#[derive(Clone, Copy, Debug)]
struct Ask {
    answered: Option<Time>,
}

/// What the header of an I or S frame says.
#[derive(Clone, Copy, Debug)]
struct Heard {
    /// Who sent it.
    station: usize,
    acked: Acked,
    /// [`marks`].
    marks: u16,
}

/// Two stations.
#[derive(Debug)]
pub(super) struct Link {
    stations: [Mac; 2],
    /// The frames that each sends.
    numbers: [Numbers; 2],
    sessions: Vec<Session>,
    pub(super) last: Moment,
    /// The station that a name was found on, that name, and the one that asked.
    called: Option<(usize, NbName, NbName)>,
    /// Since when each station is silent.
    quiet: [Option<Time>; 2],
    asks: [Option<Ask>; 2],
}

impl Link {
    pub(super) fn new(stations: (Mac, Mac), moment: Moment) -> Self {
        let numbers = || Numbers::new(u64::from(MODULUS));
        Self {
            stations: [stations.0, stations.1],
            numbers: [numbers(), numbers()],
            sessions: Vec::new(),
            last: moment,
            called: None,
            quiet: [None; 2],
            asks: [None; 2],
        }
    }

    /// Nothing more comes.
    pub(super) fn finish(&mut self, ended: &mut Ended) {
        for session in self.sessions.drain(..) {
            ended.add(session);
        }
    }

    fn station(&self, mac: Mac) -> usize {
        usize::from(self.stations[0] != mac)
    }

    /// The link is opened.
    fn begin(&mut self) {
        self.numbers.iter_mut().for_each(|numbers| numbers.begin(0));
        (self.quiet, self.asks) = ([None; 2], [None; 2]);
    }

    /// What an I or S frame says of the other station's frames.
    fn heard(&mut self, station: usize, nr: u8, (pf, response): (bool, bool), at: Time) -> Heard {
        let other = 1 - station;
        let acked = self.acknowledge(other, nr);
        let mark = match (pf, response) {
            (false, _) => 0,
            (true, false) => marks::POLL,
            (true, true) => marks::FINAL,
        };
        if mark == marks::FINAL
            && let Some(Some(ask)) = self.asks.get_mut(other)
        {
            ask.answered.get_or_insert(at);
        }
        Heard {
            station,
            acked,
            marks: mark,
        }
    }

    /// The frames of a station are acknowledged.
    fn acknowledge(&mut self, station: usize, nr: u8) -> Acked {
        let Some(numbers) = self.numbers.get_mut(station) else {
            return Acked::default();
        };
        let acked = numbers.acknowledge(u64::from(nr));
        if acked.is_new {
            for session in &mut self.sessions {
                if let Some(offset) = numbers.acked_offset(session.id, acked.until) {
                    session.acknowledged(station, offset);
                }
            }
        }
        // whose they were nobody knows; most links have one session
        if acked.missing > 0
            && let Some(session) = self.open_sessions().last()
        {
            session.lacks(station, acked.missing);
        }
        acked
    }

    fn note_silence(&mut self, station: usize, at: Time) {
        if let Some(quiet) = self.quiet.get_mut(station) {
            *quiet = Some(at);
        }
    }

    /// A poll: if its station had been silent for at least `least` since all that it sent was acknowledged, and goes on as
    /// soon as this is answered, then what it sent before was lost before the capture.
    fn note_poll(&mut self, station: usize, at: Time, least: Span) {
        let quiet = self.quiet.get(station).copied().flatten();
        let is_silent = quiet.is_some_and(|since| at - since >= least);
        let numbers = self.numbers.get(station);
        let is_idle = numbers.is_some_and(|numbers| !numbers.has_unacknowledged());
        if let Some(ask) = self.asks.get_mut(station) {
            *ask = (is_silent && is_idle).then_some(Ask { answered: None });
        }
    }

    /// Whether a station goes on within `reaction` after such a poll was answered.
    fn was_lost(&mut self, station: usize, at: Time, reaction: Span) -> bool {
        let ask = self.asks.get_mut(station).and_then(Option::take);
        let answered = ask.and_then(|ask| ask.answered);
        answered.is_some_and(|answered| at - answered <= reaction)
    }

    fn open_sessions(&mut self) -> impl Iterator<Item = &mut Session> {
        let sessions = self.sessions.iter_mut();
        sessions.filter(|session| session.ended_by.is_none())
    }

    fn session(&mut self, id: u32) -> Option<&mut Session> {
        self.sessions.iter_mut().find(|session| session.id == id)
    }

    /// The ends of a frame's session, by station.
    fn ends_of(&self, station: usize, frame: &SessionFrame<'_>) -> [Endpoint; 2] {
        let [one, other] = self.stations;
        let numbers = match station {
            0 => [frame.source, frame.destination],
            _ => [frame.destination, frame.source],
        };
        [
            Endpoint::netbeui(one, numbers[0]),
            Endpoint::netbeui(other, numbers[1]),
        ]
    }

    fn find(&self, ends: [Endpoint; 2]) -> Option<u32> {
        let mut sessions = self.sessions.iter();
        let found = sessions.find(|session| session.ends == ends)?;
        Some(found.id)
    }

    /// A session that begins, or that the capture begins in.
    fn open(&mut self, ends: [Endpoint; 2], ended: &mut Ended) -> u32 {
        if self.sessions.len() >= MOST_SESSIONS {
            ended.add(self.sessions.remove(0));
        }
        let id = ended.next_id();
        self.sessions.push(Session::new(id, ends));
        id
    }

    /// A station has ended a session. What the other one had sent by then still arrives.
    fn end(&mut self, id: u32, station: usize, ended: &mut Ended) {
        match self.session(id) {
            Some(session) if session.ended_by.is_none() => session.ended_by = Some(station),
            _ => return self.close(id, ended),
        }
        let mut ending = self.sessions.iter().filter(|it| it.ended_by.is_some());
        if let Some(oldest) = ending.nth_back(MOST_ENDING).map(|session| session.id) {
            self.close(oldest, ended);
        }
    }

    fn close(&mut self, id: u32, ended: &mut Ended) {
        let place = self.sessions.iter().position(|session| session.id == id);
        if let Some(place) = place {
            ended.add(self.sessions.remove(place));
        }
    }

    /// The link is gone, and its sessions with it.
    fn close_all(&mut self, station: usize, moment: Moment, ended: &mut Ended, out: Out<'_>) {
        for mut session in self.sessions.drain(..) {
            if session.ended_by.is_none() {
                session.ends(station, moment, &mut *out);
            }
            ended.add(session);
        }
    }
}
