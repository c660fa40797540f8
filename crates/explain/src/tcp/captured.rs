//! Data that was captured of late, to tell what was captured again from what was sent again: a file may contain the captures
//! of both ends, and then has every packet twice, a one-way delay apart.

use std::collections::VecDeque;

use coax_capture::Segment;

/// Segments that are remembered: of each connection, and of one with packets that were captured again.
const FEW: usize = 1024;
const MOST: usize = 16_384;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Data {
    seq: u32,
    len: u32,
    identification: u32,
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Captured {
    list: VecDeque<Data>,
    /// Where the one after the latest that was captured again is.
    next: Option<usize>,
}

impl Captured {
    /// Data came for the first time.
    pub(super) fn add(&mut self, segment: &Segment<'_>) {
        if segment.identification == 0 {
            return;
        }
        let most = if self.next.is_some() { MOST } else { FEW };
        if self.list.len() >= most {
            self.list.pop_front();
            self.next = self.next.map(|next| next.saturating_sub(1));
        }
        self.list.push_back(Data::of(segment));
    }

    /// Whether this very packet with data was captured before. A sender that sends data again gives the packet another IP
    /// identification (RFC 6864 §4.3). One whose packets all have the same tells nothing.
    pub(super) fn has(&mut self, segment: &Segment<'_>) -> bool {
        let new = Data::of(segment);
        // the second capture has them in the order of the first
        let expected = self.next.and_then(|next| self.list.get(next));
        let found = match expected {
            Some(expected) if *expected == new => self.next,
            _ => self.search(&new),
        };
        self.next = found.map(|place| place + 1).or(self.next);
        found.is_some()
    }

    fn search(&self, new: &Data) -> Option<usize> {
        let is_same = |old: &Data| old.identification == new.identification;
        let place = self.list.iter().position(is_same)?;
        let mut later = self.list.iter().skip(place + 1);
        (self.list.get(place) == Some(new) && !later.any(is_same)).then_some(place)
    }
}

impl Data {
    fn of(segment: &Segment<'_>) -> Self {
        Self {
            seq: segment.seq,
            len: segment.len,
            identification: segment.identification,
        }
    }
}
