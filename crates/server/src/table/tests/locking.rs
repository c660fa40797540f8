//! Byte-range locks, as raw.lock and base.lock expect them of Windows.

use super::*;
use LockError::{Conflict, InvalidRange, NotGranted, RangeNotLocked};
use LockKind::{Exclusive as Write, Shared as Read};

/// Two clients; the first has the file open twice, the second once.
pub(super) struct Locks {
    pub(super) world: World,
    pub(super) clients: [ConnId; 2],
    pub(super) opens: [OpenId; 3],
}

pub(super) fn span(pid: u16, offset: u64, length: u64) -> LockSpan {
    LockSpan {
        pid,
        range: LockRange::new(offset, length),
    }
}

impl Locks {
    pub(super) fn new() -> Self {
        Self::of(World::new())
    }

    pub(super) fn of(mut world: World) -> Self {
        let clients = [world.client(), world.client()];
        let opens = [0, 0, 1].map(|client: usize| world.open(&shared(clients[client])));
        Self {
            world,
            clients,
            opens,
        }
    }

    pub(super) fn ask(
        &mut self,
        open: usize,
        spans: &[LockSpan],
        kind: LockKind,
        wait: Wait,
    ) -> LockOutcome {
        let request = LockRequest {
            open: self.opens[open],
            spans: spans.to_vec(),
            kind,
            wait,
            lock_type: 0x10,
        };
        self.world.tables.lock(self.world.now, request)
    }

    /// Locks without waiting, as process 1.
    pub(super) fn lock(
        &mut self,
        open: usize,
        offset: u64,
        length: u64,
        kind: LockKind,
    ) -> Result<(), LockError> {
        self.lock_as(open, span(1, offset, length), kind)
    }

    /// Makes write locks without waiting, as process 1, through one open after the other.
    fn lock_in_turn<const N: usize>(
        &mut self,
        opens: [usize; N],
        offset: u64,
        length: u64,
    ) -> [Result<(), LockError>; N] {
        opens.map(|open| self.lock(open, offset, length, Write))
    }

    pub(super) fn lock_as(
        &mut self,
        open: usize,
        span: LockSpan,
        kind: LockKind,
    ) -> Result<(), LockError> {
        match self.ask(open, &[span], kind, Wait::No) {
            LockOutcome::Granted => Ok(()),
            LockOutcome::Failed(error) => Err(error),
            other => panic!("{other:?}"),
        }
    }

    pub(super) fn unlock(
        &mut self,
        open: usize,
        offset: u64,
        length: u64,
    ) -> Result<(), LockError> {
        self.world
            .tables
            .unlock(self.opens[open], &[span(1, offset, length)])
    }

    fn may(&self, open: usize, pid: u16, offset: u64, length: u64, write: bool) -> bool {
        self.world
            .tables
            .may_io(self.opens[open], pid, LockRange::new(offset, length), write)
    }

    /// Whether process 1 may lock `first` and then `second`, starting without locks.
    fn both(
        first: (usize, u16, u64, u64, LockKind),
        second: (usize, u16, u64, u64, LockKind),
    ) -> bool {
        let mut locks = Self::new();
        [first, second].map(|(open, pid, offset, length, kind)| {
            locks.lock_as(open, span(pid, offset, length), kind)
        }) == [Ok(()); 2]
    }
}

#[test]
fn compatible_locks_are_granted_and_conflicting_ones_refused() {
    // base.lock LOCK4, LOCK5: (open, process, offset, length, kind) twice, and whether the table grants the second.
    let table = [
        ((0, 1, 0, 4, Write), (0, 1, 2, 4, Write), false),
        ((0, 1, 10, 4, Read), (0, 1, 12, 4, Read), true),
        ((0, 1, 20, 4, Write), (2, 1, 22, 4, Write), false),
        ((0, 1, 30, 4, Read), (2, 1, 32, 4, Read), true),
        ((0, 1, 40, 4, Write), (0, 2, 42, 4, Write), false),
        ((0, 1, 50, 4, Read), (0, 2, 52, 4, Read), true),
        ((0, 1, 60, 4, Read), (0, 1, 60, 4, Read), true),
        ((0, 1, 70, 4, Write), (0, 1, 70, 4, Write), false),
        ((0, 1, 80, 4, Read), (0, 1, 80, 4, Write), false),
        ((0, 1, 90, 4, Write), (0, 1, 90, 4, Read), true),
        ((0, 1, 100, 4, Write), (0, 2, 100, 4, Read), false),
        ((0, 1, 0, 4, Write), (0, 1, 1, 1, Read), true),
        ((0, 1, 0, 4, Write), (1, 1, 0, 4, Read), false),
        ((0, 1, 0, 4, Write), (2, 1, 0, 4, Read), false),
        ((0, 1, 0, 4, Write), (2, 1, 4, 4, Write), true),
    ];
    for (first, second, granted) in table {
        assert_eq!(Locks::both(first, second), granted, "{first:?}, {second:?}");
    }
}

