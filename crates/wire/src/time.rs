//! Time: the newtype every sans-IO crate is handed, and the time formats of SMB.

/// A moment: nanoseconds since 1970-01-01T00:00:00Z. Engines are handed it and never ask a clock.
///
/// Drivers anchor it to the wall clock once and advance it monotonically; the lab advances it by events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u64);

/// A span of time in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(pub u64);

impl Span {
    /// A span of `ms` milliseconds.
    pub const fn from_millis(ms: u64) -> Self {
        Self(ms.saturating_mul(1_000_000))
    }

    /// A span of `s` seconds.
    pub const fn from_secs(s: u64) -> Self {
        Self(s.saturating_mul(1_000_000_000))
    }

    /// Whole milliseconds in this span.
    pub const fn as_millis(self) -> u64 {
        self.0 / 1_000_000
    }
}

impl core::ops::Add<Span> for Time {
    type Output = Self;
    fn add(self, span: Span) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl core::ops::Sub for Time {
    type Output = Span;
    fn sub(self, earlier: Self) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}
