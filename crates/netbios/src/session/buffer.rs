//! The receive buffer of a session: grows with the bytes that came, not with those that were announced.

use alloc::vec::Vec;

/// What the buffer grows to at first, and what an idle session may keep.
pub(super) const IDLE_CAPACITY: usize = 4096;

/// Received bytes that wait to be consumed.
///
/// `bytes[start..end]` is waiting; `bytes[end..]` is free, and already initialised, so that no byte of it is
/// cleared twice.
#[derive(Default)]
pub(super) struct Buffer {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

impl Buffer {
    /// What waits.
    pub(super) fn waiting(&self) -> &[u8] {
        self.bytes.get(self.start..self.end).unwrap_or_default()
    }

    /// Bytes of memory held.
    pub(super) fn capacity(&self) -> usize {
        self.bytes.capacity()
    }

    /// Free space to read into, never empty unless `needed` bytes wait already.
    ///
    /// `needed` is how many waiting bytes make a whole packet. The space grows to twice what came so far, or to
    /// what the caller knows (`hint`) to be on its way, but never beyond `needed`.
    pub(super) fn space(&mut self, needed: usize, hint: usize) -> &mut [u8] {
        let have = self.end.saturating_sub(self.start);
        if have == 0 {
            (self.start, self.end) = (0, 0);
        }
        let grown = have.saturating_mul(2).max(have.saturating_add(hint));
        let target = needed.min(grown).max(IDLE_CAPACITY);
        if self.bytes.len().saturating_sub(self.start) < target {
            self.move_to_front();
        }
        if self.bytes.len() < target {
            self.bytes
                .reserve_exact(target.saturating_sub(self.bytes.len()));
            self.bytes.resize(target, 0);
        }
        self.bytes.get_mut(self.end..).unwrap_or_default()
    }

    /// `count` bytes were written to the space; more than the space had are not believed.
    pub(super) fn fill(&mut self, count: usize) {
        self.end = self.end.saturating_add(count).min(self.bytes.len());
    }

    /// The first `count` waiting bytes are done with.
    pub(super) fn consume(&mut self, count: usize) {
        self.start = self.start.saturating_add(count).min(self.end);
    }

    /// Gives memory back, all of it when nothing waits.
    pub(super) fn shrink(&mut self) {
        self.move_to_front();
        self.bytes.truncate(self.end);
        self.bytes.shrink_to_fit();
    }

    fn move_to_front(&mut self) {
        if self.start > 0 {
            // Both ends are within the buffer: `fill` and `consume` see to it.
            self.bytes.copy_within(self.start..self.end, 0);
            self.end = self.end.saturating_sub(self.start);
            self.start = 0;
        }
    }
}
