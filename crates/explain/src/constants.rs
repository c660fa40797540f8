//! Constants of the analyser: each with its unit, meaning and evidence.

use coax_wire::time::Span;

/// An acknowledgment later than this was delayed on purpose. The shortest known timers are 40 ms; a busy machine takes
/// less than this.
pub(crate) const MIN_DELAYED_ACK: Span = Span::from_millis(25);
