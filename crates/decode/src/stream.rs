//! One direction of a TCP connection cut into session packets. Segments may come twice, out of order, or cut by the capture.

mod early;

use coax_wire::{
    nbt::session::{Framing, HEADER_LEN},
    time::Time,
};

use early::Early;
pub(crate) use early::{Captured, Place};

/// The longest packet that is collected, bytes. No SMB1 message is longer.
const MAX_PACKET: usize = 1 << 20;
/// Bytes that are searched for the next message after a gap.
const MAX_SEARCH: usize = 1 << 22;

/// What is known of the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// At the beginning of a packet.
    Aligned,
    /// Somewhere; looks for a header.
    Lost,
    /// It is none of session packets.
    Other,
}

/// A packet, and how many bytes of it the capture has.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Packet {
    /// Its bytes, from the header's first.
    pub(crate) bytes: Vec<u8>,
    /// Bytes that it had on the wire.
    pub(crate) len: usize,
    /// The frame that completed it.
    pub(crate) place: Place,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Stream {
    framing: Framing,
    state: State,
    next: Option<u32>,
    /// The offset of `next` from the first byte.
    offset: u64,
    bytes: Vec<u8>,
    /// The last frame of those that have the data before `next`.
    place: Place,
    /// Bytes that belong to a packet that was already given.
    skip: usize,
    searched: usize,
    early: Early,
    missing: u64,
}

impl Stream {
    pub(crate) fn new(framing: Framing) -> Self {
        Self {
            framing,
            state: State::Lost,
            next: None,
            offset: 0,
            bytes: Vec::new(),
            place: (0, Time(0)),
            skip: 0,
            searched: 0,
            early: Early::default(),
            missing: 0,
        }
    }

    /// Bytes that the capture lacks.
    pub(crate) fn missing(&self) -> u64 {
        self.missing
    }

    /// The connection begins: the first byte has this sequence number.
    pub(crate) fn begin(&mut self, first: u32) {
        *self = Self {
            next: Some(first),
            state: State::Aligned,
            missing: self.missing,
            ..Self::new(self.framing)
        };
    }

    /// Takes a segment with its first sequence number.
    pub(crate) fn segment(&mut self, seq: u32, captured: Captured<'_>, out: &mut Vec<Packet>) {
        if captured.len == 0 || self.state == State::Other {
            return;
        }
        let next = *self.next.get_or_insert(seq);
        let ahead = seq.wrapping_sub(next).cast_signed();
        match u64::try_from(ahead) {
            Ok(ahead @ 1..) => self.early.keep(self.offset.saturating_add(ahead), captured),
            _ => {
                let known = usize::try_from(ahead.unsigned_abs()).unwrap_or(usize::MAX);
                self.advance(captured, known, out);
            }
        }
        self.take_due(out);
        if self.early.is_full() {
            self.give_up(out);
        }
    }

    /// The receiver has all before `ack`. What the capture lacks of that never comes, if it has data behind it.
    pub(crate) fn acknowledged(&mut self, ack: u32, out: &mut Vec<Packet>) {
        let Some(next) = self.next else { return };
        let ahead = ack.wrapping_sub(next).cast_signed();
        if let Ok(ahead @ 1..) = u64::try_from(ahead) {
            self.give_up_before(self.offset.saturating_add(ahead), out);
        }
    }

    /// Nothing follows. A message that is not complete is given as far as it came.
    pub(crate) fn end(&mut self, out: &mut Vec<Packet>) {
        self.give_up(out);
        let body = self.bytes.get(HEADER_LEN..).unwrap_or_default();
        let has_begun = self.state == State::Aligned && body.starts_with(b"\xffSMB");
        if let Some(len) = self.packet_len().filter(|_| has_begun) {
            let bytes = core::mem::take(&mut self.bytes);
            self.state = State::Lost;
            self.give(bytes, len, out);
        }
    }

    /// What is missing never comes: the capture lacks it.
    fn give_up(&mut self, out: &mut Vec<Packet>) {
        self.give_up_before(u64::MAX, out);
    }

    /// The same of what is missing before the offset `end`.
    fn give_up_before(&mut self, end: u64, out: &mut Vec<Packet>) {
        while let Some(first) = self.early.first().filter(|first| *first <= end) {
            let missing = first.saturating_sub(self.offset);
            self.pass(missing);
            self.missing = self.missing.saturating_add(missing);
            self.feed(&[], usize::try_from(missing).unwrap_or(usize::MAX), out);
            self.take_due(out);
        }
    }

