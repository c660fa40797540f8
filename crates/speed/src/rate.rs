//! Transfer rates.

use coax_wire::time::Span;

/// Bytes per time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// The bytes.
    pub bytes: u64,
    /// The time.
    pub span: Span,
}

impl Rate {
    /// Bytes per second; zero if no time passed.
    pub fn bytes_per_s(&self) -> f64 {
        if self.span.0 == 0 {
            return 0.0;
        }
        // both are far below 2^53 in any real transfer
        self.bytes as f64 * 1e9 / self.span.0 as f64
    }

    /// Kilobytes of 1,024 bytes per second, the unit of mTCP's tables.
    pub fn kb_per_s(&self) -> f64 {
        self.bytes_per_s() / 1024.0
    }

    /// Megabits (10^6) per second, the unit of network cards.
    pub fn mbit_per_s(&self) -> f64 {
        self.bytes_per_s() * 8.0 / 1e6
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_kilobytes_of_1024_bytes_and_megabits_of_a_million_bits() {
        let rate = Rate {
            bytes: 1_024_000,
            span: Span::from_millis(500),
        };
        assert!((rate.bytes_per_s() - 2_048_000.0).abs() < 1e-6);
        assert!((rate.kb_per_s() - 2_000.0).abs() < 1e-9);
        assert!((rate.mbit_per_s() - 16.384).abs() < 1e-9);
    }

    #[test]
    fn no_time_is_no_speed_rather_than_an_infinite_one() {
        let rate = Rate {
            bytes: 5,
            span: Span(0),
        };
        assert!(rate.bytes_per_s().abs() < f64::EPSILON);
    }
}
