//! Ends of opens, trees, sessions and connections.

use super::{Check, Handle, Model, Moment, Open, allowance::Allowance};
use crate::op::{Oplock, Request};

impl Model {
    /// Closes an open. If it was the last one of an object marked for deletion, the object is removed. After an
    /// unreported disk error (`failed`) the object may remain.
    pub(super) fn close(&mut self, handle: Handle, failed: Option<()>) -> Check {
        let Some(open) = self.opens.remove(&handle) else {
            return Ok(());
        };
        self.locks.retain(|lock| lock.owner != handle);
        let node = open.node;
        self.nodes[node].doomed |= open.delete_on_close;
        self.nodes[node].sync_failed &= self.is_open(node);
        let perhaps = std::mem::take(&mut self.nodes[node].perhaps_doomed);
        if perhaps && !self.nodes[node].doomed && !self.is_open(node) {
            self.unsure_watches();
            self.allowances.push(Allowance::Gone { node });
        } else {
            self.nodes[node].perhaps_doomed = perhaps;
        }
        if self.nodes[node].doomed && !self.is_open(node) {
            if !self.is_empty(node) {
                // Marked when it was opened: entries in the folder prevent the deletion, unless the same step deletes
                // them.
                self.nodes[node].doomed = false;
                self.allowances.push(Allowance::Gone { node });
                return Ok(());
            }
            match failed {
                None => self.unlink(node),
                Some(()) => {
                    self.nodes[node].doomed = false;
                    self.unsure_watches();
                    self.allowances.push(Allowance::Gone { node });
                }
            }
        }
        Ok(())
    }

    /// Closes all opens that `which` selects. The clients get no report of failed deletions.
    fn close_where(&mut self, at: Moment<'_>, which: impl Fn(&Handle, &Open) -> bool) -> Check {
        let picked: Vec<Handle> = self
            .opens
            .iter()
            .filter(|(handle, open)| which(handle, open))
            .map(|(handle, _)| *handle)
            .collect();
        let failed = (at.faults > 0).then_some(());
        picked
            .into_iter()
            .try_for_each(|handle| self.close(handle, failed))
    }

    pub(super) fn logged_off(&mut self, request: &Request, at: Moment<'_>) -> Check {
        self.user(request)?;
        let (client, uid) = (request.client, request.uid);
        self.sessions.remove(&(client, uid));
        self.close_where(at, |handle, open| (handle.0, open.uid) == (client, uid))
    }

    pub(super) fn disconnected_tree(&mut self, request: &Request, at: Moment<'_>) -> Check {
        let (client, tid) = (request.client, request.tid);
        self.trees
            .remove(&(client, tid))
            .ok_or("a TID that is not connected was disconnected")?;
        self.close_where(at, |handle, open| (handle.0, open.tid) == (client, tid))
    }

    pub(super) fn exited(&mut self, request: &Request, at: Moment<'_>) -> Check {
        self.user(request)?;
        let (client, uid, pid) = (request.client, request.uid, request.pid);
        self.close_where(at, |handle, open| {
            (handle.0, open.uid, open.pid) == (client, uid, pid)
        })
    }

    /// Removes a connection and everything it held.
    ///
    /// # Errors
    /// None.
    pub fn disconnected(&mut self, client: usize, at: Moment<'_>) -> Check {
        self.close_where(at, |handle, _| handle.0 == client)?;
        self.sessions.retain(|(of, _), _| *of != client);
        self.trees.retain(|(of, _), _| *of != client);
        Ok(())
    }

    /// Whether the client may use its cache of an open: it has the oplock as far as it knows.
    #[must_use]
    pub fn may_cache(&self, handle: Handle) -> bool {
        self.opens
            .get(&handle)
            .is_some_and(|open| open.oplock != Oplock::None && open.breaking.is_none())
    }
}