#[test]
fn a_lock_without_length_lies_between_two_bytes() {
    // raw.lock zerobytelocks, in both orders.
    let table = [
        ((10, 0), (10, 0), true),
        ((10, 0), (9, 1), true),
        ((10, 0), (10, 1), true),
        ((10, 0), (11, 1), true),
        ((10, 0), (9, 2), false),
        ((10, 0), (10, 2), true),
        ((10, 0), (9, 3), false),
        ((0, 0), (0, 0), true),
        ((u64::MAX, 0), (u64::MAX, 0), true),
        ((u64::MAX, 0), (u64::MAX, 1), true),
        ((u64::MAX, 0), (0, u64::MAX), true),
        ((u64::MAX, 0), (1, u64::MAX), false),
    ];
    for (one, two, granted) in table {
        for (first, second) in [(one, two), (two, one)] {
            let lock = |pid, (offset, length)| (0, pid, offset, length, Write);
            assert_eq!(
                Locks::both(lock(1000, first), lock(1001, second)),
                granted,
                "{first:?}, {second:?}"
            );
        }
    }
}

#[test]
fn unlocking_needs_the_same_range_process_and_open() {
    // raw.lock lock, base.lock LOCK2.
    let mut locks = Locks::new();
    locks.lock(0, 10_001, 4_002, Write).unwrap();
    let mut unlock = |open: usize, span| locks.world.tables.unlock(locks.opens[open], &[span]);
    for wrong in [
        span(2, 10_001, 4_002),
        span(1, 10_001, 4_001),
        span(1, 10_000, 4_002),
        span(1, 10_001, 8_000),
    ] {
        assert_eq!(unlock(0, wrong), Err(RangeNotLocked));
    }
    assert_eq!(unlock(1, span(1, 10_001, 4_002)), Err(RangeNotLocked));
    assert_eq!(unlock(0, span(1, 10_001, 4_002)), Ok(()));
    assert_eq!(unlock(0, span(1, 10_001, 4_002)), Err(RangeNotLocked));
}

#[test]
fn stacked_locks_are_counted_and_the_exclusive_one_is_removed_first() {
    // base.lock LOCK5, raw.lock unlock.
    let mut locks = Locks::new();
    locks.lock(0, 0, 4, Write).unwrap();
    locks.lock(0, 1, 1, Read).unwrap();
    locks.lock(0, 0, 4, Read).unwrap();
    locks.lock(0, 0, 4, Read).unwrap();
    assert!(locks.lock(2, 0, 4, Read).is_err());
    locks.unlock(0, 0, 4).unwrap();
    locks.lock(2, 0, 4, Read).unwrap();
    locks.unlock(2, 0, 4).unwrap();
    for (offset, length) in [(1, 1), (0, 4), (0, 4)] {
        locks.unlock(0, offset, length).unwrap();
    }
    assert_eq!(locks.unlock(0, 0, 4), Err(RangeNotLocked));
    locks.lock(2, 0, 4, Write).unwrap();
}

#[test]
fn of_two_zero_length_locks_the_exclusive_one_is_removed_first() {
    // raw.lock unlock.
    let mut locks = Locks::new();
    locks.lock(0, 10, 0, Read).unwrap();
    locks.lock(0, 10, 0, Write).unwrap();
    assert!(locks.lock(1, 5, 10, Read).is_err());
    locks.unlock(0, 10, 0).unwrap();
    locks.lock(1, 5, 10, Read).unwrap();
    locks.unlock(1, 5, 10).unwrap();
    locks.unlock(0, 10, 0).unwrap();
}

