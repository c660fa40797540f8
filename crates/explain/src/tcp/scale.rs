//! The window scale (RFC 7323 §2) of a connection whose SYNs were not captured.
//!
//! A scale shows when more is in flight than the window of a header allows: it is at least so large that the window
//! allows it. Senders that fill windows show the exact scale; others a lower bound.

/// Largest scale (RFC 7323 §2.3).
const MAX_SCALE: u8 = 14;

/// The least scale of the windows that one side was offered.
#[derive(Debug, Default)]
pub(super) struct ScaleEstimate {
    /// The widest window as it stood in a header.
    widest_header: u16,
    least: u8,
}

impl ScaleEstimate {
    /// What was seen so far.
    pub(super) const fn least(&self) -> u8 {
        self.least
    }

    /// Another pass found at least this scale.
    pub(super) const fn calibrate(&mut self, scale: u8) {
        self.least = scale;
    }

    /// A header offered this window.
    pub(super) fn note_window(&mut self, header: u16) {
        self.widest_header = self.widest_header.max(header);
    }

    /// The smallest window scale with which this many bytes can be in flight.
    pub(super) fn estimate(&mut self, max_in_flight: u64) -> u8 {
        let widest = u64::from(self.widest_header);
        while widest > 0 && self.least < MAX_SCALE && widest << self.least < max_in_flight {
            self.least += 1;
        }
        self.least
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale(header: u16, in_flight: u64) -> u8 {
        let mut estimate = ScaleEstimate::default();
        estimate.note_window(header);
        estimate.estimate(in_flight)
    }

    #[test]
    fn a_window_that_is_exceeded_has_a_scale_and_one_that_is_filled_has_none() {
        assert_eq!(scale(8192, 8192), 0);
        assert_eq!(scale(63, 64_512), 10);
        assert_eq!(scale(501, 30_000), 6);
        // no window was seen yet
        assert_eq!(scale(0, 30_000), 0);
        assert_eq!(scale(1, u64::MAX), 14);
    }
}
