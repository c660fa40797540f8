//! Senders that could not go on, whoever's packet ends the wait: a window that is shut or as good as shut, a server that is
//! still busy with what it was asked for before.

use coax_cause::Cause;
use coax_wire::time::Span;

use super::{
    connection::{Connection, of},
    half::Novelty,
    ledger::{REACTION, Side, Step},
    window::{slack, sum},
};

/// What a full segment takes on Ethernet, bytes.
const FULL: u64 = 1538;

impl Connection {
    /// What a packet of `side`, or of the other one, waits for that its own stream does not show.
    pub(super) fn held_by(&self, side: Side) -> Option<Cause> {
        self.smb.as_ref()?;
        if self.is_shut_out(side.other()) {
            return Some(Cause::ZeroWindow);
        }
        // next to the client nothing shows when its requests had come to the server
        let is_seen = side == Side::Client && !self.is_behind(Side::Server);
        (is_seen && self.server_works()).then_some(Cause::ServerThink)
    }

    /// Whether `side` is in the middle of a message and faces a window of zero.
    fn is_shut_out(&self, side: Side) -> bool {
        let half = of(&self.halves, side);
        let shut = half.edges.last().filter(|heard| heard.is_shut);
        shut.is_some_and(|heard| heard.edge <= half.highest) && of(&self.framers, side).is_inside()
    }

    /// Whether the server had a whole request that it has not answered yet when it sent its last answer: since then the
    /// next answer waits for the server alone, whatever else comes to it meanwhile.
    fn server_works(&self) -> bool {
        let asked = self.smb.as_ref().and_then(|smb| smb.oldest_request(0));
        let answered = self.halves[1].last_sent.map(|(at, _)| at);
        let near = self.bare_way(Side::Server);
        let last = if self.is_behind(Side::Client) {
            Span(0)
        } else {
            self.carrying(Side::Client, FULL)
        };
        let came = sum(sum(near, last), slack(near));
        asked
            .zip(answered)
            .is_some_and(|(asked, answered)| asked + came <= answered)
            && !of(&self.framers, Side::Server).is_inside()
    }
}

impl Step {
    /// What kept it that is not to be seen in its own stream; `is_windowed`: it had to wait for the window, and a way there
    /// and back.
    pub(super) fn is_held_by(&self, is_windowed: bool) -> Option<Cause> {
        let fills_window = self.novelty == Some(Novelty::New)
            && self.is_cut
            && !self.is_full
            && self.knew.is_some_and(|knew| knew.edge == self.end)
            && !self.is_unheeded();
        match self.held_by {
            // less than a segment is sent into what is left of a window when its sender has waited long enough for more
            // (RFC 1122 §4.2.3.4)
            _ if fills_window => Some(Cause::ReceiveWindow),
            Some(Cause::ServerThink) if !self.is_middle || is_windowed => None,
            held_by => held_by,
        }
    }

    /// Whether its sender had heard long before of more room than it used: it had not looked at what had come.
    pub(super) fn is_unheeded(&self) -> bool {
        self.is_cut
            && !self.is_full
            && self.heard.is_some_and(|heard| {
                heard.edge > self.end
                    && self.at - self.soonest(heard.carried) > sum(REACTION, slack(self.near))
            })
    }
}
