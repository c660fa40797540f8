#![doc = include_str!("../README.md")]
#![no_std]
#![deny(missing_docs)]

mod table;

pub use table::Description;

use coax_wire::time::Span;

/// What time was spent on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Cause {
    /// The client's program, disk or user.
    ClientThink,
    /// The server's program or disk.
    ServerThink,
    /// Round trips of requests that moved file data.
    RoundTrips,
    /// Round trips of requests that moved no file data.
    Metadata,
    /// The sender had filled the receive window.
    ReceiveWindow,
    /// The receive window was closed.
    ZeroWindow,
    /// The sender had too little data in flight: its congestion window or send buffer.
    SendWindow,
    /// The congestion window of a connection without loss so far.
    SlowStart,
    /// TCP held back a small segment (Nagle) or an acknowledgment.
    NagleDelayedAck,
    /// Recovery of a loss after duplicate ACKs, until the congestion window has grown back.
    FastRecovery,
    /// A retransmission timeout, until the congestion window has grown back.
    Timeout,
    /// The path carried data.
    Bandwidth,
    /// The path carried other packets.
    Queueing,
    /// The capture lacks packets. The lab's captures lack none.
    Capture,
    /// Unknown.
    Unattributed,
}

impl Cause {
    /// Number of causes.
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

    /// Its key in JSON, in truth files and in `data/advice`.
    pub const fn name(self) -> &'static str {
        self.description().key
    }

    /// Its label in text, as in "82 % of the time was LABEL".
    pub const fn label(self) -> &'static str {
        self.description().label
    }

    /// Its row in the table of causes.
    pub const fn description(self) -> &'static Description {
        table::describe(self)
    }
}

/// Time by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Account([u64; Cause::COUNT]);

impl Account {
    /// The time spent on `cause`.
    pub fn get(&self, cause: Cause) -> Span {
        Span(self.0.get(cause as usize).copied().unwrap_or_default())
    }

    /// The sum of all causes: exactly the wall-clock time of the account.
    pub fn total(&self) -> Span {
        Span(self.0.iter().fold(0, |sum, part| sum.saturating_add(*part)))
    }

    /// Every cause and the time spent on it.
    pub fn iter(&self) -> impl Iterator<Item = (Cause, Span)> + '_ {
        Cause::ALL.into_iter().map(|cause| (cause, self.get(cause)))
    }

    /// The cause with the most time.
    pub fn dominant(&self) -> Cause {
        let most = Cause::ALL.into_iter().max_by_key(|cause| self.get(*cause));
        most.unwrap_or(Cause::Unattributed)
    }

    /// Adds `span` to `cause`.
    pub fn add(&mut self, cause: Cause, span: Span) {
        if let Some(part) = self.0.get_mut(cause as usize) {
            *part = part.saturating_add(span.0);
        }
    }

    /// Moves up to `span` from one cause to another.
    pub fn shift(&mut self, from: Cause, to: Cause, span: Span) {
        if let Some(part) = self.0.get_mut(from as usize) {
            let span = Span(span.0.min(*part));
            *part -= span.0;
            self.add(to, span);
        }
    }

    /// The time spent since the account was `earlier`.
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
    fn every_cause_has_its_own_place_key_label_and_colour() {
        for (place, cause) in Cause::ALL.into_iter().enumerate() {
            assert_eq!(cause as usize, place);
            let own = cause.description();
            let same = Cause::ALL.iter().map(|other| other.description());
            let same = same.filter(|other| {
                other.key == own.key || other.label == own.label || other.colour == own.colour
            });
            assert_eq!(same.count(), 1, "{}", own.key);
        }
    }

    #[test]
    fn shift_moves_no_more_time_than_the_cause_has() {
        let mut account = Account::default();
        account.add(Cause::ServerThink, Span(5));
        account.shift(Cause::ServerThink, Cause::ZeroWindow, Span(3));
        account.shift(Cause::Timeout, Cause::ZeroWindow, Span(9));
        let causes = [Cause::ServerThink, Cause::ZeroWindow, Cause::Timeout];
        assert_eq!(causes.map(|cause| account.get(cause).0), [2, 3, 0]);
    }

    #[test]
    fn since_is_the_difference_of_two_accounts() {
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

    #[test]
    fn the_readme_lists_the_table() {
        let page = include_str!("../README.md");
        for cause in Cause::ALL {
            let own = cause.description();
            let listed = page.lines().any(|line| {
                let mut cells = line.split('|').map(str::trim).skip(1);
                cells.next().map(|key| key.trim_matches('`')) == Some(own.key)
                    && cells.next() == Some(own.label)
                    && cells.next() == Some(own.meaning)
            });
            assert!(listed, "{}", own.key);
        }
    }
}
