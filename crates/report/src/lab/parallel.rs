//! Runs independent tasks on all processors.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
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
    let (next, finished) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let worker = || {
        let mut results = Vec::new();
        while let Some((at, item)) = {
            let at = next.fetch_add(1, Ordering::Relaxed);
            work.get(at).map(|item| (at, item))
        } {
            results.push((at, act(item)));
            done(finished.fetch_add(1, Ordering::Relaxed) + 1);
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
    results.into_iter().map(|(_, result)| result).collect()
}
