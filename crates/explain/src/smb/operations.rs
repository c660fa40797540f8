//! Operations that took long apart from the data of copies: what they were, and what they waited for.

mod log_on;
mod print;

use std::sync::Arc;

use coax_wire::{status::Status, time::Span};
use hashbrown::HashSet;

use super::{
    files::Mark,
    stretch::{Exchange, Stretch},
    subject::{MAX_FOLLOWED, Subject},
};
use crate::report::{Operation, OperationKind, Reason};
use log_on::LogOn;
use print::{Job, Jobs};

/// Shorter operations are not reported. After a second without an answer people notice that they wait (Nielsen 1993); half of it
/// includes what takes that long every time.
const SLOW: Span = Span(500_000_000);
/// Operations kept of one connection, the longest.
const MAX_KEPT: usize = 256;
/// Oplock breaks and released locks that are kept of one connection.
const MAX_NOTED: usize = 4096;
/// A refused request that is repeated after more than this is another one: programs repeat theirs several times a second.
const RETRY_GAP: Span = Span(5_000_000_000);

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Operations {
    kept: Vec<Operation>,
    left_out: u64,
    /// Exchanges that have ended.
    exchanges: u64,
    listings: Vec<Listing>,
    attempts: Vec<Attempt>,
    log_on: LogOn,
    pub(super) jobs: Jobs,
    breaks: Vec<OplockBreak>,
    /// Files with level II oplocks, which nobody has to give back ([MS-CIFS] 3.2.5.42).
    level_two: HashSet<u16>,
    locked: HashSet<u16>,
    releases: Vec<Release>,
}

/// Names of a folder are asked for.
#[derive(Debug)]
struct Listing {
    subject: Subject,
    sid: Option<u16>,
    tid: u16,
    names: u64,
    stretch: Stretch,
    /// Exchanges that had ended on the connection when its latest had.
    latest: u64,
}

/// What is tried again after a refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// The file of a name on a tree.
    Open(u16, String),
    /// The bytes of a file from an offset.
    Lock(u16, u64),
}

/// It was refused, because of what another does with the file.
#[derive(Debug)]
struct Attempt {
    target: Target,
    subject: Subject,
    stretch: Stretch,
}

/// The server asked for an oplock.
#[derive(Clone, Debug)]
pub(crate) struct OplockBreak {
    fid: u16,
    /// The file's name.
    pub(crate) name: Option<String>,
    share: Option<Arc<str>>,
    /// The packet that asked.
    pub(crate) asked: Mark,
    /// The packet that gave it back: the acknowledgment, or the file's close.
    pub(crate) answered: Option<Mark>,
}

/// A lock was given up.
#[derive(Clone, Debug)]
pub(crate) struct Release {
    /// The file's name.
    pub(crate) name: Option<String>,
    /// The packet that gave it up.
    pub(crate) at: crate::session::Moment,
}

/// What one connection has to say of slow operations.
#[derive(Debug, Default)]
pub(crate) struct Observed {
    /// The operations, longest first.
    pub(crate) operations: Vec<Operation>,
    /// How many more there were.
    pub(crate) left_out: u64,
    /// Oplocks that its client was asked for.
    pub(crate) breaks: Vec<OplockBreak>,
    /// Locks that its client gave up.
    pub(crate) releases: Vec<Release>,
}

impl Operations {
    /// The connection begins, if that was captured.
    pub(super) fn begin(&mut self, at: Option<Mark>) {
        self.log_on = LogOn::starting(at);
    }

    /// One more exchange has ended.
    pub(super) fn count(&mut self) {
        self.exchanges += 1;
    }

    /// A request that is an operation of its own.
    pub(super) fn single(&mut self, subject: Subject, exchange: &Exchange) {
        if exchange.end.moment.at - exchange.begin.moment.at >= SLOW {
            self.end(subject, &Stretch::of(exchange), None, (0, 0), true);
        }
    }

    /// A listing begins with this number of names.
    pub(super) fn list(
        &mut self,
        subject: Subject,
        (tid, sid): (u16, Option<u16>),
        exchange: &Exchange,
        names: u64,
    ) {
        if self.listings.len() >= MAX_FOLLOWED {
            let oldest = self.listings.remove(0);
            self.end_listing(oldest, true);
        }
        self.listings.push(Listing {
            subject,
            sid,
            tid,
            names,
            stretch: Stretch::of(exchange),
            latest: self.exchanges,
        });
    }

