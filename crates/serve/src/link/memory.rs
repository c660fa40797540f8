//! Memory reserved for partially received or sent messages.

use coax_netbios::Session;
use coax_server::budget::{Exceeded, Resource};

use super::Inner;

impl Inner {
    /// Reserves memory for partially received or sent messages.
    pub(super) fn count_memory(&mut self, session: &Session) -> Result<(), Exceeded> {
        let received = match session.waiting_bytes() {
            0 => 0,
            _ => session.buffered_capacity(),
        };
        let bytes = received.saturating_add(self.outbox.waiting_bytes());
        match (&mut self.lease, &self.engine) {
            (Some(lease), _) => lease.resize(bytes),
            (none, Some(engine)) if bytes > 0 => {
                *none = Some(engine.account().lease(Resource::Memory, bytes)?);
                Ok(())
            }
            _ => Ok(()),
        }
    }
}
