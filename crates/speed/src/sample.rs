//! The data moved in each second.

use alloc::vec::Vec;

use coax_wire::time::{Span, Time};

use crate::rate::Rate;

/// Maximum number of samples. In longer transfers, neighbouring samples are joined, so that memory stays bounded.
pub const MAX_SAMPLES: usize = 3_600;
/// The initial interval between samples.
const SECOND: Span = Span::from_secs(1);

/// The data moved in one second; longer if the driver was late, shorter at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Its end, relative to the established connection.
    pub at: Span,
    /// Its duration.
    pub span: Span,
    /// Bytes received, or acknowledged by the peer.
    pub bytes: u64,
}

impl Sample {
    /// Its rate.
    pub const fn rate(&self) -> Rate {
        Rate {
            bytes: self.bytes,
            span: self.span,
        }
    }

    fn join(self, later: Self) -> Self {
        Self {
            at: later.at,
            span: Span(self.span.0.saturating_add(later.span.0)),
            bytes: self.bytes.saturating_add(later.bytes),
        }
    }
}

/// Divides a transfer into samples.
#[derive(Debug)]
pub(crate) struct Sampler {
    started: Time,
    interval: Span,
    next: Time,
    from: Time,
    bytes_before: u64,
    list: Vec<Sample>,
}

impl Sampler {
    pub(crate) fn new(started: Time) -> Self {
        Self {
            started,
            interval: SECOND,
            next: started + SECOND,
            from: started,
            bytes_before: 0,
            list: Vec::new(),
        }
    }

    /// When the current sample ends.
    pub(crate) const fn due(&self) -> Time {
        self.next
    }

    pub(crate) fn list(&self) -> &[Sample] {
        &self.list
    }

    /// Ends the current sample; `bytes` is the total since the start of the transfer.
    pub(crate) fn cut(&mut self, now: Time, bytes: u64) -> Sample {
        let sample = Sample {
            at: now - self.started,
            span: now - self.from,
            bytes: bytes.saturating_sub(self.bytes_before),
        };
        if self.list.len() >= MAX_SAMPLES {
            self.halve();
        }
        self.list.push(sample);
        self.from = now;
        self.bytes_before = bytes;
        // align to whole intervals, however late this call was
        let passed = (now - self.started)
            .0
            .checked_div(self.interval.0)
            .unwrap_or(0);
        let grid = passed.saturating_add(1).saturating_mul(self.interval.0);
        self.next = self.started + Span(grid);
        sample
    }

    /// Adds the last, shorter sample if data moved after the previous one.
    pub(crate) fn finish(&mut self, now: Time, bytes: u64) {
        if now > self.from || bytes > self.bytes_before {
            self.cut(now, bytes);
        }
    }

    fn halve(&mut self) {
        let joined = self.list.chunks(2).filter_map(|pair| match pair {
            [one, two] => Some(one.join(*two)),
            [one] => Some(*one),
            _ => None,
        });
        self.list = joined.collect();
        self.interval = Span(self.interval.0.saturating_mul(2));
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;

    const START: Time = Time(1_000);

    #[test]
    fn samples_stay_on_the_grid_of_seconds_though_one_was_late() {
        let mut sampler = Sampler::new(START);
        assert_eq!(sampler.due(), START + Span::from_secs(1));
        let late = sampler.cut(START + Span::from_millis(1_300), 13);
        assert_eq!((late.span, late.bytes), (Span::from_millis(1_300), 13));
        assert_eq!(sampler.due(), START + Span::from_secs(2));
        let next = sampler.cut(START + Span::from_secs(2), 20);
        assert_eq!((next.span, next.bytes), (Span::from_millis(700), 7));
    }

    #[test]
    fn a_day_of_seconds_keeps_its_bytes_in_bounded_memory() {
        let mut sampler = Sampler::new(START);
        let (mut now, mut bytes, mut cuts) = (START, 0, 0);
        while (now - START) < Span::from_secs(86_400) {
            now = sampler.due();
            bytes += 11;
            sampler.cut(now, bytes);
            cuts += 1;
        }
        assert!(cuts > MAX_SAMPLES && sampler.list().len() <= MAX_SAMPLES);
        let total: u64 = sampler.list().iter().map(|s| s.bytes).sum();
        let spans: u64 = sampler.list().iter().map(|s| s.span.0).sum();
        assert_eq!((total, Span(spans)), (bytes, now - START));
        assert!(sampler.list().windows(2).all(|w| w[0].at < w[1].at));
    }
}
