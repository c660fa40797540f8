#![allow(clippy::unwrap_used, clippy::indexing_slicing)]
extern crate std;

use super::*;
use proptest::prelude::*;

/// A reference implementation of the rules, without optimisation.
#[derive(Default)]
struct Naive(Vec<(Owner, LockRange, LockKind)>);

impl Naive {
    fn conflicts(&self, owner: Owner, range: LockRange, kind: LockKind) -> bool {
        self.0.iter().any(|(holder, held, held_kind)| {
            overlap(*held, range)
                && match (held_kind, kind) {
                    (LockKind::Shared, LockKind::Shared) => false,
                    (LockKind::Exclusive, LockKind::Shared) => *holder != owner,
                    (_, LockKind::Exclusive) => true,
                }
        })
    }

    fn forbids_io(&self, owner: Owner, range: LockRange, write: bool) -> bool {
        range.length > 0
            && self.0.iter().any(|(holder, held, kind)| {
                overlap(*held, range)
                    && if *kind == LockKind::Shared {
                        write
                    } else {
                        *holder != owner
                    }
            })
    }

    fn remove(&mut self, owner: Owner, range: LockRange) -> bool {
        for kind in [LockKind::Exclusive, LockKind::Shared] {
            if let Some(at) = self.0.iter().position(|lock| *lock == (owner, range, kind)) {
                self.0.remove(at);
                return true;
            }
        }
        false
    }
}

/// Reference check for overlap: compares first and last bytes, and treats points separately.
fn overlap(a: LockRange, b: LockRange) -> bool {
    let first = |r: LockRange| i128::from(r.offset);
    let last = |r: LockRange| i128::from(r.offset) + i128::from(r.length) - 1;
    match (a.length, b.length) {
        (0, 0) => false,
        (0, _) => first(b) < first(a) && first(a) <= last(b),
        (_, 0) => first(a) < first(b) && first(b) <= last(a),
        _ => first(a) <= last(b) && first(b) <= last(a),
    }
}

fn range() -> impl Strategy<Value = LockRange> {
    let near = (0..24u64, 0..9u64);
    let far = (
        prop_oneof![
            0..40u64,
            u64::MAX - 40..=u64::MAX,
            (1u64 << 63) - 9..(1u64 << 63) + 9
        ],
        any::<u64>(),
    );
    let top = (u64::MAX - 9..=u64::MAX, 0..4u64);
    prop_oneof![4 => near, 1 => far, 1 => top]
        .prop_map(|(offset, length)| LockRange::new(offset, length))
        .prop_filter("bytes past the last", |range| range.is_valid())
}

fn owner() -> impl Strategy<Value = Owner> {
    (1..4u64, 7..9u16).prop_map(|(open, pid)| Owner {
        open: OpenId(open),
        pid,
    })
}

#[derive(Clone, Debug)]
enum Step {
    Lock(Owner, LockRange, LockKind),
    Unlock(Owner, LockRange),
    Close(OpenId),
    Io(Owner, LockRange, bool),
}

fn step() -> impl Strategy<Value = Step> {
    let kind = prop_oneof![Just(LockKind::Exclusive), Just(LockKind::Shared)];
    prop_oneof![
        6 => (owner(), range(), kind).prop_map(|(owner, range, kind)| Step::Lock(owner, range, kind)),
        3 => (owner(), range()).prop_map(|(owner, range)| Step::Unlock(owner, range)),
        1 => owner().prop_map(|owner| Step::Close(owner.open)),
        3 => (owner(), range(), any::<bool>()).prop_map(|(owner, range, write)| Step::Io(owner, range, write)),
    ]
}

proptest! {
    #[test]
    fn the_lock_table_agrees_with_a_plain_list_of_locks(steps in proptest::collection::vec(step(), 0..120)) {
        let mut table = RangeLocks::default();
        let mut naive = Naive::default();
        for step in steps {
            match step {
                Step::Lock(owner, range, kind) => {
                    let conflicts = naive.conflicts(owner, range, kind);
                    prop_assert_eq!(table.conflicts(owner, range, kind), conflicts);
                    if !conflicts {
                        table.insert(owner, range, kind);
                        naive.0.push((owner, range, kind));
                    }
                }
                Step::Unlock(owner, range) => prop_assert_eq!(table.remove(owner, range), naive.remove(owner, range)),
                Step::Close(open) => {
                    let before = naive.0.len();
                    naive.0.retain(|(owner, _, _)| owner.open != open);
                    prop_assert_eq!(table.remove_open(open), before - naive.0.len());
                }
                Step::Io(owner, range, write) => {
                    prop_assert_eq!(table.forbids_io(owner, range, write), naive.forbids_io(owner, range, write));
                }
            }
            prop_assert_eq!(table.is_empty(), naive.0.is_empty());
        }
        let left: Vec<_> = naive.0.clone();
        prop_assert!(left.into_iter().all(|(owner, range, _)| table.remove(owner, range)));
        prop_assert!(table.is_empty() && table.magnitudes.is_empty());
    }

    #[test]
    fn overlap_is_symmetric_and_means_a_common_byte(a in range(), b in range()) {
        prop_assert_eq!(a.overlaps(b), b.overlaps(a));
        prop_assert_eq!(a.overlaps(b), overlap(a, b));
    }
}

#[test]
fn a_lock_query_visits_few_of_many_locks() {
    let mut table = RangeLocks::default();
    let owner = Owner {
        open: OpenId(1),
        pid: 1,
    };
    for at in 0..10_000u64 {
        table.insert(owner, LockRange::new(at * 10, 7), LockKind::Exclusive);
    }
    table.insert(owner, LockRange::new(1 << 40, 1 << 39), LockKind::Exclusive);
    let query = LockRange::new(50_003, 1);
    let looked_at: usize = table
        .magnitudes
        .iter()
        .map(|(bits, locks)| {
            let longest = u64::MAX.checked_shr(64 - bits).unwrap();
            locks
                .range((query.offset.saturating_sub(longest), 0)..=(query.offset + 1, u64::MAX))
                .count()
        })
        .sum();
    assert!(looked_at <= 2, "{looked_at}");
    assert!(table.forbids_io(
        Owner {
            open: OpenId(2),
            pid: 1
        },
        query,
        false
    ));
    assert!(!table.forbids_io(
        Owner {
            open: OpenId(2),
            pid: 1
        },
        LockRange::new(50_008, 2),
        true
    ));
}
