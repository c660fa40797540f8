//! IP packets in pieces, put together in bounded memory.

use coax_wire::time::Time;

use super::IpPacket;

/// Packets in the making at a time; the oldest makes room.
const MOST_PACKETS: usize = 64;
/// The longest packet there is, bytes.
const MOST_BYTES: usize = 1 << 16;
/// A packet whose pieces do not all come in this time is given up (RFC 1122 §3.3.2: 60 to 120 s).
const PATIENCE_NS: u64 = 60_000_000_000;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Fragments {
    making: Vec<Making>,
    whole: Vec<u8>,
    given_up: u64,
}

#[derive(Debug)]
struct Making {
    key: (u128, u128, u32),
    since: Time,
    protocol: u8,
    /// Bytes as far as they were kept; what was not reads as zeros.
    bytes: Vec<u8>,
    /// The pieces that came: from, to.
    pieces: Vec<(usize, usize)>,
    /// Up to where the bytes are those of the wire.
    kept: Vec<(usize, usize)>,
    total: Option<usize>,
}

impl Fragments {
    /// Adds a piece; the packet, if it was the last that was missing.
    pub(super) fn add(&mut self, piece: &IpPacket<'_>, at: Time) -> Option<IpPacket<'_>> {
        let (offset, more) = piece.fragment?;
        let end = offset.saturating_add(piece.payload_len);
        if end > MOST_BYTES {
            return None;
        }
        let index = self.place(piece, at);
        let making = self.making.get_mut(index)?;
        making.put(offset, piece, more);
        if !making.is_whole() {
            return None;
        }
        let making = self.making.swap_remove(index);
        let (kept, total) = (making.kept_prefix(), making.total.unwrap_or(0));
        self.whole = making.bytes;
        Some(IpPacket {
            payload: self.whole.get(..kept.min(total)).unwrap_or_default(),
            payload_len: total,
            fragment: None,
            ..IpPacket {
                protocol: making.protocol,
                payload: &[],
                ..*piece
            }
        })
    }

    /// Packets of which pieces have not come, now that no more do.
    pub(super) fn incomplete(&self) -> u64 {
        self.given_up + self.making.len() as u64
    }

    /// The place of the packet that `piece` belongs to, a new one if there is none.
    fn place(&mut self, piece: &IpPacket<'_>, at: Time) -> usize {
        let before = self.making.len();
        self.making
            .retain(|making| (at - making.since).0 <= PATIENCE_NS);
        let key = (piece.from, piece.to, piece.identification);
        if let Some(index) = self.making.iter().position(|making| making.key == key) {
            self.given_up += (before - self.making.len()) as u64;
            return index;
        }
        if self.making.len() >= MOST_PACKETS {
            self.making.remove(0);
        }
        self.given_up += (before - self.making.len()) as u64;
        self.making.push(Making {
            key,
            since: at,
            protocol: piece.protocol,
            bytes: Vec::new(),
            pieces: Vec::new(),
            kept: Vec::new(),
            total: None,
        });
        self.making.len() - 1
    }
}

impl Making {
    fn put(&mut self, offset: usize, piece: &IpPacket<'_>, more: bool) {
        let kept_end = offset.saturating_add(piece.payload.len());
        if self.bytes.len() < kept_end {
            self.bytes.resize(kept_end, 0);
        }
        if let Some(place) = self.bytes.get_mut(offset..kept_end) {
            place.copy_from_slice(piece.payload);
        }
        const MOST_PIECES: usize = 1 << 13;
        if self.pieces.len() < MOST_PIECES {
            self.pieces.push((offset, offset + piece.payload_len));
            self.kept.push((offset, kept_end));
        }
        if !more {
            self.total = Some(offset + piece.payload_len);
        }
        if offset == 0 {
            self.protocol = piece.protocol;
        }
    }

    fn is_whole(&mut self) -> bool {
        self.total
            .is_some_and(|total| prefix(&mut self.pieces) >= total)
    }

    fn kept_prefix(&self) -> usize {
        prefix(&mut self.kept.clone())
    }
}

/// Up to where pieces cover everything from 0.
fn prefix(pieces: &mut [(usize, usize)]) -> usize {
    pieces.sort_unstable();
    let mut end = 0;
    for (from, to) in pieces {
        if *from > end {
            break;
        }
        end = end.max(*to);
    }
    end
}
