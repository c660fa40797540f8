//! The raw mode state of a connection.

use crate::table::OpenId;
use alloc::vec::Vec;
use coax_wire::header::{Fid, Header, PROTOCOL, Tid};

/// Most recorded oplock breaks.
const MOST_BREAKS: usize = 64;

/// The raw mode state of a connection.
#[derive(Debug, Default)]
pub struct RawState {
    /// The raw write whose data is the next message.
    pub awaited: Option<Awaited>,
    /// Length of the data that a refused raw write announced.
    pub unwanted: Option<usize>,
    /// Oplock breaks sent to the client, until their acknowledgements are found.
    breaks: Vec<OpenId>,
}

/// A raw write between its interim reply and its data.
#[derive(Clone, Copy, Debug)]
pub struct Awaited {
    /// The request's header.
    pub header: Header,
    /// The file.
    pub fid: Fid,
    /// The offset of the data in the file.
    pub offset: u64,
    /// Bytes that the request announced.
    pub promised: usize,
    /// Bytes in the request, already written.
    pub written: usize,
    /// The client wants the data on disk before the reply.
    pub through: bool,
}

impl RawState {
    /// Whether the next message, `message`, is raw data. Some clients (impacket) send the data of a raw write together
    /// with its request. After a refused request, a message of exactly the announced length and without a header is
    /// that data.
    pub fn takes(&mut self, message: &[u8]) -> bool {
        let unwanted = self.unwanted.take();
        self.awaited.is_some()
            || (unwanted == Some(message.len()) && !message.starts_with(&PROTOCOL))
    }

    /// The tree of the raw write that waits for data.
    pub fn awaited_tid(&self) -> Option<Tid> {
        self.awaited.map(|awaited| awaited.header.tid)
    }

    /// Records an oplock break sent to the client. It keeps only the latest, because a client without raw reads would
    /// accumulate them; no client has so many unanswered breaks at a time.
    pub fn note_break(&mut self, open: OpenId) {
        if self.breaks.len() >= MOST_BREAKS {
            self.breaks.remove(0);
        }
        self.breaks.push(open);
    }

    /// Removes the breaks for which `is_pending` is false, and returns whether any remains.
    pub fn awaits_break(&mut self, is_pending: impl Fn(OpenId) -> bool) -> bool {
        self.breaks.retain(|open| is_pending(*open));
        !self.breaks.is_empty()
    }

    /// Whether unchecked breaks remain.
    pub fn has_breaks(&self) -> bool {
        !self.breaks.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_recorded_oplock_breaks_is_bounded() {
        let mut raw = RawState::default();
        for number in 0..10_000 {
            raw.note_break(OpenId(number));
        }
        assert_eq!(raw.breaks.len(), MOST_BREAKS);
    }
}
