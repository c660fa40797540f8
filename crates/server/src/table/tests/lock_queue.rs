//! Waiting locks, as raw.lock expects them of Windows.

use super::{
    locking::{Locks, span},
    *,
};
use LockError::{Conflict, NotGranted, RangeNotLocked};
use LockKind::{Exclusive as Write, Shared as Read};

impl Locks {
    fn wait(&mut self, spans: &[LockSpan], kind: LockKind, wait: Wait) -> Ticket {
        match self.ask(0, spans, kind, wait) {
            LockOutcome::Waiting(ticket) => ticket,
            other => panic!("must wait: {other:?}"),
        }
    }

    fn unlock_as(&mut self, pid: u16, offset: u64) {
        self.world
            .tables
            .unlock(self.opens[0], &[span(pid, offset, 10)])
            .unwrap();
    }

    /// The results of the first client's waiting locks.
    fn ended(&mut self) -> Vec<(Ticket, Result<(), LockError>)> {
        let ended = |event| match event {
            Event::Lock { ticket, result } => (ticket, result),
            other => panic!("{other:?}"),
        };
        self.world
            .events(self.clients[0])
            .into_iter()
            .map(ended)
            .collect()
    }

    fn sleep(&mut self, span: Span) {
        self.world.now = self.world.now + span;
        self.world.tables.expire(self.world.now);
    }
}

#[test]
fn an_administrator_removes_all_locks_of_an_open_and_waiting_ones_are_granted() {
    let mut locks = Locks::new();
    locks.lock(1, 100, 10, Write).unwrap();
    locks.lock(1, 200, 10, Write).unwrap();
    let ticket = locks.wait(&[span(1, 100, 10)], Write, TEN);
    assert_eq!(locks.world.tables.unlock_all(locks.opens[1]), Some(2));
    assert_eq!(locks.ended(), [(ticket, Ok(()))]);
    assert_eq!(locks.world.tables.unlock_all(locks.opens[1]), Some(0));
    assert_eq!(locks.world.tables.unlock_all(OpenId(4711)), None);
    // the client notices only when it unlocks
    assert_eq!(locks.unlock(1, 100, 10), Err(RangeNotLocked));
}

const TEN: Wait = Wait::For(Span::from_secs(10));

#[test]
fn a_lock_waits_until_the_range_is_unlocked() {
    // raw.lock async.
    let mut locks = Locks::new();
    locks.lock(0, 100, 10, Write).unwrap();
    let ticket = locks.wait(&[span(1, 100, 10)], Write, TEN);
    locks.unlock(0, 100, 10).unwrap();
    assert_eq!(locks.ended(), [(ticket, Ok(()))]);
    assert_eq!(locks.world.tables.next_deadline(), None);
    assert!(locks.lock(2, 100, 10, Read).is_err());
}

#[test]
fn a_lock_that_times_out_fails_with_a_conflict() {
    // raw.lock errorcode, the special cases; base.lock LOCK1.
    let mut locks = Locks::new();
    locks.lock(0, 100, 10, Write).unwrap();
    let ticket = locks.wait(&[span(1, 100, 10)], Write, TEN);
    assert_eq!(locks.lock(0, 105, 10, Write), Err(NotGranted));
    locks.sleep(Span(Span::from_secs(10).0 - 1));
    assert_eq!(locks.ended(), []);
    locks.sleep(Span(1));
    assert_eq!(locks.ended(), [(ticket, Err(Conflict))]);
    // Parking does not count as a failure at the offset; a timeout does.
    assert_eq!(locks.lock(0, 105, 10, Write), Err(NotGranted));
    let ticket = locks.wait(&[span(1, 100, 10)], Write, TEN);
    assert_eq!(locks.lock(0, 100, 10, Write), Err(NotGranted));
    locks.sleep(Span::from_secs(10));
    assert_eq!(locks.ended(), [(ticket, Err(Conflict))]);
    assert_eq!(locks.lock(0, 100, 10, Write), Err(Conflict));
}

#[test]
fn a_waiting_lock_is_cancelled_by_its_exact_range_and_type() {
    // raw.lock async.
    let mut locks = Locks::new();
    locks.lock(0, 100, 10, Write).unwrap();
    let ticket = locks.wait(&[span(1, 100, 10)], Write, TEN);
    let open = locks.opens[0];
    let mut cancel = |span, lock_type| locks.world.tables.cancel_lock(open, span, lock_type);
    assert_eq!(cancel(span(1, 0, 10), 0x10), Cancelled::NotFound);
    assert_eq!(cancel(span(2, 100, 10), 0x10), Cancelled::NotFound);
    assert_eq!(cancel(span(1, 100, 10), 0), Cancelled::NotFound);
    assert_eq!(cancel(span(1, 100, 10), 0x10), Cancelled::Done);
    assert_eq!(cancel(span(1, 100, 10), 0x10), Cancelled::NotFound);
    assert_eq!(locks.ended(), [(ticket, Err(Conflict))]);
}

#[test]
fn cancelling_one_range_cancels_the_whole_waiting_request() {
    // raw.lock async.
    for (taken, cancelled, free) in [(100, 100, 110), (110, 110, 100)] {
        let mut locks = Locks::new();
        locks.lock(0, taken, 10, Write).unwrap();
        let ticket = locks.wait(&[span(1, 100, 10), span(1, 110, 10)], Write, Wait::Forever);
        let open = locks.opens[0];
        assert_eq!(
            locks
                .world
                .tables
                .cancel_lock(open, span(1, cancelled, 10), 0x10),
            Cancelled::Done
        );
        assert_eq!(locks.ended(), [(ticket, Err(Conflict))]);
        locks.lock(0, free, 10, Write).unwrap();
    }
}

