//! Receive window sizes. The scale is in both SYNs (RFC 7323 2.2). Without them the analyser infers a lower bound from the
//! bytes in flight.

use crate::constants::{MAX_WINDOW_SCALE, UNLIMITED_WINDOW};
use coax_explain::report::{Connection, Side};

/// How wide the windows of client and server are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Windows {
    /// Bytes that each may have at most, where the capture does not say: `None` where it does.
    pub(crate) wide: [Option<u64>; 2],
    /// Those of them that are taken to be so wide before anything was run.
    pub(crate) likely: [Option<u64>; 2],
    /// Whether both TCPs scale them.
    pub(crate) are_scaled: bool,
}

impl Windows {
    pub(crate) fn of(connection: &Connection) -> Self {
        let sides = &connection.sides;
        // nobody scales whose peer does not
        let offered = sides.iter().all(|side| side.window_scale.is_some());
        let is_seen = |side: &Side| side.least_scale > 0 || is_short(connection, side);
        let are_scaled = offered || !connection.has_start && sides.iter().any(is_seen);
        let wide = [0, 1].map(|side| wide(connection, side));
        // scales are such that windows are seldom filled
        let [client, server] = [0, 1].map(|side| are_scaled && !is_filled(connection, side));
        Self {
            wide,
            likely: [wide[0].filter(|_| client), wide[1].filter(|_| server)],
            are_scaled,
        }
    }
}

/// See [`Windows::wide`]. A window that was filled, and never more than filled, is what it says.
fn wide(connection: &Connection, side: usize) -> Option<u64> {
    let is_known = connection.knows_windows_of(side) && is_filled(connection, side);
    let own = connection.sides.get(side);
    let own = own.filter(|_| !connection.has_start && !is_known)?;
    let said = u64::from(own.max_window);
    let more = MAX_WINDOW_SCALE.saturating_sub(own.least_scale);
    Some((said << more).clamp(said, said.max(UNLIMITED_WINDOW)))
}

/// Whether what the other side sent filled this one's window, as wide as it is said to be.
fn is_filled(connection: &Connection, side: usize) -> bool {
    let [client, server] = &connection.sides;
    let (own, other) = if side == 0 {
        (client, server)
    } else {
        (server, client)
    };
    other.window_full > 0 && !is_short(connection, own)
}

/// Whether a window is said to be narrower than a segment: none always is.
fn is_short(connection: &Connection, side: &Side) -> bool {
    let mut sent = connection.sides.iter();
    sent.any(|sent| sent.largest_segment > side.max_window)
}

/// The shift that a window so wide needs.
pub(crate) fn scale(bytes: u64) -> u8 {
    let fits = |shift: &u8| bytes >> shift <= u64::from(u16::MAX);
    (0..MAX_WINDOW_SCALE).find(fits).unwrap_or(MAX_WINDOW_SCALE)
}
