//! The way to a sender whose acknowledgments the capture shows and whose frames have none of their own: NetBEUI and IPX
//! acknowledge a request with its reply, or after a timer, so that only what an acknowledgment lets go shows how near its sender
//! is.

use crate::path::{RoundTrip, wire_bytes};
use crate::timeline::{Advance, Novelty};
use coax_capture::Segment;
use coax_wire::time::{Span, Time};

/// A sender that was silent this many times as long as it took after the acknowledgment had waited for that.
const SILENT: u64 = 16;
/// Fewer may be coincidences.
const MIN_SAMPLES: u32 = 4;

/// What acknowledgments let go of one side.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Releases {
    /// The first new acknowledgment since this side sent: when, and how long it was on the wire.
    acked: Option<(Time, u64)>,
    shortest: Option<RoundTrip>,
    samples: u32,
}

impl Releases {
    /// The other side acknowledged more of this side's data.
    pub(super) fn acknowledged(&mut self, segment: &Segment<'_>, at: Time) {
        if segment.len == 0 {
            self.acked.get_or_insert((at, wire_bytes(segment)));
        }
    }

    /// This side sent data: the way to it and back, as far as that is known now.
    pub(super) fn sent(&mut self, step: &Advance) -> Option<RoundTrip> {
        let acked = self.acked.take();
        let is_stream = step.novelty == Some(Novelty::New) && step.place.is_middle;
        let ((at, bytes), before) = acked.zip(step.before).filter(|_| is_stream)?;
        let time = step.at - at;
        if time.0.saturating_mul(SILENT) > (at - before).0 {
            return None;
        }
        self.samples = self.samples.saturating_add(1);
        let is_shorter = self.shortest.is_none_or(|known| time < known.time);
        if is_shorter {
            let bytes = (bytes, step.wire);
            self.shortest = Some(RoundTrip { time, bytes });
        }
        let known = self.shortest.filter(|way| way.time > Span(0));
        known.filter(|_| self.samples >= MIN_SAMPLES)
    }
}