    fn pass(&mut self, bytes: u64) {
        // sequence numbers wrap
        self.next = self.next.map(|next| next.wrapping_add(bytes as u32));
        self.offset = self.offset.saturating_add(bytes);
    }

    /// Takes a segment of which the first `known` bytes came before.
    fn advance(&mut self, captured: Captured<'_>, known: usize, out: &mut Vec<Packet>) {
        let new = captured.len.checked_sub(known).filter(|new| *new > 0);
        let Some(new) = new else { return };
        self.pass(new as u64);
        self.place = self.place.max(captured.place);
        let fresh = captured.data.get(known..).unwrap_or_default();
        self.feed(fresh, new - fresh.len().min(new), out);
    }

    /// Takes the segments that are due now.
    fn take_due(&mut self, out: &mut Vec<Packet>) {
        while let Some((at, kept)) = self.early.take_due(self.offset) {
            let known = usize::try_from(self.offset - at).unwrap_or(usize::MAX);
            self.advance(kept.captured(), known, out);
        }
    }

    fn give(&self, bytes: Vec<u8>, len: usize, out: &mut Vec<Packet>) {
        out.push(Packet {
            bytes,
            len,
            place: self.place,
        });
    }

    /// Takes bytes in order, then bytes that are missing.
    fn feed(&mut self, data: &[u8], missing: usize, out: &mut Vec<Packet>) {
        if self.state == State::Other {
            return;
        }
        let skipped = self.skip.min(data.len());
        self.skip -= skipped;
        self.bytes
            .extend_from_slice(data.get(skipped..).unwrap_or_default());
        self.packets(out);
        if missing > 0 {
            self.hole(missing, out);
        }
    }

    fn hole(&mut self, missing: usize, out: &mut Vec<Packet>) {
        let covered = self.skip.min(missing);
        self.skip -= covered;
        let missing = missing - covered;
        if missing == 0 || self.state == State::Other {
            return;
        }
        let whole = self.packet_len().filter(|_| self.state == State::Aligned);
        let bytes = core::mem::take(&mut self.bytes);
        self.state = State::Lost;
        if let Some(len) = whole.filter(|len| *len > bytes.len()) {
            let left = len - bytes.len();
            if left >= missing {
                self.skip = left - missing;
                self.state = State::Aligned;
            }
            self.give(bytes, len, out);
        }
    }

    /// The length of the packet at the beginning of what is kept.
    fn packet_len(&self) -> Option<usize> {
        let [kind, high, middle, low] = *self.bytes.first_chunk::<HEADER_LEN>()?;
        let high = match self.framing {
            Framing::Nbt => high & 1,
            Framing::Direct => high,
        };
        let len = usize::from(high) << 16 | usize::from(middle) << 8 | usize::from(low);
        let is_known = kind == 0 || (0x81..=0x85).contains(&kind);
        (is_known && len <= MAX_PACKET).then_some(HEADER_LEN + len)
    }

    fn packets(&mut self, out: &mut Vec<Packet>) {
        loop {
            if self.state == State::Lost {
                if !self.search() {
                    return;
                }
                self.state = State::Aligned;
            }
            if self.bytes.len() < HEADER_LEN {
                return;
            }
            let Some(len) = self.packet_len() else {
                self.state = State::Lost;
                continue;
            };
            if self.bytes.len() < len {
                return;
            }
            let rest = self.bytes.split_off(len);
            let bytes = core::mem::replace(&mut self.bytes, rest);
            self.give(bytes, len, out);
        }
    }

    /// Looks for a header before an SMB message.
    fn search(&mut self) -> bool {
        let longest = match self.framing {
            Framing::Nbt => 1,
            Framing::Direct => (MAX_PACKET >> 16) as u8,
        };
        let found = self.bytes.windows(8).position(
            |eight| matches!(eight, [0, high, _, _, 0xff, b'S', b'M', b'B'] if *high <= longest),
        );
        let end = found.unwrap_or(self.bytes.len().saturating_sub(7));
        self.bytes.drain(..end);
        self.searched += end;
        if found.is_none() && self.searched > MAX_SEARCH {
            self.state = State::Other;
            self.bytes = Vec::new();
            self.early.clear();
        }
        found.is_some()
    }
}

#[cfg(test)]
mod tests;
