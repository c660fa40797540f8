//! Which copies lose their details.

use super::budget::MemoryBudget;
use crate::report::Copy;

/// Removes graphs and ladders from copies that are not among the longest.
pub(crate) fn prune<'a>(budget: &MemoryBudget, copies: impl Iterator<Item = &'a mut Copy>) {
    let least = budget.least_detailed();
    for copy in copies.filter(|copy| copy.wall.0 < least) {
        copy.breakdown.strip();
    }
}
