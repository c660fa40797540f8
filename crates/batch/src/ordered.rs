//! Work on several threads whose results are taken in the order of the work, in bounded memory.

use std::{
    collections::BTreeMap,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    thread,
};

/// Results that wait for an earlier one, per thread.
const AHEAD: usize = 4;

#[derive(Debug)]
struct State<R> {
    next: usize,
    taken: usize,
    done: BTreeMap<usize, R>,
    stopped: bool,
}

/// Does `act` for every item; `take` gets the results in order. It ends the work by returning an error.
///
/// # Errors
/// The error of `take`.
pub(crate) fn each<W: Sync, R: Send, E>(
    work: &[W],
    threads: usize,
    act: impl Fn(&W) -> R + Sync,
    mut take: impl FnMut(&W, R) -> Result<(), E>,
) -> Result<(), E> {
    let threads = threads.clamp(1, work.len().max(1));
    let state = Mutex::new(State {
        next: 0,
        taken: 0,
        done: BTreeMap::new(),
        stopped: false,
    });
    let change = Condvar::new();
    let lock = || state.lock().unwrap_or_else(PoisonError::into_inner);
    let wait = |held| change.wait(held).unwrap_or_else(PoisonError::into_inner);
    let claim = || {
        let mut held: MutexGuard<'_, State<R>> = lock();
        while !held.stopped && held.next >= held.taken + threads * AHEAD {
            held = wait(held);
        }
        let at = held.next;
        held.next += 1;
        (!held.stopped).then_some(at)
    };
    let worker = || {
        while let Some((at, item)) = claim().and_then(|at| Some((at, work.get(at)?))) {
            let result = act(item);
            lock().done.insert(at, result);
            change.notify_all();
        }
    };
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(worker);
        }
        let mut outcome = Ok(());
        for (at, item) in work.iter().enumerate() {
            let mut held = lock();
            let result = loop {
                match held.done.remove(&at) {
                    Some(result) => break result,
                    None => held = wait(held),
                }
            };
            held.taken = at + 1;
            drop(held);
            change.notify_all();
            outcome = take(item, result);
            if outcome.is_err() {
                break;
            }
        }
        lock().stopped = true;
        change.notify_all();
        outcome
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn results_come_in_order_for_any_number_of_threads() {
        let work: Vec<usize> = (0..200).collect();
        for threads in [0, 1, 2, 7, 300] {
            let mut results = Vec::new();
            let done: Result<(), ()> = each(
                &work,
                threads,
                |item| item * 2,
                |item, result| {
                    results.push((*item, result));
                    Ok(())
                },
            );
            assert_eq!(done, Ok(()));
            let expected: Vec<_> = work.iter().map(|item| (*item, item * 2)).collect();
            assert_eq!(results, expected);
        }
    }

    #[test]
    fn an_error_ends_the_work_and_little_is_done_ahead() {
        let work: Vec<usize> = (0..10_000).collect();
        let acted = AtomicUsize::new(0);
        let act = |item: &usize| {
            acted.fetch_add(1, Ordering::Relaxed);
            *item
        };
        let done = each(&work, 3, act, |item, _| {
            if *item == 20 { Err("full") } else { Ok(()) }
        });
        assert_eq!(done, Err("full"));
        assert!(acted.load(Ordering::Relaxed) <= 21 + 3 * (AHEAD + 1));
        assert_eq!(each(&[0_u8; 0], 4, |_| 1, |_, _| Err("never")), Ok(()));
    }
}
