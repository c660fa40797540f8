//! The exchanges of one operation, and what their time was spent on.

use coax_cause::Account;
use coax_wire::time::Span;

use super::{files::Mark, name::Name};
use crate::{report::LongestWait, session::Moment};

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
    longest: Option<(Name, Span, u64)>,
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
            longest: None,
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
        let span = exchange.end.moment.at - exchange.begin.moment.at;
        if self.longest.is_none_or(|(_, longest, _)| span > longest) {
            self.longest = Some((exchange.name, span, exchange.end.moment.frame));
        }
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

    /// The exchange that took longest.
    pub(super) fn longest(&self) -> Option<LongestWait> {
        let (name, span, frame) = self.longest?;
        Some(LongestWait {
            command: name.told(),
            span,
            frame,
        })
    }
}
