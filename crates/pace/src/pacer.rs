//! The policy of one connection.

use coax_wire::time::{Span, Time};

use crate::{
    constants::REMOTE,
    receive::{ReceiveSide, Received},
    send::{SendSide, Sent},
};

/// To whom limits apply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// To clients in the local network whose SYN shows an old stack.
    #[default]
    Auto,
    /// To all clients.
    Always,
    /// To none.
    Off,
}

/// What the SYN of the client says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handshake {
    /// Largest segment to the client, bytes.
    pub mss: u32,
    /// Window scaling was agreed on (RFC 7323).
    pub window_scale: bool,
    /// Time stamps were agreed on (RFC 7323).
    pub timestamps: bool,
    /// The round trip of the handshake; zero if it is not known.
    pub rtt: Span,
}

impl Handshake {
    /// Whether the stack is from before RFC 1323 (1992), or leaves its options off, as Windows up to XP does. Selective
    /// acknowledgments do not tell: Windows 98 offers them.
    pub const fn is_old(&self) -> bool {
        !self.window_scale && !self.timestamps
    }
}

/// Limits that a client's connections have proven, segments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Learned {
    /// The largest burst from the client that arrived whole.
    pub receive: Option<u32>,
    /// The largest burst to the client that arrived whole.
    pub send: Option<u32>,
}

/// The policy of one connection.
#[derive(Clone, Copy, Debug)]
pub struct Pacer {
    sides: Option<(ReceiveSide, SendSide)>,
}

impl Pacer {
    /// The policy for a client that has just connected. `learned` is what its earlier connections proved.
    pub fn new(mode: Mode, handshake: Handshake, learned: Learned) -> Self {
        let applies = match mode {
            Mode::Auto => handshake.is_old() && handshake.rtt < REMOTE,
            Mode::Always => true,
            Mode::Off => false,
        };
        let mss = handshake.mss.max(1);
        Self {
            sides: applies.then(|| {
                (
                    ReceiveSide::new(mss, learned.receive),
                    SendSide::new(mss, learned.send),
                )
            }),
        }
    }

    /// Whether any limit applies.
    pub fn is_active(&self) -> bool {
        self.sides
            .as_ref()
            .is_some_and(|(receive, send)| receive.window().is_some() || send.is_limited())
    }

    /// The receive window to offer, bytes; `None`: whatever the system offers.
    pub fn receive_window(&self) -> Option<u32> {
        self.sides.as_ref()?.0.window()
    }

    /// How many bytes may be handed to TCP while `unacknowledged` are not acknowledged: whole segments, at least two
    /// unless nothing is unacknowledged, or 0. `u64::MAX`: no limit.
    pub fn allowance(&self, unacknowledged: u64) -> u64 {
        self.sides
            .as_ref()
            .map_or(u64::MAX, |(_, send)| send.allowance(unacknowledged))
    }

    /// [`Self::allowance`] is more than 0 when less than this is unacknowledged, bytes.
    pub fn room_below(&self) -> u64 {
        self.sides
            .as_ref()
            .map_or(u64::MAX, |(_, send)| send.room_below())
    }

    /// The server did not read for a while and reads again: a pause before now is not the client's.
    pub fn resumed(&mut self, now: Time) {
        if let Some((receive, _)) = &mut self.sides {
            receive.resumed(now);
        }
    }

    /// Bytes arrived.
    pub fn received(&mut self, now: Time, got: Received) {
        if let Some((receive, _)) = &mut self.sides {
            receive.received(now, got);
        }
    }

    /// TCP was asked for its counters. `limited`: since the last call there was always more to send than allowed.
    pub fn observed(&mut self, now: Time, sent: Sent, limited: bool) {
        if let Some((_, send)) = &mut self.sides {
            send.observed(now, sent, limited);
        }
    }

    /// What is to be remembered for the client's next connection.
    pub fn learned(&self) -> Learned {
        self.sides
            .as_ref()
            .map_or_else(Learned::default, |(receive, send)| Learned {
                receive: receive.learned(),
                send: send.learned(),
            })
    }
}
