//! Runs independent tasks on all processors.

use std::{
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread,
};

/// The number of processors.
pub fn processors() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Returns the results in the order of the tasks. `done` gets the number of finished tasks after each one.
pub fn each<W: Sync, R: Send>(
    work: &[W],
    threads: usize,
    act: impl Fn(&W) -> R + Sync,
    done: impl Fn(usize) + Sync,
) -> Vec<R> {
    let goes_on = |finished| {
        done(finished);
        true
    };
    each_while(work, threads, act, goes_on).unwrap_or_default()
}

/// As [`each`], until `goes_on` says no after a task; `None` if it did.
pub fn each_while<W: Sync, R: Send>(
    work: &[W],
    threads: usize,
    act: impl Fn(&W) -> R + Sync,
    goes_on: impl Fn(usize) -> bool + Sync,
) -> Option<Vec<R>> {
    let (next, finished) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let stopped = AtomicBool::new(false);
    let worker = || {
        let mut results = Vec::new();
        while let Some((at, item)) = {
            let at = next.fetch_add(1, Ordering::Relaxed);
            work.get(at).map(|item| (at, item))
        } {
            results.push((at, act(item)));
            if !goes_on(finished.fetch_add(1, Ordering::Relaxed) + 1) {
                stopped.store(true, Ordering::Relaxed);
            }
            if stopped.load(Ordering::Relaxed) {
                break;
            }
        }
        results
    };
    let mut results: Vec<(usize, R)> = thread::scope(|scope| {
        let threads = threads.clamp(1, work.len().max(1));
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        let joined = workers.into_iter().filter_map(|worker| worker.join().ok());
        joined.flatten().collect()
    });
    results.sort_by_key(|(at, _)| *at);
    let results = results.into_iter().map(|(_, result)| result);
    (!stopped.into_inner()).then(|| results.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_ends_soon_after_it_is_stopped_and_has_no_half_result() {
        let begun = AtomicUsize::new(0);
        let work: Vec<usize> = (0..1000).collect();
        let act = |item: &usize| {
            begun.fetch_add(1, Ordering::Relaxed);
            *item
        };
        assert_eq!(each_while(&work, 3, act, |done| done < 10), None);
        let begun = begun.load(Ordering::Relaxed);
        assert!((10..=13).contains(&begun), "{begun}");
        assert_eq!(each_while(&work, 3, |item| *item, |_| true), Some(work));
    }
}
