//! What the audit log records of a client.

use coax_server::{RefusedRequest, act::Act};

use super::Story;
use crate::{
    audit::{Refusal, Who},
    guess::guess,
};

impl Story {
    /// Records operations on files.
    pub(crate) fn acts(&mut self, acts: &[Act]) {
        let Some(audit) = &self.audit else { return };
        let who = self.who();
        acts.iter().for_each(|act| audit.act(&who, act));
    }

    /// Records that the client connected a share. Its system is known by now.
    pub(super) fn audit_connect(&mut self, share: &str) {
        if self.audit.is_none() {
            return;
        }
        self.system = guess(&self.clues()).who;
        if let Some(audit) = &self.audit {
            audit.connect(&self.who(), share);
        }
    }

    /// Records a refusal before a share was connected.
    pub(super) fn audit_refused(&self, what: &str, status: &str, why: &str) {
        let refusal = Refusal {
            what,
            user: None,
            share: None,
            path: None,
            status,
            why,
        };
        if let Some(audit) = &self.audit {
            audit.refused(&self.who(), &refusal);
        }
    }

    /// Records a refused request.
    pub(super) fn audit_request_refused(&self, refused: &RefusedRequest) {
        let Some(audit) = &self.audit else { return };
        let status = refused.status.to_string();
        let refusal = Refusal {
            what: refused.command,
            user: refused.user.as_deref(),
            share: refused.share.as_deref(),
            path: refused.path.as_deref(),
            status: &status,
            why: &refused.why,
        };
        audit.refused(&self.who(), &refusal);
    }

    fn who(&self) -> Who<'_> {
        Who {
            client: self.line.client,
            address: &self.line.address,
            name: self.line.name.as_deref(),
            system: &self.system,
            guest: &self.guest,
            user: self.line.log_on.as_deref(),
        }
    }
}