#[test]
fn closing_the_file_fails_its_waiting_locks() {
    // raw.lock async: close, exit, log-off, tree disconnect.
    let mut locks = Locks::new();
    locks.lock(0, 100, 10, Write).unwrap();
    let ticket = locks.wait(&[span(1, 100, 10)], Write, TEN);
    locks.world.close(locks.opens[0]);
    assert_eq!(locks.ended(), [(ticket, Err(RangeNotLocked))]);
    assert_eq!(locks.world.tables.next_deadline(), None);
}

#[test]
fn closing_the_holders_file_grants_waiting_locks() {
    let mut locks = Locks::new();
    locks.lock(2, 100, 10, Write).unwrap();
    let ticket = locks.wait(&[span(1, 100, 10)], Write, TEN);
    locks.world.close(locks.opens[2]);
    assert_eq!(locks.ended(), [(ticket, Ok(()))]);
}

#[test]
fn a_request_for_two_ranges_is_granted_when_both_are_free() {
    // raw.lock multilock.
    let mut locks = Locks::new();
    assert_eq!(
        locks.ask(0, &[span(1, 100, 10), span(1, 120, 10)], Write, Wait::No),
        LockOutcome::Granted
    );
    let ticket = locks.wait(&[span(2, 100, 10), span(2, 120, 10)], Write, TEN);
    locks.unlock_as(1, 100);
    assert_eq!(locks.ended(), []);
    locks.unlock_as(1, 120);
    assert_eq!(locks.ended(), [(ticket, Ok(()))]);
}

/// raw.lock multilock2 to 6 in one: (a) locks two ranges, (b) waits for both, (c) for the first alone, (d) locks and
/// (e) waits for a third. Then each unlocks in turn. `jumps`: (c) does not have to wait for (b).
fn queue([a, b, c]: [LockKind; 3], jumps: bool) {
    let mut locks = Locks::new();
    let twenty = Wait::For(Span::from_secs(20));
    assert_eq!(
        locks.ask(0, &[span(1, 100, 10), span(1, 120, 10)], a, Wait::No),
        LockOutcome::Granted
    );
    let b_ticket = locks.wait(&[span(2, 100, 10), span(2, 120, 10)], b, twenty);
    let c_ticket = locks.wait(&[span(3, 100, 10)], c, Wait::For(Span::from_secs(2)));
    locks.lock_as(0, span(4, 110, 10), Write).unwrap();
    let e_ticket = locks.wait(&[span(5, 110, 10)], Write, twenty);
    locks.unlock_as(1, 100);
    let expected = if jumps {
        [(c_ticket, Ok(()))].to_vec()
    } else {
        Vec::new()
    };
    assert_eq!(locks.ended(), expected);
    // Even the waiting process itself must queue.
    assert_eq!(locks.lock_as(0, span(6, 100, 10), Write), Err(NotGranted));
    assert_eq!(locks.lock_as(0, span(2, 100, 10), Write), Err(Conflict));
    if jumps {
        locks.unlock_as(3, 100);
    } else {
        locks.sleep(Span::from_secs(2));
        assert_eq!(locks.ended(), [(c_ticket, Err(Conflict))]);
    }
    locks.unlock_as(4, 110);
    assert_eq!(locks.ended(), [(e_ticket, Ok(()))]);
    assert_eq!(
        [6, 2].map(|pid| locks.lock_as(0, span(pid, 100, 10), Write)),
        [Err(Conflict); 2]
    );
    locks.unlock_as(1, 120);
    assert_eq!(locks.ended(), [(b_ticket, Ok(()))]);
}

#[test]
fn an_earlier_waiting_request_is_not_overtaken() {
    queue([Write, Write, Write], false);
    queue([Read, Write, Write], false);
    queue([Write, Read, Write], false);
}

#[test]
fn waiting_shared_locks_do_not_hold_up_each_other() {
    queue([Write, Read, Read], true);
}

#[test]
fn withdrawing_a_waiting_request_grants_those_behind_it() {
    let mut locks = Locks::new();
    locks.lock(0, 100, 10, Read).unwrap();
    let first = locks.wait(&[span(2, 100, 10)], Write, Wait::Forever);
    let second = locks.wait(&[span(3, 100, 10)], Read, Wait::Forever);
    assert_eq!(locks.ended(), []);
    let open = locks.opens[0];
    assert_eq!(locks.world.tables.withdraw_lock(open, first), None);
    assert_eq!(locks.world.tables.withdraw_lock(open, second), Some(Ok(())));
    assert_eq!(locks.ended(), [], "both must be accounted for");
    assert!(locks.lock(0, 100, 10, Write).is_err());
}

#[test]
fn a_connection_cannot_exceed_its_limit_of_waits() {
    let limits = Limits {
        waits: 2,
        ..Limits::default()
    };
    let mut locks = Locks::of(World::with(Config {
        limits,
        ..Config::default()
    }));
    locks.lock(2, 0, 10, Write).unwrap();
    let pair = [span(1, 0, 1), span(1, 5, 1)];
    let first = locks.wait(&pair, Write, TEN);
    assert_eq!(
        locks.ask(0, &pair[..1], Write, TEN),
        LockOutcome::Refused(Refusal::TooManyWaits)
    );
    locks.sleep(Span::from_secs(10));
    assert_eq!(locks.ended(), [(first, Err(Conflict))]);
    locks.wait(&pair, Write, TEN);
}