    /// A listing continues with this number of further names.
    pub(super) fn list_more(
        &mut self,
        (tid, sid): (u16, Option<u16>),
        exchange: &Exchange,
        names: u64,
    ) {
        let place = self.listing(tid, sid);
        let Some(listing) = place.and_then(|place| self.listings.get_mut(place)) else {
            return;
        };
        let joins = self.exchanges == listing.latest + 1;
        listing.stretch.add(exchange, joins);
        listing.names = listing.names.saturating_add(names);
        listing.latest = self.exchanges;
    }

    /// A listing has no more names.
    pub(super) fn end_list(&mut self, (tid, sid): (u16, Option<u16>)) {
        if let Some(place) = self.listing(tid, sid) {
            let listing = self.listings.remove(place);
            self.end_listing(listing, true);
        }
    }

    /// The latest listing of this number, or of any where that was not kept.
    fn listing(&self, tid: u16, sid: Option<u16>) -> Option<usize> {
        let is_it = |one: &Listing| one.tid == tid && (sid.is_none() || one.sid == sid);
        self.listings.iter().rposition(is_it)
    }

    fn end_listing(&mut self, listing: Listing, is_answered: bool) {
        let figures = (listing.names, 0);
        self.end(
            listing.subject,
            &listing.stretch,
            None,
            figures,
            is_answered,
        );
    }

    /// An open or a lock was answered; `conflict`: refused for what another does with the file.
    pub(super) fn try_for(
        &mut self,
        target: Target,
        subject: Subject,
        exchange: &Exchange,
        conflict: bool,
    ) {
        let place = self.attempts.iter().position(|one| one.target == target);
        let before = place.map(|place| self.attempts.remove(place));
        let is_again =
            |one: &Attempt| exchange.begin.moment.at - one.stretch.last.moment.at <= RETRY_GAP;
        let stretch = match before {
            Some(before) if is_again(&before) => {
                let mut stretch = before.stretch;
                stretch.add(exchange, true);
                stretch
            }
            before => {
                before.into_iter().for_each(|before| self.give_up(before));
                Stretch::of(exchange)
            }
        };
        if !conflict {
            let had_conflict = stretch.requests > 1 || subject.kind == OperationKind::Lock;
            let reason = conflict_of(subject.kind).filter(|_| had_conflict);
            return self.end(subject, &stretch, reason, (0, 0), true);
        }
        if self.attempts.len() >= MAX_FOLLOWED {
            let oldest = self.attempts.remove(0);
            self.give_up(oldest);
        }
        self.attempts.push(Attempt {
            target,
            subject,
            stretch,
        });
    }

    /// It was not tried again.
    fn give_up(&mut self, attempt: Attempt) {
        let reason = conflict_of(attempt.subject.kind);
        self.end(attempt.subject, &attempt.stretch, reason, (0, 0), true);
    }

    /// A step of a log-on was answered.
    pub(super) fn log_on(&mut self, exchange: &Exchange) {
        if let Some(stretch) = self.log_on.add(exchange) {
            self.end(Subject::log_on(), &stretch, None, (0, 0), true);
        }
    }

    /// A log-on has ended; `until`: a step that was not answered by then.
    pub(super) fn end_log_on(&mut self, until: Option<Mark>) {
        if let Some(stretch) = self.log_on.end(until) {
            let is_answered = until.is_none();
            self.end(Subject::log_on(), &stretch, None, (0, 0), is_answered);
        }
    }

    /// A print job has ended.
    pub(super) fn end_job(&mut self, job: Job, is_answered: bool) {
        let figures = (0, job.bytes);
        self.end(job.subject, &job.stretch, None, figures, is_answered);
    }

    /// A request was not answered before `exchange.end`.
    pub(super) fn unanswered(&mut self, subject: Subject, exchange: &Exchange) {
        self.end(subject, &Stretch::of(exchange), None, (0, 0), false);
    }

    /// A file was opened with a level II oplock, or closed.
    pub(super) fn note_level_two(&mut self, fid: u16, has: bool) {
        if !has {
            self.level_two.remove(&fid);
        } else if self.level_two.len() < MAX_NOTED {
            self.level_two.insert(fid);
        }
    }

    /// The server asks for the oplock of a file.
    pub(super) fn ask_back(&mut self, fid: u16, subject: Subject, asked: Mark) {
        if self.level_two.remove(&fid) || self.breaks.len() >= MAX_NOTED {
            return;
        }
        self.breaks.push(OplockBreak {
            fid,
            name: subject.name,
            share: subject.share,
            asked,
            answered: None,
        });
    }

