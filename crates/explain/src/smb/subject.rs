//! What a slow operation is and is about.

use std::sync::Arc;

use crate::report::OperationKind;

/// Operations that are followed at a time: listings, print jobs, refused opens and locks.
pub(super) const MAX_FOLLOWED: usize = 64;

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Subject {
    pub(super) kind: OperationKind,
    pub(super) name: Option<String>,
    pub(super) share: Option<Arc<str>>,
}

impl Subject {
    /// A log-on, which is about the connection.
    pub(super) fn log_on() -> Self {
        Self {
            kind: OperationKind::LogOn,
            name: None,
            share: None,
        }
    }
}
