//! A wire that sends one frame after the other.

use coax_wire::time::{Span, Time};

use crate::{
    cause::{Cause, Provenance},
    segment::Sent,
};

pub(super) const fn serialisation(rate: u64, bytes: u64) -> Span {
    Span(bytes.saturating_mul(8_000_000_000) / if rate == 0 { 1 } else { rate })
}

/// A wire that sends one frame after the other.
#[derive(Clone, Debug)]
pub(super) struct Wire {
    rate: u64,
    pub(super) free_at: Time,
    /// The client of the last frame, and the account at its end.
    last: Option<(u16, Provenance)>,
}

impl Wire {
    pub(super) const fn new(rate: u64) -> Self {
        Self {
            rate,
            free_at: Time(0),
            last: None,
        }
    }

    /// Sends a frame no earlier than `medium`. Returns its start time, and its account at its end.
    pub(super) fn pass(
        &mut self,
        medium: Time,
        account: Provenance,
        frame: &Frame,
    ) -> (Time, Provenance) {
        let now = account.at();
        let start = now.max(self.free_at).max(medium);
        let own = self.last.as_ref().filter(|(of, _)| *of == frame.client);
        let waited = match own {
            _ if start == now => account,
            Some((_, last)) if self.free_at == start => last.clone().in_epoch(account.epoch()),
            _ => account.charge(Cause::Queueing, start),
        };
        let end = start + serialisation(self.rate, frame.bytes);
        let account = if frame.data {
            waited.charge(frame.sent.cause(), end)
        } else {
            let behind = waited.clone().charge(Cause::Queueing, end);
            self.last = Some((frame.client, behind));
            waited.transit(end)
        };
        if frame.data {
            self.last = Some((frame.client, account.clone()));
        }
        self.free_at = end;
        (start, account)
    }

    /// Sends a frame on as it arrives; it is whole at the account's time. Returns its account at its end.
    pub(super) fn follow(&mut self, account: Provenance, frame: &Frame) -> Provenance {
        let whole = self.free_at + serialisation(self.rate, frame.bytes);
        let account = match whole > account.at() {
            true => account.charge(Cause::Queueing, whole),
            false => account,
        };
        self.free_at = account.at();
        account
    }
}

/// What a wire must know of a frame.
pub(super) struct Frame {
    pub(super) client: u16,
    pub(super) bytes: u64,
    pub(super) data: bool,
    pub(super) sent: Sent,
}
