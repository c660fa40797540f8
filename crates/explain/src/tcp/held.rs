//! Senders that could not go on, whoever's packet ends the wait: a window that is shut or as good as shut, a server that is
//! still busy with what it was asked for before.

use crate::tcp::connection::Connection;
use crate::timeline::{Burst, Held, Side, of, slack, sum};
use coax_wire::time::{Span, Time};

/// What a full segment takes on Ethernet, bytes.
const FULL: u64 = 1538;

/// A server that had so many times in a row more to do when it had answered is what all waits for.
const FED: u32 = 4;

/// Answers to a request that the next one woke come within such a part of the time since the answer before.
const WAKES: u64 = 16;

/// How the server stood when it answered last.
#[derive(Debug, Default)]
pub(super) struct Served {
    /// The client had no room to send more.
    was_shut_out: bool,
    /// So many times in a row it had more to do.
    fed: u32,
}

impl Connection {
    /// What a packet of `side`, or of the other one, waits for that its own stream does not show.
    pub(super) fn held_by(&self, side: Side) -> Option<Held> {
        self.smb.as_ref()?;
        if let Some(since) = self.is_shut_out(side.other()) {
            let works = side == Side::Server && self.served.fed >= FED;
            return Some(Held::Full { since, works });
        }
        if side == Side::Server || !self.server_works() {
            return None;
        }
        // next to the client little shows of when its requests had come to the server
        let is_seen = !self.path.is_behind(Side::Server) && !self.served.was_shut_out;
        match self.served.fed {
            FED.. => Some(Held::Fed),
            _ => is_seen.then_some(Held::Works),
        }
    }

    /// What `side` sent last, if it is in the middle of a message and has no room for more.
    fn is_shut_out(&self, side: Side) -> Option<Burst> {
        let full = of(&self.halves, side).edges.full()?;
        of(&self.framers, side).is_inside().then_some(full)
    }

    /// Whether the server had a whole request that it has not answered yet when it sent its last answer: since then the
    /// next answer waits for the server alone, whatever else comes to it meanwhile.
    fn server_works(&self) -> bool {
        let answered = self.halves[1].last_sent.map(|(at, _)| at);
        answered.is_some_and(|at| self.has_come(0, at))
            && !of(&self.framers, Side::Server).is_inside()
    }

    /// Whether a request that waits for its answer, with so many before it, had come to the server when it sent what was
    /// captured at `answered`.
    fn has_come(&self, before: usize, answered: Time) -> bool {
        let asked = self.smb.as_ref().and_then(|smb| smb.oldest_request(before));
        let near = self.path.bare_way(Side::Server);
        let last = if self.path.is_behind(Side::Client) {
            Span(0)
        } else {
            self.path.carrying(Side::Client, FULL)
        };
        let came = sum(sum(near, last), slack(near));
        asked.is_some_and(|asked| asked + came <= answered)
    }

    /// The server answers: whether the client had room to send more, and the server something else to go on with. What came
    /// just before does not count: a server may keep an answer until the next request wakes it (smbd's writes that its disk
    /// has done meanwhile), and then waits for the path.
    pub(super) fn note_answer(&mut self, at: Time) {
        let before = self.halves[1].last_sent.map_or(at, |(before, _)| before);
        let woken = Span((at - before).0 / WAKES);
        self.served.was_shut_out = self.is_shut_out(Side::Client).is_some();
        self.served.fed = if self.has_come(1, Time(at.0.saturating_sub(woken.0))) {
            self.served.fed.saturating_add(1)
        } else {
            0
        };
    }
}
