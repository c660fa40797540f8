//! Reassembly of IP fragments in bounded memory.

use alloc::vec::Vec;

use coax_wire::time::{Span, Time};

use super::ip::IpPacket;

/// Incomplete packets at a time; a new one evicts the oldest.
const MAX_PACKETS: usize = 64;
/// Longest IP packet, bytes.
const MAX_BYTES: usize = 1 << 16;
/// Reassembly timeout (RFC 1122 §3.3.2: 60 to 120 s).
const REASSEMBLY_TIMEOUT: Span = Span::from_secs(60);

/// The incomplete packets.
#[derive(Debug, Default)]
pub(super) struct Fragments {
    partial: Vec<Partial>,
    whole: Vec<u8>,
    timed_out: u64,
}

#[derive(Debug)]
struct Partial {
    key: (u128, u128, u32),
    since: Time,
    protocol: u8,
    /// The bytes; zeros where none were captured.
    bytes: Vec<u8>,
    /// The ranges that arrived.
    arrived: Vec<(usize, usize)>,
    /// The ranges that were captured.
    captured: Vec<(usize, usize)>,
    total: Option<usize>,
}

impl Fragments {
    /// Adds a fragment; returns the packet if it is now complete.
    pub(super) fn add(&mut self, fragment: &IpPacket<'_>, at: Time) -> Option<IpPacket<'_>> {
        let (offset, more) = fragment.fragment?;
        let end = offset.saturating_add(fragment.payload_len);
        if end > MAX_BYTES {
            return None;
        }
        let index = self.index_of(fragment, at);
        let partial = self.partial.get_mut(index)?;
        partial.put(offset, fragment, more);
        if !partial.is_whole() {
            return None;
        }
        let partial = self.partial.swap_remove(index);
        let (captured, total) = (partial.captured_prefix(), partial.total.unwrap_or(0));
        self.whole = partial.bytes;
        Some(IpPacket {
            payload: self.whole.get(..captured.min(total)).unwrap_or_default(),
            payload_len: total,
            fragment: None,
            ..IpPacket {
                protocol: partial.protocol,
                payload: &[],
                ..*fragment
            }
        })
    }

    /// Packets that were never completed.
    pub(super) fn incomplete(&self) -> u64 {
        self.timed_out + self.partial.len() as u64
    }

    /// The index of the packet that `fragment` belongs to; adds one if there is none.
    fn index_of(&mut self, fragment: &IpPacket<'_>, at: Time) -> usize {
        let before = self.partial.len();
        self.partial
            .retain(|partial| at - partial.since <= REASSEMBLY_TIMEOUT);
        let key = (fragment.from, fragment.to, fragment.identification);
        if let Some(index) = self.partial.iter().position(|partial| partial.key == key) {
            self.timed_out += (before - self.partial.len()) as u64;
            return index;
        }
        if self.partial.len() >= MAX_PACKETS {
            self.partial.remove(0);
        }
        self.timed_out += (before - self.partial.len()) as u64;
        self.partial.push(Partial {
            key,
            since: at,
            protocol: fragment.protocol,
            bytes: Vec::new(),
            arrived: Vec::new(),
            captured: Vec::new(),
            total: None,
        });
        self.partial.len() - 1
    }
}

impl Partial {
    fn put(&mut self, offset: usize, fragment: &IpPacket<'_>, more: bool) {
        let kept_end = offset.saturating_add(fragment.payload.len());
        if self.bytes.len() < kept_end {
            self.bytes.resize(kept_end, 0);
        }
        if let Some(place) = self.bytes.get_mut(offset..kept_end) {
            place.copy_from_slice(fragment.payload);
        }
        const MAX_FRAGMENTS: usize = 1 << 13;
        if self.arrived.len() < MAX_FRAGMENTS {
            self.arrived.push((offset, offset + fragment.payload_len));
            self.captured.push((offset, kept_end));
        }
        if !more {
            self.total = Some(offset + fragment.payload_len);
        }
        if offset == 0 {
            self.protocol = fragment.protocol;
        }
    }

    fn is_whole(&mut self) -> bool {
        self.total
            .is_some_and(|total| prefix(&mut self.arrived) >= total)
    }

    fn captured_prefix(&self) -> usize {
        prefix(&mut self.captured.clone())
    }
}

/// The end of the contiguous range that starts at 0.
fn prefix(ranges: &mut [(usize, usize)]) -> usize {
    ranges.sort_unstable();
    let mut end = 0;
    for (from, to) in ranges {
        if *from > end {
            break;
        }
        end = end.max(*to);
    }
    end
}
