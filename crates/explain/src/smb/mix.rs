//! What was asked for, how often, how much, and how long the answers took.

use coax_wire::time::Span;

use super::{name::Name, sizes::Sizes};
use crate::{histogram::Samples, report::Requests};

/// More kinds of requests are counted as one of them.
const MOST_KINDS: usize = 128;

/// Requests by kind.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mix(Vec<(Name, Tally)>);

#[derive(Clone, Debug, Default)]
struct Tally {
    count: u64,
    bytes: u64,
    refused: u64,
    unanswered: u64,
    largest: u64,
    sizes: Sizes,
    responses: Samples,
}

/// One request and what came of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome {
    pub(crate) name: Name,
    /// Bytes of a file that it moved.
    pub(crate) bytes: u64,
    /// From the request's last byte to the answer's last; `None` if none came or none was due.
    pub(crate) response: Option<Span>,
    pub(crate) refused: bool,
    pub(crate) unanswered: bool,
}

impl Mix {
    /// Counts one.
    pub(crate) fn add(&mut self, outcome: &Outcome) {
        let Some(tally) = self.tally(outcome.name) else {
            return;
        };
        tally.count += 1;
        tally.bytes = tally.bytes.saturating_add(outcome.bytes);
        tally.refused += u64::from(outcome.refused);
        tally.unanswered += u64::from(outcome.unanswered);
        tally.largest = tally.largest.max(outcome.bytes);
        // what came to nothing has no size
        if !outcome.refused && !outcome.unanswered {
            tally.sizes.add(outcome.bytes);
        }
        if let Some(response) = outcome.response {
            tally.responses.add(response);
        }
    }

    /// Adds all of another.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (name, tally) in &other.0 {
            if let Some(own) = self.tally(*name) {
                own.merge(tally);
            }
        }
    }

    /// How many requests there were.
    pub(crate) fn count(&self) -> u64 {
        self.0.iter().map(|(_, tally)| tally.count).sum()
    }

    /// The time from requests to their answers, of commands that moved no data and whose answers do not wait for anything.
    pub(crate) fn without_data(&self) -> Span {
        let idle = self
            .0
            .iter()
            .filter(|(name, tally)| tally.bytes == 0 && !name.waits());
        let spans = idle.map(|(_, tally)| tally.responses.total().0);
        Span(spans.fold(0, u64::saturating_add))
    }

    fn tally(&mut self, name: Name) -> Option<&mut Tally> {
        let found = self.0.iter().position(|(known, _)| *known == name);
        let index = match found {
            Some(index) => index,
            None if self.0.len() >= MOST_KINDS => 0,
            None => {
                self.0.push((name, Tally::default()));
                self.0.len() - 1
            }
        };
        self.0.get_mut(index).map(|(_, tally)| tally)
    }

    /// The report, the most bytes first, then the most requests.
    pub(crate) fn report(&self) -> Vec<Requests> {
        let mut rows: Vec<_> = self
            .0
            .iter()
            .map(|(name, tally)| tally.report(*name))
            .collect();
        rows.sort_by_key(|row| std::cmp::Reverse((row.bytes, row.count)));
        rows
    }
}

impl Tally {
    fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.refused += other.refused;
        self.unanswered += other.unanswered;
        self.largest = self.largest.max(other.largest);
        self.sizes.merge(&other.sizes);
        self.responses.merge(&other.responses);
    }

    fn report(&self, name: Name) -> Requests {
        Requests {
            command: name.told(),
            waits: name.waits(),
            count: self.count,
            bytes: self.bytes,
            refused: self.refused,
            unanswered: self.unanswered,
            usual_bytes: self.sizes.usual(),
            largest_bytes: self.largest,
            answered: self.responses.count(),
            response_total: self.responses.total(),
            response_median: self.responses.percentile(50),
            response_p95: self.responses.percentile(95),
        }
    }
}
