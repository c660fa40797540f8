//! Records operations for an audit log.

use super::Context;
use crate::act::Act;
use alloc::vec::Vec;
use coax_wire::header::Uid;

impl Context {
    /// Records an operation of the session `uid`, if the configuration asks for it.
    pub(crate) fn record(&self, uid: Uid, act: impl FnOnce() -> Act) {
        if !self.server.config.audit {
            return;
        }
        let session = self.sessions.find(uid);
        let user = session.and_then(|session| session.user.clone());
        self.acts.add(Act { user, ..act() });
    }

    /// The operations since the last call, in order; always none unless [`crate::config::Config::audit`] is set.
    pub fn take_acts(&mut self) -> Vec<Act> {
        self.acts.take()
    }
}
