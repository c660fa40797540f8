//! Senders that could not go on, whoever's packet ends the wait: a window that is shut or as good as shut, a server that is
//! still busy with what it was asked for before.

use coax_cause::Cause;
use coax_wire::time::{Span, Time};

use super::{
    connection::{Connection, of},
    half::Novelty,
    ledger::{Ledger, REACTION, Side, Step},
    sent::Burst,
    window::{Heard, slack, sum},
};

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

/// What a packet waits for that its own stream does not show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Held {
    /// The sender of this data: since it was sent there is no room for more. Until that shows, the server may have worked.
    Full { since: Burst, works: bool },
    /// Its sender, until it had waited long enough to fill what is left of the window.
    Window,
    /// The server works.
    Works,
    /// The same, and it has had more to do whenever it had answered, for long.
    Fed,
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
        let is_seen = !self.is_behind(Side::Server) && !self.served.was_shut_out;
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
        let near = self.bare_way(Side::Server);
        let last = if self.is_behind(Side::Client) {
            Span(0)
        } else {
            self.carrying(Side::Client, FULL)
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

impl Step {
    /// What kept it that is not to be seen in its own stream; `is_windowed`: it had to wait for the window, and a way there
    /// and back.
    pub(super) fn is_held_by(&self, is_windowed: bool) -> Option<Held> {
        let fills_window = self.novelty == Some(Novelty::New)
            && self.place.is_cut
            && !self.place.is_full
            && (self.full.is_some() || self.knew.is_some_and(|knew| knew.edge == self.end))
            && !self.is_unheeded();
        match self.held_by {
            // less than a segment is sent into what is left of a window when its sender has waited long enough for more
            // (RFC 1122 §4.2.3.4)
            _ if fills_window => Some(self.full.map_or(Held::Window, |since| Held::Full {
                since,
                works: false,
            })),
            Some(Held::Works) if !self.place.is_middle || is_windowed => None,
            held_by => held_by,
        }
    }

    /// Whether its sender had heard long before of more room than it used: it had not looked at what had come.
    pub(super) fn is_unheeded(&self) -> bool {
        self.place.is_cut
            && !self.place.is_full
            && self.heard.is_some_and(|heard| {
                heard.edge > self.end
                    && self.at - self.soonest(heard.carried) > sum(REACTION, slack(self.near))
            })
    }
}

impl Ledger {
    /// Charges what a packet waited for that its own stream does not show.
    pub(super) fn hold(&mut self, step: &Step, held: Held, gap: Span) {
        match held {
            Held::Window => self.charge(Cause::ReceiveWindow, gap),
            Held::Works | Held::Fed => self.charge(Cause::ServerThink, gap),
            Held::Full { since, works } => {
                let is_own = step.full == Some(since);
                let way = if is_own { step.far } else { step.near };
                let way = sum(way, step.serial_ack);
                let told = since.carried + way;
                let worked = if works { told - self.at } else { Span(0) };
                let rest = self.part(Cause::ServerThink, gap, worked);
                if works {
                    self.charge(Cause::ZeroWindow, rest);
                } else {
                    self.wait_for_room(&since, way, step.at, gap);
                }
            }
        }
    }

    /// The same side goes on when there is room again.
    pub(super) fn go_on_in_room(&mut self, step: &Step, heard: &Heard, full: &Burst, gap: Span) {
        let way = sum(step.far, step.serial_ack);
        let left = heard.carried + step.near;
        let own = step.at - self.at.max(left);
        let rest = self.wait_for_room(full, way, heard.carried, gap);
        let rest = self.part(Cause::ReceiveWindow, rest, Span(rest.0 - rest.0.min(own.0)));
        let rest = self.part(Cause::Bandwidth, rest, step.serial);
        self.charge(step.side.think(), rest);
    }

    /// A stretch that somebody waited for who has had no room for more since `full` was sent: up to `until` there was none.
    /// Up to when the other side would have told of more, it is the way there and back.
    pub(super) fn wait_for_room(
        &mut self,
        full: &Burst,
        way: Span,
        until: Time,
        gap: Span,
    ) -> Span {
        let from = self.at;
        let told = full.carried + way;
        let rest = self.part(Cause::Bandwidth, gap, full.carried - from);
        let rest = self.part(Cause::ReceiveWindow, rest, told - from.max(full.carried));
        self.part(Cause::ZeroWindow, rest, until - from.max(told))
    }
}
