//! Sums of spans, and the differences that measurement noise explains.

use coax_wire::time::Span;

/// Both, one after the other.
pub(crate) const fn sum(one: Span, other: Span) -> Span {
    Span(one.0.saturating_add(other.0))
}

/// What of `round` may be missing: all that was measured may have been by a busy machine.
pub(crate) fn slack(round: Span) -> Span {
    const NOISE_NS: u64 = 100_000;
    Span((round.0 / 8).min(1_000_000) + NOISE_NS)
}

/// What two distances may differ by that are the same.
pub(crate) const fn noise(serial: Span) -> Span {
    Span(serial.0 / 4 + 20_000)
}