    /// The client gives the oplock of a file back, or closes the file.
    pub(super) fn give_back(&mut self, fid: u16, at: Mark, to_level_two: bool) {
        let mut breaks = self.breaks.iter_mut().rev();
        let asked = breaks.find(|one| one.fid == fid && one.answered.is_none());
        if let Some(asked) = asked {
            asked.answered = Some(at);
            if to_level_two {
                self.note_level_two(fid, true);
            }
        }
    }

    /// Bytes of a file are locked.
    pub(super) fn lock(&mut self, fid: u16) {
        if self.locked.len() < MAX_NOTED {
            self.locked.insert(fid);
        }
    }

    /// Locks of a file are given up.
    pub(super) fn unlock(&mut self, fid: u16, name: Option<String>, at: Mark, closes: bool) {
        if self.locked.contains(&fid) && self.releases.len() < MAX_NOTED {
            let at = at.moment;
            self.releases.push(Release { name, at });
        }
        if closes {
            self.locked.remove(&fid);
        }
    }

    /// An operation has ended.
    pub(super) fn end(
        &mut self,
        subject: Subject,
        stretch: &Stretch,
        reason: Option<Reason>,
        (names, bytes): (u64, u64),
        is_answered: bool,
    ) {
        let wall = stretch.wall();
        if wall < SLOW {
            return;
        }
        let cause = Reason::Cause(stretch.account.dominant());
        self.keep(Operation {
            connection: 0,
            kind: subject.kind,
            name: subject.name,
            share: subject.share,
            start: stretch.begin.at,
            wall,
            frames: (stretch.begin.frame, stretch.last.moment.frame),
            requests: stretch.requests,
            refused: stretch.refused,
            names,
            bytes,
            is_answered,
            waits: stretch.waits(SLOW),
            account: stretch.account,
            reason: reason.unwrap_or(cause),
            holder: None,
        });
    }

    fn keep(&mut self, operation: Operation) {
        self.kept.push(operation);
        if self.kept.len() > 2 * MAX_KEPT {
            self.prune();
        }
    }

    fn prune(&mut self) {
        let rank = |one: &Operation| (std::cmp::Reverse(one.wall), one.frames);
        self.kept.sort_by_key(rank);
        let more = self.kept.len().saturating_sub(MAX_KEPT);
        self.left_out = self.left_out.saturating_add(more as u64);
        self.kept.truncate(MAX_KEPT);
    }

    /// No more comes after `end`.
    pub(super) fn finish(&mut self, end: Mark) {
        for listing in std::mem::take(&mut self.listings) {
            self.end_listing(listing, true);
        }
        for attempt in std::mem::take(&mut self.attempts) {
            self.give_up(attempt);
        }
        self.end_log_on(None);
        for job in self.jobs.take() {
            self.end_job(job, false);
        }
        for one in std::mem::take(&mut self.breaks) {
            self.end_break(&one, end);
            self.breaks.push(one);
        }
        self.prune();
    }

    /// How long a client took to give an oplock back.
    fn end_break(&mut self, one: &OplockBreak, end: Mark) {
        let mut stretch = Stretch::from(one.asked);
        stretch.extend(one.answered.unwrap_or(end));
        let subject = Subject {
            kind: OperationKind::OplockBreak,
            name: one.name.clone(),
            share: one.share.clone(),
        };
        let reason = Some(Reason::OplockBreak);
        self.end(subject, &stretch, reason, (0, 0), one.answered.is_some());
    }

    /// What there is to report.
    pub(super) fn take(&mut self) -> Observed {
        Observed {
            operations: std::mem::take(&mut self.kept),
            left_out: self.left_out,
            breaks: std::mem::take(&mut self.breaks),
            releases: std::mem::take(&mut self.releases),
        }
    }
}

fn conflict_of(kind: OperationKind) -> Option<Reason> {
    match kind {
        OperationKind::Open => Some(Reason::SharingViolation),
        OperationKind::Lock => Some(Reason::LockHeld),
        _ => None,
    }
}

/// Whether a status refuses for what another does with the file: NT's, or class ERRDOS and code ([MS-CIFS] 2.2.2.4).
pub(super) fn is_conflict(status: u32, is_nt: bool) -> bool {
    const NT: [Status; 3] = [
        Status::SHARING_VIOLATION,
        Status::FILE_LOCK_CONFLICT,
        Status::LOCK_NOT_GRANTED,
    ];
    const ERRDOS: u32 = 1;
    const BAD_SHARE: u32 = 32;
    const LOCK: u32 = 33;
    if is_nt {
        return NT.iter().any(|one| one.0 == status);
    }
    status & 0xff == ERRDOS && matches!(status >> 16, BAD_SHARE | LOCK)
}
