//! The tables that connections share.

use std::sync::{Mutex, PoisonError};

use coax_server::table::{Exclusive, Tables};

/// The shared tables behind a mutex. A panic while they were locked leaves them usable: they hold no invariant across
/// fields that their own methods do not restore.
#[derive(Debug, Default)]
pub(super) struct SharedTables(Mutex<Tables>);

impl SharedTables {
    /// Wraps the tables.
    pub(super) fn new(tables: Tables) -> Self {
        Self(Mutex::new(tables))
    }
}

impl Exclusive for SharedTables {
    fn with(&self, work: &mut dyn FnMut(&mut Tables)) {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}
