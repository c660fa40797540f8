//! What a copy's time was spent on. The lab's truth ([`Account`] along the critical path) and the analyser's verdict say
//! it in the same words, so that one can be held against the other; neither depends on the other for it.
#![no_std]

use coax_wire::time::Span;

/// What time was spent on. The names are those of reports and of truth files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Cause {
    /// The client computed, read its disk, or waited for its user.
    ClientThink,
    /// The server did.
    ServerThink,
    /// A request and its answer travelled.
    RoundTrips,
    /// The same, for messages that moved no file data.
    Metadata,
    /// The sender had filled the window that the receiver offered.
    ReceiveWindow,
    /// That window was shut.
    ZeroWindow,
    /// The sender's own buffer.
    SendWindow,
    /// The congestion window of a connection that has lost nothing yet.
    SlowStart,
    /// A small segment or an acknowledgment was held back.
    NagleDelayedAck,
    /// A loss was repaired after duplicate acknowledgments, or the congestion window had not grown back since.
    FastRecovery,
    /// A retransmission timer ran, or the congestion window had not grown back since one ran out.
    Timeout,
    /// Data was put on the wire.
    Bandwidth,
    /// Something else was, such as acknowledgments that go the same way.
    Queueing,
    /// A fault of the capture. The lab makes none.
    Capture,
    /// Nothing is known of it.
    Unattributed,
}

impl Cause {
    /// How many there are.
    pub const COUNT: usize = 15;

    /// All, in the order of reports.
    pub const ALL: [Self; Self::COUNT] = [
        Self::ClientThink,
        Self::ServerThink,
        Self::RoundTrips,
        Self::Metadata,
        Self::ReceiveWindow,
        Self::ZeroWindow,
        Self::SendWindow,
        Self::SlowStart,
        Self::NagleDelayedAck,
        Self::FastRecovery,
        Self::Timeout,
        Self::Bandwidth,
        Self::Queueing,
        Self::Capture,
        Self::Unattributed,
    ];

    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ClientThink => "client-think",
            Self::ServerThink => "server-think",
            Self::RoundTrips => "round-trips",
            Self::Metadata => "metadata",
            Self::ReceiveWindow => "receive-window",
            Self::ZeroWindow => "zero-window",
            Self::SendWindow => "send-window",
            Self::SlowStart => "slow-start",
            Self::NagleDelayedAck => "nagle-delayed-ack",
            Self::FastRecovery => "fast-recovery",
            Self::Timeout => "timeout",
            Self::Bandwidth => "bandwidth",
            Self::Queueing => "queueing",
            Self::Capture => "capture",
            Self::Unattributed => "unattributed",
        }
    }
}

/// Time by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Account([u64; Cause::COUNT]);

impl Account {
    /// What was spent on `cause`.
    pub fn get(&self, cause: Cause) -> Span {
        Span(self.0.get(cause as usize).copied().unwrap_or_default())
    }

    /// What was spent on all: the wall clock of the account, exactly.
    pub fn total(&self) -> Span {
        Span(self.0.iter().fold(0, |sum, part| sum.saturating_add(*part)))
    }

    /// Every cause and what was spent on it.
    pub fn iter(&self) -> impl Iterator<Item = (Cause, Span)> + '_ {
        Cause::ALL.into_iter().map(|cause| (cause, self.get(cause)))
    }

    /// The cause that took most.
    pub fn dominant(&self) -> Cause {
        let most = Cause::ALL.into_iter().max_by_key(|cause| self.get(*cause));
        most.unwrap_or(Cause::Unattributed)
    }

    /// Spends `span` on `cause`.
    pub fn add(&mut self, cause: Cause, span: Span) {
        if let Some(part) = self.0.get_mut(cause as usize) {
            *part = part.saturating_add(span.0);
        }
    }

    /// So much of what was spent on `from` was spent on `to`.
    pub fn shift(&mut self, from: Cause, to: Cause, span: Span) {
        if let Some(part) = self.0.get_mut(from as usize) {
            let span = Span(span.0.min(*part));
            *part -= span.0;
            self.add(to, span);
        }
    }

    /// What was spent since the account stood at `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let mut rest = *self;
        for (part, before) in rest.0.iter_mut().zip(earlier.0) {
            *part = part.saturating_sub(before);
        }
        rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cause_has_its_place_and_a_name_of_its_own() {
        for (place, cause) in Cause::ALL.into_iter().enumerate() {
            assert_eq!(cause as usize, place);
            let same = Cause::ALL
                .iter()
                .filter(|other| other.name() == cause.name());
            assert_eq!(same.count(), 1);
        }
    }

    #[test]
    fn what_is_shifted_was_spent_on_something_else() {
        let mut account = Account::default();
        account.add(Cause::ServerThink, Span(5));
        account.shift(Cause::ServerThink, Cause::ZeroWindow, Span(3));
        account.shift(Cause::Timeout, Cause::ZeroWindow, Span(9));
        let causes = [Cause::ServerThink, Cause::ZeroWindow, Cause::Timeout];
        assert_eq!(causes.map(|cause| account.get(cause).0), [2, 3, 0]);
    }

    #[test]
    fn what_was_spent_since_is_the_difference() {
        let mut account = Account::default();
        account.add(Cause::Timeout, Span(5));
        let earlier = account;
        account.add(Cause::Timeout, Span(2));
        account.add(Cause::Bandwidth, Span(3));
        let since = account.since(&earlier);
        assert_eq!(
            (since.get(Cause::Timeout), since.total()),
            (Span(2), Span(5))
        );
        assert_eq!(since.dominant(), Cause::Bandwidth);
    }
}
