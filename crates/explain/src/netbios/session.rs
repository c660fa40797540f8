//! One session: which station is its client, its stream, and what is counted of it.

use super::{
    marks,
    stream::{Out, Said, Stream, UNTOLD_WINDOW},
};
use crate::report::{Netbios, NetbiosSide};
use crate::session::Moment;
use crate::timeline::{Side, of_mut};
use coax_capture::Endpoint;
use coax_wire::header::{HEADER_LEN, PROTOCOL};

/// Where the flags of an SMB header are, and the bit of a response ([MS-CIFS] 2.2.3.1).
const SMB_FLAGS: usize = 9;
const SMB_REPLY: u8 = 0x80;

/// A session between two stations, 0 and 1.
#[derive(Debug)]
pub(super) struct Session {
    /// Its number among those of the capture.
    pub(super) id: u32,
    /// Both ends, by station.
    pub(super) ends: [Endpoint; 2],
    /// The station that is the client, and the stream, as soon as that is known.
    stream: Option<(usize, Stream)>,
    pub(super) told: Netbios,
    /// The window of each station, if it was told: else it is not.
    pub(super) windows: [u16; 2],
    /// Whether a station has no room, and the bytes of a message that it had taken when it said so.
    busy: [bool; 2],
    taken: [Option<u16>; 2],
    /// The longest piece of each.
    longest: [u32; 2],
    /// The station that has ended it.
    pub(super) ended_by: Option<usize>,
}

impl Session {
    pub(super) fn new(id: u32, ends: [Endpoint; 2]) -> Self {
        Self {
            id,
            ends,
            stream: None,
            told: Netbios::default(),
            windows: [UNTOLD_WINDOW; 2],
            busy: [false; 2],
            taken: [None; 2],
            longest: [0; 2],
            ended_by: None,
        }
    }

    /// A station opens it.
    pub(super) fn opened_by(&mut self, client: usize) -> &mut Stream {
        let [one, other] = self.ends;
        let ends = if client == 0 {
            [one, other]
        } else {
            [other, one]
        };
        let (_, stream) = self
            .stream
            .get_or_insert_with(|| (client, Stream::new(ends)));
        stream
    }

    /// Whose side a station is on.
    pub(super) fn side(&self, station: usize) -> Option<Side> {
        let (client, _) = self.stream.as_ref()?;
        Some(match *client == station {
            true => Side::Client,
            false => Side::Server,
        })
    }

    /// What is counted of a station; lost as long as nobody knows which side it is.
    pub(super) fn counts(&mut self, station: usize) -> Option<&mut NetbiosSide> {
        let side = self.side(station)?;
        Some(of_mut(&mut self.told.sides, side))
    }

    pub(super) fn stream(&mut self) -> Option<&mut Stream> {
        self.stream.as_mut().map(|(_, stream)| stream)
    }

    /// A station sent a piece of a message. If the capture began later, the first message that is a request or a response
    /// tells who the client is; what comes before it is left out. Where the piece begins in the stream.
    pub(super) fn data(
        &mut self,
        station: usize,
        (data, len): (&[u8], u32),
        said: u16,
        (moment, out): (Moment, Out<'_>),
    ) -> u64 {
        if self.stream.is_none()
            && let Some(client) = client_of(station, data)
        {
            self.opened_by(client);
        }
        let Some(side) = self.side(station) else {
            return 0;
        };
        if let Some(longest) = self.longest.get_mut(station) {
            *longest = (*longest).max(len);
        }
        let said = self.said(station, said);
        let Some(stream) = self.stream() else {
            return 0;
        };
        let start = stream.next(side);
        stream.data(side, None, (data, len), said, (moment, out));
        start
    }

    /// The same of a piece that was sent before, from `start` on.
    pub(super) fn again(
        &mut self,
        station: usize,
        start: u64,
        piece: (&[u8], u32),
        said: u16,
        (moment, out): (Moment, Out<'_>),
    ) {
        let said = self.said(station, said);
        if let (Some(side), Some(stream)) = (self.side(station), self.stream()) {
            stream.data(side, Some(start), piece, said, (moment, out));
        }
    }

    /// A station says something without data.
    pub(super) fn says(&mut self, station: usize, marks: u16, moment: Moment, out: Out<'_>) {
        let said = self.said(station, marks);
        if let (Some(side), Some(stream)) = (self.side(station), self.stream()) {
            stream.says(side, said, moment, out);
        }
    }

    /// A station's data is acknowledged up to an offset.
    pub(super) fn acknowledged(&mut self, station: usize, offset: u64) {
        if let (Some(side), Some(stream)) = (self.side(station), self.stream()) {
            stream.acknowledged(side, offset);
        }
    }

    /// The capture lacks this many frames of a station.
    pub(super) fn lacks(&mut self, station: usize, frames: u64) {
        let longest = self.longest.get(station).copied().unwrap_or_default();
        let len = frames.saturating_mul(u64::from(longest.max(1)));
        if let (Some(side), Some(stream)) = (self.side(station), self.stream()) {
            stream.lacks(side, len);
        }
    }

    /// A station has received this number of bytes of the message and has no room for more (`is_busy`), or has room again.
    pub(super) fn refuses(&mut self, station: usize, taken: u16, is_busy: bool) {
        if let (Some(place), Some(busy)) = (self.taken.get_mut(station), self.busy.get_mut(station))
        {
            (*place, *busy) = (Some(taken), is_busy);
        }
        if let Some(side) = self.counts(station) {
            side.busy += u64::from(is_busy);
        }
    }

    /// A station goes on with its message where the other one had no room.
    pub(super) fn resumes(&mut self, station: usize) {
        let taken = self.taken.get_mut(1 - station).and_then(Option::take);
        if let (Some(taken), Some(side), Some(stream)) = (taken, self.side(station), self.stream())
        {
            stream.resumes(side, taken);
        }
    }

    /// A station ends it.
    pub(super) fn ends(&mut self, station: usize, moment: Moment, out: Out<'_>) {
        if let (Some(side), Some(stream)) = (self.side(station), self.stream()) {
            stream.ends(side, moment, out);
        }
    }

    /// The number of its first frame, and its description.
    pub(super) fn into_report(mut self) -> Option<(u64, Netbios)> {
        let first = self.stream()?.first?;
        Some((first, self.told))
    }

    fn said(&self, station: usize, marks: u16) -> Said {
        let is_busy = self.busy.get(station).copied().unwrap_or_default();
        let window = self.windows.get(station).copied();
        Said {
            marks: marks | if is_busy { marks::BUSY } else { 0 },
            window: window.unwrap_or(UNTOLD_WINDOW),
        }
    }
}

/// The client, by an SMB message that `station` sent.
fn client_of(station: usize, data: &[u8]) -> Option<usize> {
    let flags = data
        .get(SMB_FLAGS)
        .filter(|_| data.starts_with(&PROTOCOL))?;
    let is_whole = data.len() >= HEADER_LEN;
    let is_reply = flags & SMB_REPLY != 0;
    is_whole.then_some(if is_reply { 1 - station } else { station })
}
