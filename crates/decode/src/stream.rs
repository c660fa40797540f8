//! One direction of a TCP connection cut into session packets. Segments may come twice, out of order, or cut by the capture.

use std::collections::BTreeMap;

use coax_wire::nbt::session::{Framing, HEADER_LEN};

/// Bytes of segments that came too early, which are kept.
const MAX_EARLY: usize = 1 << 20;
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
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Stream {
    framing: Framing,
    state: State,
    next: Option<u32>,
    bytes: Vec<u8>,
    /// Bytes that belong to a packet that was already given.
    skip: usize,
    searched: usize,
    early: BTreeMap<u32, (Vec<u8>, usize)>,
    early_bytes: usize,
}

impl Stream {
    pub(crate) fn new(framing: Framing) -> Self {
        Self {
            framing,
            state: State::Lost,
            next: None,
            bytes: Vec::new(),
            skip: 0,
            searched: 0,
            early: BTreeMap::new(),
            early_bytes: 0,
        }
    }

    /// The connection begins: the first byte has this sequence number.
    pub(crate) fn begin(&mut self, first: u32) {
        *self = Self::new(self.framing);
        self.next = Some(first);
        self.state = State::Aligned;
    }

    /// Takes a segment: its first sequence number, what was captured of it, and how long it was.
    pub(crate) fn segment(&mut self, seq: u32, data: &[u8], len: usize, out: &mut Vec<Packet>) {
        if len == 0 || self.state == State::Other {
            return;
        }
        let next = *self.next.get_or_insert(seq);
        let ahead = seq.wrapping_sub(next).cast_signed();
        if ahead <= 0 {
            let known = usize::try_from(ahead.unsigned_abs()).unwrap_or(usize::MAX);
            self.advance(data, len, known, out);
        } else {
            self.keep(seq, data, len);
        }
        self.early(out);
        if self.early_bytes > MAX_EARLY {
            self.give_up(out);
        }
    }

    fn advance(&mut self, data: &[u8], len: usize, known: usize, out: &mut Vec<Packet>) {
        let Some(new) = len.checked_sub(known).filter(|new| *new > 0) else {
            return;
        };
        let step = u32::try_from(new).unwrap_or(0);
        self.next = self.next.map(|next| next.wrapping_add(step));
        let fresh = data.get(known..).unwrap_or_default();
        self.feed(fresh, new - fresh.len().min(new), out);
    }

    fn keep(&mut self, seq: u32, data: &[u8], len: usize) {
        let is_new = self.early.insert(seq, (data.to_vec(), len)).is_none();
        self.early_bytes += if is_new { data.len().max(1) } else { 0 };
    }

    /// Segments that are due now.
    fn early(&mut self, out: &mut Vec<Packet>) {
        while let Some(next) = self.next {
            let due = self
                .early
                .iter()
                .find(|(seq, _)| next.wrapping_sub(**seq).cast_signed() >= 0);
            let Some((seq, (data, len))) = due.map(|(seq, kept)| (*seq, kept.clone())) else {
                return;
            };
            self.early.remove(&seq);
            self.early_bytes = self.early_bytes.saturating_sub(data.len().max(1));
            let known = usize::try_from(next.wrapping_sub(seq)).unwrap_or(usize::MAX);
            self.advance(&data, len, known, out);
        }
    }

    /// What is missing never comes: the capture lacks it.
    pub(crate) fn give_up(&mut self, out: &mut Vec<Packet>) {
        while let (Some(next), false) = (self.next, self.early.is_empty()) {
            let nearest = self
                .early
                .keys()
                .min_by_key(|seq| seq.wrapping_sub(next))
                .copied();
            let Some(seq) = nearest else { return };
            let missing = seq.wrapping_sub(next);
            self.next = Some(seq);
            self.feed(&[], usize::try_from(missing).unwrap_or(usize::MAX), out);
            self.early(out);
        }
    }

    /// Takes bytes in order, then bytes that are missing.
    fn feed(&mut self, data: &[u8], missing: usize, out: &mut Vec<Packet>) {
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
        if missing == 0 {
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
            out.push(Packet { bytes, len });
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
            out.push(Packet { bytes, len });
        }
    }

    /// Looks for a header before an SMB message.
    fn search(&mut self) -> bool {
        let found = self
            .bytes
            .windows(8)
            .position(|eight| matches!(eight, [0, 0 | 1, _, _, 0xff, b'S', b'M', b'B']));
        let end = found.unwrap_or(self.bytes.len().saturating_sub(7));
        self.bytes.drain(..end);
        self.searched += end;
        if self.searched > MAX_SEARCH {
            self.state = State::Other;
            self.bytes = Vec::new();
        }
        found.is_some()
    }
}

#[cfg(test)]
mod tests;
