//! What came before its turn.

use std::collections::BTreeMap;

/// Bytes that are kept, of one direction. Beyond it only their place is.
const MOST_BYTES: usize = 1 << 20;
/// Pieces. Beyond it the hole before them is given up.
const MOST: usize = 4096;

#[derive(Debug)]
struct Early {
    len: u64,
    bytes: Vec<u8>,
    ends: bool,
}

/// Pieces of a stream that came before their turn, by where they begin. They may overlap.
#[derive(Debug, Default)]
pub(super) struct EarlyPieces {
    pieces: BTreeMap<u64, Early>,
    bytes: usize,
    /// The longest of them, since there were none.
    longest: u64,
}

impl EarlyPieces {
    pub(super) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Where the first one begins.
    pub(super) fn first(&self) -> Option<u64> {
        self.pieces.first_key_value().map(|(start, _)| *start)
    }

    /// Whether the pieces exceed a limit, so that the hole before them counts as lost.
    pub(super) fn is_overfull(&self) -> bool {
        self.pieces.len() > MOST || self.bytes >= MOST_BYTES
    }

    /// Whether they have every byte from `start` to `end`.
    pub(super) fn covers(&self, start: u64, end: u64) -> bool {
        let mut covered = start;
        let first = start.saturating_sub(self.longest);
        if covered < end {
            for (at, early) in self.pieces.range(first..end) {
                if *at <= covered {
                    covered = covered.max(at.saturating_add(early.len));
                }
            }
        }
        covered >= end
    }

    /// Keeps a piece of the given length; `ends`: a message ends with it.
    pub(super) fn keep(&mut self, start: u64, (len, ends): (u64, bool), bytes: &[u8]) {
        let has_room = self.bytes.saturating_add(bytes.len()) <= MOST_BYTES;
        let bytes = if has_room { bytes.to_vec() } else { Vec::new() };
        let kept = bytes.len();
        match self.pieces.get(&start) {
            Some(known) if known.len >= len => return,
            _ => {}
        }
        self.longest = self.longest.max(len);
        if let Some(old) = self.pieces.insert(start, Early { len, bytes, ends }) {
            self.bytes -= old.bytes.len();
        }
        self.bytes += kept;
    }

    /// The bytes from `delivered` on, if it is their turn: their length, what was kept of them, and whether a message ends
    /// with them.
    #[inline]
    pub(super) fn next(&mut self, delivered: u64) -> Option<(u64, Vec<u8>, bool)> {
        if self.pieces.is_empty() {
            self.longest = 0;
            return None;
        }
        self.take(delivered)
    }

    fn take(&mut self, delivered: u64) -> Option<(u64, Vec<u8>, bool)> {
        loop {
            let first = self.pieces.first_entry();
            let entry = first.filter(|entry| *entry.key() <= delivered)?;
            let (start, mut early) = entry.remove_entry();
            self.bytes -= early.bytes.len();
            let known = delivered - start;
            if known < early.len {
                let skip = usize::try_from(known).unwrap_or(usize::MAX);
                early.bytes.drain(..skip.min(early.bytes.len()));
                return Some((early.len - known, early.bytes, early.ends));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pieces of many lengths, some of them over others.
    fn pieces() -> Vec<(u64, u64)> {
        let place = |number: u64| (number * 7919) % 500;
        let len =
            |number: u64| 1 + (number * 104_729) % if number.is_multiple_of(9) { 90 } else { 12 };
        (0..40).map(|number| (place(number), len(number))).collect()
    }

    #[test]
    fn what_they_cover_is_known_whatever_their_lengths() {
        let mut early = EarlyPieces::default();
        let mut has = [false; 1000];
        for (start, len) in pieces() {
            early.keep(start, (len, false), &[]);
            let bytes = has.iter_mut().enumerate();
            bytes
                .filter(|(at, _)| (start..start + len).contains(&(*at as u64)))
                .for_each(|(_, byte)| *byte = true);
            for from in 0..600 {
                for end in [from + 1, from + 5, from + 40] {
                    let wanted = (from..end).all(|at| has.get(at).copied().unwrap_or(false));
                    let found = early.covers(from as u64, end as u64);
                    assert_eq!(found, wanted, "{from} to {end}");
                }
            }
        }
    }

    #[test]
    fn each_byte_comes_once_and_in_order() {
        let mut early = EarlyPieces::default();
        for (start, len) in pieces() {
            let bytes: Vec<u8> = (start..start + len).map(|at| at as u8).collect();
            early.keep(start, (len, false), &bytes);
        }
        let mut at = early.first().unwrap_or_default();
        while !early.is_empty() {
            while let Some((len, bytes, _)) = early.next(at) {
                let wanted: Vec<u8> = (at..at + len).map(|at| at as u8).collect();
                assert_eq!(bytes, wanted);
                at += len;
            }
            at = early.first().unwrap_or(at);
        }
        assert_eq!((early.bytes, early.next(at)), (0, None));
    }
}
