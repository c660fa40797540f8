//! The copy of one file, as far as the server sees it.

use coax_cause::Account;
use coax_wire::time::{Span, Time};

use crate::{family::Family, request::Direction};

/// A copy: successive reads, or writes, of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copy {
    /// Which way.
    pub direction: Direction,
    /// The file, as the client numbers it.
    pub fid: u16,
    /// When its first request had arrived,
    pub began: Time,
    /// and until when its time is charged.
    pub until: Time,
    /// It has ended: the file was closed, another one is copied, or the client made a long pause.
    pub ended: bool,
    /// What its time was spent on.
    pub account: Account,
    /// Bytes asked for or brought.
    pub bytes: u64,
    /// Requests that moved data, by [`Family`].
    pub requests: [u64; 4],
    /// What most of them moved, bytes (majority vote of Boyer and Moore),
    pub usual: u32,
    votes: u32,
    /// and the most that one of them moved.
    pub largest: u32,
    /// FLUSH requests.
    pub flushes: u64,
    /// Segments to the client that were sent again before it began.
    pub retransmitted_before: u64,
}

impl Copy {
    pub(crate) fn begin(direction: Direction, fid: u16, now: Time, retransmitted: u64) -> Self {
        Self {
            direction,
            fid,
            began: now,
            until: now,
            ended: false,
            account: Account::default(),
            bytes: 0,
            requests: [0; 4],
            usual: 0,
            votes: 0,
            largest: 0,
            flushes: 0,
            retransmitted_before: retransmitted,
        }
    }

    /// Its time so far: exactly the sum of its account.
    pub fn wall(&self) -> Span {
        self.until - self.began
    }

    /// Requests of one family.
    pub fn count(&self, family: Family) -> u64 {
        self.requests
            .get(family as usize)
            .copied()
            .unwrap_or_default()
    }

    /// The family that moved most requests.
    pub fn family(&self) -> Family {
        let most = Family::ALL.into_iter().max_by_key(|f| self.count(*f));
        most.unwrap_or(Family::Core)
    }

    pub(crate) fn note(&mut self, family: Family, bytes: u32) {
        self.bytes = self.bytes.saturating_add(u64::from(bytes));
        if let Some(count) = self.requests.get_mut(family as usize) {
            *count = count.saturating_add(1);
        }
        self.largest = self.largest.max(bytes);
        match (bytes == self.usual, self.votes) {
            (true, _) => self.votes = self.votes.saturating_add(1),
            (false, 0) => (self.usual, self.votes) = (bytes, 1),
            (false, _) => self.votes = self.votes.saturating_sub(1),
        }
    }
}