#[test]
fn locks_reach_to_the_last_byte_and_no_further() {
    // raw.lock lockx.
    let mut locks = Locks::new();
    locks.lock(0, u64::MAX, 1, Write).unwrap();
    assert_eq!(
        locks.lock_as(0, span(2, u64::MAX, 2), Write),
        Err(InvalidRange)
    );
    assert_eq!(
        locks.lock_as(0, span(2, 2, u64::MAX), Write),
        Err(InvalidRange)
    );
    assert_eq!(
        locks.lock_as(0, span(2, 1, u64::MAX), Write),
        Err(NotGranted)
    );
    locks.lock_as(0, span(2, 0, u64::MAX), Write).unwrap();
    locks.unlock(0, u64::MAX, 1).unwrap();
}

#[test]
fn the_first_failure_at_an_offset_is_not_granted_and_further_ones_conflict() {
    // raw.lock errorcode: only the offset of the last failure through the same open counts. The process, the length and
    // successful locks in between are irrelevant.
    let mut locks = Locks::new();
    locks.lock(0, 100, 10, Write).unwrap();
    assert_eq!(locks.lock_in_turn([1, 0], 100, 10), [Err(NotGranted); 2]);
    assert_eq!(
        locks.lock_in_turn([0, 1, 0, 1], 100, 10),
        [Err(Conflict); 4]
    );
    assert_eq!(
        [0, 1].map(|open| locks.lock_as(open, span(2, 100, 10), Write)),
        [Err(Conflict); 2]
    );
    for free in [100, 110, 99] {
        assert_eq!(locks.lock_in_turn([0, 1], free, 0), [Ok(()); 2]);
        assert_eq!(locks.lock_in_turn([0, 1], 100, 10), [Err(Conflict); 2]);
    }
    assert_eq!(
        [5, 15].map(|length| locks.lock(0, 100, length, Write)),
        [Err(Conflict); 2]
    );
    for elsewhere in [(101, 0), (105, 10), (95, 9)] {
        for (offset, length) in [elsewhere, (100, 10)] {
            for open in [0, 1] {
                let twice = locks.lock_in_turn([open; 2], offset, length);
                assert_eq!(twice, [Err(NotGranted), Err(Conflict)], "{offset}+{length}");
            }
        }
    }
    locks.lock(0, 120, 15, Write).unwrap();
    assert_eq!(locks.lock(1, 120, 15, Write), Err(NotGranted));
    assert_eq!(locks.lock_in_turn([0, 0], 100, 10), [Err(Conflict); 2]);
    assert_eq!(
        locks.lock_in_turn([1, 1], 100, 10),
        [Err(NotGranted), Err(Conflict)]
    );
}

#[test]
fn high_offsets_always_conflict() {
    // raw.lock lock, lockx.
    for (offset, error) in [
        (0xEEFF_FFFF, NotGranted),
        (0xEF00_0000, Conflict),
        ((1 << 63) - 1, Conflict),
        (1 << 63, NotGranted),
    ] {
        let mut locks = Locks::new();
        locks.lock(0, offset, 1, Write).unwrap();
        assert_eq!(
            locks.lock_as(0, span(2, offset, 1), Write),
            Err(error),
            "{offset:#x}"
        );
    }
}

#[test]
fn several_ranges_are_locked_together_or_not_at_all() {
    // raw.lock multiple_unlock.
    let mut locks = Locks::new();
    let pair = [span(1, 0, 10), span(1, 10, 10)];
    locks.lock(0, 10, 10, Write).unwrap();
    assert_eq!(locks.lock(0, 10, 10, Write), Err(NotGranted));
    assert_eq!(
        locks.ask(0, &pair, Write, Wait::No),
        LockOutcome::Failed(Conflict)
    );
    locks.lock(0, 0, 10, Write).unwrap();
    assert_eq!(locks.world.tables.unlock(locks.opens[0], &pair), Ok(()));
    // The same range twice in one request conflicts with itself.
    let twice = [span(1, 0, 10), span(1, 5, 10)];
    assert_eq!(
        locks.ask(0, &twice, Write, Wait::No),
        LockOutcome::Failed(NotGranted)
    );
    assert_eq!(locks.ask(0, &twice, Read, Wait::No), LockOutcome::Granted);
}

#[test]
fn a_failed_request_gives_back_its_own_locks_and_not_older_ones() {
    let mut locks = Locks::new();
    locks.lock(0, 0, 10, Read).unwrap();
    locks.lock(2, 50, 10, Write).unwrap();
    let request = [span(1, 0, 10), span(1, 50, 10)];
    assert_eq!(
        locks.ask(0, &request, Read, Wait::No),
        LockOutcome::Failed(NotGranted)
    );
    assert!(locks.lock(2, 0, 10, Write).is_err());
    locks.unlock(0, 0, 10).unwrap();
    locks.lock(2, 0, 10, Write).unwrap();
}

