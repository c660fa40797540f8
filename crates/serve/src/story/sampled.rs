//! What the history records of a client.

use coax_state::ClientSample;

use super::Story;
use crate::history::{Sampled, machine};

impl Story {
    /// What the client did since the last call.
    pub(crate) fn sample(&mut self, sent: u64) -> ClientSample {
        let before = self.sampled;
        self.sampled = Sampled {
            requests: self.requests,
            received: self.bytes_in,
            sent,
            refused: self.refusals,
        };
        ClientSample {
            address: machine(&self.line.address),
            name: self.line.name.clone().unwrap_or_default(),
            received: self.bytes_in.saturating_sub(before.received),
            sent: sent.saturating_sub(before.sent),
            requests: self.requests.saturating_sub(before.requests),
            refused: self.refusals.saturating_sub(before.refused),
            ..ClientSample::default()
        }
    }
}
