//! What a station waits for: for simulations that charge each wait to its cause.

use coax_wire::time::Time;

/// Why data that waits at a station is not on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocked {
    /// As many frames are unacknowledged as the station may ever have in flight.
    Window,
    /// As many as it may have now; the window still grows, and nothing was lost.
    GrowingWindow,
    /// As many as it may have since frames were lost.
    NarrowedWindow,
    /// As many as the peer has said that it takes.
    PeerWindow,
    /// The peer takes none at the moment: RNR, NO RECEIVE, or a closed window.
    PeerBusy,
    /// The retransmission timer ran out, and the peer has not answered yet.
    Recovery,
    /// The protocol demands an answer first: RECEIVE CONTINUE, the acknowledgment of a message, or the response to a
    /// request.
    Answer,
}

/// When a station must act next, by the reason. Each is the earliest of all its links and sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deadlines {
    /// The peer must have answered: T1 of a link, the retransmission timer of a session.
    pub reply: Option<Time>,
    /// An acknowledgment that waits for others or for data must go out.
    pub acknowledgment: Option<Time>,
    /// A gap is rejected again.
    pub reject: Option<Time>,
    /// Anything else: names, tests of idle links, steps of opening and closing.
    pub other: Option<Time>,
}

impl Deadlines {
    /// The earlier of both, for each reason.
    #[must_use]
    pub fn or_earlier(self, other: Self) -> Self {
        let min = |a: Option<Time>, b: Option<Time>| a.into_iter().chain(b).min();
        Self {
            reply: min(self.reply, other.reply),
            acknowledgment: min(self.acknowledgment, other.acknowledgment),
            reject: min(self.reject, other.reject),
            other: min(self.other, other.other),
        }
    }

    /// The earliest.
    pub fn next(self) -> Option<Time> {
        let all = [self.reply, self.acknowledgment, self.reject, self.other];
        all.into_iter().flatten().min()
    }
}
