//! The contents of an in-memory file: blocks for written data, a pattern or zeros elsewhere.

use alloc::{collections::BTreeMap, sync::Arc, vec::Vec};

/// The size of a block in bytes; a shorter block reads as zeros after its end.
const BLOCK: u64 = 64 * 1024;
/// Space is allocated in clusters of this many bytes.
pub(super) const CLUSTER: u64 = 4096;
/// The repeated pattern has about this many bytes, so that reads copy runs and not single bytes.
const PATTERN_RUN: usize = 16 * 1024;

#[derive(Debug, Default)]
pub(super) struct Content {
    len: u64,
    reserved: u64,
    pattern: Option<Pattern>,
    blocks: BTreeMap<u64, Vec<u8>>,
}

/// The contents of absent blocks below `end`.
#[derive(Debug)]
struct Pattern {
    run: Arc<[u8]>,
    end: u64,
}

impl Content {
    pub(super) fn patterned(len: u64, pattern: &[u8]) -> Self {
        let repeats = PATTERN_RUN.div_ceil(pattern.len().max(1));
        let run: Arc<[u8]> = pattern.repeat(repeats).into();
        let pattern = (!run.is_empty()).then_some(Pattern { run, end: len });
        Self {
            len,
            pattern,
            ..Self::default()
        }
    }

    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// Allocated bytes. Holes count as if reserved.
    pub(super) fn allocated(&self) -> u64 {
        clusters(self.len.max(self.reserved))
    }

    pub(super) fn read(&self, offset: u64, buf: &mut [u8]) -> usize {
        let n = usize::try_from(self.len.saturating_sub(offset))
            .unwrap_or(usize::MAX)
            .min(buf.len());
        let Some(mut rest) = buf.get_mut(..n) else {
            return 0;
        };
        let mut at = offset;
        while !rest.is_empty() {
            let (part, tail) = rest.split_at_mut(room_in_block(at).min(rest.len()));
            self.read_in_block(at, part);
            at = at.saturating_add(part.len() as u64);
            rest = tail;
        }
        n
    }

    /// Writes all of `data`. If `keep` is false, only the length grows.
    pub(super) fn write(&mut self, offset: u64, data: &[u8], keep: bool) {
        let (mut at, mut rest) = (offset, if keep { data } else { &[] });
        while !rest.is_empty() {
            let (part, tail) = rest.split_at(room_in_block(at).min(rest.len()));
            self.write_in_block(at, part);
            at = at.saturating_add(part.len() as u64);
            rest = tail;
        }
        self.len = self.len.max(offset.saturating_add(data.len() as u64));
    }

    pub(super) fn set_len(&mut self, len: u64) {
        if len <= self.len {
            self.reserved = self.reserved.min(len);
            self.cut(len);
        }
        self.len = len;
    }

    pub(super) fn reserve(&mut self, len: u64) {
        self.reserved = self.reserved.max(len);
    }

    fn cut(&mut self, len: u64) {
        let (last, within) = (len / BLOCK, len % BLOCK);
        let kept_blocks = if within == 0 {
            last
        } else {
            last.saturating_add(1)
        };
        drop(self.blocks.split_off(&kept_blocks));
        if let Some(block) = self.blocks.get_mut(&last) {
            block.truncate(usize::try_from(within).unwrap_or(usize::MAX));
        }
        if let Some(pattern) = &mut self.pattern {
            pattern.end = pattern.end.min(len);
        }
    }

    fn read_in_block(&self, at: u64, out: &mut [u8]) {
        let Some(block) = self.blocks.get(&(at / BLOCK)) else {
            return self.read_absent(at, out);
        };
        let held = usize::try_from(at % BLOCK)
            .ok()
            .and_then(|start| block.get(start..))
            .unwrap_or(&[]);
        let n = held.len().min(out.len());
        let (front, back) = out.split_at_mut(n);
        front.copy_from_slice(held.get(..n).unwrap_or(&[]));
        back.fill(0);
    }

    fn read_absent(&self, at: u64, mut out: &mut [u8]) {
        out.fill(0);
        let Some(pattern) = &self.pattern else { return };
        let mut at = at;
        while at < pattern.end && !out.is_empty() {
            let phase = usize::try_from(at % pattern.run.len() as u64).unwrap_or(0);
            let run = pattern.run.get(phase..).unwrap_or(&[]);
            let left = usize::try_from(pattern.end - at).unwrap_or(usize::MAX);
            let n = run.len().min(left).min(out.len());
            let (front, back) = out.split_at_mut(n);
            front.copy_from_slice(run.get(..n).unwrap_or(&[]));
            at = at.saturating_add(n as u64);
            out = back;
        }
    }

    fn write_in_block(&mut self, at: u64, part: &[u8]) {
        let index = at / BLOCK;
        if !self.blocks.contains_key(&index) {
            let held = self.materialised(index);
            self.blocks.insert(index, held);
        }
        let Some(block) = self.blocks.get_mut(&index) else {
            return;
        };
        let start = usize::try_from(at % BLOCK).unwrap_or(0);
        let end = start.saturating_add(part.len());
        if block.len() < end {
            block.resize(end, 0);
        }
        if let Some(target) = block.get_mut(start..end) {
            target.copy_from_slice(part);
        }
    }

    /// The contents of an absent block, without trailing zeros.
    fn materialised(&self, index: u64) -> Vec<u8> {
        let start = index.saturating_mul(BLOCK);
        let end = self.pattern.as_ref().map_or(0, |p| p.end);
        let mut held =
            alloc::vec![0; usize::try_from(end.saturating_sub(start).min(BLOCK)).unwrap_or(0)];
        self.read_absent(start, &mut held);
        held
    }
}

/// Rounds `bytes` up to whole clusters.
pub(super) fn clusters(bytes: u64) -> u64 {
    bytes.div_ceil(CLUSTER).saturating_mul(CLUSTER)
}

fn room_in_block(at: u64) -> usize {
    usize::try_from(BLOCK - at % BLOCK).unwrap_or(usize::MAX)
}
