//! Entries that wait for the sink, with bounded memory.

use std::{
    collections::VecDeque,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use jiff::Timestamp;

use super::entry;

/// A line's memory beyond its bytes.
const OVERHEAD: usize = size_of::<Box<[u8]>>();
/// Lines that the writer takes at once.
pub(super) const BATCH: usize = 64;

/// The queue. Its lock is held for moments, never during input or output.
#[derive(Debug)]
pub(super) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
    /// Bytes that may wait.
    most: usize,
}

#[derive(Debug, Default)]
struct State {
    lines: VecDeque<Box<[u8]>>,
    /// Memory of the waiting lines, and of those that the writer has taken and not written.
    bytes: usize,
    /// How many lines the writer has taken and not written.
    taken: u64,
    /// Entries dropped since the last line that says so.
    missing: u64,
    written: u64,
    dropped: u64,
    problem: Option<String>,
    reopen: bool,
    end: bool,
}

/// What [`Queue::figures`] reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Figures {
    /// Entries passed to the sink,
    pub(super) written: u64,
    /// waiting,
    pub(super) waiting: u64,
    /// and dropped.
    pub(super) dropped: u64,
    /// Why nothing can be written at the moment.
    pub(super) problem: Option<String>,
}

/// What the writer must do.
#[derive(Debug, Default)]
pub(super) struct Orders {
    /// Open the file again.
    pub(super) reopen: bool,
    /// Write what is left and end.
    pub(super) end: bool,
    /// Nothing is left in the queue.
    pub(super) empty: bool,
}

impl Queue {
    /// A queue of at most `most` bytes.
    pub(super) fn new(most: usize) -> Self {
        Self {
            state: Mutex::default(),
            changed: Condvar::new(),
            most,
        }
    }

    /// Adds a line, or counts it as dropped.
    pub(super) fn put(&self, line: Box<[u8]>) {
        let mut state = self.lock();
        let marker = (state.missing > 0).then(|| entry::dropped(state.missing, Timestamp::now()));
        let more = cost(&line).saturating_add(marker.as_ref().map_or(0, |line| cost(line)));
        if state.end || state.bytes.saturating_add(more) > self.most {
            state.missing = state.missing.saturating_add(1);
            state.dropped = state.dropped.saturating_add(1);
            return;
        }
        state.bytes = state.bytes.saturating_add(more);
        if let Some(marker) = marker {
            state.missing = 0;
            state.lines.push_back(marker);
        }
        let was_empty = state.lines.is_empty();
        state.lines.push_back(line);
        drop(state);
        if was_empty {
            self.changed.notify_one();
        }
    }

    /// Asks the writer to open the file again.
    pub(super) fn reopen(&self) {
        self.lock().reopen = true;
        self.changed.notify_one();
    }

    /// Asks the writer to end.
    pub(super) fn end(&self) {
        self.lock().end = true;
        self.changed.notify_one();
    }

    /// The figures now.
    pub(super) fn figures(&self) -> Figures {
        let state = self.lock();
        Figures {
            written: state.written,
            waiting: (state.lines.len() as u64).saturating_add(state.taken),
            dropped: state.dropped,
            problem: state.problem.clone(),
        }
    }

    /// Waits until there is something to do, but not beyond `until`; with `waits_for_lines`, lines are something to do. Moves
    /// lines to `taken` up to [`BATCH`].
    pub(super) fn take(
        &self,
        taken: &mut VecDeque<Box<[u8]>>,
        until: Instant,
        waits_for_lines: bool,
    ) -> Orders {
        let mut state = self.lock();
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let is_due = state.reopen || state.end || left == Duration::ZERO;
            if is_due || (waits_for_lines && !state.lines.is_empty()) {
                break;
            }
            let waited = self.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        while taken.len() < BATCH
            && let Some(line) = state.lines.pop_front()
        {
            taken.push_back(line);
        }
        state.taken = taken.len() as u64;
        Orders {
            reopen: std::mem::take(&mut state.reopen),
            end: state.end,
            empty: state.lines.is_empty(),
        }
    }

    /// The writer has passed on these lines.
    pub(super) fn written(&self, lines: &[Box<[u8]>]) {
        let bytes = lines.iter().map(|line| cost(line)).sum();
        let mut state = self.lock();
        state.bytes = state.bytes.saturating_sub(bytes);
        state.taken = state.taken.saturating_sub(lines.len() as u64);
        state.written = state.written.saturating_add(lines.len() as u64);
    }

    /// The line that says how many entries are missing, if any are and no further entry has brought it.
    pub(super) fn marker(&self) -> Option<Box<[u8]>> {
        let mut state = self.lock();
        let missing = std::mem::take(&mut state.missing);
        let line = (missing > 0).then(|| entry::dropped(missing, Timestamp::now()))?;
        state.bytes = state.bytes.saturating_add(cost(&line));
        state.taken = state.taken.saturating_add(1);
        Some(line)
    }

    /// Counts what cannot be written any more, or a line that the sink cannot take, as dropped.
    pub(super) fn drop_lines(&self, lines: &[Box<[u8]>]) {
        let bytes = lines.iter().map(|line| cost(line)).sum();
        let mut state = self.lock();
        state.bytes = state.bytes.saturating_sub(bytes);
        state.taken = state.taken.saturating_sub(lines.len() as u64);
        state.dropped = state.dropped.saturating_add(lines.len() as u64);
        state.missing = state.missing.saturating_add(lines.len() as u64);
    }

    /// Drops all that waits. Returns how many were dropped altogether.
    pub(super) fn abandon(&self) -> u64 {
        let mut state = self.lock();
        let rest = state.lines.len() as u64;
        state.lines.clear();
        state.dropped = state.dropped.saturating_add(rest);
        state.dropped
    }

    /// Publishes why nothing can be written.
    pub(super) fn set_problem(&self, problem: Option<String>) {
        self.lock().problem = problem;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn cost(line: &[u8]) -> usize {
    line.len().saturating_add(OVERHEAD)
}
