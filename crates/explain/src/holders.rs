//! Whom operations waited for: clients that were to give back an oplock, or had locked the bytes.

use coax_wire::time::{Span, Time};

use crate::{
    report::{Connection, Holder, Operation, OperationKind, Reason},
    smb::{Observed, OplockBreak, Release},
};

/// Operations in a report; of more, the longest.
const MAX_LISTED: usize = 1000;
/// Oplock breaks and released locks that are kept of all connections.
const MAX_NOTED: usize = 1 << 16;
/// A capture that is taken between the ends may see a break just before the open that caused it.
const SLACK: Span = Span(50_000_000);
/// A break explains an open if the server waited for it most of the time.
const MIN_PART: u64 = 2;

/// What all connections of a capture have to say of slow operations.
#[derive(Debug, Default)]
pub(crate) struct Operations {
    operations: Vec<(usize, Operation)>,
    left_out: u64,
    breaks: Vec<(usize, OplockBreak)>,
    releases: Vec<(usize, Release)>,
}

impl Operations {
    /// Adds what a connection has to say; `connection`: its number.
    pub(crate) fn add(&mut self, connection: usize, observed: Observed) {
        self.left_out = self.left_out.saturating_add(observed.left_out);
        let own = observed.operations.into_iter();
        self.operations.extend(own.map(|one| (connection, one)));
        let room = MAX_NOTED.saturating_sub(self.breaks.len());
        let breaks = observed.breaks.into_iter().take(room);
        self.breaks.extend(breaks.map(|one| (connection, one)));
        let room = MAX_NOTED.saturating_sub(self.releases.len());
        let releases = observed.releases.into_iter().take(room);
        self.releases.extend(releases.map(|one| (connection, one)));
        if self.operations.len() > 2 * MAX_LISTED {
            self.prune();
        }
    }

    fn prune(&mut self) {
        let rank = |one: &(usize, Operation)| (std::cmp::Reverse(one.1.wall), one.1.frames);
        self.operations.sort_by_key(rank);
        let more = self.operations.len().saturating_sub(MAX_LISTED);
        self.left_out = self.left_out.saturating_add(more as u64);
        self.operations.truncate(MAX_LISTED);
    }

    /// The operations in the order in which they began, with those whom they waited for, and how many more there were.
    /// `connections` are in the order of the report; `place` says where a connection is in it.
    pub(crate) fn finish(
        mut self,
        connections: &[Connection],
        place: impl Fn(usize) -> Option<usize>,
    ) -> (Vec<Operation>, u64) {
        self.prune();
        let of = |number: usize| connections.get(place(number)?);
        let mut found = Vec::new();
        for (number, operation) in &self.operations {
            let holder = of(*number).and_then(|own| {
                let is_same = |other: usize| {
                    of(other).is_some_and(|it| it.server.is_same_machine(own.server))
                };
                self.holder_of(operation, is_same)
            });
            let Some(connection) = place(*number) else {
                continue;
            };
            let holder = holder.and_then(|holder| {
                Some(Holder {
                    connection: place(holder.connection)?,
                    ..holder
                })
            });
            found.push(Operation {
                connection,
                reason: reason_of(operation, holder.is_some()),
                holder,
                ..operation.clone()
            });
        }
        found.sort_by_key(|one| (one.start, one.frames, one.connection));
        (found, self.left_out)
    }

    /// Who kept an operation waiting, among the connections to the same server.
    fn holder_of(&self, operation: &Operation, is_same: impl Fn(usize) -> bool) -> Option<Holder> {
        match operation.kind {
            OperationKind::Open => {
                let breaks = self.breaks.iter().filter(|one| is_same(one.0));
                let held = breaks.filter(|(_, one)| is_broken_for(one, operation));
                let (connection, held) = held.max_by_key(|(_, one)| waited(one, operation))?;
                let answered = held.answered.map(|mark| mark.moment.at);
                let asked = held.asked.moment;
                Some(Holder {
                    connection: *connection,
                    frame: asked.frame,
                    answered_after: answered
                        .filter(|at| *at <= end(operation))
                        .map(|at| at - asked.at),
                })
            }
            OperationKind::Lock => {
                let releases = self.releases.iter().filter(|one| is_same(one.0));
                let held = releases.filter(|(_, one)| is_released_for(one, operation));
                let (connection, held) = held.max_by_key(|(_, one)| one.at.at)?;
                Some(Holder {
                    connection: *connection,
                    frame: held.at.frame,
                    answered_after: None,
                })
            }
            _ => None,
        }
    }
}

fn end(operation: &Operation) -> Time {
    operation.start + operation.wall
}

/// Whether an open may have waited for this oplock.
fn is_broken_for(one: &OplockBreak, operation: &Operation) -> bool {
    let asked = one.asked.moment.at;
    asked + SLACK >= operation.start
        && asked <= end(operation)
        && is_same_file(one.name.as_deref(), operation.name.as_deref())
        && waited(one, operation).0.saturating_mul(MIN_PART) >= operation.wall.0
}

/// How much of an operation's time an oplock was asked for.
fn waited(one: &OplockBreak, operation: &Operation) -> Span {
    let answered = one.answered.map_or(end(operation), |mark| mark.moment.at);
    let begin = one.asked.moment.at.max(operation.start);
    answered.min(end(operation)) - begin
}

fn is_released_for(one: &Release, operation: &Operation) -> bool {
    one.at.at >= operation.start
        && one.at.at <= end(operation) + SLACK
        && is_same_file(one.name.as_deref(), operation.name.as_deref())
}

/// Whether two names may be of the same file: the last components tell, as shares may lie within each other.
fn is_same_file(one: Option<&str>, other: Option<&str>) -> bool {
    let last = |name: &str| {
        let last = name.rsplit(['\\', '/']).next().unwrap_or_default();
        last.to_lowercase()
    };
    one.zip(other)
        .is_none_or(|(one, other)| last(one) == last(other))
}

/// What an operation waited for, now that it is known whether somebody kept it waiting.
fn reason_of(operation: &Operation, is_held: bool) -> Reason {
    match operation.kind {
        OperationKind::Open if is_held => Reason::OplockBreak,
        OperationKind::Lock if is_held => Reason::LockHeld,
        _ => operation.reason,
    }
}
