//! Senders that could not go on, whoever's packet ends the wait: a window that is shut or as good as shut, a server that is
//! still busy with what it was asked for before.

use crate::conversation::Conversation;
use crate::path::PathStage;
use crate::tcp::stream_state::StreamState;
use crate::timeline::{Blocked, SentSegment, Side, of, slack, sum};
use coax_wire::time::{Span, Time};

/// What a full segment takes on Ethernet, bytes.
const FULL: u64 = 1538;

/// If a server has further requests after this many answers in a row, everything waits for the server.
const FED: u32 = 4;

/// Answers to a request that the next one woke come within such a part of the time since the answer before.
const WAKES: u64 = 16;

/// How the server stood when it answered last.
#[derive(Debug, Default)]
pub(super) struct ServerBacklog {
    /// The client had no room to send more.
    was_shut_out: bool,
    /// So many times in a row it had more to do.
    fed: u32,
}

/// The other stages, as they stand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Situation<'a> {
    pub(super) path: &'a PathStage,
    pub(super) conversation: &'a Conversation,
    pub(super) streams: &'a [StreamState; 2],
}

impl Situation<'_> {
    /// What `side` sent last, if it is in the middle of a message and has no room for more.
    fn is_shut_out(&self, side: Side) -> Option<SentSegment> {
        let full = of(self.streams, side).send_limits.full()?;
        self.conversation.is_inside(side).then_some(full)
    }

    /// Whether the server had a whole request that it has not answered yet when it sent its last answer: since then the
    /// next answer waits for the server alone, whatever else comes to it meanwhile.
    fn server_works(&self) -> bool {
        let answered = self.streams[1].last_sent.map(|(at, _)| at);
        answered.is_some_and(|at| self.has_come(0, at))
            && !self.conversation.is_inside(Side::Server)
    }

    /// Whether a request that waits for its answer, with this number of requests before it, had come to the server when it sent what was
    /// captured at `answered`.
    fn has_come(&self, before: usize, answered: Time) -> bool {
        let asked = self.conversation.oldest_request(before);
        let near = self.path.bare_way(Side::Server);
        let last = if self.path.is_behind(Side::Client) {
            Span(0)
        } else {
            self.path.carrying(Side::Client, FULL)
        };
        let came = sum(sum(near, last), slack(near));
        asked.is_some_and(|asked| asked + came <= answered)
    }
}

impl ServerBacklog {
    /// What a packet of `side`, or of the other one, waits for that its own stream does not show.
    pub(super) fn held_by(&self, side: Side, now: &Situation<'_>) -> Option<Blocked> {
        if !now.conversation.has_smb() {
            return None;
        }
        if let Some(since) = now.is_shut_out(side.other()) {
            let works = side == Side::Server && self.fed >= FED;
            return Some(Blocked::Full { since, works });
        }
        if side == Side::Server || !now.server_works() {
            return None;
        }
        // next to the client little shows of when its requests had come to the server
        let is_seen = !now.path.is_behind(Side::Server) && !self.was_shut_out;
        match self.fed {
            FED.. => Some(Blocked::Fed),
            _ => is_seen.then_some(Blocked::Works),
        }
    }

    /// The server answers: whether the client had room to send more, and the server something else to go on with. What came
    /// just before does not count: a server may keep an answer until the next request wakes it (smbd's writes that its disk
    /// has done meanwhile), and then waits for the path.
    pub(super) fn note_answer(&mut self, at: Time, now: &Situation<'_>) {
        let before = now.streams[1].last_sent.map_or(at, |(before, _)| before);
        let woken = Span((at - before).0 / WAKES);
        self.was_shut_out = now.is_shut_out(Side::Client).is_some();
        self.fed = if now.has_come(1, Time(at.0.saturating_sub(woken.0))) {
            self.fed.saturating_add(1)
        } else {
            0
        };
    }
}
