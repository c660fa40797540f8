//! Segments that came before the data in front of them.

use std::collections::BTreeMap;

use coax_wire::time::Time;

/// Bytes that are kept of a stream.
const MAX_BYTES: usize = 1 << 20;
/// Segments that are kept of a stream: of a capture that has only headers, they have no bytes.
pub(super) const MAX_SEGMENTS: usize = 4096;

/// A frame's number and time.
pub(crate) type Place = (u64, Time);

/// The data of a segment: what was captured of it, how long it was, and the frame that has it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Captured<'a> {
    pub(crate) data: &'a [u8],
    pub(crate) len: usize,
    pub(crate) place: Place,
}

/// A segment that was kept.
#[derive(Debug)]
pub(super) struct Kept {
    data: Vec<u8>,
    len: usize,
    place: Place,
}

impl Kept {
    pub(super) fn captured(&self) -> Captured<'_> {
        Captured {
            data: &self.data,
            len: self.len,
            place: self.place,
        }
    }
}

/// See the module. Its keys are offsets in the stream, which do not wrap: the first one is the nearest.
#[derive(Debug, Default)]
pub(super) struct Early {
    segments: BTreeMap<u64, Kept>,
    bytes: usize,
    /// Segments that were looked at.
    #[cfg(test)]
    pub(super) steps: usize,
}

impl Early {
    /// The offset of the nearest one.
    pub(super) fn first(&mut self) -> Option<u64> {
        #[cfg(test)]
        {
            self.steps += 1;
        }
        self.segments.first_key_value().map(|(at, _)| *at)
    }

    pub(super) fn is_full(&self) -> bool {
        self.bytes > MAX_BYTES || self.segments.len() > MAX_SEGMENTS
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.segments.len()
    }

    /// Keeps a segment. Of two at the same offset the longer one stays.
    pub(super) fn keep(&mut self, at: u64, segment: Captured<'_>) {
        let size = |len: usize, data: &[u8]| (len, data.len());
        let known = self.segments.get(&at);
        if known.is_some_and(|kept| size(kept.len, &kept.data) >= size(segment.len, segment.data)) {
            return;
        }
        self.bytes += segment.data.len();
        let kept = Kept {
            data: segment.data.to_vec(),
            len: segment.len,
            place: segment.place,
        };
        let shorter = self.segments.insert(at, kept);
        self.bytes -= shorter.map_or(0, |kept| kept.data.len());
    }

    /// Takes the nearest segment out if it begins at `next` or before.
    pub(super) fn take_due(&mut self, next: u64) -> Option<(u64, Kept)> {
        self.first().filter(|first| *first <= next)?;
        let (at, kept) = self.segments.pop_first()?;
        self.bytes -= kept.data.len();
        Some((at, kept))
    }

    pub(super) fn clear(&mut self) {
        self.segments.clear();
        self.bytes = 0;
    }
}
