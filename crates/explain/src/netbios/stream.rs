//! A session as the byte stream that TCP would carry: its frames become segments, so that everything after this stage is the
//! same for all transports.
//!
//! Sequence numbers count the bytes of messages. An acknowledgment of frames is one of their bytes.

use super::marks;
use crate::session::Moment;
use crate::timeline::{Side, of, of_mut};
use coax_capture::{Endpoint, Flags, Segment};

/// Takes the segments.
pub(super) type Out<'o> = &'o mut dyn FnMut(&Segment<'_>, Moment);

/// Windows of LLC have frames, at most 127, and nobody tells them: far more than that.
pub(super) const UNTOLD_WINDOW: u16 = u16::MAX;
/// Windows are multiplied by this power of two.
pub(super) const WINDOW_SHIFT: u8 = 5;

/// One direction of it.
#[derive(Clone, Copy, Debug, Default)]
struct Half {
    /// Where the next data begins, and how far all of it went so far.
    at: u64,
    end: u64,
    /// Up to where the other side acknowledged it.
    acked: u64,
    /// Where the latest message began, and whether that goes on.
    message: u64,
    is_inside: bool,
}

/// What a frame brings beyond its data.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Said {
    /// [`marks`].
    pub(super) marks: u16,
    /// The window that its sender offers, shifted by [`WINDOW_SHIFT`].
    pub(super) window: u16,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Stream {
    /// Client and server.
    ends: [Endpoint; 2],
    halves: [Half; 2],
    /// The number of its first frame.
    pub(super) first: Option<u64>,
}

impl Stream {
    /// Between client and server.
    pub(super) fn new(ends: [Endpoint; 2]) -> Self {
        Self {
            ends,
            halves: <[Half; 2]>::default(),
            first: None,
        }
    }

    /// Where the next data of a side begins.
    pub(super) fn next(&self, side: Side) -> u64 {
        of(&self.halves, side).at
    }

    /// A side asks for the session (the client), or takes it; `most` is the longest piece that it takes, bytes.
    pub(super) fn opens(&mut self, side: Side, most: u16, moment: Moment, out: Out<'_>) {
        let [high, low] = most.to_be_bytes();
        let options = [2, 4, high, low, 3, 3, WINDOW_SHIFT, 1];
        let answers = if side == Side::Server { Flags::ACK } else { 0 };
        let segment = Segment {
            seq: 0,
            options: &options,
            ..self.segment(side, Flags::SYN | answers, UNTOLD_WINDOW)
        };
        self.hand(&segment, moment, out);
    }

    /// A side sent a piece of a message: `data` of it was kept. It begins at `start` if it was sent before.
    pub(super) fn data(
        &mut self,
        side: Side,
        start: Option<u64>,
        (data, len): (&[u8], u32),
        said: Said,
        (moment, out): (Moment, Out<'_>),
    ) {
        let half = of_mut(&mut self.halves, side);
        let at = start.unwrap_or(half.at);
        if start.is_none() {
            if !half.is_inside {
                half.message = half.at;
            }
            half.at = half.at.saturating_add(u64::from(len));
            half.end = half.end.max(half.at);
            half.is_inside = said.marks & marks::END == 0;
            if !half.is_inside {
                half.at = half.end;
            }
        }
        let segment = Segment {
            seq: number(at),
            data,
            len,
            ..self.segment(side, Flags::ACK | said.marks, said.window)
        };
        self.hand(&segment, moment, out);
    }

    /// A side says something without data.
    pub(super) fn says(&mut self, side: Side, said: Said, moment: Moment, out: Out<'_>) {
        let segment = self.segment(side, Flags::ACK | said.marks, said.window);
        self.hand(&segment, moment, out);
    }

    /// The data of a side is acknowledged up to an offset.
    pub(super) fn acknowledged(&mut self, side: Side, offset: u64) {
        let half = of_mut(&mut self.halves, side);
        half.acked = half.acked.max(offset);
    }

    /// Data of a side that the capture lacks was acknowledged: about `len` bytes.
    pub(super) fn lacks(&mut self, side: Side, len: u64) {
        let half = of_mut(&mut self.halves, side);
        half.at = half.end.saturating_add(len);
        half.end = half.at;
        half.acked = half.at;
        half.is_inside = false;
    }

    /// A side goes on with its message where the other one had taken the given number of bytes of it.
    pub(super) fn resumes(&mut self, side: Side, taken: u16) {
        let half = of_mut(&mut self.halves, side);
        half.at = half.end.min(half.message.saturating_add(u64::from(taken)));
        half.is_inside = true;
    }

    /// The session is over.
    pub(super) fn ends(&mut self, side: Side, moment: Moment, out: Out<'_>) {
        let segment = self.segment(side, Flags::ACK | Flags::FIN, UNTOLD_WINDOW);
        self.hand(&segment, moment, out);
    }

    fn segment(&self, side: Side, flags: u16, window: u16) -> Segment<'static> {
        let [client, server] = self.ends;
        let (from, to, whose) = match side {
            Side::Client => (client, server, marks::FROM_CLIENT),
            Side::Server => (server, client, 0),
        };
        Segment {
            from,
            to,
            seq: number(of(&self.halves, side).at),
            ack: number(of(&self.halves, side.other()).acked),
            flags: Flags(flags | whose),
            window,
            checksum: 0,
            identification: 0,
            ttl: 0,
            options: &[],
            has_all_options: true,
            data: &[],
            len: 0,
        }
    }

    fn hand(&mut self, segment: &Segment<'_>, moment: Moment, out: Out<'_>) {
        self.first.get_or_insert(moment.frame);
        out(segment, moment);
    }
}

/// The sequence number of an offset: what opens the session has number 0.
fn number(offset: u64) -> u32 {
    (offset as u32).wrapping_add(1)
}
