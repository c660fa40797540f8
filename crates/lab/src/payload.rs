//! Payloads that are cheap to copy: slices of shared memory, or of a pattern that is never stored.
//!
//! A simulated copy of a gigabyte moves only references. Bulk data is a [`Payload::pattern`], whose bytes are a
//! function of their offset, so that both ends and a capture agree on them without storing them.

use alloc::{collections::VecDeque, sync::Arc, vec::Vec};

#[derive(Clone, Debug)]
enum Source {
    Memory(Arc<[u8]>),
    Pattern,
}

/// Consecutive bytes from one source.
#[derive(Clone, Debug)]
pub struct Chunk {
    source: Source,
    start: u64,
    len: u64,
}

impl Chunk {
    /// Number of bytes.
    pub const fn len(&self) -> u64 {
        self.len
    }

    /// Whether it is empty.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The offset in the pattern, if the bytes come from the pattern.
    pub const fn pattern_offset(&self) -> Option<u64> {
        match self.source {
            Source::Pattern => Some(self.start),
            Source::Memory(_) => None,
        }
    }

    /// Appends the bytes.
    pub fn copy_to(&self, out: &mut Vec<u8>) {
        match &self.source {
            Source::Memory(bytes) => {
                let start = self.start as usize;
                let end = start.saturating_add(self.len as usize);
                out.extend_from_slice(bytes.get(start..end).unwrap_or_default());
            }
            Source::Pattern => {
                out.extend((self.start..self.start.saturating_add(self.len)).map(pattern_byte));
            }
        }
    }

    fn slice(&self, from: u64, len: u64) -> Self {
        Self {
            source: self.source.clone(),
            start: self.start.saturating_add(from),
            len: len.min(self.len.saturating_sub(from)),
        }
    }

    fn advance(&mut self, by: u64) {
        self.start = self.start.saturating_add(by);
        self.len = self.len.saturating_sub(by);
    }

    /// Merges `next` if it continues this chunk.
    fn join(&mut self, next: &Self) -> bool {
        let same = match (&self.source, &next.source) {
            (Source::Memory(a), Source::Memory(b)) => Arc::ptr_eq(a, b),
            (Source::Pattern, Source::Pattern) => true,
            _ => false,
        };
        let joins = same && self.start.saturating_add(self.len) == next.start;
        if joins {
            self.len = self.len.saturating_add(next.len);
        }
        joins
    }
}

/// The pattern's byte at this offset: a hash of it, so that shifted data is detected.
pub const fn pattern_byte(offset: u64) -> u8 {
    (offset.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8
}

/// Bytes in order, from any number of sources.
#[derive(Clone, Debug, Default)]
pub struct Payload {
    first: Option<Chunk>,
    rest: Vec<Chunk>,
    len: u64,
}

impl Payload {
    /// No bytes.
    pub const fn new() -> Self {
        Self {
            first: None,
            rest: Vec::new(),
            len: 0,
        }
    }

    /// A copy of these bytes.
    pub fn copy_from(bytes: &[u8]) -> Self {
        Self::from(Arc::from(bytes))
    }

    /// `len` bytes of the pattern, starting at `offset`.
    pub fn pattern(offset: u64, len: u64) -> Self {
        Self::from(Chunk {
            source: Source::Pattern,
            start: offset,
            len,
        })
    }

    /// Number of bytes.
    pub const fn len(&self) -> u64 {
        self.len
    }

    /// Whether it is empty.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The chunks in order.
    pub fn chunks(&self) -> impl Iterator<Item = &Chunk> {
        self.first.iter().chain(&self.rest)
    }

    /// Appends `next`.
    pub fn append(&mut self, next: Self) {
        for chunk in next.first.into_iter().chain(next.rest) {
            self.push(chunk);
        }
    }

    /// Copies the bytes.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.chunks().for_each(|chunk| chunk.copy_to(&mut out));
        out
    }

    /// Whether it equals the pattern at `offset`; true for an empty payload. Avoids generating bytes where possible.
    pub fn is_pattern_at(&self, offset: u64) -> bool {
        let mut at = offset;
        self.chunks().all(|chunk| {
            let expected = at;
            at = at.saturating_add(chunk.len);
            match chunk.pattern_offset() {
                Some(start) => start == expected,
                None => {
                    let mut bytes = Vec::new();
                    chunk.copy_to(&mut bytes);
                    bytes
                        .iter()
                        .zip(expected..)
                        .all(|(byte, i)| *byte == pattern_byte(i))
                }
            }
        })
    }

    /// The payload without its first `from` bytes.
    pub fn skip(&self, from: u64) -> Self {
        let mut left = from;
        let mut out = Self::new();
        for chunk in self.chunks() {
            let cut = left.min(chunk.len);
            left = left.saturating_sub(cut);
            out.push(chunk.slice(cut, chunk.len));
        }
        out
    }

    fn push(&mut self, chunk: Chunk) {
        if chunk.len == 0 {
            return;
        }
        self.len = self.len.saturating_add(chunk.len);
        let last = self.rest.last_mut().or(self.first.as_mut());
        match last {
            None => self.first = Some(chunk),
            Some(last) => {
                if !last.join(&chunk) {
                    self.rest.push(chunk);
                }
            }
        }
    }
}

