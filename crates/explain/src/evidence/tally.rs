//! Stretches counted by cause, and over time. The ways of a request and of its answer are one round trip.

use coax_cause::{Account, Cause};
use coax_wire::time::{Span, Time};

use super::{budget::Hold, charge::RecordedCharge, slices::Slices, stalls::spot};
use crate::{
    histogram::Samples,
    report::{Direction, Spot, Stretches},
};

/// The longest stretches of each cause that are remembered.
const LONGEST: usize = 5;

#[derive(Debug, Default)]
struct Row {
    samples: Samples,
    longest: Vec<Spot>,
    /// The way of a request, until its answer's is known.
    half: Option<Spot>,
}

impl Row {
    fn clear(&mut self) {
        self.samples.clear();
        self.longest.clear();
        self.half = None;
    }

    fn charge(&mut self, charge: &RecordedCharge) {
        let is_travel = matches!(charge.cause, Cause::RoundTrips | Cause::Metadata);
        let half = self.half.take();
        if !is_travel {
            self.add(spot(charge));
        } else if charge.to == Direction::ToServer {
            half.into_iter().for_each(|half| self.add(half));
            self.half = Some(spot(charge));
        } else {
            let before = half.map_or(Span(0), |half| half.span);
            self.add(Spot {
                frame: charge.frame,
                at: half.map_or(charge.from, |half| half.at),
                span: Span(charge.span.0.saturating_add(before.0)),
            });
        }
    }

    fn add(&mut self, spot: Spot) {
        self.samples.add(spot.span);
        self.insert(spot);
    }

    fn insert(&mut self, spot: Spot) {
        let is_full = self.longest.len() >= LONGEST;
        if is_full
            && self
                .longest
                .last()
                .is_some_and(|last| last.span >= spot.span)
        {
            return;
        }
        let place = self
            .longest
            .partition_point(|other| other.span >= spot.span);
        self.longest.insert(place, spot);
        self.longest.truncate(LONGEST);
    }
}

/// Stretches counted by cause.
#[derive(Debug, Default)]
pub(super) struct Rows([Option<Box<Row>>; Cause::COUNT]);

impl Rows {
    pub(super) fn charge(&mut self, charge: &RecordedCharge) {
        if let Some(row) = self.0.get_mut(charge.cause as usize) {
            row.get_or_insert_default().charge(charge);
        }
    }

    /// Forgets all, and keeps what memory it has.
    pub(super) fn clear(&mut self) {
        self.0.iter_mut().flatten().for_each(|row| row.clear());
    }

    fn merge(&mut self, other: Self) {
        for (row, other) in self.0.iter_mut().zip(other.0) {
            let Some(other) = other else {
                continue;
            };
            let row = row.get_or_insert_default();
            row.half.take().into_iter().for_each(|half| row.add(half));
            row.half = other.half;
            row.samples.merge(&other.samples);
            other.longest.into_iter().for_each(|spot| row.insert(spot));
        }
    }

    /// Makes the totals those of `account`: what is lacking of a cause is one stretch that ended with `end`, and is told to
    /// `also`. Returns how much that is.
    pub(super) fn complete(
        &mut self,
        account: &Account,
        end: Spot,
        mut also: impl FnMut(&RecordedCharge),
    ) -> Span {
        let mut lumped = Span(0);
        for row in self.0.iter_mut().flatten() {
            row.half.take().into_iter().for_each(|half| row.add(half));
        }
        for (cause, span) in account.iter() {
            let row = self.0.get(cause as usize).and_then(Option::as_ref);
            let known = row.map_or(Span(0), |row| row.samples.total());
            let lacking = Span(span.0.saturating_sub(known.0));
            if lacking.0 > 0 {
                let from = Time(end.at.0.saturating_sub(lacking.0));
                let charge = RecordedCharge {
                    cause,
                    from,
                    span: lacking,
                    frame: end.frame,
                    to: Direction::ToClient,
                };
                self.charge(&charge);
                also(&charge);
                lumped = Span(lumped.0.saturating_add(lacking.0));
            }
        }
        lumped
    }

    /// The rows as they are reported, each with its longest stretches.
    pub(super) fn told(&self, longest: usize) -> Vec<Stretches> {
        let rows = self.0.iter().zip(Cause::ALL);
        let rows = rows.filter_map(|(row, cause)| {
            let row = row.as_ref().filter(|row| row.samples.count() > 0)?;
            Some((row, cause))
        });
        let mut told = Vec::with_capacity(rows.clone().count());
        told.extend(rows.filter_map(|(row, cause)| {
            let most = row.longest.first()?.span;
            Some(Stretches {
                cause,
                count: row.samples.count(),
                total: row.samples.total(),
                median: row.samples.percentile(50)?.min(most),
                p95: row.samples.percentile(95)?.min(most),
                longest: row.longest.iter().take(longest).copied().collect(),
            })
        }));
        told
    }
}

/// See the module.
#[derive(Debug)]
pub(super) struct Tally {
    pub(super) rows: Rows,
    pub(super) slices: Slices,
}

impl Tally {
    pub(super) fn new(begin: Time) -> Self {
        Self {
            rows: Rows::default(),
            slices: Slices::new(begin),
        }
    }

    pub(super) fn add(&mut self, charge: &RecordedCharge, hold: &mut Hold) {
        self.rows.charge(charge);
        self.slices.add(charge, hold);
    }

    /// Takes over what another has.
    pub(super) fn merge(&mut self, other: Self, hold: &mut Hold) {
        self.rows.merge(other.rows);
        self.slices.merge(&other.slices, hold);
    }

    /// Makes the totals those of `account`, as [`Rows::complete`] does.
    pub(super) fn complete(&mut self, account: &Account, end: Spot, hold: &mut Hold) -> Span {
        let slices = &mut self.slices;
        let also = |charge: &RecordedCharge| slices.add(charge, hold);
        self.rows.complete(account, end, also)
    }
}
