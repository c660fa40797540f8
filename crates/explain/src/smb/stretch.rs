//! The exchanges of one operation, and what their time was spent on.

use coax_cause::Account;
use coax_wire::time::Span;

use super::{files::Mark, name::Name};
use crate::{report::LongestWait, session::Moment};

/// Commands of which an operation keeps the longest wait.
const MOST_WAITS: usize = 4;

/// A request and its answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exchange {
    pub(super) name: Name,
    pub(super) begin: Mark,
    pub(super) end: Mark,
    pub(super) refused: bool,
}

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Stretch {
    pub(super) begin: Moment,
    pub(super) last: Mark,
    pub(super) account: Account,
    pub(super) requests: u64,
    pub(super) refused: u64,
    /// The longest wait of each command, the longest first.
    waits: Vec<(Name, Span, u64)>,
}

impl Stretch {
    /// Begins at `mark`, before any exchange.
    pub(super) fn from(mark: Mark) -> Self {
        Self {
            begin: mark.moment,
            last: mark,
            account: Account::default(),
            requests: 0,
            refused: 0,
            waits: Vec::new(),
        }
    }

    /// Of one exchange.
    pub(super) fn of(exchange: &Exchange) -> Self {
        let mut stretch = Self::from(exchange.begin);
        stretch.add(exchange, true);
        stretch
    }

    /// Adds an exchange; `joins`: the time since the one before belongs to the operation too.
    pub(super) fn add(&mut self, exchange: &Exchange, joins: bool) {
        let overlaps = exchange.begin.moment.at < self.last.moment.at;
        let from = if joins || overlaps {
            self.last.spent
        } else {
            exchange.begin.spent
        };
        self.go_on_to(exchange.end, &from);
        self.requests += 1;
        self.refused += u64::from(exchange.refused);
        self.note_wait(exchange);
    }

    fn note_wait(&mut self, exchange: &Exchange) {
        let name = exchange.name;
        let span = exchange.end.moment.at - exchange.begin.moment.at;
        let known = self.waits.iter().position(|&(known, ..)| known == name);
        if let Some(place) = known {
            if self
                .waits
                .get(place)
                .is_some_and(|&(_, most, _)| most >= span)
            {
                return;
            }
            self.waits.remove(place);
        }
        let place = self.waits.partition_point(|&(_, more, _)| more >= span);
        let frame = exchange.end.moment.frame;
        self.waits.insert(place, (name, span, frame));
        self.waits.truncate(MOST_WAITS);
    }

    /// Lasts at least until `end`.
    pub(super) fn extend(&mut self, end: Mark) {
        let from = self.last.spent;
        self.go_on_to(end, &from);
    }

    fn go_on_to(&mut self, end: Mark, from: &Account) {
        for (cause, span) in end.spent.since(from).iter() {
            self.account.add(cause, span);
        }
        if end.moment.at >= self.last.moment.at {
            self.last = end;
        }
    }

    /// Its time.
    pub(super) fn wall(&self) -> Span {
        self.account.total()
    }

    /// The exchange that took longest, and those of other commands that took at least `least`.
    pub(super) fn waits(&self, least: Span) -> Vec<LongestWait> {
        let told = |&(name, span, frame): &(Name, Span, u64)| LongestWait {
            command: name.told(),
            span,
            frame,
        };
        let is_long = |&(place, wait): &(usize, &(Name, Span, u64))| place == 0 || wait.1 >= least;
        let waits = self.waits.iter().enumerate().filter(is_long);
        waits.map(|(_, wait)| told(wait)).collect()
    }
}
