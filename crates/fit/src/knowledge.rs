//! What the measurements tell about a value.

/// What the measurements tell about a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Knowledge {
    /// Its range of 90 % is narrow: a factor of 1.5 at most.
    Determined,
    /// A range, but a wide one.
    Range,
    /// Only that it is not larger: below the upper end, it makes no difference.
    AtMost,
    /// Only that it is not smaller.
    AtLeast,
    /// Nothing.
    Undetermined,
}

/// A range of 90 % that has kept this part of the range before the measurements tells nothing.
const NOTHING_LEARNT: f64 = 0.75;
/// An end of the range of 90 % within this part of an end of the whole range is no limit.
const AT_THE_END: f64 = 0.12;

impl Knowledge {
    /// From the 5 % and 95 % quantiles as parts of the range, and the ratio of their values.
    pub(crate) fn of(low: f64, high: f64, ratio: f64) -> Self {
        match (low < AT_THE_END, high > 1.0 - AT_THE_END) {
            _ if ratio <= 1.5 => Self::Determined,
            _ if high - low > NOTHING_LEARNT * 0.9 => Self::Undetermined,
            (true, false) => Self::AtMost,
            (false, true) => Self::AtLeast,
            _ => Self::Range,
        }
    }

    /// The name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Determined => "determined",
            Self::Range => "range",
            Self::AtMost => "at-most",
            Self::AtLeast => "at-least",
            Self::Undetermined => "undetermined",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_that_stays_whole_tells_nothing_and_one_with_an_end_tells_that_end() {
        assert_eq!(Knowledge::of(0.05, 0.95, 900.0), Knowledge::Undetermined);
        assert_eq!(Knowledge::of(0.03, 0.40, 30.0), Knowledge::AtMost);
        assert_eq!(Knowledge::of(0.60, 0.97, 30.0), Knowledge::AtLeast);
        assert_eq!(Knowledge::of(0.30, 0.60, 8.0), Knowledge::Range);
        assert_eq!(Knowledge::of(0.44, 0.47, 1.2), Knowledge::Determined);
    }
}
