//! A digest of a run.

use coax_wire::time::Time;

use crate::{link::Fate, segment::Segment, side::End};

/// Bytes of the longest headers: Ethernet, LLC, IPX, NBIPX.
const HEADERS: usize = 66;

/// FNV-1a over the events.
#[derive(Clone, Copy, Debug)]
pub(super) struct Digest(pub(super) u64);

impl Default for Digest {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Digest {
    fn word(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(0x0000_0100_0000_01b3);
    }

    pub(super) fn frame(&mut self, now: Time, end: End, segment: &Segment, fate: &Fate) {
        let (kind, at) = match fate {
            Fate::Arrives { account, .. } => (0, account.at()),
            Fate::Lost { leaves } => (1, *leaves),
            Fate::QueueFull { leaves } => (2, *leaves),
            Fate::RingDropped => (3, now),
            Fate::RingBlocked { until } => (4, *until),
        };
        let small = u64::from(end.client) << 32
            | u64::from(segment.flags.bits()) << 8
            | (end.side as u64) << 4
            | kind;
        for word in [
            now.0,
            at.0,
            segment.seq,
            segment.ack,
            segment.payload.len(),
            u64::from(segment.window),
            small,
        ] {
            self.word(word);
        }
        if let Some(frame) = &segment.frame {
            // the headers; data is in the sequence number
            let head = frame.iter().take(HEADERS).copied().map(u64::from);
            head.for_each(|byte| self.word(byte));
        }
    }
}
