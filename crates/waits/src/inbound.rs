//! A message that arrives in pieces.

use coax_cause::{Account, Cause};
use coax_wire::time::Span;

use crate::{
    constants::{
        JITTER, MAX_OWN_DELAYED_ACK, MIN_DELAYED_ACK, MIN_ROUND_TRIP, MIN_STALL_RTO, PIECES,
        RATE_BYTES, RATE_PIECES,
    },
    kernel::Kernel,
    recent::less,
};

/// The time before a piece, and its size in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) pause: Span,
    pub(crate) bytes: u64,
}

impl Piece {
    /// Picoseconds a byte.
    fn pace(self) -> u64 {
        self.pause.0.saturating_mul(1000) / self.bytes.max(1)
    }
}

/// What is known of the path from the client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Path {
    /// The fastest pace at which whole runs of pieces arrived, picoseconds a byte; zero if none did.
    pub(crate) pace: u64,
    /// Bytes that arrived between the last two round trips of waiting.
    pub(crate) flight: u64,
}

/// The pieces of a message after the first one. The last one collects those beyond [`PIECES`].
#[derive(Clone, Debug)]
pub(crate) struct Pieces {
    list: [Piece; PIECES],
    len: usize,
    /// Bytes of the first piece, and whether the message still lacks bytes after the newest one.
    first: u64,
}

impl Default for Pieces {
    fn default() -> Self {
        Self {
            list: [Piece::default(); PIECES],
            len: 0,
            first: 0,
        }
    }
}

impl Pieces {
    /// The first piece came.
    pub(crate) fn begin(&mut self, bytes: u64) {
        (self.len, self.first) = (0, bytes);
    }

    /// Another piece came.
    pub(crate) fn add(&mut self, pause: Span, bytes: u64) {
        match self.list.get_mut(self.len) {
            Some(free) => {
                *free = Piece { pause, bytes };
                self.len = self.len.saturating_add(1);
            }
            None => {
                if let Some(last) = self.list.last_mut() {
                    last.pause = Span(last.pause.0.saturating_add(pause.0));
                    last.bytes = last.bytes.saturating_add(bytes);
                }
            }
        }
    }

    /// The message is complete: charges its pauses and learns from them. The account has exactly the sum of the pauses.
    pub(crate) fn finish(&mut self, path: &mut Path, kernel: &Kernel) -> Account {
        let mut account = Account::default();
        let pieces = self.list.get(..self.len).unwrap_or_default();
        learn(path, pieces);
        let mut flight = self.first;
        for (place, piece) in pieces.iter().enumerate() {
            let is_last = place.saturating_add(1) == pieces.len();
            let carried = carried(*piece, path, kernel);
            account.add(Cause::Bandwidth, carried);
            let rest = less(piece.pause, carried);
            if rest.0 > 0 {
                let cause = cause(*piece, rest, (flight, path.flight, is_last), kernel);
                account.add(cause, rest);
                if !matches!(cause, Cause::Bandwidth) {
                    (path.flight, flight) = (flight, 0);
                }
            }
            flight = flight.saturating_add(piece.bytes);
        }
        (self.len, self.first) = (0, 0);
        account
    }
}

/// Learns the pace of the path from the pieces that came without a pause: those within three times the median pace.
fn learn(path: &mut Path, pieces: &[Piece]) {
    if pieces.len() < RATE_PIECES {
        return;
    }
    let mut paces = [0; PIECES];
    for (pace, piece) in paces.iter_mut().zip(pieces) {
        *pace = piece.pace();
    }
    let paces = paces.get_mut(..pieces.len()).unwrap_or_default();
    paces.sort_unstable();
    let median = paces.get(paces.len() / 2).copied().unwrap_or_default();
    let steady = pieces
        .iter()
        .filter(|piece| piece.pace() <= median.saturating_mul(3));
    let (bytes, pause) = steady.fold((0_u64, 0_u64), |(bytes, pause), piece| {
        (
            bytes.saturating_add(piece.bytes),
            pause.saturating_add(piece.pause.0),
        )
    });
    if bytes >= RATE_BYTES {
        let pace = pause.saturating_mul(1000) / bytes;
        // a path that became slower is believed little by little
        let known = path.pace.saturating_add(path.pace / 64).max(1);
        path.pace = if path.pace == 0 {
            pace.max(1)
        } else {
            known.min(pace.max(1))
        };
    }
}

/// How much of a pause the path took to carry the piece.
fn carried(piece: Piece, path: &Path, kernel: &Kernel) -> Span {
    if path.pace == 0 {
        let is_short = piece.pause.0 <= JITTER.0.max(kernel.min_rtt.0 / 2);
        return if is_short { piece.pause } else { Span(0) };
    }
    let serial = Span(piece.bytes.saturating_mul(path.pace) / 1000);
    let jitter = JITTER.0.max(kernel.min_rtt.0 / 8);
    if piece.pause.0 <= serial.0.saturating_add(jitter) {
        piece.pause
    } else {
        piece.pause.min(serial)
    }
}

/// What the rest of a pause was; `flights` are the bytes since the last pause, before it, and whether the message ends here.
fn cause(
    piece: Piece,
    rest: Span,
    (flight, before, is_last): (u64, u64, bool),
    kernel: &Kernel,
) -> Cause {
    let rtt = kernel.min_rtt;
    let is_small = kernel.mss > 0 && piece.bytes < kernel.mss;
    if rest >= Span(MIN_STALL_RTO.0.max(rtt.0.saturating_mul(2))) {
        return Cause::Timeout;
    }
    // the client kept a small segment until this server's delayed acknowledgment
    if is_small
        && is_last
        && (MIN_DELAYED_ACK..=MAX_OWN_DELAYED_ACK).contains(&rest)
        && rtt.0 < MIN_DELAYED_ACK.0 / 2
    {
        return Cause::NagleDelayedAck;
    }
    let is_round = rtt >= MIN_ROUND_TRIP
        && rest.0 >= rtt.0 / 2
        && rest.0 <= rtt.0.saturating_mul(2).saturating_add(MIN_DELAYED_ACK.0);
    if !is_round {
        return if rest <= JITTER {
            Cause::Bandwidth
        } else {
            Cause::ClientThink
        };
    }
    let window = kernel.server_window;
    if window > 0 && flight >= window - window / 4 {
        Cause::ReceiveWindow
    } else if before == 0 || flight > before.saturating_add(before / 8) {
        Cause::SlowStart
    } else {
        Cause::SendWindow
    }
}
