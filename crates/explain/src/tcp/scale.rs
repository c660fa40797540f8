//! By which power of two windows are to be multiplied (RFC 7323 §2).
//!
//! Both SYNs tell. Where a capture began later, a scale shows when more is on its way than a window had room for: then it is at
//! least so large that there was room. Senders that fill windows so show it to the bit; of others no more than that is known.

use crate::tcp::connection::Connection;
use crate::tcp::half::Half;
use crate::timeline::{Side, of, of_mut};

/// The largest there is.
const MOST: u8 = 14;

impl Connection {
    /// How far `side`'s windows are shifted: only if both sides offered to (RFC 7323 §2.2).
    pub(super) fn shift(&mut self, side: Side) -> u8 {
        if !self.has_start {
            return of_mut(&mut self.halves, side.other()).heard_scale();
        }
        let own = of(&self.halves, side).figures.window_scale;
        let other = of(&self.halves, side.other()).figures.window_scale;
        own.zip(other).map_or(0, |(own, _)| own)
    }

    /// Heeds what a scout learned of windows without SYNs.
    pub(super) fn heed_scales(&mut self, scales: [u8; 2]) {
        for (half, scale) in self.halves.iter_mut().zip(scales) {
            half.least_scale = scale;
        }
    }

    /// The least scale of the windows that each side heard of.
    pub(super) fn heard_scales(&self) -> [u8; 2] {
        self.halves.each_ref().map(|half| half.least_scale)
    }
}

impl Half {
    /// The scale that windows must have that it heard of, by what it had on its way.
    fn heard_scale(&mut self) -> u8 {
        let widest = u64::from(self.widest_header);
        while widest > 0
            && self.least_scale < MOST
            && widest << self.least_scale < self.figures.max_in_flight
        {
            self.least_scale += 1;
        }
        self.least_scale
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale(header: u16, in_flight: u64) -> u8 {
        let mut half = Half::default();
        half.widest_header = header;
        half.figures.max_in_flight = in_flight;
        half.heard_scale()
    }

    #[test]
    fn a_window_that_is_overrun_has_a_scale_and_one_that_is_filled_has_none() {
        assert_eq!(scale(8192, 8192), 0);
        assert_eq!(scale(63, 64_512), 10);
        assert_eq!(scale(501, 30_000), 6);
        // nothing was heard yet
        assert_eq!(scale(0, 30_000), 0);
        assert_eq!(scale(1, u64::MAX), 14);
    }
}