impl From<Arc<[u8]>> for Payload {
    fn from(bytes: Arc<[u8]>) -> Self {
        let len = bytes.len() as u64;
        Self::from(Chunk {
            source: Source::Memory(bytes),
            start: 0,
            len,
        })
    }
}

impl From<Vec<u8>> for Payload {
    fn from(bytes: Vec<u8>) -> Self {
        Self::from(Arc::from(bytes))
    }
}

impl From<Chunk> for Payload {
    fn from(chunk: Chunk) -> Self {
        let mut payload = Self::new();
        payload.push(chunk);
        payload
    }
}

/// A queue of bytes: the contents of a socket buffer.
#[derive(Clone, Debug, Default)]
pub struct Buffer {
    chunks: VecDeque<Chunk>,
    len: u64,
}

impl Buffer {
    /// Number of bytes.
    pub const fn len(&self) -> u64 {
        self.len
    }

    /// Whether it is empty.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Appends bytes.
    pub fn push(&mut self, payload: Payload) {
        for chunk in payload.first.into_iter().chain(payload.rest) {
            self.len = self.len.saturating_add(chunk.len);
            let joined = self.chunks.back_mut().is_some_and(|last| last.join(&chunk));
            if !joined {
                self.chunks.push_back(chunk);
            }
        }
    }

    /// A copy of up to `len` bytes, starting at `from`.
    pub fn slice(&self, from: u64, len: u64) -> Payload {
        let (mut skip, mut want) = (from, len);
        let mut out = Payload::new();
        for chunk in &self.chunks {
            if want == 0 {
                break;
            }
            if skip >= chunk.len {
                skip = skip.saturating_sub(chunk.len);
                continue;
            }
            let piece = chunk.slice(skip, want);
            skip = 0;
            want = want.saturating_sub(piece.len);
            out.push(piece);
        }
        out
    }

    /// Removes the first `count` bytes.
    pub fn drop_front(&mut self, count: u64) {
        let mut left = count.min(self.len);
        self.len = self.len.saturating_sub(left);
        while left > 0 {
            let Some(front) = self.chunks.front_mut() else {
                return;
            };
            let cut = left.min(front.len);
            front.advance(cut);
            left = left.saturating_sub(cut);
            if front.is_empty() {
                self.chunks.pop_front();
            }
        }
    }

    /// Removes and returns up to `max` bytes from the front.
    pub fn take(&mut self, max: u64) -> Payload {
        let out = self.slice(0, max);
        self.drop_front(out.len());
        out
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_terabyte_of_pattern_is_one_run() {
        let mut buffer = Buffer::default();
        for i in 0..16_u64 {
            buffer.push(Payload::pattern(i << 36, 1 << 36));
        }
        assert_eq!((buffer.len(), buffer.chunks.len()), (1 << 40, 1));
        assert_eq!(
            buffer.slice(12345, 3).to_vec(),
            [12345, 12346, 12347].map(pattern_byte)
        );
    }

    #[test]
    fn a_pattern_is_known_by_its_bytes_too() {
        let bytes: Vec<u8> = (100..200).map(pattern_byte).collect();
        let mut payload = Payload::from(bytes);
        payload.append(Payload::pattern(200, 50));
        assert!(payload.is_pattern_at(100));
        assert!(!payload.is_pattern_at(101));
        assert!(payload.skip(70).is_pattern_at(170));
    }

    proptest! {
        #[test]
        fn a_buffer_gives_back_what_was_put_in_in_any_pieces(
            pieces in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..40), 0..8),
            takes in proptest::collection::vec(0_u64..50, 0..12),
        ) {
            let mut buffer = Buffer::default();
            let all: Vec<u8> = pieces.concat();
            pieces.iter().for_each(|piece| buffer.push(Payload::copy_from(piece)));
            prop_assert_eq!(buffer.len(), all.len() as u64);
            let mut out = Vec::new();
            for take in takes {
                let ahead = buffer.slice(take, 7).to_vec();
                let begin = (out.len() + take as usize).min(all.len());
                prop_assert_eq!(&ahead[..], &all[begin..(begin + 7).min(all.len())]);
                out.extend(buffer.take(take).to_vec());
            }
            prop_assert_eq!(&out[..], &all[..out.len()]);
            prop_assert_eq!(buffer.len() as usize, all.len() - out.len());
        }
    }
}
