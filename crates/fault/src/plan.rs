//! The faults of a server, and how often each was applied.

use alloc::vec::Vec;
use core::sync::atomic::{AtomicU64, Ordering};

use crate::{fault::Fault, requests::Asked};

/// The faults of a server. It counts the requests of all connections, so that a client that connects again gets on.
#[derive(Debug)]
pub struct Plan {
    rows: Vec<Row>,
}

#[derive(Debug)]
struct Row {
    fault: Fault,
    /// Requests so far that the fault could be for.
    seen: AtomicU64,
    applied: AtomicU64,
}

impl Plan {
    /// A plan of these faults. If several are for one reply, they are applied in this order.
    pub fn new(faults: Vec<Fault>) -> Self {
        let row = |fault| Row {
            fault,
            seen: AtomicU64::new(0),
            applied: AtomicU64::new(0),
        };
        Self {
            rows: faults.into_iter().map(row).collect(),
        }
    }

    /// Each fault, and how often it was applied.
    pub fn applied(&self) -> impl Iterator<Item = (&Fault, u64)> {
        let times = |row: &Row| row.applied.load(Ordering::Relaxed);
        self.rows.iter().map(move |row| (&row.fault, times(row)))
    }

    /// The fault with this number.
    pub(crate) fn fault(&self, index: usize) -> Option<&Fault> {
        self.rows.get(index).map(|row| &row.fault)
    }

    pub(crate) fn note_applied(&self, index: usize) {
        if let Some(row) = self.rows.get(index) {
            row.applied.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Counts a request and returns the numbers of the faults that are for it.
    pub(crate) fn faults_for(&self, asked: &Asked) -> Vec<usize> {
        let mut found = Vec::new();
        for (index, row) in self.rows.iter().enumerate() {
            if !asked.is_for(row.fault.target) {
                continue;
            }
            let number = row.seen.fetch_add(1, Ordering::Relaxed).saturating_add(1);
            if row.fault.which.includes(number) {
                found.push(index);
            }
        }
        found
    }
}
