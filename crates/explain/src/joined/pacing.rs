//! Whether a sender paces its data, as its capture shows.

use super::direction::Direction;
use crate::timeline::BurstPaces;

/// Segments closer than this are one burst, nanoseconds.
const MIN_PAUSE: i64 = 50_000;

/// Whether bursts within messages, sent while data was in flight, follow each other in proportion to their bytes. `in_flight`:
/// bytes in flight after each segment. A paced sender never waits for half a round trip, because at least four segments go in
/// one.
pub(super) fn is_paced(direction: &Direction, in_flight: &[u64], round: i64) -> bool {
    let mut paces = BurstPaces::default();
    let mut burst: Option<(i64, u64)> = None;
    let pairs = direction.sends.windows(2).zip(in_flight.iter().skip(1));
    for (pair, in_flight) in pairs {
        let [before, send] = pair else { continue };
        let len = send.end.saturating_sub(send.start);
        let (apart, may_wait) = (send.at - before.at, *in_flight > len);
        let goes_on = !direction.begins_message(send.start) && may_wait && !send.again;
        let (from, bytes) = burst.unwrap_or((before.at, before.end - before.start));
        if goes_on && apart < MIN_PAUSE {
            burst = Some((from, bytes.saturating_add(len)));
            continue;
        }
        if goes_on && apart <= round / 2 && bytes > 0 {
            let pace = u64::try_from(send.at - from).unwrap_or(0);
            paces.add(pace.saturating_mul(1000) / bytes);
        }
        if paces.is_paced() {
            return true;
        }
        burst = Some((send.at, len));
    }
    false
}
