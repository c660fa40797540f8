//! Notes that the server wants to wake a client.

use coax_server::table::Wake;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether a connection asked to be woken.
#[derive(Debug, Default)]
pub struct Flag(AtomicBool);

impl Flag {
    /// Whether it asked since this was called last.
    pub fn take(&self) -> bool {
        self.0.swap(false, Ordering::SeqCst)
    }
}

impl Wake for Flag {
    fn wake(&self) {
        self.0.store(true, Ordering::SeqCst);
    }
}
