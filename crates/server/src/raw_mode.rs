//! What a connection expects of raw mode.

use crate::table::OpenId;
use alloc::vec::Vec;
use coax_wire::header::{Fid, Header, PROTOCOL, Tid};

/// Oplock breaks remembered.
const MOST_BREAKS: usize = 64;

/// What the connection expects of raw mode.
#[derive(Debug, Default)]
pub struct RawState {
    /// The raw write whose data is the next message.
    pub awaited: Option<Awaited>,
    /// Length of the data that a refused raw write announced.
    pub unwanted: Option<usize>,
    /// Oplock breaks sent to the client, until they are found answered.
    breaks: Vec<OpenId>,
}

/// A raw write between its interim reply and its data.
#[derive(Clone, Copy, Debug)]
pub struct Awaited {
    /// The request's header.
    pub header: Header,
    /// The file.
    pub fid: Fid,
    /// Where the data belongs.
    pub offset: u64,
    /// Bytes that the request announced.
    pub promised: usize,
    /// Bytes that came with the request and are written.
    pub written: usize,
    /// The client wants the data on the disk before the reply.
    pub through: bool,
}

impl RawState {
    /// Whether `message`, the next one, is raw data. Some clients (impacket) send the data of a raw write together with
    /// its request: if that was refused, a message of just the length announced and without a header is that data.
    pub fn takes(&mut self, message: &[u8]) -> bool {
        let unwanted = self.unwanted.take();
        self.awaited.is_some()
            || (unwanted == Some(message.len()) && !message.starts_with(&PROTOCOL))
    }

    /// The tree of the raw write whose data is awaited.
    pub fn awaited_tid(&self) -> Option<Tid> {
        self.awaited.map(|awaited| awaited.header.tid)
    }

    /// An oplock break was sent to the client. Only the latest are remembered: a client that never reads raw would gather
    /// them for ever, and so many unanswered ones at a time are none's.
    pub fn note_break(&mut self, open: OpenId) {
        if self.breaks.len() >= MOST_BREAKS {
            self.breaks.remove(0);
        }
        self.breaks.push(open);
    }

    /// Forgets the breaks that `is_pending` denies, and returns whether any is left.
    pub fn awaits_break(&mut self, is_pending: impl Fn(OpenId) -> bool) -> bool {
        self.breaks.retain(|open| is_pending(*open));
        !self.breaks.is_empty()
    }

    /// Whether breaks were sent whose answers have not been looked for.
    pub fn has_breaks(&self) -> bool {
        !self.breaks.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_never_reads_raw_does_not_gather_oplock_breaks_for_ever() {
        let mut raw = RawState::default();
        for number in 0..10_000 {
            raw.note_break(OpenId(number));
        }
        assert_eq!(raw.breaks.len(), MOST_BREAKS);
    }
}
