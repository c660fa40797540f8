//! Messages between users.

use super::Tables;
use coax_wire::time::Time;

impl Tables {
    /// Whether a message from `address` may be delivered at `now`; it counts.
    pub fn admit_message(&mut self, now: Time, address: &str) -> bool {
        self.messages.admit(now, address)
    }
}