#[test]
fn several_ranges_are_unlocked_up_to_the_first_that_is_not_locked() {
    // raw.lock multiple_unlock.
    let mut locks = Locks::new();
    let pair = [span(1, 0, 10), span(1, 10, 10)];
    let unlock_pair = |locks: &mut Locks| locks.world.tables.unlock(locks.opens[0], &pair);
    locks.lock(0, 10, 10, Write).unwrap();
    assert_eq!(unlock_pair(&mut locks), Err(RangeNotLocked));
    assert_eq!(locks.lock(0, 10, 10, Write), Err(NotGranted));
    locks.unlock(0, 10, 10).unwrap();
    locks.lock(0, 0, 10, Write).unwrap();
    assert_eq!(unlock_pair(&mut locks), Err(RangeNotLocked));
    locks.lock(0, 0, 10, Write).unwrap();
}

#[test]
fn locks_forbid_others_to_read_and_write() {
    // base.lock LOCK4, LOCK7, raw.lock changetype: a shared lock forbids writes even to its owner.
    let mut locks = Locks::new();
    locks.lock(0, 120, 4, Write).unwrap();
    locks.lock(0, 130, 4, Read).unwrap();
    for (open, pid) in [(0, 2), (1, 1), (2, 1)] {
        assert!(!locks.may(open, pid, 123, 1, false) && !locks.may(open, pid, 110, 11, true));
        assert!(locks.may(open, pid, 130, 4, false) && !locks.may(open, pid, 133, 9, true));
        assert!(locks.may(open, pid, 124, 6, true) && locks.may(open, pid, 110, 10, true));
    }
    assert!(locks.may(0, 1, 120, 4, true) && locks.may(0, 1, 120, 4, false));
    assert!(locks.may(0, 1, 130, 4, false) && !locks.may(0, 1, 130, 4, true));
}

#[test]
fn zero_byte_reads_always_succeed_and_zero_length_locks_block_only_writes_across_them() {
    // raw.lock zerobyteread.
    let mut locks = Locks::new();
    locks.lock(0, 0, 10, Write).unwrap();
    assert!(locks.may(1, 1, 5, 0, false));
    locks.unlock(0, 0, 10).unwrap();
    locks.lock(0, 5, 0, Write).unwrap();
    for offset in [4, 5, 6] {
        assert!(locks.may(1, 1, offset, 0, false));
    }
    assert!(
        locks.may(1, 1, 4, 1, true) && locks.may(1, 1, 5, 1, true) && !locks.may(1, 1, 4, 2, true)
    );
}

#[test]
fn closing_an_open_removes_only_its_own_locks() {
    let mut locks = Locks::new();
    locks.lock(0, 0, 8, Read).unwrap();
    locks.lock(1, 0, 1, Read).unwrap();
    locks.world.close(locks.opens[1]);
    assert!(locks.lock(2, 0, 1, Write).is_err());
    locks.unlock(0, 0, 8).unwrap();
    assert!(!locks.world.tables.has_locks(locks.opens[0]));
    locks.lock(2, 7, 1, Write).unwrap();
}

#[test]
fn a_connection_cannot_exceed_its_lock_limit_and_unlocking_frees_it() {
    let limits = Limits {
        locks: 3,
        ..Limits::default()
    };
    let mut locks = Locks::of(World::with(Config {
        limits,
        ..Config::default()
    }));
    let three = [span(1, 0, 1), span(1, 1, 1), span(1, 2, 1)];
    locks.lock(0, 9, 1, Write).unwrap();
    assert_eq!(
        locks.ask(0, &three, Write, Wait::No),
        LockOutcome::Refused(Refusal::TooManyLocks)
    );
    locks.unlock(0, 9, 1).unwrap();
    assert_eq!(locks.ask(1, &three, Write, Wait::No), LockOutcome::Granted);
    assert_eq!(
        locks.ask(0, &three[..1], Write, Wait::No),
        LockOutcome::Refused(Refusal::TooManyLocks)
    );
    locks.lock(2, 30, 1, Write).unwrap();
    locks.world.close(locks.opens[1]);
    locks.lock(0, 0, 1, Write).unwrap();
}
