#![doc = include_str!("../README.md")]
#![no_std]
#![deny(missing_docs)]

mod cause;

pub use cause::{Cause, Description, Kind, Texture};

use coax_wire::time::Span;

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
extern crate std;

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::{borrow::ToOwned, format, vec::Vec};

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
    fn every_cause_is_of_one_kind() {
        let of_kinds = Kind::ALL.into_iter().flat_map(Kind::causes);
        let of_kinds: Vec<Cause> = of_kinds.collect();
        assert!(Cause::ALL.iter().all(|cause| of_kinds.contains(cause)));
        assert_eq!(of_kinds.len(), Cause::COUNT);
    }

    /// Run with COAX_BLESS=1 to write the table.
    #[test]
    fn the_readme_has_the_table() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
        let page = std::fs::read_to_string(path).unwrap();
        let mut table = "| key | label | meaning |\n|---|---|---|\n".to_owned();
        for cause in Cause::ALL {
            let own = cause.description();
            table += &format!("| `{}` | {} | {} |\n", own.key, own.label, own.meaning);
        }
        let (before, rest) = page.split_once("<!-- table of causes -->\n").unwrap();
        let (_, after) = rest.split_once("<!-- end -->").unwrap();
        let wanted = format!("{before}<!-- table of causes -->\n{table}<!-- end -->{after}");
        if std::env::var_os("COAX_BLESS").is_some() {
            std::fs::write(path, &wanted).unwrap();
        } else {
            assert_eq!(
                page, wanted,
                "COAX_BLESS=1 cargo test -p coax-cause renews it"
            );
        }
    }
}
