//! Transactions.

/// A transaction whose secondaries are awaited.
#[derive(Debug)]
pub struct Pending {}
