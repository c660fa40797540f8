//! The waits behind a copy's causes.

use coax_cause::{Account, Cause};
use coax_wire::time::{Span, Time};

use super::Direction;
use crate::{evidence::Hold, smb::Name};

/// The waits behind a copy's causes.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Breakdown {
    /// The stretches of each cause that took any time. Their totals are those of the account.
    pub causes: Vec<Stretches>,
    /// Time of the copy that is not divided into stretches; it counts as one stretch for each cause.
    pub lumped: Span,
    /// The longest stretches of all but carrying data, the longest first.
    pub stalls: Vec<Stall>,
    /// What only the longest copies of a capture have.
    pub detail: Option<Box<Detail>>,
}

impl Breakdown {
    /// The stretches of a cause.
    pub fn of(&self, cause: Cause) -> Option<&Stretches> {
        self.causes.iter().find(|row| row.cause == cause)
    }

    /// Leaves out what only the longest copies have.
    pub(crate) fn strip(&mut self) {
        self.detail = None;
        for stall in &mut self.stalls {
            stall.ladder = PacketExcerpt::default();
        }
    }
}

/// The stretches of time that went to one cause.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stretches {
    /// The cause.
    pub cause: Cause,
    /// How many.
    pub count: u64,
    /// Their sum.
    pub total: Span,
    /// Half of them were no longer; right to 3 %.
    pub median: Span,
    /// 95 of 100 were no longer; right to 3 %.
    pub p95: Span,
    /// The longest, the longest first.
    pub longest: Spots,
}

/// Some stretches of time; where thousands of copies have one each, it takes no memory of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Spots {
    /// One.
    One([Spot; 1]),
    /// Any number.
    More(Box<[Spot]>),
}

impl std::ops::Deref for Spots {
    type Target = [Spot];

    fn deref(&self) -> &[Spot] {
        match self {
            Self::One(one) => one,
            Self::More(more) => more,
        }
    }
}

impl<'a> IntoIterator for &'a Spots {
    type Item = &'a Spot;
    type IntoIter = std::slice::Iter<'a, Spot>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl FromIterator<Spot> for Spots {
    fn from_iter<I: IntoIterator<Item = Spot>>(spots: I) -> Self {
        let mut spots = spots.into_iter();
        match (spots.next(), spots.next()) {
            (Some(one), None) => Self::One([one]),
            (first, second) => Self::More(first.into_iter().chain(second).chain(spots).collect()),
        }
    }
}

/// A stretch of time, and where it is in the capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    /// The number of the packet that ended it.
    pub frame: u64,
    /// When it began.
    pub at: Time,
    /// How long it was.
    pub span: Span,
}

/// A long wait, and what went to and fro around it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Stall {
    /// What it was charged to.
    pub cause: Cause,
    /// Where it is.
    pub spot: Spot,
    /// The packets before and after it.
    pub ladder: PacketExcerpt,
}

/// Packets in the order in which they were captured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PacketExcerpt {
    /// The packets.
    pub rungs: Vec<PacketRow>,
    /// After how many of them packets were left out, and how many.
    pub gap: Option<(usize, u64)>,
}

/// A packet between client and server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PacketRow {
    /// When it was captured.
    pub at: Time,
    /// Its number.
    pub frame: u64,
    /// Which way it went.
    pub to: Direction,
    /// Bytes of data in it.
    pub len: u32,
    /// It brought data that was seen before.
    pub again: bool,
    /// The window that its sender offered, bytes.
    pub window: u32,
    /// Its control bits.
    pub flags: coax_capture::Flags,
    /// What a frame of NetBEUI or IPX says without data.
    pub control: Option<FrameControl>,
    /// The message that ended in it, or began.
    pub said: Option<MessageLabel>,
}

/// What a frame of NetBEUI or IPX says without data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FrameControl {
    /// It acknowledges frames.
    Acknowledgment,
    /// It acknowledges a message.
    MessageAcknowledgment,
    /// The other side may go on.
    Continue,
    /// It asks what has arrived.
    Poll,
    /// The answer to that.
    Final,
    /// Frames are to be sent again.
    Reject,
    /// Its sender takes no data for now.
    Busy,
}

impl FrameControl {
    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Acknowledgment => "acknowledgment",
            Self::MessageAcknowledgment => "acknowledgment of the message",
            Self::Continue => "leave to go on",
            Self::Poll => "poll",
            Self::Final => "answer to the poll",
            Self::Reject => "reject",
            Self::Busy => "not ready",
        }
    }
}

/// An SMB message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MessageLabel {
    /// The command.
    pub command: u8,
    /// A transaction's function.
    pub function: Option<u16>,
    /// What kind of message it is.
    pub kind: LabelKind,
}

impl MessageLabel {
    /// The command's name, with a transaction's function.
    pub fn name(&self) -> String {
        let name = Name {
            command: self.command,
            function: self.function,
        };
        name.to_string()
    }
}

/// Kinds of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LabelKind {
    /// A request.
    Request,
    /// The answer to one.
    Answer,
    /// The headerless data of a raw read or write.
    Raw,
}

/// One of a copy's requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestSample {
    /// The command, and a transaction's function.
    pub command: String,
    /// Bytes of the file that it moved.
    pub bytes: u64,
    /// From its last byte to the answer's last.
    pub response: Span,
    /// When its first byte came.
    pub begin: Time,
}

/// What only the longest copies have.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Detail {
    /// What the time went to, over time.
    pub waterfall: Waterfall,
    /// How the bytes went on over time.
    pub graph: Graph,
    /// A typical exchange: of the command that moved most, the one with the median response time.
    pub typical: Option<Exchange>,
    /// Some requests, evenly chosen.
    pub requests: Vec<RequestSample>,
    /// How many there were.
    pub requests_seen: u64,
    /// The room that it takes, until it is dropped.
    pub(crate) _hold: Hold,
}

/// An account over time.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Waterfall {
    /// How long each slice is.
    pub width: Span,
    /// What each was spent on.
    pub accounts: Vec<Account>,
}

/// How the bytes of the copy's direction went on over time.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Graph {
    /// Some packets with data, all if there are few.
    pub points: Vec<Point>,
    /// Packets with data in all.
    pub packets: u64,
}

/// A packet with data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Point {
    /// When it was captured.
    pub at: Time,
    /// Its number.
    pub frame: u64,
    /// Where its data ends in the stream, bytes from where the copy's begins.
    pub end: u64,
    /// Up to where data was acknowledged by then.
    pub acked: u64,
    /// Up to where the receiver's window allowed to send.
    pub edge: u64,
    /// What most of the time since the point before was spent on.
    pub cause: Cause,
    /// It brought data that was seen before.
    pub again: bool,
}

/// A request and its answer.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// The command.
    pub command: String,
    /// Bytes of a file that it moved.
    pub bytes: u64,
    /// From its last byte to the answer's last.
    pub response: Span,
    /// Its packets.
    pub ladder: PacketExcerpt,
}
