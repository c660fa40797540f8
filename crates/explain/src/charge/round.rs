//! A round: from when the data was sent that was acknowledged last, to the data that this acknowledgment let go.

use crate::constants::MIN_DELAYED_ACK;
use crate::timeline::{AckSample, Advance, sum};
use coax_cause::Cause;
use coax_wire::time::Span;

/// What a round had time for besides the way there and back.
pub(super) struct Round {
    pub(super) whole: Span,
    /// The path carried data of the side that waited, before the acknowledgment or after it.
    pub(super) carried: Span,
    /// The acknowledgment came so much later than the path lets it.
    pub(super) waited: Span,
    /// The sender's own time after it.
    pub(super) think: Span,
}

impl Round {
    /// The round that this packet ended, and whose wait had that cause. It is as long as the gap before the packet at least.
    pub(super) fn ended_by(advance: &Advance, heard: &AckSample, cause: Cause, gap: Span) -> Self {
        let begin = heard.of.map_or(heard.at, |of| of.at.min(heard.at));
        let whole = (advance.at - begin).max(gap);
        let far = sum(advance.far, advance.serial_ack);
        let (before, waited) = heard.of.map_or((Span(0), Span(0)), |of| {
            (of.carried - of.at, heard.at - (of.carried + far))
        });
        let came = heard.carried + advance.near;
        let own = advance.at - came;
        let after = own.min(match advance.is_behind {
            true => Span(advance.serial.0.saturating_mul(4)),
            false => advance.busy.1 - advance.busy.0.max(came),
        });
        // behind the path, each packet shows when it was carried, and the round has nothing more of that
        let carried = match advance.is_behind {
            true => Span(0),
            false => sum(before.min(heard.at - begin), after)
                .max(carried_in_flight(advance, cause, whole)),
        };
        Self {
            whole,
            carried,
            waited,
            think: Span(own.0 - after.0),
        }
    }
}

/// For how much of a round the path carried the side's data, if what its sender had in flight was limited: a round carries the data
/// of the whole window, not only the segment that it began with.
fn carried_in_flight(advance: &Advance, cause: Cause, round: Span) -> Span {
    match cause {
        Cause::NagleDelayedAck | Cause::ZeroWindow => Span(0),
        _ => advance.carried_of(round),
    }
}

/// For how much of the wait for an acknowledgment its sender held it back (RFC 1122 §4.2.3.2): all of it or nothing.
pub(super) fn delay_of_ack(
    advance: &Advance,
    heard: &AckSample,
    waited: Span,
    had_loss: bool,
) -> Span {
    let far = sum(advance.far, advance.serial_ack);
    // what was carried behind it would have been acknowledged with it, unless it was lost
    let is_followed = heard
        .next
        .is_some_and(|next| next + far + MIN_DELAYED_ACK < heard.at);
    let is_delayed = waited >= MIN_DELAYED_ACK && (!is_followed || had_loss);
    match is_delayed && !heard.fills && !heard.is_of_two {
        true => waited,
        false => Span(0),
    }
}
