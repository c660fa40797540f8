//! One element for each client.

use alloc::vec::Vec;
use core::iter;

/// One element for each client; there is at least one.
#[derive(Debug)]
pub(super) struct Row<T> {
    first: T,
    more: Vec<T>,
}

impl<T> Row<T> {
    pub(super) const fn new(first: T, more: Vec<T>) -> Self {
        Self { first, more }
    }

    /// Number of elements.
    pub(super) fn len(&self) -> usize {
        self.more.len().saturating_add(1)
    }

    /// The element of a client. Numbers come from this row, so the first one never stands in for another.
    pub(super) fn of(&self, client: u16) -> &T {
        let more = usize::from(client).checked_sub(1);
        more.and_then(|at| self.more.get(at)).unwrap_or(&self.first)
    }

    pub(super) fn of_mut(&mut self, client: u16) -> &mut T {
        let more = usize::from(client).checked_sub(1);
        match more.and_then(|at| self.more.get_mut(at)) {
            Some(found) => found,
            None => &mut self.first,
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        iter::once(&self.first).chain(&self.more)
    }
}
